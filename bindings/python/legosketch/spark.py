"""Sketches in Spark: of a column of any size, or one for each key; built in the executors, and merged.

    from legosketch import spark as ls
    words = ls.sketch_column(df, "word", "4M")                          # one Sketch, here
    days = ls.sketch_groups(df, "day", "word", "300K")                  # a DataFrame: day, sketch
    days.write.parquet("days")                                          # binary columns, merged whenever wanted
    june = ls.merge_column(spark.read.parquet("days"), "sketch")
    df.select("word", ls.estimate(words, "word"))                       # a column expression

Partial sketches are merged many at once, in the order of their partitions. While no block of a sketch is `keeping`, its
bytes follow from the rows alone, whatever their partitions and their order; docs/spark.md says what holds after that.
Needs Spark 4.1 or later and its driver's RDDs, which Spark Connect lacks.

SPDX-License-Identifier: MIT
"""
# mypy: disable-error-code="import-not-found, import-untyped, untyped-decorator"

import importlib.util
import os
import pathlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Iterator, Tuple

for _needed in "pyspark", "pyarrow", "pandas":  # which pyspark itself asks for only when a job is made
    if importlib.util.find_spec(_needed) is None:
        raise ImportError(f"legosketch.spark needs {_needed}: pip install 'legosketch[spark]'", name=_needed)

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from . import Sketch, _core, _model_again, _secret
from ._merging import merge_tree

FAN_IN = 16  # how many sketches are merged at once, at most, and arrive at the driver in the end
MANY = 1 << 20  # rows added at once: a third of the time of the 10,000 that an Arrow batch of Spark's has
HELD = 64 << 20  # bytes of rows, or of sketches of different keys, that a task holds; Spark's own batches have as many

_ITEMS = (T.StringType, T.BinaryType, T.BooleanType, T.NumericType, T.DateType, T.TimestampType, T.TimestampNTZType)
_WEIGHTS = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
_SKETCH = T.StructField("sketch", T.BinaryType())
_PLACE = "legosketch place"  # of a sketch among those of its key: the order in which they are merged
_SHARE = "legosketch share"  # ... which of them meet in a round that is not the last: their place in the next

Model = str | os.PathLike[str] | bytes | None
Secret = str | bytes | None  # it goes to the executors with the functions that run there, never with rows or sketches


def sketch_column(
    df: DataFrame,
    column: str | Column,
    budget: int | str = "1M",
    *,
    weight: str | Column | None = None,
    model: Model = None,
    seed: int | None = None,
    secret: Secret = None,
) -> Sketch:
    """The Sketch of a column of strings, binary, numbers, booleans, dates, timestamps, or structs and arrays of these,
    which are the items that Python's values are (docs/python.md). `weight` names an integer column, how often each row counts.
    Rows in which either is null do not count. seed and secret are those of Sketch. Runs a job."""
    secret = _secret.making(seed, secret)
    make = _maker(budget, model, seed, secret)
    items = _items(df, [], column, weight)

    def partial(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        sketch = None
        for batch in _gather(batches):
            if sketch is None:  # a partition without rows costs no bytes
                sketch = make()
            sketch.add_many(*batch.columns)
        if sketch is not None:
            yield pa.record_batch([pa.array([sketch.to_bytes()], pa.binary())], ["sketch"])

    sketch = _merge_tree(items.mapInArrow(partial, T.StructType([_SKETCH])), _bytes(model), secret)
    return make() if sketch is None else sketch


def sketch_groups(
    df: DataFrame,
    keys: str | Column | Sequence[str | Column],
    column: str | Column,
    budget: int | str = "1M",
    *,
    weight: str | Column | None = None,
    model: Model = None,
    seed: int | None = None,
    secret: Secret = None,
    rounds: int = 1,
) -> DataFrame:
    """A DataFrame of the key columns and a binary column `sketch`, one row for each combination of keys that has an
    item. `keys` is a column or a list of them. Every partition makes a sketch of each of its keys, and merge_groups()
    merges those in so many rounds. A task holds about 64 MB of sketches; of more it hands on what it has so far."""
    secret = _secret.making(seed, secret)
    make = _maker(budget, model, seed, secret)
    keys = _keys(df, keys)
    items = _items(df, keys, column, weight)
    schema = T.StructType([*items.schema.fields[: len(keys)], _SKETCH])
    most = HELD

    def partial(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held: dict[tuple[pa.Scalar, ...], Sketch] = {}
        size = 0
        for batch in _gather(batches):
            types = batch.schema.types[: len(keys)]
            for key, columns in _split(batch, len(keys)):
                if key in held:
                    size -= held[key].bytes
                else:
                    held[key] = make()
                held[key].add_many(*columns)
                size += held[key].bytes  # a sketch grows with what it counts
                if size >= most:
                    yield _rows(schema, types, held)
                    held.clear()
                    size = 0
        if held:
            yield _rows(schema, types, held)

    partials = items.mapInArrow(partial, schema)
    return merge_groups(partials, schema.names[:-1], model=model, secret=secret, rounds=rounds)


def merge_column(
    df: DataFrame, column: str | Column = "sketch", *, model: Model = None, secret: Secret = None
) -> Sketch:
    """The Sketch of all streams whose sketches are in a binary column. Nulls do not count; ValueError if there is no
    sketch. `model` is for those of a model of your own, `secret` for those of a secret seed. Runs a job."""
    sketch = _merge_tree(df.select(column), _bytes(model), _secret.reading(secret))
    if sketch is None:
        raise ValueError("there is no sketch to merge")
    return sketch


def merge_groups(
    df: DataFrame,
    keys: str | Column | Sequence[str | Column],
    column: str | Column = "sketch",
    *,
    model: Model = None,
    secret: Secret = None,
    rounds: int = 1,
) -> DataFrame:
    """A DataFrame of the key columns and a binary column `sketch`: for each combination of keys all sketches merged.
    In one round a task merges all sketches of a key. Where a key has sketches in hundreds of partitions, more rounds
    share that work: in each but the last a task merges a key's sketches of 16 partitions, for another shuffle. They are
    merged in the order of the partitions of `df`, and of the rows there."""
    if rounds not in range(1, 5):
        raise ValueError("rounds is from 1 to 4")
    model, secret = _bytes(model), _secret.reading(secret)
    sketches = df.select(*_keys(df, keys), _column(column).alias("sketch")).where(F.col("sketch").isNotNull())
    names, number = sketches.columns[:-1], F.spark_partition_id()
    sketches = sketches.select(*names, F.monotonically_increasing_id().alias(_PLACE), number.alias(_SHARE), "sketch")
    for _ in range(rounds - 1):
        share = F.floor(F.col(_SHARE) / FAN_IN).alias(_SHARE)
        sketches = _merge_once(sketches.select(*names, share, _PLACE, "sketch"), model, secret)
        sketches = sketches.select(*names, F.col(_SHARE).alias(_PLACE), _SHARE, "sketch")
    return _merge_once(sketches.select(*names, _PLACE, "sketch"), model, secret)


def estimate(
    sketch: Sketch, column: str | Column, *, absent: float = 0.0, secret: Secret = None
) -> Column:
    """How often each item of a column is in the sketch, as a column of doubles; null for null. absent is that of
    Sketch.estimate(); a sketch with a secret seed needs that again."""
    model, secret, threads = _model_again(sketch), _secret.reading(secret), sketch.threads
    saved = sketch.to_bytes()
    # what is wrong is an error at once, not in an executor
    _Moving(saved).open(model, secret).estimate_many([], absent=absent)
    shared = SparkSession.active().sparkContext.broadcast(_Moving(saved))

    @F.arrow_udf("double")
    def ask(columns: Iterator[pa.Array]) -> Iterator[pa.Array]:
        asked = shared.value.open(model, secret, threads)
        for items in columns:
            yield pa.array(asked.estimate_many(items, absent=absent), from_pandas=True)

    return ask(column)


class _Moving:
    """A sketch that moves between processes as its bytes alone, until one opens it, who has all it takes: functions bring
    their model and the secret seed, which a pickled Sketch has not."""

    def __init__(self, held: Sketch | bytes):
        self.held = held

    def __reduce__(self) -> tuple[Any, ...]:
        return _Moving, (self.held if isinstance(self.held, bytes) else self.held.to_bytes(),)

    def open(self, model: str | bytes | None, secret: Secret, threads: int = 1) -> Sketch:
        if isinstance(self.held, bytes):
            self.held = Sketch.from_bytes(self.held, model=model, secret=secret, threads=threads)
        return self.held


def _maker(budget: int | str, model: Model, seed: int | None, secret: Secret) -> Callable[[], Sketch]:
    """Makes empty sketches; arguments that are wrong are an error at once, not in an executor."""
    model = _bytes(model)
    if seed is None and secret is None:
        seed = 0  # whatever the environment of an executor says

    def make() -> Sketch:
        return Sketch(budget, model=model, seed=seed, secret=secret)

    make()
    return make


def _bytes(model: Model) -> str | bytes | None:
    """Executors may not see the driver's files: a model that is one goes there as its bytes."""
    if model is None or isinstance(model, bytes) or (isinstance(model, str) and _core.is_model(model)):
        return model
    return pathlib.Path(model).read_bytes()


def _column(column: str | Column) -> Column:
    return F.col(column) if isinstance(column, str) else column


def _keys(df: DataFrame, keys: str | Column | Sequence[str | Column]) -> list[str | Column]:
    keys = [keys] if isinstance(keys, (str, Column)) else list(keys)
    for field in df.select(*keys).schema.fields:
        if isinstance(field.dataType, (T.ArrayType, T.MapType, T.StructType, T.VariantType)):
            raise TypeError(f"key {field.name} is {field.dataType.simpleString()}; select what is inside it")
        if field.name == _SKETCH.name:
            raise ValueError("a key can not be called sketch, as the result is; rename it")
    return keys


def _is_item(kind: T.DataType) -> bool:
    if isinstance(kind, T.StructType):
        return all(_is_item(field.dataType) for field in kind.fields)
    return _is_item(kind.elementType) if isinstance(kind, T.ArrayType) else isinstance(kind, _ITEMS)


def _is_weight(kind: T.DataType) -> bool:
    return isinstance(kind, _WEIGHTS)


def _items(df: DataFrame, keys: list[str | Column], column: str | Column, weight: str | Column | None) -> DataFrame:
    """Keys, item and weight, where neither of the last two is null."""
    chosen = []
    for name, given, fits, cast in (
        ("item", column, _is_item, "string, binary, a number, a date or a timestamp"),
        ("weight", weight, _is_weight, "bigint"),
    ):
        if given is None:
            continue
        field = df.select(given).schema[0]
        if not fits(field.dataType):
            raise TypeError(f"column {field.name} is {field.dataType.simpleString()}; cast it to {cast}")
        df = df.where(_column(given).isNotNull())
        chosen.append(_column(given).alias(f"legosketch {name}"))
    return df.select(*keys, *chosen)


def _gather(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of about MANY rows or HELD bytes."""
    few, rows, size = [], 0, 0
    for batch in batches:
        few.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows >= MANY or size >= HELD:
            yield from pa.Table.from_batches(few).combine_chunks().to_batches()
            few, rows, size = [], 0, 0
    if few:
        yield from pa.Table.from_batches(few).combine_chunks().to_batches()


def _split(batch: pa.RecordBatch, keys: int) -> Iterator[tuple[tuple[pa.Scalar, ...], list[pa.Array]]]:
    """(key, [items] or [items, weights]) for each combination of the first `keys` columns."""
    names = [str(i) for i in range(batch.num_columns)]
    table = pa.table(batch.columns, names)
    lists = table.group_by(names[:keys], use_threads=False).aggregate([(name, "list") for name in names[keys:]])
    lists = lists.combine_chunks()
    of_keys = [lists.column(name) for name in names[:keys]]
    of_rows = [lists.column(f"{name}_list").combine_chunks() for name in names[keys:]]
    for i in range(lists.num_rows):
        yield tuple(column[i] for column in of_keys), [column[i].values for column in of_rows]


def _rows(
    schema: T.StructType, types: list[pa.DataType], sketches: dict[tuple[pa.Scalar, ...], Sketch]
) -> pa.RecordBatch:
    """Keys and the bytes of their sketches."""
    columns = [pa.array(column, kind) for column, kind in zip(zip(*sketches), types)]
    saved = pa.array([sketch.to_bytes() for sketch in sketches.values()], pa.binary())
    return pa.record_batch([*columns, saved], schema.names)


def _merge_once(sketches: DataFrame, model: str | bytes | None, secret: Secret) -> DataFrame:
    """Of keys, places and sketches: for each combination of keys its sketches, merged in the order of their places by one
    task. It gets them in that order, since Spark does not sort again what it finds sorted by the keys."""
    schema = T.StructType([*sketches.schema.fields[:-2], _SKETCH])
    keys = schema.names[:-1]

    def merge(key: Tuple[pa.Scalar, ...], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        types: list[pa.DataType] = []

        def found() -> Iterator[Sketch]:
            for batch in batches:
                types[:] = batch.schema.types[: len(key)]
                for saved in batch.column(len(key) + 1):
                    yield Sketch.from_bytes(saved.as_py(), model=model, secret=secret)

        merged = merge_tree(found(), FAN_IN)
        if merged is not None:
            yield _rows(schema, types, {key: merged})

    in_order = sketches.repartition(*keys).sortWithinPartitions(*keys, _PLACE)
    return in_order.groupBy(*keys).applyInArrow(merge, schema)


def _merge_tree(sketches: DataFrame, model: str | bytes | None, secret: Secret) -> Sketch | None:
    """All sketches of the one column there is, merged in the order of their partitions: those of a partition by its
    task; then, in rounds, those of up to FAN_IN partitions by one task; the last few here. None stands for no sketch."""
    fan_in = FAN_IN

    def merge(saved: Iterable[bytes]) -> Sketch | None:
        return merge_tree((Sketch.from_bytes(one, model=model, secret=secret) for one in saved), fan_in)

    def merge_rows(number: int, rows: Iterable[Any]) -> Iterator[tuple[int, bytes]]:
        merged = merge(bytes(row[0]) for row in rows if row[0] is not None)
        if merged is not None:
            yield number, merged.to_bytes()

    def merge_group(group: tuple[int, Iterable[tuple[int, bytes]]]) -> tuple[int, bytes]:
        merged = merge(saved for _, saved in sorted(group[1]))
        assert merged is not None
        return group[0], merged.to_bytes()

    def merge_round(partials: Any, n: int, groups: int) -> Any:
        """Those numbered below n, as so many."""
        return partials.map(lambda one: (one[0] * groups // n, one)).groupByKey(groups).map(merge_group)

    partials = sketches.rdd.mapPartitionsWithIndex(merge_rows)
    n = sketches.rdd.getNumPartitions()
    while n > FAN_IN:
        groups = -(-n // FAN_IN)
        partials, n = merge_round(partials, n, groups), groups
    return merge(saved for _, saved in sorted(partials.collect()))
