"""Times many small sketches: 10,000 groups of 20 distinct items, on a server of its own (a minute):

    make && bindings/environment.sh build && bindings/postgres/tests/server.sh build \\
        $PWD/build/engines/environment/bin/python $PWD/bindings/postgres/bench/small.py

For sketches with a budget of 64 KB and of 300 KB. Statements take turns, so that a machine that slows down does so for
all; the median of each, and what it is of count(*) by group."""
import argparse
import statistics
import time

import psycopg

parser = argparse.ArgumentParser()
parser.add_argument("--groups", type=int, default=10_000)
parser.add_argument("--runs", type=int, default=5)
arguments = parser.parse_args()

# Statements see the table `visits` (team, item), and `sketches` (team, sketch), which is made of it.
AGGREGATE = "SELECT team, lego_agg(item, {budget}) AS sketch FROM visits GROUP BY team"
STATEMENTS = {
    "count(*) GROUP BY team": "SELECT count(n) FROM (SELECT team, count(*) AS n FROM visits GROUP BY team) t",
    "count(*) GROUP BY team, item": "SELECT count(n) FROM (SELECT count(*) AS n FROM visits GROUP BY team, item) t",
    "array_agg(item) GROUP BY team":
        "SELECT count(items) FROM (SELECT team, array_agg(item) AS items FROM visits GROUP BY team) t",
    "lego_agg GROUP BY team": f"SELECT count(sketch) FROM ({AGGREGATE}) t",
    "counts, into a table": "CREATE TABLE made AS SELECT team, count(*) FROM visits GROUP BY team",
    "exact counts, into a table":
        "CREATE TABLE made AS SELECT team, item, count(*) FROM visits GROUP BY team, item",
    "sketches, into a table": f"CREATE TABLE made AS {AGGREGATE}",
    "one item of every sketch": "SELECT sum(lego_estimate(sketch, 'item 7')) FROM sketches",
    "the merge of all": "SELECT lego_total(lego_merge_agg(sketch)) FROM sketches",
    "lego_add to every sketch": "SELECT count(lego_add(sketch, 'item 7')) FROM sketches",
    "lego_total of every sketch": "SELECT sum(lego_total(sketch)) FROM sketches",
}


def timed(connection, statement):
    start = time.perf_counter()
    connection.execute(statement)
    taken = time.perf_counter() - start
    connection.execute("DROP TABLE IF EXISTS made")
    return taken


with psycopg.connect("", autocommit=True) as connection:
    connection.execute("CREATE EXTENSION legosketch")
    connection.execute("SET max_parallel_workers_per_gather = 0")
    connection.execute("CREATE TABLE visits AS SELECT (g %% %s)::int AS team, 'item ' || g / %s + g %% 7 AS item "
                       "FROM generate_series(0, 20 * %s - 1) g", 3 * [arguments.groups])
    connection.execute("VACUUM ANALYZE visits")
    print(f"{arguments.groups:,} sketches of 20 items; server {connection.execute('SHOW server_version').fetchone()[0]}, "
          f"median of {arguments.runs}")
    for budget in (1 << 16, 300_000):
        connection.execute("DROP TABLE IF EXISTS sketches")
        connection.execute("CREATE TABLE sketches AS " + AGGREGATE.format(budget=budget))
        connection.execute("VACUUM ANALYZE sketches")
        size, table = connection.execute("SELECT avg(pg_column_size(sketch)), pg_relation_size('sketches') / count(*) "
                                         "FROM sketches").fetchone()
        print(f"\nbudget {budget:,}: pg_column_size {size:.0f}, {table} bytes of the table a row")
        times = {name: [] for name in STATEMENTS}
        for _ in range(arguments.runs):
            for name, statement in STATEMENTS.items():
                times[name].append(timed(connection, statement.format(budget=budget)))
        for name, taken in times.items():
            ratio = statistics.median(a / b for a, b in zip(taken, times["count(*) GROUP BY team"]))
            print(f"  {name:30} {1000 * statistics.median(taken):8.1f} ms  {ratio:6.2f}")
