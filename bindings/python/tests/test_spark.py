"""legosketch.spark on a real cluster of two workers: while no block of a sketch keeps, its bytes are those of one
process, whatever happens there.

SPDX-License-Identifier: MIT
"""

import datetime
import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import uuid

import pytest

pytest.importorskip("pyspark")
import numpy
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import functions as F

import test_items as items
from legosketch import Sketch, spark as ls
from spark_cluster import Cluster, java_home, processes

if java_home() is None:
    pytest.skip("there is no Java: scripts/setup spark", allow_module_level=True)

PROJECT = pathlib.Path(__file__).parents[3]
GUIDE = PROJECT / "docs" / "spark.md"
OWN_MODEL = PROJECT / "models" / "paper-seed1.lego"
ROWS = 200_000
BUDGET = "512K"  # room for all items: no block of such a sketch keeps
SMALL = "8K"  # in which all do
NUMBERS = numpy.random.default_rng(1).zipf(1.2, ROWS) % 30_000
WORDS = pa.array([None if i % 1000 == 7 else f"word {n}" for i, n in enumerate(NUMBERS)])
WEIGHTS = pa.array([None if i % 100 == 3 else i % 5 for i in range(ROWS)], pa.int32())
SHOPS = pa.array([None if n % 7 == 6 else f"shop {n % 7}" for n in range(ROWS)])
DAYS = pa.array([datetime.date(2026, 1, 1 + n % 3) for n in range(ROWS)])


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("cluster"), workers=2) as cluster:
        cluster.session()
        yield cluster


@pytest.fixture(scope="module")
def table(cluster):
    names = ["word", "number", "weight", "shop", "day"]
    rows = pa.table([WORDS, NUMBERS, WEIGHTS, SHOPS, DAYS], names)
    return cluster.spark.createDataFrame(rows).repartition(4).cache()


def sketch_here(items, counts=None, budget=BUDGET, **options):
    sketch = Sketch(budget, **options)
    sketch.add_many(items, counts)
    assert sketch.keeping == 0  # so that its bytes do not depend on the order
    return sketch


def where(mask, *columns):
    return [column.filter(pa.array(mask)) for column in columns]


@pytest.mark.parametrize("kind", ["string", "binary", "tinyint", "smallint", "int", "bigint"])
def test_a_column_of_every_type(table, kind):
    column = "word" if kind in ("string", "binary") else "number"
    expected = {"string": WORDS, "binary": WORDS, "tinyint": NUMBERS % 100}.get(kind, NUMBERS)
    items = (F.col(column) % 100 if kind == "tinyint" else F.col(column)).cast(kind).alias("item")
    sketch = ls.sketch_column(table.select(items), "item", BUDGET)
    assert sketch.total == len(expected) - (expected.null_count if column == "word" else 0)
    assert sketch.to_bytes() == sketch_here(expected).to_bytes()


def test_the_items_of_python(cluster):
    """Every cell that Spark has of the table of docs/python.md."""
    cells = {
        "boolean": items.BOOLS, "double": items.FLOATS, "float": items.NARROW, "date": items.DATES, "bigint": items.INTEGERS,
        "decimal(38,7)": items.DECIMALS, "timestamp": items.AWARE, "timestamp_ntz": items.INSTANTS, "string": items.TEXTS,
        "struct<a:string,b:int>": {("a", 1): b'["a", 1]', ("b", None): b'["b", null]'},
        "struct<a:timestamp,b:boolean>": {(key, True): items._core.item_bytes((key, True)) for key in items.AWARE},
        "array<double>": {(): b"[]", (0.5, 2.0, None): b"[0.5, 2, null]"},
    }  # fmt: skip
    cluster.spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    columns = [[list(key) if kind.startswith("array") else key for key in values] for kind, values in cells.items()]
    schema = ", ".join(f"c{i} {kind}" for i, kind in enumerate(cells))
    table = cluster.spark.createDataFrame(list(itertools.zip_longest(*columns)), schema).coalesce(1)
    sketches = []
    for i, (kind, values) in enumerate(cells.items()):
        expected = Sketch(BUDGET)
        for key, item in values.items():
            if item is not None:
                expected.add(numpy.float32(key) if kind == "float" else key)
                assert expected.estimate(item) >= 1
        sketches.append(ls.sketch_column(table, f"c{i}", BUDGET))
        assert sketches[-1] == expected, kind
    estimates = table.select(*(ls.estimate(sketch, f"c{i}") for i, sketch in enumerate(sketches))).collect()
    for column, values in zip(zip(*estimates), cells.values()):
        assert sum(map(bool, column)) == sum(item is not None for item in values.values())


@pytest.mark.parametrize("partitions", [1, 3, 17, 40])  # from 17 on the tree has a round
def test_partitions_do_not_matter(table, partitions):
    shuffled = table.repartition(partitions, F.rand(partitions))
    assert ls.sketch_column(shuffled, "word", BUDGET).to_bytes() == sketch_here(WORDS).to_bytes()


@pytest.mark.parametrize("options", [{"model": "paper"}, {"model": str(OWN_MODEL)}, {"model": OWN_MODEL}, {"seed": 7}])
def test_options_arrive(table, options):
    expected = sketch_here(NUMBERS, budget="512K", **options)
    assert ls.sketch_column(table, "number", "512K", **options) == expected
    groups = ls.sketch_groups(table, "day", "number", "512K", **options)
    assert ls.merge_column(groups, model=options.get("model")) == expected


def test_rows_of_a_null_item_or_weight_do_not_count(table):
    both = [word.is_valid and weight.is_valid for word, weight in zip(WORDS, WEIGHTS)]
    words, weights = where(both, WORDS, WEIGHTS)
    sketch = ls.sketch_column(table, "word", BUDGET, weight="weight")
    assert sketch.total == sum(weights.to_pylist())
    assert sketch.to_bytes() == sketch_here(words, weights.cast(pa.int64())).to_bytes()


def test_nothing_gives_an_empty_sketch(cluster, table):
    no_rows = cluster.spark.createDataFrame([], "word string, weight bigint")
    for nothing in (no_rows, table.where("word is null"), table.where("weight is null")):
        sketch = ls.sketch_column(nothing, "word", BUDGET, weight="weight")
        assert sketch.to_bytes() == Sketch(BUDGET).to_bytes()
    assert ls.sketch_groups(no_rows, "weight", "word", BUDGET).count() == 0
    with pytest.raises(ValueError, match="no sketch"):
        ls.merge_column(cluster.spark.createDataFrame([(None,)], "sketch binary"))


def test_what_does_not_fit_is_said_at_once(table):
    with pytest.raises(TypeError, match="column m is map.*; cast it to string"):
        ls.sketch_column(table.select(F.create_map("word", "day").alias("m")), "m")
    with pytest.raises(TypeError, match="cast it to"):
        ls.sketch_column(table.select(F.array(F.expr("interval 1 day"))), "*")
    with pytest.raises(TypeError, match="column shop is string; cast it to bigint"):
        ls.sketch_column(table, "word", weight="shop")
    with pytest.raises(TypeError, match="key pair is struct.*inside"):
        ls.sketch_groups(table.withColumn("pair", F.struct("day", "shop")), "pair", "word")
    with pytest.raises(ValueError, match="key can not be called sketch"):
        ls.sketch_groups(table.withColumnRenamed("day", "sketch"), "sketch", "word")
    with pytest.raises(ValueError):
        ls.sketch_column(table, "word", "1 bit")


def groups_here():
    """{(day, shop): bytes}, each counted alone."""
    groups = {}
    for key in sorted(set(zip(DAYS.to_pylist(), SHOPS.to_pylist())), key=str):
        mask = [day == key[0] and shop == key[1] for day, shop in zip(DAYS.to_pylist(), SHOPS.to_pylist())]
        groups[key] = sketch_here(*where(mask, WORDS), budget="16K").to_bytes()
    return groups


# All 21 sketches of 16 KB at once, or two of them; rounds of which none, some and most have a sketch of a key alone.
@pytest.mark.parametrize("held, rounds", [(ls.HELD, 1), (40 << 10, 1), (ls.HELD, 2), (40 << 10, 3)])
def test_groups(table, held, rounds, monkeypatch):
    monkeypatch.setattr(ls, "HELD", held)
    monkeypatch.setattr(ls, "FAN_IN", 2)
    groups = ls.sketch_groups(table, ["day", "shop"], "word", "16K", rounds=rounds)
    assert groups.columns == ["day", "shop", "sketch"]
    got = {(row.day, row.shop): bytes(row.sketch) for row in groups.collect()}
    assert got == groups_here()


def test_a_task_hands_on_what_is_too_much_to_hold(cluster, monkeypatch):
    """By what sketches take, which grows: empty ones of 20 keys are below the limit, and full ones are not."""
    monkeypatch.setattr(ls, "HELD", 40 << 10)
    monkeypatch.setattr(ls, "merge_groups", lambda sketches, *_, **__: sketches)
    rows = cluster.spark.range(0, 2 * ls.MANY + 1, 1, 1).selectExpr("id % 20 as key", "id")
    assert ls.sketch_groups(rows, "key", "id", "16K").count() == 40  # none is held from one batch of rows to the next


def test_rounds_share_the_sketches_of_a_key(table):
    key = table.select(F.lit("all").alias("key"), "word").repartition(40)
    for rounds in 1, 2, 3:
        groups = ls.sketch_groups(key, "key", "word", BUDGET, rounds=rounds)
        plan = groups._jdf.queryExecution().executedPlan().toString()
        assert len(re.findall(r"legosketch share[^/]*/ 16", plan)) == rounds - 1
        assert [bytes(row.sketch) for row in groups.collect()] == [sketch_here(WORDS).to_bytes()]
    with pytest.raises(ValueError, match="rounds is from 1 to 4"):
        ls.sketch_groups(key, "key", "word", BUDGET, rounds=0)


def test_weights_of_groups(table):
    groups = ls.sketch_groups(table, "day", "number", BUDGET, weight="weight")
    got = {row.day: bytes(row.sketch) for row in groups.collect()}
    for day in set(DAYS.to_pylist()):
        mask = [d == day and weight.is_valid for d, weight in zip(DAYS.to_pylist(), WEIGHTS)]
        numbers, weights = where(mask, pa.array(NUMBERS), WEIGHTS)
        assert got[day] == sketch_here(numbers, weights.cast(pa.int64())).to_bytes()


def test_sketches_in_parquet_merge_later(cluster, table):
    file = str(cluster.folder / "groups.parquet")
    ls.sketch_groups(table, ["day", "shop"], "word", BUDGET).write.parquet(file)
    groups = cluster.spark.read.parquet(file)
    assert ls.merge_column(groups, "sketch").to_bytes() == sketch_here(WORDS).to_bytes()
    days = {row.day: bytes(row.sketch) for row in ls.merge_groups(groups, "day").collect()}
    assert set(days) == set(DAYS.to_pylist())
    for day, saved in days.items():
        assert saved == sketch_here(*where([d == day for d in DAYS.to_pylist()], WORDS)).to_bytes()


def crowded_here(items):
    sketch = Sketch(SMALL)
    sketch.add_many(items)
    assert sketch.keeping > 0
    return sketch


def counts_of(items):
    return dict(zip(*numpy.unique(items, return_counts=True)))


# All have as many rows. Of 40 partitions the tree has a round. Their rows come in one order, since nothing shuffles them.
@pytest.mark.parametrize("partitions", [1, 10, 40])
def test_what_keeps_is_merged_in_the_order_of_the_partitions(cluster, partitions):
    ids = numpy.arange(200_000)
    rows = cluster.spark.range(0, len(ids), 1, partitions).selectExpr("1 as key", "id * id % 10007 as item")
    parts = [part * part % 10007 for part in numpy.array_split(ids, partitions)]
    truth = counts_of(ids * ids % 10007)
    expected = [[Sketch("4K")] for part in parts]
    for (sketch,), part in zip(expected, parts):
        sketch.add_many(part)
    while len(expected) > 1:  # as many as there are tasks, or one in the end
        groups = -(-len(expected) // 16) if len(expected) > 16 else 1
        merged = [[] for _ in range(groups)]
        for i, (sketch,) in enumerate(expected):
            merged[i * groups // len(expected)].append(sketch)
        for first, *others in merged:
            first.merge_many(others)
        expected = [group[:1] for group in merged]
    ways = [ls.sketch_column(rows, "item", "4K")]
    partials = rows.select("item").mapInArrow(partial_of("4K"), "sketch binary")
    ways.append(ls.merge_column(partials))
    if partitions <= 16:  # a key's are all merged at once, by one task
        ways += [Sketch.from_bytes(bytes(row.sketch)) for row in ls.sketch_groups(rows, "key", "item", "4K").collect()]
    for sketch in ways:
        assert sketch == expected[0][0] and sketch.keeping > 0
        assert all(count <= bound for count, bound in zip(truth.values(), sketch.bounds_many(list(truth))[1]))


def partial_of(budget):
    def partial(batches):
        sketch = Sketch(budget)
        for batch in batches:
            sketch.add_many(*batch.columns)
        yield pa.record_batch([pa.array([sketch.to_bytes()], pa.binary())], ["sketch"])

    return partial


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_groups_that_keep_are_the_same_every_time(cluster, rounds):
    rows = cluster.spark.range(0, 100_000, 1, 40).selectExpr("id % 3 as key", "id * id % 10007 as item")
    groups = ls.sketch_groups(rows, "key", "item", "4K", rounds=rounds)
    plan = groups._jdf.queryExecution().executedPlan().toString()
    assert plan.count("Exchange ") == plan.count("Sort ") == rounds  # there is no sort of Spark's own
    first = {row.key: bytes(row.sketch) for row in groups.collect()}
    assert {row.key: bytes(row.sketch) for row in groups.collect()} == first
    ids = numpy.arange(100_000)
    for key, saved in first.items():
        sketch, truth = Sketch.from_bytes(saved), counts_of((ids * ids % 10007)[ids % 3 == key])
        assert sketch.keeping > 0 and sketch.total == sum(truth.values())
        assert all(count <= bound for count, bound in zip(truth.values(), sketch.bounds_many(list(truth))[1]))


def test_what_keeps_counts_all_rows(table):
    truth = counts_of(NUMBERS)
    sketch = ls.sketch_column(table.repartition(17), "number", SMALL)
    assert sketch.keeping > 0 and sketch.total == ROWS
    lower, upper, likely = sketch.bounds_many(list(truth))
    counts = numpy.array(list(truth.values()))
    assert (upper >= counts).all() and (likely >= counts).mean() >= 0.97 and (lower <= counts).mean() >= 0.94


def test_estimate_is_a_column(table):
    for column, items in ("word", WORDS), ("number", NUMBERS):
        sketch = crowded_here(items)
        rows = table.select(column, ls.estimate(sketch, column).alias("count")).distinct().collect()
        asked = pa.array([row[0] for row in rows])
        expected = [None if numpy.isnan(value) else value for value in sketch.estimate_many(asked)]
        assert [row["count"] for row in rows] == expected
        rows = table.select(column, ls.estimate(sketch, column, absent=0.5).alias("count")).collect()
        asked = pa.array([row[0] for row in rows])
        expected = sketch.estimate_many(asked, absent=0.5)
        assert [row["count"] for row in rows] == [None if numpy.isnan(value) else value for value in expected]
        with pytest.raises(ValueError, match="absent is from 0"):  # here, not in an executor
            ls.estimate(sketch, column, absent=1)
    assert None in [row["count"] for row in table.where("word is null").select(
        ls.estimate(sketch_here(WORDS), "word").alias("count")).take(1)]


def test_secret_seeds_come_with_the_functions(table, monkeypatch):
    secret = bytes(range(16))
    expected = sketch_here(WORDS, secret=secret)
    many = table.repartition(8)  # so that sketches move between the rounds of the tree
    assert ls.sketch_column(many, "word", BUDGET, secret=secret) == expected
    groups = ls.sketch_groups(many, "day", "word", BUDGET, secret=secret.hex(), rounds=2).cache()
    assert ls.merge_column(groups.repartition(4), secret=secret) == expected
    for row in groups.collect():
        assert secret not in bytes(row.sketch) and Sketch.from_bytes(row.sketch, secret=secret).fingerprint == expected.fingerprint
    for refused in ls.merge_column, lambda groups: ls.merge_groups(groups.select(F.lit(1).alias("key"), "sketch"), "key").collect():
        with pytest.raises(Exception, match=f"secret seed, whose fingerprint is {expected.fingerprint}"):
            refused(groups)
    with pytest.raises(ValueError, match=expected.fingerprint):  # here, not in an executor
        ls.estimate(expected, "word")
    with pytest.raises(TypeError, match="public or secret"):
        ls.sketch_column(table, "word", seed=1, secret=secret)

    def counts(column):
        return {row[0]: row[1] for row in table.select("word", column).where("word is not null").distinct().collect()}

    assert counts(ls.estimate(expected, "word", secret=secret)) == counts(ls.estimate(sketch_here(WORDS), "word"))
    monkeypatch.setenv("LEGOSKETCH_SEED", secret.hex())  # of the driver
    assert ls.sketch_column(table, "word", BUDGET) == ls.merge_column(groups) == expected
    assert counts(ls.estimate(expected, "word"))["word 1"] == expected["word 1"]
    assert ls.sketch_column(table, "word", BUDGET, seed=0).seed == 0


def test_the_guide(cluster, table, tmp_path):
    """The example of docs/spark.md runs, and its sketches hold what they should."""
    program = re.search("```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)[1]
    program = program.replace('parquet("', f'parquet("{tmp_path}/')
    columns = [F.col("day"), F.col("shop").alias("user"), F.col("word").alias("page"), F.col("weight").alias("seconds")]
    table.select(*columns).write.parquet(f"{tmp_path}/visits")
    names = {"spark": cluster.spark, "F": F}
    exec(program, names)
    assert names["pages"] == sketch_here(WORDS, budget="4M")
    assert [bytes(row.sketch) for row in names["months"].collect()] == [names["year"].to_bytes()]
    assert names["year"] == sketch_here(WORDS, budget="300K")


def test_legosketch_alone_needs_no_spark():
    program = "import sys; sys.modules['pyspark'] = sys.modules['pyarrow'] = None; import legosketch"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("package", ["pyspark", "pyarrow", "pandas"])
def test_what_is_missing_is_named(package):
    program = f"import sys; sys.modules[{package!r}] = None; import legosketch.spark"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.endswith(f"ImportError: legosketch.spark needs {package}: pip install 'legosketch[spark]'\n")


def slow(runs):
    """Takes 0.2 s a partition and leaves a file in `runs` for each time that one is computed."""

    def pass_on(batches):
        time.sleep(0.2)
        pathlib.Path(runs, f"{TaskContext.get().partitionId()}-{uuid.uuid4()}").touch()
        yield from batches

    return pass_on


# First the job goes on with the worker that is left. Then that one goes as well, and a new one takes over.
@pytest.mark.parametrize("index, restart", [(0, False), (1, True)])
def test_a_worker_is_killed(cluster, table, tmp_path, index, restart):
    partitions = 24
    words = table.select("word").repartition(partitions).mapInArrow(slow(tmp_path), "word string")
    result = []
    job = threading.Thread(target=lambda: result.append(ls.sketch_column(words, "word", BUDGET)), daemon=True)
    job.start()
    until = time.monotonic() + 60
    while len(os.listdir(tmp_path)) < 3 * partitions // 4:
        assert time.monotonic() < until and job.is_alive()
        time.sleep(0.02)
    cluster.kill_worker(index)
    if restart:
        cluster.start_worker()
    job.join(120)
    assert not job.is_alive() and result, "the job did not end"
    assert len(os.listdir(tmp_path)) > partitions, "nothing was lost, so nothing was tested"
    assert result[0].to_bytes() == sketch_here(WORDS).to_bytes()


def test_a_killed_program_leaves_no_process(tmp_path):
    program = f"""if True:
        import sys, time
        sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
        from spark_cluster import Cluster
        with Cluster({str(tmp_path)!r}, workers=1) as cluster:
            cluster.session().range(1000).count()
            print("ready", flush=True)
            time.sleep(600)"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"ready\n"
    assert len(processes(str(tmp_path))) >= 4  # master, worker, driver, executor
    child.send_signal(signal.SIGKILL)
    child.wait()
    until = time.monotonic() + 60
    while left := processes(str(tmp_path)):
        assert time.monotonic() < until, left
        time.sleep(0.2)
