"""What legosketch.spark.sketch_groups shuffles: of many keys with few items, and of one key with most of them.

    build/spark_test/environment/bin/python bindings/python/bench/spark_groups.py     # after `make test`

Runs on a cluster of two workers (../tests/spark_cluster.py), compares every sketch with that of one process, and prints
the tables of docs/spark.md.

SPDX-License-Identifier: MIT
"""

import json
import pathlib
import sys
import urllib.request

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "tests"))

from legosketch import Sketch
from legosketch import spark as ls
from spark_cluster import Cluster
from spark_scaling import settled_stages

KEYS, ITEMS, BUDGET = 10_000, 20, "300K"
SPREAD, SORTED = f"id % {KEYS}", f"id div {ITEMS}"  # the key of a row: each in all partitions, or each in one
HUGE = 3_000_000  # rows of the key that has most


def largest_read(spark, stages):
    """Bytes of the shuffle that the task which reads most of it reads."""
    context = spark.sparkContext
    most = 0
    for stage in stages:
        url = (f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages/{stage['stageId']}/"
               f"{stage['attemptId']}/taskList?length=1000")
        with urllib.request.urlopen(url) as answer:
            for task in json.load(answer):
                read = task["taskMetrics"]["shuffleReadMetrics"]
                most = max(most, read["localBytesRead"] + read["remoteBytesRead"])
    return most


def run(spark, rows, rounds):
    """{key: bytes of its sketch}, bytes shuffled, and the most that a task read of them."""
    known = settled_stages(spark)
    groups = ls.sketch_groups(rows, "key", "item", BUDGET, rounds=rounds).collect()
    new = [stage for key, stage in settled_stages(spark).items() if key not in known]
    found = {row.key: bytes(row.sketch) for row in groups}
    return found, sum(stage["shuffleWriteBytes"] for stage in new), largest_read(spark, new)


def expected(rows):
    sketches = {}
    table = rows.toArrow()
    for key, items in ls._split(table.combine_chunks().to_batches()[0], 1):
        sketch = Sketch(BUDGET)
        sketch.add_many(*items)
        sketches[key[0].as_py()] = sketch.to_bytes()
    return sketches


def small_keys(spark):
    print(f"| {KEYS:,} keys of {ITEMS} items | partitions | bytes a key, one round | two rounds |\n|---|---|---|---|")
    for name, key in ("each in one partition", SORTED), ("each in all partitions", SPREAD):
        for partitions in 4, 16, 64:
            rows = spark.range(0, KEYS * ITEMS, 1, partitions).selectExpr(
                f"{key} as key", "concat('item ', id * 2654435761 % 1000003) as item")
            cells = []
            for rounds in 1, 2:
                found, shuffled, _ = run(spark, rows, rounds)
                assert found == expected(rows), "the bytes are not those of one process"
                cells.append(f"{shuffled / KEYS:.0f}")
            print(f"| {name} | {partitions} | {' | '.join(cells)} |", flush=True)


def huge_key(spark):
    print(f"\n| {HUGE:,} rows of one key | MB shuffled | of them read by one task |\n|---|---|---|")
    rows = spark.range(0, HUGE, 1, 64).selectExpr("0 as key", "id * 2654435761 % 1000003 as item")
    for rounds in 1, 2:
        found, shuffled, most = run(spark, rows, rounds)
        assert found == expected(rows), "the bytes are not those of one process"
        print(f"| {rounds} round{'s' if rounds > 1 else ''} | {shuffled / 2**20:.1f} | {most / 2**20:.1f} |", flush=True)


def main():
    with Cluster(here.parents[2] / "build" / "spark-groups", workers=2) as cluster:
        spark = cluster.session(spark_ui_enabled="true", spark_ui_port="0", spark_sql_shuffle_partitions="16",
                                spark_sql_adaptive_coalescePartitions_enabled="false")
        small_keys(spark)
        huge_key(spark)


if __name__ == "__main__":
    main()
