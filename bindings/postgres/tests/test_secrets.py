"""Secret seeds go with the database: dumped and restored by whoever owns it, given to others, seen by other sessions."""
import subprocess
import uuid

import psycopg
import pytest

ASK = "SELECT day, lego_estimate(items, 7), lego_total(items + lego_agg(1)) FROM daily, (SELECT 1) t GROUP BY day, items"
OLDEST = "SELECT fingerprint FROM lego_secrets ORDER BY made LIMIT 1"
SHOWN = "SELECT lego_info(lego_empty())->>'seed'"


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(params=["postgres", "lego_owner"])
def owner(request, connection):
    """Of both databases: a superuser, or one who is none."""
    connection.execute("DROP DATABASE IF EXISTS dumped")
    connection.execute("DROP DATABASE IF EXISTS restored")
    connection.execute("DROP ROLE IF EXISTS lego_owner")
    connection.execute("CREATE ROLE lego_owner LOGIN")
    connection.execute(f"CREATE DATABASE dumped OWNER {request.param}")
    connection.execute(f"CREATE DATABASE restored OWNER {request.param}")
    for database in ("dumped", "restored"):
        with psycopg.connect(f"dbname={database}") as made:
            made.execute(f"ALTER SCHEMA public OWNER TO {request.param}")  # which before version 15 is not the database's
    yield request.param
    connection.execute("DROP DATABASE dumped")
    connection.execute("DROP DATABASE restored")
    connection.execute("DROP ROLE lego_owner")


@pytest.mark.parametrize("kind", ["plain", "custom", "inserts"])
def test_dump_and_restore(owner, kind, tmp_path):
    """Values come before the table with their secret, by its name; and the restored database has one of its own."""
    with psycopg.connect(f"dbname=dumped user={owner}", autocommit=True) as dumped:
        dumped.execute("CREATE EXTENSION legosketch")
        dumped.execute("CREATE TABLE daily AS SELECT g % 5 AS day, lego_agg(g % 999) AS items "
                       "FROM generate_series(1, 20000) g GROUP BY day")
        dumped.execute("CREATE MATERIALIZED VIEW total AS SELECT lego_merge_agg(items) AS items FROM daily")
        dumped.execute("CREATE INDEX ON daily (lego_total(items))")
        before = dumped.execute(ASK).fetchall(), dumped.execute("TABLE total").fetchall(), dumped.execute(OLDEST).fetchone()
    if kind == "custom":
        run("pg_dump", "--no-sync", "-U", owner, "-Fc", "-f", tmp_path / "dump", "dumped")
        run("pg_restore", "--exit-on-error", "--no-comments", "-U", owner, "-d", "restored", tmp_path / "dump")
    else:
        script = run("pg_dump", "--no-sync", "--no-comments", "-U", owner, *["--inserts"] * (kind == "inserts"), "dumped")
        assert script.index(b"public.daily ") < script.index(b"public.lego_secrets ")
        run("psql", "-qX", "-v", "ON_ERROR_STOP=1", "-U", owner, "restored", input=script)
    with psycopg.connect(f"dbname=restored user={owner}", autocommit=True) as restored:
        assert restored.execute("SELECT count(*), count(DISTINCT fingerprint) FROM lego_secrets").fetchone() == (2, 2)
        after = restored.execute(ASK).fetchall(), restored.execute("TABLE total").fetchall(), restored.execute(OLDEST).fetchone()
        assert after == before
        assert restored.execute(SHOWN).fetchone() == ("secret:" + before[2][0],)
        restored.execute("DROP EXTENSION legosketch CASCADE")
    if kind == "custom":  # twice: no key is in the way
        for _ in range(2):
            run("pg_restore", "--exit-on-error", "--no-comments", "-U", owner, "-t", "lego_secrets", "-a", "-d", "dumped",
                tmp_path / "dump")
        with psycopg.connect(f"dbname=dumped user={owner}", autocommit=True) as dumped:
            assert dumped.execute("SELECT count(*), count(DISTINCT fingerprint) FROM lego_secrets").fetchone() == (3, 1)


def test_a_copy_of_a_database(owner, connection):
    """... has the same secret, with which sketches merge."""
    with psycopg.connect(f"dbname=dumped user={owner}", autocommit=True) as dumped:
        dumped.execute("CREATE EXTENSION legosketch")
        seed = dumped.execute(SHOWN).fetchone()
    connection.execute("DROP DATABASE restored")
    connection.execute(f"CREATE DATABASE restored TEMPLATE dumped OWNER {owner}")
    with psycopg.connect(f"dbname=restored user={owner}", autocommit=True) as restored:
        assert restored.execute(SHOWN).fetchone() == seed


def test_one_secret_for_two_databases(owner):
    """Given a date, that of one becomes the oldest of the other, which another session sees with its next statement."""
    with (psycopg.connect(f"dbname=dumped user={owner}", autocommit=True) as one,
          psycopg.connect(f"dbname=restored user={owner}", autocommit=True) as other,
          psycopg.connect(f"dbname=restored user={owner}", autocommit=True) as session):
        for database in (one, other):
            database.execute("CREATE EXTENSION legosketch")
        secret, shown = one.execute(f"SELECT secret, ({SHOWN}) FROM lego_secrets").fetchone()
        value = one.execute("SELECT lego_agg(7)::bytea").fetchone()[0]
        assert session.execute(SHOWN).fetchone() != (shown,)
        for way in ("%s::bytea::legosketch", "lego_total(('\\x' || encode(%s, 'hex'))::legosketch)"):
            with pytest.raises(psycopg.errors.InvalidParameterValue, match=shown.removeprefix("secret:")) as error:
                session.execute(f"SELECT {way}", [value])
            assert "lego_secrets" in error.value.diag.message_hint
        other.execute("INSERT INTO lego_secrets VALUES (%s, '-infinity')", [secret])
        assert session.execute(SHOWN).fetchone() == (shown,)
        assert session.execute("SELECT lego_estimate(%s::bytea::legosketch + lego_agg(7), 7)", [value]).fetchone() == (2,)
        other.execute("DELETE FROM lego_secrets WHERE made = '-infinity'")
        assert session.execute(SHOWN).fetchone() != (shown,)


def test_every_database_has_its_own(owner):
    found = set()
    for database in ("dumped", "restored"):
        with psycopg.connect(f"dbname={database} user={owner}", autocommit=True) as connection:
            for _ in range(2):
                connection.execute("CREATE EXTENSION legosketch")
                found.add(connection.execute("SELECT secret FROM lego_secrets").fetchone()[0])
                found.add(connection.execute(SHOWN).fetchone()[0])
                connection.execute("DROP EXTENSION legosketch")
    assert len(found) == 8


def test_who_may_read_all_tables_sees_none(owner):
    name = f"lego_reader_{uuid.uuid4().hex[:8]}"
    with psycopg.connect("dbname=dumped", autocommit=True) as dumped:
        dumped.execute(f"CREATE ROLE {name}; ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO {name}")
        dumped.execute("CREATE EXTENSION legosketch")
        dumped.execute(f"SET ROLE {name}")
        assert dumped.execute("SELECT count(*) FROM lego_secrets").fetchone() == (0,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            dumped.execute("INSERT INTO lego_secrets VALUES ('\\x000102030405060708090a0b0c0d0e0f', '-infinity')")
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):  # which row security does not keep from anybody
            dumped.execute("TRUNCATE lego_secrets")
        assert "secret:" in dumped.execute(SHOWN).fetchone()[0]
        dumped.execute(f"RESET ROLE; DROP OWNED BY {name}; DROP ROLE {name}")
