"""Times lego_agg beside count(*) and an exact GROUP BY, on a server of its own (ten minutes):

    make && bindings/environment.sh build && SERVER_OPTIONS='-c shared_buffers=4GB' \\
        bindings/postgres/tests/server.sh build $PWD/build/engines/environment/bin/python \\
        $PWD/bindings/postgres/bench/aggregate.py

Ten million rows, Zipf 1.0 over a million keys, in shared buffers; sketches of 1 MB. `numbers` and `words` have one
column, so that count(*) has the least to do that it can; `requests` is a web server's log of about 120 bytes a row.
Statements take turns, so that a machine that slows down does so for all; the median of each, and what it is of
count(*) of that table."""
import argparse
import re
import statistics
import time

import psycopg

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=10_000_000)
parser.add_argument("--runs", type=int, default=7)
arguments = parser.parse_args()

STATEMENTS = {
    "count(*)": "SELECT count(*) FROM numbers",
    "count(item)": "SELECT count(item) FROM numbers",
    "sum(item)": "SELECT sum(item) FROM numbers",
    "lego_agg(bigint)": "SELECT lego_agg(item, 1 << 20) FROM numbers",
    "lego_agg(bigint, count)": "SELECT lego_agg(item, 1, 1 << 20) FROM numbers",
    "lego_top_agg(bigint)": "SELECT lego_top_agg(item, 1 << 20) FROM numbers",
    "lego_agg(bigint), 64 KB": "SELECT lego_agg(item, 1 << 16) FROM numbers",
    "GROUP BY bigint": "SELECT count(*) FROM (SELECT item, count(*) FROM numbers GROUP BY item) t",
    "count(*), words": "SELECT count(*) FROM words",
    "lego_agg(text)": "SELECT lego_agg(item, 1 << 20) FROM words",
    "lego_top_agg(text)": "SELECT lego_top_agg(item, 1 << 20) FROM words",
    "GROUP BY text": "SELECT count(*) FROM (SELECT item, count(*) FROM words GROUP BY item) t",
    "count(*), requests": "SELECT count(*) FROM requests",
    "lego_agg, requests": "SELECT lego_agg(visitor, 1 << 20) FROM requests",
    "GROUP BY, requests": "SELECT count(*) FROM (SELECT visitor, count(*) FROM requests GROUP BY visitor) t",
}


def run(connection, statement):
    start = time.perf_counter()
    connection.execute(f"SELECT pg_column_size(x) FROM ({statement}) AS t(x)")
    return time.perf_counter() - start


with psycopg.connect("", autocommit=True) as connection:
    connection.execute("CREATE EXTENSION legosketch")
    # exp(uniform * ln(keys)) has the density 1 / x: Zipf 1.0
    connection.execute("CREATE TABLE numbers AS SELECT floor(exp(random() * ln(1000000)))::bigint AS item "
                       f"FROM generate_series(1, {arguments.rows})")
    connection.execute("CREATE TABLE words AS SELECT 'item ' || item AS item FROM numbers")
    connection.execute("CREATE TABLE requests AS SELECT now() AS at, item AS visitor, '/articles/' || md5(item::text) "
                       "AS path, 200::smallint AS status, 5000 AS bytes, 'Mozilla/5.0 (X11; Linux)' AS agent FROM numbers")
    connection.execute("VACUUM ANALYZE")
    connection.execute("SET work_mem = '256MB'")  # GROUP BY does not spill
    print(f"{arguments.rows:,} rows, {connection.execute('SELECT count(DISTINCT item) FROM numbers').fetchone()[0]:,} "
          f"distinct; server {connection.execute('SHOW server_version').fetchone()[0]}, median of {arguments.runs}")
    for workers, jit in ((0, "off"), (2, "off"), (0, "on")):
        connection.execute(f"SET max_parallel_workers_per_gather = {workers}")
        connection.execute(f"SET jit = {jit}")
        times = {name: [] for name in STATEMENTS}
        for _ in range(arguments.runs):
            for name, statement in STATEMENTS.items():
                times[name].append(run(connection, statement))
        print(f"\n{'parallel, 2 workers' if workers else 'serial'}, JIT {jit}")
        for name, all_times in times.items():
            table = re.search(r"FROM (\w+)", STATEMENTS[name].replace("FROM (", "")).group(1)
            count = times["count(*)" if table == "numbers" else f"count(*), {table}"]
            ratio = statistics.median(a / b for a, b in zip(all_times, count))
            print(f"  {name:24} {statistics.median(all_times):6.3f} s   {ratio:5.2f} of count(*)   "
                  f"{arguments.rows / statistics.median(all_times) / 1e6:6.1f} M rows/s")
