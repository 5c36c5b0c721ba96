"""What type checkers have to accept, and to refuse where it says so: run.sh gives it to mypy --strict. It is never run.

SPDX-License-Identifier: MIT
"""

import datetime
import decimal
import uuid
from collections import Counter
from typing import Any

import legosketch
from legosketch import Error, Sketch, Top


def accepted(column: Any) -> None:
    s = Sketch("1M", top=True)
    for item in ("a", b"a", 1, 0.5, True, decimal.Decimal(1), datetime.date(2026, 1, 1), datetime.time(12), uuid.uuid4()):
        s.add(item, 3)
    s.add(("a", 1))
    s.update(["a"])
    s.update(Counter("abc"))
    s.add_many(column, counts=[1, 2])
    mean: float = s.estimate_many(["a", "b"]).mean()
    lower, upper, likely = s.bounds_many(["a"])
    widest: int = int((upper - lower).max() + (likely - lower).max())
    one: float = s["a"] + s.estimate("a") + mean + widest
    both: bool = "a" in s and one > 0
    whole = sum([s, s], Sketch("1M"))
    error: Error = whole.expected_error()
    first: Top = whole.top(1)[0]
    whole.merge_many([s, s])
    whole.merge_many(iter([s]), weights=[-2])
    known: list[legosketch.Class] = whole.classes()
    print(both, error.relative, error.relative_error, first.item, first.likely, known[0].items, (s + s - s).total, legosketch.group("a", 3))
    hidden = Sketch("1M", secret=legosketch.secret_seed("seed"))
    shown: str = hidden.fingerprint or str(hidden.seed)
    print(shown, Sketch.from_bytes(hidden.to_bytes(), secret="00" * 15 + "01"))
    s.plot().figure.savefig("counts.png")


def refused(s: Sketch) -> None:
    s.add("a", "b")  # type: ignore[arg-type]
    Sketch(secret=5)  # type: ignore[arg-type]
    s.add([1])  # type: ignore[arg-type]
    s["a"] = 5  # type: ignore[index]
    s.estimate("a", 0.5)  # type: ignore[call-arg]
    s.estimate("a", relative=0.5)  # type: ignore[call-arg]
    s.merge_many(5)  # type: ignore[arg-type]
    s.no_such_thing()  # type: ignore[attr-defined]
