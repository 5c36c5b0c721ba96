"""Items of types that the extension does not know itself: dates and times, UUIDs, decimals, scalars of numpy and pandas.

It asks here when it meets one. docs/python.md has the rule as a table; src/text.c is the same for arrays and columns.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import datetime
import decimal
import uuid
from typing import Any, Union

Plain = Union[str, bytes, int, float, None]


def item(value: Any) -> Plain:
    """What the item is: text, an integer or a float; None for a null."""
    return _plain(value, " ")


def nested(value: Any) -> Plain:
    """The same inside of a tuple, where bytes are what JSON has."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "\\x" + bytes(value).hex()
    plain = _plain(value, "T")
    return plain.encode() if isinstance(value, decimal.Decimal) and isinstance(plain, str) and value.is_finite() else plain


def _plain(value: Any, between: str) -> Plain:
    kind = type(value)
    module = kind.__module__.partition(".")[0]
    if module in ("pandas", "numpy"):
        if kind.__name__ in ("NAType", "NaTType"):
            return None
        if module == "numpy":
            return _scalar(value, kind.__name__, between)
    if isinstance(value, datetime.datetime):
        return _instant(value, between)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, decimal.Decimal):
        return _decimal(value)
    if isinstance(value, datetime.time) and value.tzinfo is None:
        return _trimmed(value.isoformat())
    if isinstance(value, (list, set, frozenset, dict)):
        raise TypeError(f"a {kind.__name__} is many items, for update(); one item is a tuple")
    raise TypeError(f"an item is str, bytes, a number, a date or time, a UUID or a tuple of these, not {kind.__name__}: "
                    "count str(item), or what it is known by")


def _trimmed(time: str) -> str:
    """Without zeros at the end of a second's parts."""
    return time.rstrip("0").rstrip(".") if "." in time else time


def _instant(value: datetime.datetime, between: str) -> str:
    offset = value.utcoffset()
    if offset is None:
        return _trimmed(value.isoformat(between))
    try:
        utc = value.replace(tzinfo=None) - offset
    except OverflowError:
        raise ValueError(f"{value} is outside the years 1 to 9999 in UTC, as which it is counted") from None
    return _trimmed(utc.isoformat(between)) + ("+00" if between == " " else "+00:00")


def _decimal(value: decimal.Decimal) -> Plain:
    if not value.is_finite():
        return None if value.is_nan() else float(value)
    if not -16384 < value.adjusted() < 131072:  # what PostgreSQL's numeric has
        raise ValueError(f"{value} is too large or too small for an item")
    text = f"{value:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    whole = "." not in text and len(text) <= 20 and int(text)
    return whole if whole is not False and -(2**63) <= whole < 2**64 else text


def _scalar(value: Any, name: str, between: str) -> Plain:
    """Of numpy's. Its integers and float64 never come here."""
    if name == "float32":  # what its text says, unless it is an integer
        exact = float(value)
        whole = exact.is_integer() and -(2**63) <= exact < 2**64
        return exact if whole or exact != exact else float(str(value))
    if name == "datetime64" and value.dtype.str[4:6] not in ("ps", "fs", "as"):
        if value != value:
            return None
        text = str(value.astype("M8[D]") if value.dtype.str[4:5] in "YMW" else value)
        return _trimmed(text.replace("T", between))
    if name in ("bool", "bool_", "void") and isinstance(plain := value.item(), (bool, tuple)):
        return plain  # type: ignore[return-value]
    raise TypeError(f"an item is no {name} of numpy's: convert it, as with float(item) or str(item)")


def times(array: Any) -> tuple[Any, int]:
    """The numbers of an array of numpy's datetime64, and in how many parts of a second they are; 0: they are days."""
    import numpy

    unit, _ = numpy.datetime_data(array.dtype)
    unit = "D" if unit in ("Y", "M", "W", "D") else "s" if unit in ("h", "m") else unit
    parts = {"D": 0, "s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}.get(unit)
    if parts is None:
        raise TypeError(f"items are no {array.dtype}: convert it, as in keys.astype('M8[ns]')")
    return array.astype(f"=M8[{unit}]", copy=False).view("=i8"), parts
