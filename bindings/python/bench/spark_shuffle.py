"""What legosketch.spark shuffles: of a column, of many keys with few items, and of one key with all of them.

    build/spark_test/environment/bin/python bindings/python/bench/spark_shuffle.py     # after `make test`

Runs on a cluster of two workers (../tests/spark_cluster.py), prints the tables of docs/spark.md, and checks every
sketch: it has the bytes of one process, or, where blocks keep the heaviest of their items, as many rows, and no upper bound
below a count.

SPDX-License-Identifier: MIT
"""

import json
import pathlib
import sys
import time
import urllib.request

import numpy

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "tests"))

from legosketch import Sketch
from legosketch import spark as ls
from spark_cluster import Cluster

# An item is id * FACTOR mod DISTINCT: a million items in no order, which numpy computes as well as Spark.
FACTOR, DISTINCT = 2654435761, 1_000_003
ITEM = f"id * {FACTOR} % {DISTINCT}"
KEYS, ITEMS, BUDGET = 10_000, 20, "300K"
SORTED, SPREAD = f"id div {ITEMS}", f"id % {KEYS}"  # the key of a row: each in one partition, or each in all
HUGE = 3_000_000  # rows of the key that has all of them
MB = 1 << 20


def ask(spark, path):
    context = spark.sparkContext
    with urllib.request.urlopen(f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/{path}") as answer:
        return json.load(answer)


def stages(spark):
    """Those that are complete. Spark's metrics arrive a moment after a job."""
    before, now = None, {}
    while before != now:
        time.sleep(0.3)
        found = ask(spark, "stages?status=complete")
        before, now = now, {(stage["stageId"], stage["attemptId"]): stage for stage in found}
    return now


def shuffled(spark, job):
    """What the job returns, the bytes that it shuffled, and the most of them that a task read."""
    known = stages(spark)
    result = job()
    new = {key: stage for key, stage in stages(spark).items() if key not in known}
    most = 0
    for stage, attempt in new:
        for task in ask(spark, f"stages/{stage}/{attempt}/taskList?length=1000"):
            read = task["taskMetrics"]["shuffleReadMetrics"]
            most = max(most, read["localBytesRead"] + read["remoteBytesRead"])
    return result, sum(stage["shuffleWriteBytes"] for stage in new.values()), most


def counted(items, budget):
    sketch = Sketch(budget)
    sketch.add_many(items)
    return sketch


def check(saved, items, budget):
    """What Spark made of the items, beside what is made of them here."""
    sketch, expected = Sketch.from_bytes(saved), counted(items, budget)
    if expected.keeping == 0:
        assert sketch == expected
    asked, counts = numpy.unique(items, return_counts=True)
    assert sketch.total == len(items) and (sketch.bounds_many(asked)[1] >= counts).all()


def items_of(ids):
    return ids * FACTOR % DISTINCT


def of_column(spark):
    print("| rows | partitions | budget | MB of the sketch | MB shuffled |\n|---|---|---|---|---|")
    for rows, partitions, budget in (10**6, 16, "1M"), (10**6, 64, "1M"), (10**7, 64, "1M"), (10**6, 64, "4M"):
        table = spark.range(0, rows, 1, partitions).selectExpr(f"{ITEM} as item")
        sketch, size, _ = shuffled(spark, lambda: ls.sketch_column(table, "item", budget))
        saved = sketch.to_bytes()
        check(saved, items_of(numpy.arange(rows, dtype=numpy.int64)), budget)
        print(f"| {rows:,} | {partitions} | {budget}B | {len(saved) / MB:.2f} | {size / MB:.1f} |", flush=True)


def groups(spark, rows, rounds):
    """{key: bytes of its sketch}, bytes shuffled, the most that a task read."""
    found, size, most = shuffled(spark, lambda: ls.sketch_groups(rows, "key", "item", BUDGET, rounds=rounds).collect())
    return {row.key: bytes(row.sketch) for row in found}, size, most


def of_small_keys(spark):
    print(f"\n| {KEYS:,} keys of {ITEMS} items | partitions | bytes a key | in two rounds |\n|---|---|---|---|")
    ids = numpy.arange(KEYS * ITEMS, dtype=numpy.int64)
    for name, key, keys in ("each in one partition", SORTED, ids // ITEMS), ("each in all partitions", SPREAD, ids % KEYS):
        of_key = items_of(ids)[numpy.argsort(keys, kind="stable")].reshape(KEYS, ITEMS)
        expected = {key: counted(items, BUDGET).to_bytes() for key, items in enumerate(of_key)}  # which are exact
        for partitions in 4, 16, 64:
            rows = spark.range(0, KEYS * ITEMS, 1, partitions).selectExpr(f"{key} as key", f"{ITEM} as item")
            cells = []
            for rounds in 1, 2:
                found, size, _ = groups(spark, rows, rounds)
                assert found == expected
                cells.append(f"{size / KEYS:.0f}")
            print(f"| {name} | {partitions} | {' | '.join(cells)} |", flush=True)


def of_a_huge_key(spark):
    print(f"\n| {HUGE:,} rows of one key, in 64 partitions | MB shuffled | MB that one task reads |\n|---|---|---|")
    rows = spark.range(0, HUGE, 1, 64).selectExpr("0 as key", f"{ITEM} as item")
    for rounds in 1, 2:
        found, size, most = groups(spark, rows, rounds)
        check(found[0], items_of(numpy.arange(HUGE, dtype=numpy.int64)), BUDGET)
        print(f"| {rounds} round{'s' if rounds > 1 else ''} | {size / MB:.1f} | {most / MB:.1f} |", flush=True)


def main():
    with Cluster(here.parents[2] / "build" / "spark-shuffle", workers=2) as cluster:
        spark = cluster.session(spark_ui_enabled="true", spark_ui_port="0", spark_sql_shuffle_partitions="16",
                                spark_sql_adaptive_coalescePartitions_enabled="false")
        of_column(spark)
        of_small_keys(spark)
        of_a_huge_key(spark)


if __name__ == "__main__":
    main()
