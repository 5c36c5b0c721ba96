"""Count everything in a stream, in almost no memory: how often did item x occur?

>>> from legosketch import Sketch
>>> s = Sketch("300K")                      # bytes, at most, for ever
>>> s.update(["apple", "pear", "apple"])
>>> s.estimate("apple"), s.bounds("apple")  # lower, upper, likely
(2.0, (2, 2, 2))

Items are str (their UTF-8), bytes, numbers, dates and times, UUIDs, and tuples of these. A sketch may be used from
several threads at once. docs/python.md of the project has more: which values are one item, arrays, files, errors.
"""

# SPDX-License-Identifier: MIT

from __future__ import annotations

import math
import operator
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core, _secret
from ._core import LegoError
from ._saving import write_file
from ._secret import secret_seed
from ._sizing import Suggestion, suggest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy import float64, int64
    from numpy.typing import NDArray
    from typing_extensions import Self

    from ._core import Item

__all__ = ["Class", "Error", "LegoError", "Sketch", "Suggestion", "Top", "group", "secret_seed", "suggest"]
__version__ = _core.version

_LEAST, _MOST = 4 << 10, 64 << 30  # of a budget
_TOP_LEAST = 512


class Top(NamedTuple):
    """One of the most frequent items."""

    item: str | bytes | int
    estimate: float
    lower: int
    upper: int
    likely: int
    exact: bool  # lower, estimate and upper are its count


class Error(NamedTuple):
    """How far estimates are off, about: the mean over all distinct items."""

    absolute: float
    relative: float  # as a share of an item's count
    absolute_error: float  # the standard error of absolute
    relative_error: float  # ... and of relative


class Class(NamedTuple):
    """Items that come about equally often: low to high times."""

    low: int
    high: int
    items: float  # how many there are, about
    error: float  # the standard error of that


def _size(size: int | str) -> int:
    """Bytes as the command reads them: 4096, "300K", "1.5M", "2GiB"; units are powers of 1024.

    >>> _size("1.5K"), _size("2GiB"), _size(4096)
    (1536, 2147483648, 4096)
    """
    if not isinstance(size, str):
        try:
            return operator.index(size)
        except TypeError:
            raise TypeError(f"a size is bytes, as 4096, or text, as '300K', not {size!r}") from None
    match = re.fullmatch(r"(\d+)(\.\d+)?(?:B|([kKmMgGtT])(?:[bB]|iB)?)?", size, re.ASCII)
    if match is None:
        raise ValueError(f"{size!r} is no size: write 4096, '300K', '1.5M' or '2G'")
    whole, fraction, unit = match.groups()
    scale = 1 << 10 * " KMGT".index((unit or " ").upper())
    return int(whole) * scale + int(float(fraction or 0) * scale + 1e-6)


def _seed(seed: int) -> int:
    seed = operator.index(seed)
    if not 0 <= seed < 1 << 64:
        raise ValueError("a seed is from 0 to 2**64 - 1")
    return seed


def _frozen(data: bytes | bytearray | memoryview) -> bytes:
    """The same bytes where nobody can change them: the library checks them before it uses them."""
    return data if isinstance(data, bytes) else bytes(memoryview(data))


def _read_saved(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file; of one that is not what it says it is, so many that the library refuses them."""
    with open(path, "rb") as file:
        if not file.seekable():
            return file.read()
        most = _core.saved_length(file.read(24)) + 1
        file.seek(0)
        return file.read(min(most, os.fstat(file.fileno()).st_size))


def _model(model: str | os.PathLike[str] | bytes | None) -> Any:
    """What _core takes: None, the name of a built-in model, or the capsule of one from bytes or a file."""
    if model is None or (isinstance(model, str) and _core.is_model(model)):
        return model
    if isinstance(model, (bytes, bytearray, memoryview)):
        return _core.load_model(_frozen(model))
    path = os.fspath(model)
    try:
        with open(path, "rb") as file:
            return _core.load_model(file.read())
    except FileNotFoundError as error:
        error.strerror = "There is no such file, nor a built-in model of this name: those are compact and paper"
        raise


def _top(top: bool | int | str | None, budget: int) -> int:
    """Bytes of the budget for the most frequent items; 0: none."""
    kept = 0 if top is None or top is False else budget // 8 if top is True else _size(top)
    if kept != 0 and not _TOP_LEAST <= kept <= budget - _LEAST:
        raise ValueError(f"top is from 512 bytes to what leaves 4K of the budget to other items, not {kept}")
    return kept


def _array(data: bytearray, code: str) -> Any:
    """8 bytes an element as an array of numpy's, or of Python's own where there is no numpy."""
    try:
        import numpy
    except ImportError:
        from array import array

        result = array(code)
        result.frombytes(data)
        return result
    return numpy.frombuffer(data, {"d": "f8", "q": "i8"}[code])


def group(item: Item, groups: int, seed: int = 0) -> int:
    """Which of `groups` sketches counts an item, 0 to groups - 1, where a stream is spread over several. They have one
    budget, model and seed, so they still merge; of half as many groups, g has the items of g and g + groups // 2.

    >>> [group(word, 4) for word in ("not", "that", "is", "the", "question")]
    [1, 2, 3, 2, 0]
    """
    groups = operator.index(groups)
    if not 1 <= groups < 1 << 32:
        raise ValueError("groups are 1 to 2**32 - 1")
    return _core.group(item, groups, _seed(seed))


def _shown(item: bytes, items: type[str] | type[bytes] | type[int] | None) -> str | bytes | int:
    """An item's bytes as what was added, as far as they can be that; None: of a mix, of which docs/python.md has the
    rule."""
    try:
        text: str | bytes = item if items is bytes else item.decode()
    except UnicodeDecodeError:
        text = item
    is_integer = len(item) == 8 and (items is int or (items is None and (0 in item or isinstance(text, bytes))))
    return int.from_bytes(item, "little") if is_integer else item if items is int else text


def _made_with(sketch: Sketch) -> str:
    """Arguments for a sketch of this size. One that was folded may be smaller than any that can be made."""
    top = max(sketch.top_budget, _TOP_LEAST) if sketch.top_budget else 0
    return f"budget={max(sketch.budget, _LEAST + top):_}" + (f", top={top:_}" if top else "")


def _apart(one: Sketch, other: Sketch) -> str:
    """Why two sketches do not merge, and what to do. To fold both is advised where an eighth of the smaller is left."""
    small, large = sorted((one, other), key=lambda sketch: sketch.blocks)
    unit = "bricks" if one.columns else "blocks"
    why = f"{small.blocks:,} {unit} ({small.budget:,} bytes) and {large.blocks:,} ({large.budget:,}) do not merge, as "
    what = f"make both with {_made_with(large if large.top_bytes and not small.top_bytes else small)}"
    if one.columns != other.columns:
        return f"{why}a brick has {small.columns:,} and {large.columns:,} columns: {what}"
    if large.blocks % small.blocks == 0:
        tops = f"{small.top_budget:,} and {large.top_budget:,} bytes"
        return f"{why}their tops have {tops}, neither a multiple of the other: {what}"
    common = math.gcd(small.blocks, large.blocks)
    fold = f", or fold both, as with fold({common})"
    if small.top_bytes and large.top_bytes or common < small.blocks // 8:
        fold = ""
    if one.exact and one is small and not (small.top_bytes or large.top_bytes):
        fold = ", or merge this one into the other"
    return f"{why}neither number is a multiple of the other: {what}{fold}"


def _hashed(sketch: Sketch) -> str:
    """The seed as it may be shown."""
    return f"{sketch.seed}" if sketch.fingerprint is None else f"secret ({sketch.fingerprint})"


def _model_again(sketch: Sketch) -> str | bytes | None:
    """The model of a sketch, as one more can be made or loaded with it, anywhere."""
    model = sketch._model
    return model if model is None or isinstance(model, str) else _core.model_bytes(model)


def _restore(kind: type[Sketch], data: bytes, model: bytes | str | None, threads: int) -> Sketch:
    """A pickled sketch."""
    return kind.from_bytes(data, model=model, threads=threads)


class Sketch(_core.Sketch):
    """How often did each item of a stream occur? From `budget` bytes, however long the stream.

    budget   the most bytes that the sketch may take: 300 * 1024, "300K", "1.5M"; it starts with a few hundred
    top      True: also keep the most frequent items, with exact counts, for top(), in an eighth of the budget;
             "100K": in so much of it
    model    "compact" (the default), "paper", or the path or the bytes of a .lego file
    seed     of the hash, 0 if none is given; only sketches of one seed merge
    secret   a secret one in its place, for items that others choose: 16 bytes or 32 hex digits, as secret_seed() has
             them; without either, what LEGOSKETCH_SEED in the environment says
    threads  how many add_many() and estimate_many() may use; nothing depends on it

    s[item] is estimate(item). item in s is False if it certainly never came. s + t and sum([s, t]) merge, s - t takes
    away, s == t compares the bytes. To merge more than two, merge_many() is better than one after the other.

    >>> s = Sketch("1M", top=True)
    >>> s.update({"apple": 3, "pear": 1})
    >>> s["apple"], "pear" in s, "plum" in s
    (3.0, True, False)
    >>> s.top(1)
    [Top(item='apple', estimate=3.0, lower=3, upper=3, likely=3, exact=True)]
    """

    __slots__ = ()

    def __new__(
        cls,
        budget: int | str = "1M",
        top: bool | int | str | None = 0,
        *,
        model: str | os.PathLike[str] | bytes | None = None,
        seed: int | None = None,
        secret: str | bytes | None = None,
        threads: int = 1,
    ) -> Self:
        size = _size(budget)
        if not _LEAST <= size <= _MOST:
            raise ValueError(f"a budget is from 4K to 64G, not {size}")
        key, number = _secret.making(seed, secret), _seed(0 if seed is None else seed)
        return super().__new__(cls, size, _top(top, size), _model(model), number, key, threads)

    def estimate_many(self, keys: Any, *, absent: float = 0.0) -> NDArray[float64]:
        """The estimates of all keys, which are what add_many() takes: an array of numpy's if there is numpy, else of
        Python's. Nulls have NaN. absent is that of estimate().

        >>> s = Sketch()
        >>> s.update(["apple", "pear", "apple"])
        >>> list(map(float, s.estimate_many(["apple", "plum"])))
        [2.0, 0.0]
        """
        estimates: NDArray[float64] = _array(self._estimate_many(keys, absent), "d")
        return estimates

    def bounds_many(
        self, keys: Any, *, absent: float = 0.0
    ) -> tuple[NDArray[int64], NDArray[int64], NDArray[int64]]:
        """What bounds() says of all keys, as three arrays: lower, upper and likely; no key may be null.

        >>> s = Sketch()
        >>> s.add("apple", 5)
        >>> lower, upper, likely = s.bounds_many(["apple", "plum"])
        >>> list(map(int, upper))
        [5, 0]
        """
        lower, upper, likely = self._bounds_many(keys, absent)
        return _array(lower, "q"), _array(upper, "q"), _array(likely, "q")

    def top(self, n: int | None = 10, items: type[str] | type[bytes] | type[int] | None = None) -> list[Top]:
        """The n most frequent items, most frequent first, or all that are kept if n is None; the sketch must have been
        made with top.

        They are shown as what was added, as far as a sketch knows, also one that was loaded (`s.items`): integers as
        int, from 0 to 2**64 - 1, all else as str, or as bytes if it is no UTF-8. Of a mix, 8 bytes are shown as an
        integer if one of them is 0 or they are no UTF-8. `items`, one of str, bytes and int, says it otherwise; bytes
        that can not be that stay bytes.

        >>> s = Sketch(top="10K")
        >>> s.update([7, 8, 7])
        >>> [(t.item, t.estimate) for t in s.top()]
        [(7, 2.0), (8, 1.0)]
        """
        if items not in (None, str, bytes, int):
            raise TypeError("items is one of the types str, bytes and int")
        if items is None:
            items = {"integers": int, "mixed": None}.get(self.items, str)
        n = _MOST if n is None else operator.index(n)
        if n < 0:
            raise ValueError("n is 0 or more")
        found = self._top(min(n, _MOST))
        return [Top(_shown(entry[0], items), *entry[1:]) for entry in found]

    def expected_error(self) -> Error:
        """About how far estimates are off, on average over the distinct items, and the standard errors of these two
        numbers. 0 while the sketch is exact; NaN for the paper's model, which does not tell.

        >>> s = Sketch()
        >>> s.add("apple")
        >>> error = s.expected_error()
        >>> error.absolute, error.relative
        (0.0, 0.0)
        """
        return Error(*self._expected)

    def classes(self) -> list[Class]:
        """About how many items come once, twice, 3 to 4, 5 to 8 times and so on: the classes that have items. The
        paper's model does not tell, and has none.

            for low, high, items, error in s.classes():
                print(f"{items:,.0f} +- {error:,.0f} items come {low} to {high} times")
        """
        found = enumerate(self._classes)
        return [Class((1 << k) // 2 + 1, 1 << k, items, error) for k, (items, error) in found if items > 0]

    def plot(self, keys: Iterable[Item] | None = None, *, ax: Any = None) -> Any:
        """Draw counts by rank, with bounds in which 99 % of them lie, both axes logarithmic: of the most frequent items,
        or of `keys`. Needs matplotlib. `ax`: what to draw into; without it a new figure is made. Returns the Axes.

            s.plot().figure.savefig("counts.png")
        """
        from ._picture import plot

        return plot(self, keys, ax)

    def merge(self, other: Sketch) -> None:
        """Become the sketch of both streams: while no block of it is `keeping`, byte for byte as if this one had
        counted them all. Model and seed must agree. The other's budget may be any as long as it is `exact`; after that,
        one's number of blocks must be a multiple of the other's, and the result has the smaller number. If only one was
        made with top, this one stays what it is.

        >>> monday, tuesday = Sketch(), Sketch()
        >>> monday.add("apple"); tuesday.add("apple")
        >>> monday.merge(tuesday)
        >>> monday.estimate("apple")
        2.0
        """
        if not isinstance(other, Sketch):
            raise TypeError("merge() takes another Sketch")
        self._with(other, False)

    def merge_many(self, sketches: Iterable[Sketch], weights: Iterable[int] | None = None) -> None:
        """Become the sketch of this stream and of all others, each counted as often as its weight says, or once; a
        negative weight takes away. Where blocks are `keeping`, this is better than one merge() after the other, which
        may lose what is frequent only in all of them together: what all sketches list is joined before anything is let
        go. All of them are merged, or none.

        >>> days = [Sketch() for _ in range(7)]
        >>> for day in days:
        ...     day.add("apple")
        >>> week = Sketch()
        >>> week.merge_many(days)
        >>> week.estimate("apple")
        7.0
        """
        others = tuple(sketches)
        for other in others:
            if not isinstance(other, Sketch):
                raise TypeError(f"merge_many() takes sketches, not {other!r}")
        numbers = None if weights is None else tuple(operator.index(weight) for weight in weights)
        if numbers is not None and len(numbers) != len(others):
            raise ValueError(f"sketches and weights differ in length: {len(others)} and {len(numbers)}")
        if numbers is not None and 0 in numbers:
            raise ValueError("a weight is not 0: leave that sketch out")
        others = tuple(self.copy() if other is self else other for other in others)
        try:
            self._merge_many(others, numbers)
        except LegoError:
            # one after the other, some sketch is the first that is refused, and merge() says what to do
            part = self.copy()
            for other, weight in zip(others, numbers or (1,) * len(others)):
                part._with(other, weight < 0)
            raise

    def _with(self, other: Sketch, subtract: bool) -> Self:
        try:
            self._combine(other, subtract)
        except LegoError as error:
            if error.status == _core.LEGO_ERR_SHAPE:
                error.args = (_apart(self, other),)
            elif error.status == _core.LEGO_ERR_TOP:
                error.args = ("sketches with top can not be subtracted, nor subtracted from",)
            elif error.status == _core.LEGO_ERR_SEED:
                error.args = (f"seeds {_hashed(self)} and {_hashed(other)} do not merge: make both with the same seed",)
            elif error.status == _core.LEGO_ERR_MODEL:
                error.args = (f"models {self.model} and {other.model} do not merge: make both with the same model",)
            raise
        return self

    def __iadd__(self, other: Any) -> Self:
        return self._with(other, False) if isinstance(other, Sketch) else NotImplemented

    def __isub__(self, other: Any) -> Self:
        return self._with(other, True) if isinstance(other, Sketch) else NotImplemented

    def __add__(self, other: Any) -> Self:
        return self.copy()._with(other, False) if isinstance(other, Sketch) else NotImplemented

    def __radd__(self, other: Any) -> Self:
        return self.copy() if type(other) is int and other == 0 else NotImplemented  # with which sum() begins

    def __sub__(self, other: Any) -> Self:
        return self.copy()._with(other, True) if isinstance(other, Sketch) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return self.to_bytes() == other.to_bytes() if isinstance(other, Sketch) else NotImplemented

    def fold(self, blocks: int | None = None, *, budget: int | str | None = None) -> None:
        """Shrink to `blocks`, a divisor of the property blocks, or to the most that fit a budget: while none of them is
        `keeping`, the sketch becomes the one that would have been made with so many.

        >>> s = Sketch("1M")
        >>> s.fold(s.blocks // 2)
        >>> s.fold(budget="64K")
        >>> s.bytes <= 64 * 1024
        True
        """
        if blocks is not None and budget is None:
            size = operator.index(blocks)
        elif blocks is None and budget is not None:
            size = _size(budget)
        else:
            raise TypeError("fold() takes a number of blocks or a budget: fold(512) or fold(budget='64K')")
        try:
            self._fold(max(0, min(size, 2 * _MOST)), blocks is None)
        except LegoError as error:
            if error.status == _core.LEGO_ERR_SHAPE:
                error.args = (f"{self.blocks:,} blocks ({self.budget:,} bytes) " + (
                    f"fold to a divisor of that number, not to {size:,}" if budget is None else
                    f"do not fold to anything that fits {size:,} bytes"),)
            raise

    @classmethod
    def from_bytes(
        cls,
        data: bytes | bytearray | memoryview,
        *,
        model: str | os.PathLike[str] | bytes | None = None,
        secret: str | bytes | None = None,
        threads: int = 1,
    ) -> Self:
        """The sketch of to_bytes(). Made with a model that is not built in, or with a secret seed, it needs that again;
        the seed may also be in LEGOSKETCH_SEED in the environment."""
        return cls._restored(_frozen(data), _model(model), _secret.reading(secret), threads)

    @classmethod
    def _restored(cls, data: bytes, model: Any, secret: bytes | None, threads: int) -> Self:
        try:
            return cls._from_bytes(data, model, secret, threads)
        except LegoError as error:
            if error.status == _core.LEGO_ERR_SECRET:
                error.args = (_secret.missing(_core.saved_fingerprint(data), secret is not None),)
            raise

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a .sketch file, as the command reads and writes them: whole, in place of the old one, or not at all.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "fruit.sketch")
        >>> s = Sketch("4K")
        >>> s.save(path)
        >>> Sketch.load(path) == s
        True
        """
        write_file(path, self.to_bytes())

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        model: str | os.PathLike[str] | bytes | None = None,
        secret: str | bytes | None = None,
        threads: int = 1,
    ) -> Self:
        """The sketch of a .sketch file; see from_bytes()."""
        known, key = _model(model), _secret.reading(secret)
        try:
            return cls._restored(_read_saved(path), known, key, threads)
        except LegoError as error:
            error.args = (f"{os.fspath(path)}: {error}",)
            raise

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (
            type(self), self.to_bytes(), _model_again(self), self.threads
        ), getattr(self, "__dict__", None)  # of a subclass

    def __repr__(self) -> str:
        top = f", {self.top_bytes:,} of them for the top" if self.top_bytes else ""
        return f"<Sketch of {self.total:,} items: {self.model}, {self.bytes:,} bytes{top}>"

    def _repr_html_(self) -> str:
        from ._picture import picture

        return picture(self)
