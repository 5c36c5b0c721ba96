"""A sketch lives as long as the database does: dumped, restored; statements that are cancelled; memory."""
import subprocess
import threading
import time

import psycopg
import pytest

ENDLESS = "generate_series(1, 100000) a, generate_series(1, 100000) b"  # ten thousand million rows


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, **options).stdout


@pytest.mark.parametrize("kind", ["plain", "custom"])
def test_dump_and_restore(connection, kind, tmp_path):
    for name in ("dumped", "restored"):
        connection.execute(f"DROP DATABASE IF EXISTS {name}")
        connection.execute(f"CREATE DATABASE {name}")
    with psycopg.connect("dbname=dumped", autocommit=True) as dumped:
        dumped.execute("CREATE EXTENSION legosketch")
        dumped.execute("CREATE TABLE daily AS SELECT g % 5 AS day, lego_agg(g % 999, 65536) AS items, "
                       "lego_top_agg('w' || g % 99, 65536) AS top FROM generate_series(1, 20000) g GROUP BY day")
        dumped.execute("CREATE VIEW total AS SELECT lego_merge_agg(items) AS items FROM daily")
        dumped.execute("CREATE MATERIALIZED VIEW first AS SELECT lego_estimate(items, 1) FROM total")
        dumped.execute("CREATE INDEX ON daily USING hash (items)")
        ask = "SELECT day, items::bytea, top::bytea FROM daily " \
              "UNION ALL SELECT 9, items::bytea, NULL FROM total ORDER BY day"
        before = dumped.execute(ask).fetchall(), dumped.execute("TABLE first").fetchall()
    if kind == "plain":
        script = run("pg_dump", "--no-sync", "dumped")
        assert b"CREATE EXTENSION" in script
        run("psql", "-qX", "-v", "ON_ERROR_STOP=1", "restored", input=script)
    else:
        run("pg_dump", "--no-sync", "-Fc", "-f", tmp_path / "dump", "dumped")
        run("pg_restore", "--exit-on-error", "-d", "restored", tmp_path / "dump")
    with psycopg.connect("dbname=restored") as restored:
        assert (restored.execute(ask).fetchall(), restored.execute("TABLE first").fetchall()) == before


@pytest.mark.parametrize("aggregate", ["lego_agg(a, 1 << 20)", "lego_agg(a, 1, 1 << 24)", "lego_agg(b::text, 65536)",
                                       "lego_top_agg(a, 1 << 20)", "lego_merge_agg(lego_empty(1 << 18))"])
def test_cancel(connection, aggregate):
    with psycopg.connect("", autocommit=True) as other:
        def cancel():
            time.sleep(0.5)
            assert other.execute("SELECT pg_cancel_backend(%s)", [connection.info.backend_pid]).fetchone()[0]
        thread = threading.Thread(target=cancel)
        thread.start()
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute(f"SELECT {aggregate} FROM {ENDLESS}")
        thread.join()
    assert connection.execute("SELECT lego_total(lego_agg(1, 4096))").fetchone() == (1,)


def test_timeout(connection):
    connection.execute("SET statement_timeout = 500")
    with pytest.raises(psycopg.errors.QueryCanceled):
        connection.execute(f"SELECT lego_agg(a, 1 << 20) FROM {ENDLESS}")


def test_memory_of_failed_statements(connection, memory):
    """A state of 1 MB and its buffer are 3 MB while rows are added; forty that failed would be 120."""
    fail = "SELECT lego_agg(g, CASE WHEN g < 200000 THEN 1 ELSE 9223372036854775807 END, 1 << 20) " \
           "FROM generate_series(1, 200000) g"
    for i in range(40):
        with pytest.raises(psycopg.errors.NumericValueOutOfRange):
            connection.execute(fail)
        if i == 4:
            before = memory()
    assert memory() < before + 50


def test_memory_of_many_groups(connection, memory):
    """20,000 groups, all at once, whose sketches have 1.3 GB together: each is made when it is asked for, and goes."""
    connection.execute("SET enable_sort = off")
    connection.execute("SET max_parallel_workers_per_gather = 0")
    before = memory()
    plan = "SELECT g % 20000 AS grp, lego_agg(g, 65536) AS s FROM generate_series(1, 100000) g GROUP BY grp"
    assert "HashAggregate" in str(connection.execute("EXPLAIN " + plan).fetchall())
    assert connection.execute(f"SELECT count(*), sum(octet_length(s::bytea)) FROM ({plan}) t").fetchone()[0] == 20000
    assert memory() < before + 200


def test_memory_of_large_groups(connection, memory):
    """40 groups with sketches of 1 MB that many rows go to, each with a buffer as large."""
    connection.execute("SET enable_sort = off")
    connection.execute("SET max_parallel_workers_per_gather = 0")
    before = memory()
    plan = "SELECT g % 40 AS grp, lego_agg(g, 1 << 20) AS s FROM generate_series(1, 4000000) g GROUP BY grp"
    assert connection.execute(f"SELECT count(*) FROM ({plan}) t WHERE lego_total(s) = 100000").fetchone()[0] == 40
    assert memory() < before + 200
