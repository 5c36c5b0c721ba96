"""Times "the last 24 hours", the recipe of docs/postgres.md, on a server of its own (a minute):

    make && bindings/environment.sh build && bindings/postgres/tests/server.sh build \\
        $PWD/build/engines/environment/bin/python $PWD/bindings/postgres/bench/hours.py

48 hours of Zipf 1.0 items, a sketch an hour, of several budgets; medians."""
import argparse
import statistics
import time

import psycopg

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=200_000, help="an hour")
parser.add_argument("--runs", type=int, default=15)
arguments = parser.parse_args()

LAST = "FROM hourly WHERE hour > (SELECT max(hour) FROM hourly) - interval '24 hours'"
STATEMENTS = {
    "one item of the last 24 hours": f"SELECT lego_estimate(lego_merge_agg(pages), 'item 7') {LAST}",
    "1,000 items of the last 24 hours":
        "SELECT lego_estimates(m, ARRAY(SELECT 'item ' || g FROM generate_series(1, 1000) g)) "
        f"FROM (SELECT lego_merge_agg(pages) AS m {LAST}) t",
    "an upsert of one item": "INSERT INTO hourly VALUES ('2026-01-03 00:00', lego_empty('64kB')) ON CONFLICT (hour) "
                             "DO UPDATE SET pages = lego_add(hourly.pages, 'item 7')",
    "the 24 hours before each of 48": "SELECT sum(lego_total(m)) FROM (SELECT lego_merge_agg(pages) OVER "
                                      "(ORDER BY hour RANGE '23 hours' PRECEDING) AS m FROM hourly) t",
}


def timed(connection, statement):
    start = time.perf_counter()
    connection.execute(statement)
    return time.perf_counter() - start


with psycopg.connect("", autocommit=True) as connection:
    connection.execute("CREATE EXTENSION legosketch")
    connection.execute("CREATE TABLE events AS SELECT '2026-01-01'::timestamptz + h * interval '1 hour' AS hour, "
                       "'item ' || floor(exp(random() * ln(100000)))::int AS page "
                       "FROM generate_series(1, 48) h, generate_series(1, %s) g", [arguments.rows])
    print(f"{arguments.rows:,} events an hour; server {connection.execute('SHOW server_version').fetchone()[0]}, "
          f"median of {arguments.runs}")
    for budget in ("64kB", "1MB"):
        connection.execute("DROP TABLE IF EXISTS hourly")
        connection.execute("CREATE TABLE hourly (hour timestamptz PRIMARY KEY, pages legosketch NOT NULL)")
        connection.execute("INSERT INTO hourly SELECT hour, lego_agg(page, %s::text) FROM events GROUP BY hour", [budget])
        shown = connection.execute("SELECT lego_show(pages) FROM hourly LIMIT 1").fetchone()[0]
        print(f"\nbudget {budget}: an hour has {shown}")
        for name, statement in STATEMENTS.items():
            taken = [timed(connection, statement) for _ in range(arguments.runs)]
            print(f"  {name:34} {1000 * statistics.median(taken):8.2f} ms")
