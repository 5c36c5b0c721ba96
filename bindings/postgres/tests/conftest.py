"""A connection to the server that server.sh started, which no test may bring down."""
import os
import pathlib

import psycopg
import pytest


@pytest.fixture(scope="session", autouse=True)
def server():
    with psycopg.connect("", autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS legosketch")
        started = connection.execute("SELECT pg_postmaster_start_time()").fetchone()
    yield
    with psycopg.connect("") as connection:
        assert connection.execute("SELECT pg_postmaster_start_time()").fetchone() == started
    log = pathlib.Path(os.environ["SERVER_LOG"]).read_text(errors="replace")
    assert "database system is ready" in log
    for word in ("terminated by signal", "PANIC", "server process", "out of memory"):
        assert word not in log, log


@pytest.fixture
def connection():
    with psycopg.connect("", autocommit=True) as connection:
        yield connection


@pytest.fixture
def memory(connection):
    """Megabytes that the connection's process has had at most."""
    def most():
        status = pathlib.Path(f"/proc/{connection.info.backend_pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024
    return most
