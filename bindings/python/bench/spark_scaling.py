"""How time and shuffle of legosketch.spark.sketch_column grow: measured here, and a model of it for larger clusters.

    build/spark_test/environment/bin/python bindings/python/bench/spark_scaling.py     # after `make test`

Measures on a cluster of two workers of one core each (../tests/spark_cluster.py), compares the bytes of every result
with those of one process, fits three constants to some of the runs, tests them on the others, and says what follows
for 10^7 to 10^12 rows. It prints the tables of docs/spark.md.

SPDX-License-Identifier: MIT
"""

import functools
import json
import math
import os
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
MB = 1 << 20
# Of a partition in the second table: what a split of 128 MB, Spark's usual one, holds of 8-byte keys; and below the
# other a sketch of 1 MB is no longer small beside its rows.
ROWS_MOST, ROWS_LEAST = 1 << 24, 10**6

# Rows, partitions, budget in MB. Fitted to the first, tested on the second: those between and beyond.
FITTED = [(10**6, 4, 1), (10**6, 64, 1), (10**7, 4, 1), (10**6, 16, 4)]
TESTED = [(10**6, 24, 1), (10**7, 16, 1), (10**7, 64, 1), (3 * 10**7, 8, 1)]


def rounds(partitions):
    """How many sketches there are before each round, and at last at the driver: the tree of RDD.treeAggregate."""
    depth = 1
    while ls.FAN_IN**depth < partitions:
        depth += 1
    scale = max(math.ceil(partitions ** (1 / depth)), 2)
    sizes = [partitions]
    left = partitions
    while left > scale + left / scale:
        left /= scale
        sizes.append(int(left))
    return sizes


def shuffle_mb(partitions, sketch_mb):
    return sum(rounds(partitions)[:-1]) * sketch_mb


def features(rows, partitions, executors, sketch_mb):
    """What the constants are multiplied with, on the longest path: one job; rows; MB made or merged; tasks."""
    sizes = rounds(partitions)
    waves = [math.ceil(size / executors) for size in sizes]  # tasks that an executor runs one after the other
    merged = sum(wave * before / after for before, after, wave in zip(sizes, sizes[1:], waves[1:]))
    return [1, rows / partitions * waves[0], (waves[0] + merged + sizes[-1]) * sketch_mb, sum(waves)]


def stages(spark):
    context = spark.sparkContext
    url = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages?status=complete"
    with urllib.request.urlopen(url) as answer:
        return {(stage["stageId"], stage["attemptId"]): stage for stage in json.load(answer)}


def settled_stages(spark):
    """Spark's metrics arrive a moment after a job."""
    before, now = None, stages(spark)
    while before != now:
        time.sleep(0.3)
        before, now = now, stages(spark)
    return now


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@functools.cache
def expected(rows, budget):
    sketch = Sketch(budget * MB)
    for start in range(0, rows, 10**6):
        ids = numpy.arange(start, min(rows, start + 10**6), dtype=numpy.int64)
        sketch.add_many(ids * FACTOR % DISTINCT)
    return sketch.to_bytes()


def measure(spark, driver, rows, partitions, budget):
    """The faster of two runs: seconds, MB shuffled, whether the bytes agree, tasks, seconds of the driver's CPU."""
    table = spark.range(0, rows, 1, partitions).selectExpr(f"id * {FACTOR} % {DISTINCT} as item")
    runs = []
    for _ in range(2):
        known = settled_stages(spark)
        cpu, start = cpu_seconds(driver), time.monotonic()
        sketch = ls.sketch_column(table, "item", budget * MB)
        seconds, cpu = time.monotonic() - start, cpu_seconds(driver) - cpu
        new = [stage for key, stage in settled_stages(spark).items() if key not in known]
        shuffled = sum(stage["shuffleWriteBytes"] for stage in new) / MB
        runs.append((seconds, shuffled, sketch.to_bytes(), sum(stage["numTasks"] for stage in new), cpu))
    seconds, shuffled, saved, tasks, cpu = min(runs)
    return seconds, shuffled, all(run[2] == expected(rows, budget) for run in runs), tasks, cpu, len(saved) / MB


def empty_task(spark, executors):
    """Seconds of an executor for a task of Spark's that hands nothing to a Python and gets nothing back."""
    nothing = spark.range(0, 32, 1, 32).where("id < 0").mapInArrow(lambda batches: batches, "id bigint")
    seconds = []
    for _ in range(4):
        start = time.monotonic()
        nothing.rdd.count()
        seconds.append(time.monotonic() - start)
    return min(seconds) * executors / 32


def power(number):
    exponent = int(math.log10(number))
    factor = number // 10**exponent
    return f"10^{exponent}" if factor == 1 else f"{factor}·10^{exponent}"


def duration(seconds):
    for unit, size in ("d", 86400), ("h", 3600), ("min", 60):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.2g} s"


def main():
    measured, empty = {}, []
    with Cluster(here.parents[2] / "build" / "spark-scaling", workers=2) as cluster:
        spark = cluster.session(spark_ui_enabled="true", spark_ui_port="0")
        driver = spark.sparkContext._gateway.proc.pid
        for executors in 2, 1:
            if executors == 1:
                cluster.kill_worker(0)
            measure(spark, driver, 10**6, 32, 1)  # Java compiles, Pythons start
            for run in FITTED + TESTED:
                measured[(*run, executors)] = measure(spark, driver, *run)
            empty.append(empty_task(spark, executors))

    def row(run):
        rows, partitions, budget, executors = run
        return features(rows, partitions, executors, measured[run][5])

    fitted = [run for run in measured if run[:3] in FITTED]
    table = numpy.array([row(run) for run in fitted])
    seconds = numpy.array([measured[run][0] for run in fitted])
    a_task = min(empty)  # measured alone; the others are fitted to what is left, by relative error
    left = seconds - a_task * table[:, 3]
    once, a_row, an_mb = numpy.linalg.lstsq(table[:, :3] / seconds[:, None], left / seconds, rcond=None)[0]
    constants = once, a_row, an_mb, a_task
    a_task_driver = numpy.median([measured[run][4] / measured[run][3] for run in measured if run[1] >= 32])

    print("| rows | partitions | budget | executors | seconds | model | error | MB shuffled | model | same bytes | |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for run, (seconds, shuffled, same, _, _, sketch_mb) in sorted(measured.items()):
        rows, partitions, budget, executors = run
        model = float(numpy.dot(row(run), constants))
        print(f"| {power(rows)} | {partitions} | {budget} MB | {executors} | {seconds:.2f} | {model:.2f} "
              f"| {model / seconds - 1:+.0%} | {shuffled:.1f} | {shuffle_mb(partitions, sketch_mb):.1f} "
              f"| {'yes' if same else 'NO'} | {'fitted' if run in fitted else 'tested'} |")

    def worst(runs):
        errors = [abs(float(numpy.dot(row(run), constants)) / measured[run][0] - 1) for run in runs]
        return f"{numpy.mean(errors):.0%} (worst {max(errors):.0%})"

    tested = [run for run in measured if run not in fitted]
    print(f"\nA job takes {once:.2f} s; of an executor a row takes {a_row * 1e9:.0f} ns, an empty task "
          f"{a_task * 1e3:.0f} ms, a MB of a sketch, made or merged, {an_mb * 1e3:.0f} ms;\n"
          f"a task takes {a_task_driver * 1e3:.1f} ms of the driver's CPU. Mean error of the model {worst(fitted)} "
          f"where fitted, {worst(tested)} where tested.\n")

    clusters = 1, 10, 100, 1000
    print("| rows | " + " | ".join(f"{n} executor{'s' if n > 1 else ''}" for n in clusters) + " |")
    print("|---|" + "---|" * len(clusters))
    for exponent in range(7, 13):
        cells = []
        for executors in clusters:
            partitions = max(math.ceil(10**exponent / ROWS_MOST), min(2 * executors, 10**exponent // ROWS_LEAST))
            seconds = float(numpy.dot(features(10**exponent, partitions, executors, 1), constants))
            seconds = max(seconds, sum(rounds(partitions)) * a_task_driver)
            cells.append(f"{duration(seconds)}, {shuffle_mb(partitions, 1) / 1024:.3g} GB")
        print(f"| 10^{exponent} | " + " | ".join(cells) + " |")
    return 0 if all(run[2] for run in measured.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
