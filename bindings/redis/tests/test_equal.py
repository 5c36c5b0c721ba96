"""What a key holds is, byte for byte, what the library makes of the same stream elsewhere."""

import os
import subprocess

import pytest
import redis
from legosketch import Sketch
from streams import MODELS, count, reserve, stream


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1])
@pytest.mark.parametrize("top", [None, 20])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("budget", [40000, 5000])
def test_bytes_are_those_of_the_library(server, budget, model, top, seed):
    sketch = reserve(server, "key", budget, model, seed, top)
    counted = stream(6000, seed % 1000)
    count(server, "key", sketch, counted)
    assert server("LEGO.DUMP", "key") == sketch.to_bytes()
    assert sketch.exact == (model == "compact" and budget == 40000)
    items = sorted({item for item, _ in counted}) + [b"never"]
    answers = server("LEGO.QUERY", "key", "WITHBOUNDS", "ITEMS", *items)
    assert [tuple(answer[1:]) for answer in answers] == [sketch.bounds(item) for item in items]
    values = [sketch.estimate(item) for item in items]
    assert all(abs(answer[0] - value) <= 0.5 for answer, value in zip(answers, values))
    assert server("LEGO.QUERY", "key", *items) == [answer[0] for answer in answers]
    singly = server.pipeline([["LEGO.QUERY", "key", item] for item in items[:300]])
    assert singly == [[answer[0]] for answer in answers[:300]]


@pytest.mark.parametrize("top", [None, 20])
def test_questions_are_meant_as_in_the_library(server, top):
    sketch = reserve(server, "key", 6000, top=top)
    counted = stream(20000)
    count(server, "key", sketch, counted)
    assert sketch.keeping > 0
    items = sorted({item for item, _ in counted}) + [f"never {i}".encode() for i in range(500)]
    sums = set()
    for absent in (0, 0.7):
        answers = server("LEGO.QUERY", "key", "ABSENT", absent, "WITHBOUNDS", "ITEMS", *items)
        values = sketch.estimate_many(items, absent=absent)
        bounds = sketch.bounds_many(items, absent=absent)
        assert [tuple(answer[1:]) for answer in answers] == list(zip(*bounds))
        assert all(abs(answer[0] - value) <= 0.5 for answer, value in zip(answers, values, strict=True))
        words = ["LEGO.QUERY", "key", "ABSENT", absent, "ITEMS"]
        assert server(*words, *items) == [answer[0] for answer in answers]
        singly = server.pipeline([[*words, item] for item in items[:300]])
        assert singly == [[answer[0]] for answer in answers[:300]]
        sums.add(sum(values))
    assert len(sums) == 2  # what may never have come is answered otherwise


def test_the_default_model_is_compact(server):
    server("LEGO.RESERVE", "key", "BUDGET", 4096, "SEED", 0)
    assert server("LEGO.DUMP", "key") == Sketch(4096, model="compact").to_bytes()


def test_add_counts_once(server):
    sketch = reserve(server, "key", 20000)
    items = [f"{i % 700}".encode() for i in range(2000)]
    assert server("LEGO.ADD", "key", *items) == 2000
    assert server("LEGO.ADD", "key", "0") == 2001
    sketch.update([*items, b"0"])
    assert server("LEGO.DUMP", "key") == sketch.to_bytes()


def test_deleting_everything(server):
    sketch = reserve(server, "key", 20000)
    counted = stream(2000, deletions=False)
    count(server, "key", sketch, counted)
    count(server, "key", sketch, [(item, -number) for item, number in counted])
    assert server("LEGO.DUMP", "key") == sketch.to_bytes()
    assert sketch.exact and sketch.total == 0 and set(server("LEGO.QUERY", "key", *(item for item, _ in counted))) == {0}


def test_top(server):
    sketch = reserve(server, "key", 40000, top=20)
    assert server("LEGO.TOP", "key") == [] == server("LEGO.TOP", "key", "WITHCOUNT")
    count(server, "key", sketch, [(item, number) for item, number in stream(4000) if len(item) < 200])
    listed = server("LEGO.TOP", "key", "WITHCOUNT")
    expected = sketch.top(20)
    assert len(expected) == 20
    as_bytes = [top.item if isinstance(top.item, bytes) else top.item.encode() for top in expected]
    assert server("LEGO.TOP", "key") == listed[::2] == as_bytes
    assert all(abs(number - top.estimate) <= 0.5 for number, top in zip(listed[1::2], expected, strict=True))


@pytest.mark.parametrize("top", [None, 20])
@pytest.mark.parametrize("model", MODELS)
def test_merge(server, model, top):
    sketches = []
    for i in range(3):
        sketch = reserve(server, f"day{i}", 60000, model, 5, None if top is None else top + i)
        count(server, f"day{i}", sketch, stream(1000, i))
        sketches.append(sketch)
    whole = sketches[0].copy()
    whole.merge(sketches[1])
    whole.merge(sketches[2])
    assert server("LEGO.MERGE", "week", 3, "day0", "day1", "day2") == b"OK"
    assert server("LEGO.DUMP", "week") == whole.to_bytes()
    assert info(server, "week")["top"] == (0 if top is None else top + 2)
    assert info(server, "week")["total"] == whole.total == server("LEGO.INCRBY", "week", "x", 0)
    # Into one of the sources, and one source twice.
    assert server("LEGO.MERGE", "day0", 3, "day1", "day0", "day1") == b"OK"
    again = sketches[1].copy()
    again.merge(sketches[0])
    again.merge(sketches[1])
    assert server("LEGO.DUMP", "day0") == again.to_bytes()
    assert server("LEGO.DUMP", "day1") == sketches[1].to_bytes()


def test_merge_of_one_is_a_copy_and_one_of_half_the_budget_merges(server):
    a, b = reserve(server, "a", 128 * 1024), reserve(server, "b", 64 * 1024)
    count(server, "a", a, stream(500, 1))
    count(server, "b", b, stream(500, 2))
    server("LEGO.MERGE", "copy", 1, "a")
    assert server("LEGO.DUMP", "copy") == a.to_bytes()
    server("LEGO.MERGE", "both", 2, "a", "b")
    a.merge(b)
    assert server("LEGO.DUMP", "both") == a.to_bytes()


@pytest.mark.parametrize("model", MODELS)
def test_merge_of_plain_and_top(server, model):
    """The sum has TOP if the first source has."""
    kept = reserve(server, "kept", 64 * 1024, model, 5, 20)
    fields = info(server, "kept")
    plain = reserve(server, "plain", fields["budget"] - fields["top-budget"] + 64, model, 5)  # a line of the cache less
    assert info(server, "plain")["blocks"] == fields["blocks"]
    count(server, "kept", kept, stream(1000, 1))
    count(server, "plain", plain, stream(1000, 2))
    for first, second, a, b, top in (("kept", "plain", kept, plain, 20), ("plain", "kept", plain, kept, 0)):
        assert server("LEGO.MERGE", "both", 2, first, second) == b"OK"
        both = a.copy()
        both.merge(b)
        assert server("LEGO.DUMP", "both") == both.to_bytes()
        assert info(server, "both")["top"] == top and info(server, "both")["total"] == kept.total + plain.total
    assert len(server("LEGO.TOP", "kept")) == 20


@pytest.mark.parametrize("top", [None, 20])
@pytest.mark.parametrize("model", MODELS)
def test_fold(server, model, top):
    sketch = reserve(server, "key", 600000 if model == "paper" else 30000, model, 0, top)
    count(server, "key", sketch, stream(6000))
    server("COPY", "key", "copy")
    whole = sketch.copy()
    before = info(server, "key")
    half = next(d for d in range(before["blocks"] // 2, 0, -1) if before["blocks"] % d == 0)
    used = server("MEMORY", "USAGE", "key")
    assert server("LEGO.FOLD", "key", half) == b"OK"
    sketch.fold(half)
    assert server("LEGO.DUMP", "key") == sketch.to_bytes()
    after = info(server, "key")
    assert server("MEMORY", "USAGE", "key") < used
    assert (after["blocks"], after["total"], after["top-budget"]) == (half, before["total"], before["top-budget"])
    # A budget: the most that fit it; what fits already stays as it is.
    assert server("LEGO.FOLD", "copy", "BUDGET", before["budget"]) == b"OK"
    assert info(server, "copy") == before
    assert server("LEGO.FOLD", "copy", "budget", after["budget"]) == b"OK"
    whole.fold(budget=after["budget"])
    assert server("LEGO.DUMP", "copy") == whole.to_bytes()
    assert after["budget"] / 2 < info(server, "copy")["budget"] <= after["budget"]
    assert info(server, "copy")["bytes"] <= after["budget"]
    if top is None:
        assert whole == sketch
    else:
        assert len(server("LEGO.TOP", "key")) == len(server("LEGO.TOP", "copy")) == 20


def test_info_of_a_crowded_sketch(server):
    sketch = reserve(server, "key", 5000)
    count(server, "key", sketch, [(f"item{i}".encode(), 1) for i in range(5000)])
    told = info(server, "key")
    assert (told["exact"], told["total"]) == (0, 5000)
    assert float(told["keeping"]) == pytest.approx(sketch.keeping) and 0 < sketch.keeping <= 1
    assert told["distinct"] == round(sketch.distinct) and abs(told["distinct"] - 5000) < 2500
    assert float(told["expected-aae"]) == pytest.approx(sketch.expected_error().absolute)
    assert float(told["expected-are"]) == pytest.approx(sketch.expected_error().relative)


@pytest.mark.parametrize("top", [None, 20])
@pytest.mark.parametrize("model", MODELS)
def test_load(server, model, top):
    sketch = reserve(server, "from", 40000, model, 3, top)
    count(server, "from", sketch, stream(1000))
    assert server("LEGO.LOAD", "to", sketch.to_bytes()) == b"OK"
    assert server("LEGO.DUMP", "to") == sketch.to_bytes()
    assert info(server, "to")["top"] == (0 if top is None else 100)
    assert info(server, "to")["total"] == sketch.total
    if top is not None:
        assert server("LEGO.LOAD", "to", sketch.to_bytes(), "TOP", 7) == b"OK"
        assert server("LEGO.TOP", "to") == server("LEGO.TOP", "from")[:7]
    count(server, "to", sketch, stream(500, 9))
    assert server("LEGO.DUMP", "to") == sketch.to_bytes()


@pytest.mark.parametrize("top", [False, True])
def test_integers_are_8_bytes(server, top):
    """Where a sketch has no other items, "42" would be one that never came: it is refused."""
    sketch = Sketch(40000, top=top)
    sketch.add_many([42, 42, -1])
    raw = [(number % 2**64).to_bytes(8, "little") for number in (42, -1, 7)]
    server("LEGO.LOAD", "key", sketch.to_bytes())
    assert server("LEGO.QUERY", "key", *raw) == [2, 1, 0] == server("LEGO.UNION", 1, "key", "ITEMS", *raw)
    words = [["QUERY", "key", "42"], ["QUERY", "key", raw[0], "42"], ["UNION", 1, "key", "ITEMS", "42"], ["ADD", "key", "42"],
             ["INCRBY", "key", raw[0], 1, "42", 1], ["INCRBY", "key", "42", 1], *([["INTOP", "key", "42"]] if top else [])]
    for word in words:
        with pytest.raises(redis.ResponseError, match="counts integers: an item of it is 8 bytes, little-endian"):
            server("LEGO." + word[0], *word[1:])
    assert server("LEGO.ADD", "key", raw[2]) == 4 and server("LEGO.INCRBY", "key", raw[0], 3, raw[1], 2) == 9
    sketch.add_many([7, 42, 42, 42, -1, -1])
    assert server("LEGO.DUMP", "key") == sketch.to_bytes()  # what its items are included
    server("LEGO.RESERVE", "text", "BUDGET", 40000, "SEED", 0)
    server("LEGO.ADD", "text", "42")
    server("LEGO.MERGE", "both", 2, "text", "key")
    assert server("LEGO.QUERY", "both", "42", raw[0]) == [1, 5]


def test_the_command_reads_what_dump_gives(server, tmp_path):
    lines = b"".join(b"item%d\n" % (i % 300) for i in range(2000))
    command = os.environ["LEGOSKETCH"]
    subprocess.run([command, "build", "-o", tmp_path / "made", "--budget", "40000"], input=lines, check=True)
    server("LEGO.RESERVE", "key", "BUDGET", 40000, "SEED", 0)
    server("LEGO.ADD", "key", *lines.split())
    assert server("LEGO.DUMP", "key") == (tmp_path / "made").read_bytes()


def info(server, key):
    return info_of(server.client, key)


def info_of(client, key):
    words = client.execute_command("LEGO.INFO", key)
    pairs = words.items() if isinstance(words, dict) else zip(words[::2], words[1::2], strict=True)
    return {name.decode(): value for name, value in pairs}


@pytest.mark.parametrize("protocol", [2, 3])
def test_classes_of_counts(server, protocol):
    """How many items come once, twice, 3 to 4, 5 to 8 times and so on: of an exact sketch as it is, of a crowded one about
    so, with standard errors, all together about as many as are distinct."""
    with server.connect(protocol=protocol) as client:
        counts = [1] * 9 + [2] * 5 + [3, 4, 4, 1000, 2**40]
        client.execute_command("LEGO.RESERVE", "key", "BUDGET", 40000)
        client.execute_command("LEGO.INCRBY", "key", *(word for i, n in enumerate(counts) for word in (f"item {i}", n)))
        told = info_of(client, "key")
        classes = [(least, most, n, float(error)) for least, most, n, error in told["classes"]]
        assert classes == [(1, 1, 9, 0), (2, 2, 5, 0), (3, 4, 3, 0), (513, 1024, 1, 0), (2**39 + 1, 2**40, 1, 0)]
        assert [float(told[f"{of}-error"]) for of in ("distinct", "expected-aae", "expected-are")] == [0, 0, 0]
        counts = [1 + (i % 4 == 0) for i in range(100_000)] + [10**6] * 8
        client.execute_command("LEGO.RESERVE", "crowded", "BUDGET", 40000, "SEED", 0)
        client.execute_command("LEGO.INCRBY", "crowded", *(word for i, n in enumerate(counts) for word in (f"item {i}", n)))
        told = info_of(client, "crowded")
        classes = {(least, most): (n, float(error)) for least, most, n, error in told["classes"]}
        for bounds, truth in (((1, 1), 75_000), ((2, 2), 25_000), ((2**19 + 1, 2**20), 8)):
            n, error = classes[bounds]
            assert abs(n - truth) <= 5 * error + 0.5, bounds
        assert classes[1, 1][1] > 0 and classes[2**19 + 1, 2**20] == (8, 0)
        assert 0 < abs(told["distinct"] - 100_008) <= 5 * float(told["distinct-error"])


def test_info(server):
    sketch = reserve(server, "plain", 50000, seed=2**64 - 1)
    count(server, "plain", sketch, stream(1000))
    plain = info(server, "plain")
    assert plain["model"] == b"compact" and plain["seed"] == b"18446744073709551615"
    assert (plain["total"], plain["bytes"], plain["top"]) == (sketch.total, sketch.bytes, 0)
    assert (plain["distinct"], plain["exact"], float(plain["keeping"])) == (sketch.distinct, 1, 0) and sketch.exact
    assert (float(plain["expected-aae"]), float(plain["expected-are"])) == (0, 0)
    assert (plain["budget"], plain["cache-bytes"]) == (sketch.budget, sketch.cache_bytes)
    assert (plain["blocks"], plain["columns"], plain["top-bytes"], plain["top-total"]) == (sketch.blocks, 0, 0, 0)
    reserve(server, "kept", 50000, top=5)
    server("LEGO.INCRBY", "kept", "a", 5, "b", 2)
    kept = info(server, "kept")
    assert (kept["top"], kept["top-total"], kept["total"]) == (5, 7, 7)
    assert kept.keys() == plain.keys() and 50000 / 10 < kept["top-budget"] <= 50000 / 8
    assert 0 < kept["top-bytes"] < kept["bytes"] < 2000  # it is young
    with server.connect(protocol=3) as newer:
        shown = {k.encode(): v for k, v in plain.items()}
        names = ["keeping", *(f"{of}-error" for of in ("distinct", "expected-aae", "expected-are")), "expected-aae", "expected-are"]
        reals = {name.encode(): plain[name] and float(plain[name]) for name in names}
        told = newer.execute_command("LEGO.INFO", "plain")
        del shown[b"classes"], told[b"classes"]
        assert told == {**shown, **reals}
    # redis-cli 7.0 ends at a reply of a type that it does not know.
    shown = subprocess.run(["redis-cli", "-p", str(server.port), "-3", "LEGO.INFO", "plain"], capture_output=True)
    assert (shown.returncode, shown.stderr) == (0, b"") and b"seed 18446744073709551615" in shown.stdout
