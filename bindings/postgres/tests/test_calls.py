"""Every function, aggregate, operator and cast of the extension, as the server lists them, with arguments that are random,
at the edges, of the wrong type, or damaged sketches. What comes is a value or an error that has a name; sketches that come
can be loaded again, and the server stays up. By hand, for a million calls and another seed:

    CALLS=1000000 SEED=2 bindings/postgres/tests/server.sh build \\
        $PWD/build/engines/environment/bin/python -m pytest -sq $PWD/bindings/postgres/tests/test_calls.py

and with the library and the extension under sanitizers. Debian's server hangs with them, so it is one that versions.sh
has fetched:

    cmake -S . -B build/asan -DLEGO_SANITIZE=address,undefined && cmake --build build/asan --target legosketch_static
    export LD_PRELOAD=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so)
    export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 PROFILE='-fsanitize=address,undefined -fno-sanitize-recover=all'
    PG_CONFIG=$(ls $PWD/build/engines/servers/18/postgresql*/bin/pg_config) CALLS=6000 \\
        bindings/postgres/tests/server.sh build/asan …
"""
import collections
import os
import random

import psycopg
import test_fuzz

CALLS = int(os.environ.get("CALLS", 8000))
SEED = int(os.environ.get("SEED", 1))
EACH_SESSION = 5000

# What may be refused, by the first two or all letters of its code: data, syntax and types that do not fit, what is not
# supported, what is too large, and what takes too long on a machine that others use. XX000 is for what is not foreseen.
ALLOWED = ("22", "42", "0A000", "54000", "39P01", "57014")

# Statements of hundreds of MB are tried elsewhere (test_server.py).
BUDGETS = ("4096", "4700", "5000", "65536", "8192", "100000", "1048576", "20480", "30000", "6000", "4095", "-1",
           "9223372036854775807", "1073741824", "NULL")
INTEGERS = ("0", "1", "-1", "2", "7", "100", "247", "2147483647", "-2147483648", "4294967296", "9223372036854775807",
            "(-9223372036854775807 - 1)", "2305843009213693951", "1152921504606846976", "NULL")
DOUBLES = ("0", "1", "0.5", "0.999999", "-0.1", "'NaN'", "'Infinity'", "'-Infinity'", "1e-320", "1e308", "NULL")
TEXTS = ("''", "'a'", "'42'", "'-9223372036854775808'", "'18446744073709551616'", "'compact'", "'paper'", "'64kB'", "'8 kB'",
         "'1e3'", "'-5 MB'", "'Größe'", "repeat('long', 70)", "repeat('y', 3000)", r"E'\x01\t\n'", "'\\x00'", "NULL")
NUMERICS = ("1", "1.5", "'NaN'", "1e400", "-9223372036854775809", "9223372036854775808", "0.0", "NULL", "2305843009213693952",
            "-3")
ITEMS = ("1", "7::smallint", "-5::bigint", "9223372036854775807", "2.50", "1e300::numeric", "'NaN'::numeric", "0.1::float8",
         "'-Infinity'::float8", "'NaN'::float4", "-0.0::float8", "true", "'a'::text", "'b'::varchar(3)", "'c '::char(4)",
         "'n'::name", "'\\x'::bytea", "'\\x0100000000000000'::bytea", "decode(repeat('ff', 300), 'hex')", "'infinity'::date",
         "'4713-01-01 BC'::date", "'2026-11-18'::date", "'-infinity'::timestamp", "'294276-12-31 23:59:59.999999'::timestamp",
         "'2026-11-18 12:00+05:30'::timestamptz", "'4714-11-24 00:00:00+00 BC'::timestamptz", "'24:00:00'::time", "'{}'::jsonb",
         "'[1, {\"a\": null}, \"b\"]'::jsonb", "gen_random_uuid()", "'3 days'::interval", "point(1, 2)", "ROW(1, 'a')",
         "'{1,2}'::int[]", "'<a/>'::json::text", "'(1,2)'::int4range", "NULL::int", "NULL", "'unknown'", "1::oid", "'{}'::json",
         "12::money", "B'101'", "'colour'::fuzz_enum", "5::fuzz_domain", "repeat('z', 239)", "'Ω'::text")
ARRAYS = ("'{}'::int[]", "'{1,2,NULL,2147483647}'::int[]", "'{{1,2},{3,4}}'::bigint[]", "'[-3:-2]={5,6}'::int[]",
          "'{a,NULL,\"\"}'::text[]", "'{NaN,0.5,1e300}'::float8[]", "'{NaN,1.50}'::numeric[]", "'{t,f}'::bool[]",
          "array_agg_of(3000)", "'{\"\\\\x01\"}'::bytea[]", "'{infinity}'::timestamp[]", "NULL::int[]", "NULL", "'{1}'",
          "'{\"[1,2)\"}'::int4range[]", "ARRAY[NULL]::uuid[]", "'{colour}'::fuzz_enum[]")
SETTINGS = ("legosketch.secret_seeds = on", "legosketch.secret_seeds = off", "jit = off", "work_mem = '64kB'",
            "work_mem = '4MB'", "enable_hashagg = off", "enable_hashagg = on", "extra_float_digits = -15", "DateStyle = 'German'",
            "TimeZone = 'Asia/Kolkata'", "bytea_output = 'escape'", "search_path = public", "transaction_read_only = off")


def literal(data):
    return "'\\x" + data.hex() + "'"


def sketch(dice, depth):
    """A value of the type, or what was one."""
    kind = dice.randrange(12)
    if kind < 2:
        return f"(SELECT s FROM fuzz_sketches WHERE id = {dice.randrange(12)})"
    if kind == 2:
        return literal(dice.choice(test_fuzz.SEEDS)) + dice.choice(("::legosketch", "::bytea::legosketch", ""))
    if kind < 5:
        return literal(test_fuzz.mutant(dice)) + dice.choice(("::legosketch", "::bytea::legosketch", "", "::bytea"))
    if kind == 5:
        return dice.choice(("NULL", "NULL::legosketch", "'x'", "'\\x4g'::legosketch", "1", "'a'::text"))
    if kind < 8 and depth < 2:
        name = dice.choice(("lego_plus", "lego_minus", "lego_fold", "lego_fold_within", "lego_add", "lego_add"))
        second = {"lego_plus": "legosketch", "lego_minus": "legosketch", "lego_add": "\"any\""}.get(name, "bigint")
        return f"{name}({sketch(dice, depth + 1)}, {argument(dice, second, depth + 1)})"
    if kind < 10:
        aggregate = dice.choice(("lego_agg", "lego_top_agg"))
        item = dice.choice(("g", "g::text", "g / 2.0", "'w' || g % 50", "g % 7"))
        more = dice.choice(("", "", ", 4096", ", 1, 8192", ", g, 65536", ", -g, 8192, 5", ", 1, 20480, NULL, 'paper'"))
        return f"(SELECT {aggregate}({item}{more}) FROM generate_series(1, {dice.choice((0, 1, 30, 2000))}) g)"
    return f"lego_empty({dice.choice(BUDGETS[:9])}::bigint, {dice.choice(INTEGERS[:3] + ('NULL',))}, {dice.choice(TEXTS[5:7])}, " \
           f"{dice.choice(('true', 'false'))})"


def argument(dice, kind, depth=0):
    if dice.randrange(40) == 0:
        kind = dice.choice(("text", "legosketch", "bigint", '"any"', "anyarray"))
    if kind == "legosketch":
        return sketch(dice, depth)
    if kind == "bytea":
        return dice.choice((literal(test_fuzz.mutant(dice)), literal(dice.choice(test_fuzz.SEEDS)), "''", "NULL",
                            literal(dice.randbytes(16)), literal(dice.randbytes(dice.randrange(100))))) + "::bytea"
    if kind in ("bigint", "integer"):
        return f"({dice.choice(INTEGERS + BUDGETS)})" + dice.choice(("", "::bigint"))
    if kind == "double precision":
        return dice.choice(DOUBLES)
    if kind == "numeric":
        return dice.choice(NUMERICS + INTEGERS)
    if kind == "boolean":
        return dice.choice(("true", "false", "NULL"))
    if kind == "text":
        return dice.choice(TEXTS)
    if kind == "cstring":
        return literal(test_fuzz.mutant(dice)) + dice.choice(("", "::cstring")) if dice.randrange(4) else dice.choice(TEXTS)
    if kind == "anyarray":
        return dice.choice(ARRAYS)
    if kind == "internal":
        return dice.choice(("NULL", "NULL", "'x'", "1"))
    return dice.choice(ITEMS)  # "any"


def items_of_rows(dice, kind):
    """An argument of an aggregate: of many rows, or the same in all."""
    if kind == '"any"' or kind == "text":
        return dice.choice(("g", "g % 10", "'w' || g", "g::float8 / 3", "nullif(g % 3, 0)", "md5(g::text)",
                            argument(dice, '"any"'), argument(dice, "text")))
    if kind == "legosketch":
        return dice.choice((sketch(dice, 1), "lego_add(NULL, g)", "(SELECT s FROM fuzz_sketches WHERE id = g % 12)"))
    return argument(dice, kind)


def options_of(dice):
    count = dice.choice(("1", "g", "-g", "g - 20", "NULL", *INTEGERS, *NUMERICS))
    values = [count, dice.choice((*BUDGETS, "'64kB'", "'8 kB'")), dice.choice((*INTEGERS, "g")),
              dice.choice(("'compact'::text", "'compact'::text", "'paper'::text", "'none'::text", "1"))]
    some = values[:dice.randrange(1, 5)] if dice.randrange(2) else values[1:2]
    return some + [dice.choice(ITEMS)] * (dice.randrange(30) == 0)


def aggregate(dice, name, kinds):
    given = [items_of_rows(dice, kinds[0])]
    if kinds[-1] == "VARIADIC":
        given += options_of(dice)
    call = f"{name}({', '.join(given)}" + (" ORDER BY g)" if dice.randrange(8) == 0 else ")")
    if dice.randrange(10) == 0:
        call += f" FILTER (WHERE g % {dice.randrange(1, 5)} = 0)"
    most = 40 if kinds[0] == "legosketch" else 5000  # of sketches that may have a megabyte each
    rows = f"FROM generate_series(1, {min(most, dice.choice((0, 1, 3, 40, 40, 500, 5000)))}) g"
    if dice.randrange(4) == 0 and "ORDER BY" not in call:
        frame = dice.choice(("ROWS 3 PRECEDING", "ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING", "RANGE 5 PRECEDING",
                             "ROWS BETWEEN 3 FOLLOWING AND 5 FOLLOWING", "ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW"))
        return f"SELECT {call} OVER (ORDER BY g {frame}) FROM generate_series(1, {dice.choice((1, 5, 40))}) g"
    if dice.randrange(4) == 0:
        return f"SELECT {call} {rows} GROUP BY g % {dice.choice((1, 3, 50))}"
    return f"SELECT {call} {rows}"


FUNCTIONS = """
SELECT p.proname, p.prokind::text, p.provariadic <> 0, array(SELECT t::regtype::text FROM
    unnest(p.proargtypes) WITH ORDINALITY u(t, i) ORDER BY i), p.pronargdefaults FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid
WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
    AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'legosketch') ORDER BY p.oid"""
OPERATORS = """
SELECT oprname FROM pg_operator WHERE oprleft = 'legosketch'::regtype ORDER BY oid"""
SETUP = """
CREATE TYPE fuzz_enum AS ENUM ('colour');
CREATE DOMAIN fuzz_domain AS int CHECK (VALUE < 100);
CREATE FUNCTION array_agg_of(n int) RETURNS bigint[] LANGUAGE sql AS 'SELECT array_agg(g) FROM generate_series(1, n) g';
CREATE TABLE fuzz_sketches (id int, s legosketch);
"""
CLEAN = "DROP TABLE fuzz_sketches; DROP FUNCTION array_agg_of(int); DROP DOMAIN fuzz_domain; DROP TYPE fuzz_enum"


def statement(dice, functions, operators):
    kind = dice.randrange(10)
    if kind == 0:
        return f"SELECT ({sketch(dice, 0)}) {dice.choice(operators)} ({sketch(dice, 0)})"
    if kind == 1:
        return f"SELECT CAST({argument(dice, 'bytea')} AS legosketch)" if dice.randrange(2) else \
               f"SELECT CAST({sketch(dice, 0)} AS {dice.choice(('bytea', 'text', 'legosketch', 'int'))})"
    name, prokind, variadic, kinds, defaults = dice.choice(functions)
    if "internal" in kinds and dice.randrange(20):  # part of an aggregate, and not to be called
        return statement(dice, functions, operators)
    if prokind == "a":
        return aggregate(dice, name, [*kinds[:-1], "VARIADIC"] if variadic else kinds)
    given = [argument(dice, kind) for kind in kinds]
    given = given[:len(given) - dice.randrange(defaults + 1)]
    if variadic:
        given += options_of(dice)
    call = f"{name}({', '.join(given)})"
    if dice.randrange(20) == 0:
        return f"SELECT * FROM {call} t LIMIT 5"
    return f"SELECT {call}" + " FROM generate_series(1, 3)" * (dice.randrange(10) == 0)


def is_named(error):
    """Ours say what to do too."""
    known = error.sqlstate is not None and error.sqlstate.startswith(ALLOWED)
    message = error.diag.message_primary or ""
    return known and (not message.startswith("legosketch:") or error.diag.message_hint is not None)


def reload(connection, data):
    """A sketch that the server made, as text or not, is one."""
    data = data if data.startswith(b"LEGOSKCH") else bytes.fromhex(data.removeprefix(b"\\x").decode())
    try:
        assert connection.execute("SELECT %s::bytea::legosketch::bytea", [data], binary=True).fetchone()[0] == data
    except psycopg.errors.InvalidParameterValue as error:
        assert "does not know the secret seed" in str(error)


def session():
    connection = psycopg.connect("", autocommit=True)
    connection.execute("SET statement_timeout = '60s'")
    connection.add_notice_handler(lambda notice: None)
    return connection


def test_calls(memory):
    dice = random.Random(SEED)
    with session() as connection:
        connection.execute(SETUP)
        for i, data in enumerate(test_fuzz.SEEDS):
            connection.execute("INSERT INTO fuzz_sketches VALUES (%s, %s::bytea::legosketch)", [i, data])
        functions = connection.execute(FUNCTIONS).fetchall()
        operators = [name for (name,) in connection.execute(OPERATORS)]
        called = collections.Counter()
        try:
            run(dice, functions, operators, called)
        finally:
            connection.execute(CLEAN)
    assert called["values"] > CALLS / 5 and called["errors"] > CALLS / 5, called
    print(f"\n{CALLS} calls, seed {SEED}: {called['values']} values, {called['errors']} errors of {called['codes']} kinds")


def run(dice, functions, operators, called):
    codes = set()
    connection = session()
    sketches = connection.execute("SELECT 'legosketch'::regtype::oid").fetchone()[0]
    for n in range(CALLS):
        if n % EACH_SESSION == EACH_SESSION - 1:
            connection.close()
            connection = session()
        if dice.randrange(20) == 0:
            connection.execute(b"SET " + dice.choice(SETTINGS).encode())
        asked = statement(dice, functions, operators)
        try:
            result = connection.execute(asked.encode(), binary=dice.randrange(2) == 0).pgresult
        except psycopg.Error as error:
            assert is_named(error), (n, error.sqlstate, str(error), error.diag.message_hint, asked[:2000])
            called["errors"] += 1
            codes.add((error.sqlstate, error.diag.source_function))
            continue
        called["values"] += 1
        if result.ftype(0) == sketches and result.ntuples > 0 and result.get_value(0, 0) is not None:
            reload(connection, result.get_value(0, 0))
    connection.close()
    called["codes"] = len(codes)
