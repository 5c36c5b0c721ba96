"""What is refused says why, and changes nothing."""

import math
import re
import resource

import pytest
import redis
from legosketch import Sketch
from server import Server

ERROR = redis.exceptions.ResponseError


def refused(server, *words):
    """The words of the error; no key is changed."""
    before = server("DEBUG", "DIGEST")
    with pytest.raises(ERROR) as error:
        server(*words)
    assert server("DEBUG", "DIGEST") == before
    return str(error.value)


@pytest.fixture
def keys(server):
    server("LEGO.RESERVE", "plain", "BUDGET", 20000)
    server("LEGO.RESERVE", "kept", "BUDGET", 20000, "TOP", 10)
    server("LEGO.RESERVE", "brick", "BUDGET", 20000, "MODEL", "paper")
    server("LEGO.ADD", "plain", "a", "b")
    server("LEGO.ADD", "kept", "a", "b")
    server("SET", "text", "x")
    return server


@pytest.mark.parametrize(
    "words",
    [
        "RESERVE", "RESERVE k", "RESERVE k BUDGET", "RESERVE k BUDGET 10000 TOP", "INCRBY plain", "INCRBY plain a",
        "INCRBY plain a 1 b", "INCRBY plain ESTIMATES ITEMS a", "INCRBY plain NOCREATE a 1", "ADD plain", "QUERY plain", "TOP", "TOP kept 1 WITHCOUNT ABOVE 1 x", "INTOP kept", "CARD", "CARD plain x", "UNION 1 plain", "MERGE d", "MERGE d 1",
        "FOLD plain", "FOLD plain BUDGET 1 1", "INFO", "INFO plain x", "DUMP", "DUMP plain x", "LOAD d", "LOAD d x TOP",
        "LOAD d x TOP 1 1",
    ],
)  # fmt: skip
def test_arity(keys, words):
    assert "wrong number of arguments" in refused(keys, *("LEGO." + words).split())


@pytest.mark.parametrize(
    "words",
    ["INCRBY k a 1", "INCRBY k a 1 b 1", "ADD k a", "QUERY k a", "QUERY k a b", "TOP k", "FOLD k 1", "INFO k", "DUMP k", "CARD k",
     "INTOP k a", "UNION 1 k ITEMS a", "INCRBY k NOCREATE ITEMS a 1",
     "MERGE d 1 k", "MERGE d 2 plain k"],
)  # fmt: skip
def test_keys_that_are_not_there(keys, words):
    assert "no such sketch" in refused(keys, *("LEGO." + words).split())
    assert "WRONGTYPE" in refused(keys, *("LEGO." + words.replace(" k", " text")).split())
    assert keys("EXISTS", "k", "d") == 0


def test_wrong_types(keys):
    data = Sketch(4096).to_bytes()
    for words in (["RESERVE", "text", "BUDGET", 20000], ["MERGE", "text", 1, "plain"], ["LOAD", "text", data]):
        assert "WRONGTYPE" in refused(keys, "LEGO." + words[0], *words[1:])
    assert "WRONGTYPE" in refused(keys, "INCR", "plain")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("RESERVE plain BUDGET 20000", "already"),
        ("RESERVE k BUDGET 4095", "BUDGET is 4096 to 68719476736"),
        ("RESERVE k BUDGET 68719476737", "BUDGET is"),
        ("RESERVE k BUDGET 99999999999999999999999999", "BUDGET is"),
        ("RESERVE k BUDGET -1", "BUDGET is"),
        ("RESERVE k BUDGET 20K", "BUDGET is 4096 to 68719476736 bytes, such as 300000 or 64kb"),
        ("RESERVE k BUDGET 3kb", "BUDGET is"),
        ("RESERVE k BUDGET 65gb", "BUDGET is"),
        ("RESERVE k BUDGET 18014398509481985kb", "BUDGET is"),
        ("RESERVE k BUDGET kb", "BUDGET is"),
        ("RESERVE k BUDGET 20000 BUDGET 30000", "said twice"),
        ("RESERVE k BUDGET 20000 SEED 1 seed 1", "said twice"),
        ("RESERVE k ITEMS 1000", "ITEMS needs ERROR"),
        ("RESERVE k ERROR 0.1", "ITEMS needs ERROR"),
        ("RESERVE k BUDGET 20000 SKEW 1", "not both"),
        ("RESERVE k BUDGET 20000 ITEMS 1000 ERROR 0.1", "not both"),
        ("RESERVE k ITEMS 0 ERROR 0.1", "ITEMS is"),
        ("RESERVE k ITEMS 1000 ERROR -1", "ERROR is"),
        ("RESERVE k ITEMS 1000 ERROR nan", "ERROR is"),
        ("RESERVE k ITEMS 1000 ERROR 0.1 SKEW 4", "SKEW is"),
        ("RESERVE k ITEMS 1000 ERROR 0.1 TOP 5", "without MODEL and TOP"),
        ("RESERVE k ITEMS 68719476736 ERROR 0", "take too much"),
        ("INCRBY plain ESTIMATES ESTIMATES ITEMS a 1", "ESTIMATES is said twice"),
        ("QUERY plain WITHBOUNDS WITHBOUNDS ITEMS a", "WITHBOUNDS is said twice"),
        ("QUERY plain ABSENT 0 WITHBOUNDS ABSENT 0.25 ITEMS a", "ABSENT is said twice"),
        ("RESERVE k SEED 1", "needs BUDGET"),
        ("RESERVE k BUDGET 20000 SEED -1", "SEED is"),
        ("RESERVE k BUDGET 20000 SEED 18446744073709551616", "SEED is"),
        ("RESERVE k BUDGET 20000 MODEL nice", "compact or paper"),
        ("RESERVE k BUDGET 20000 MODEL compact\0x", "compact or paper"),
        ("RESERVE k BUDGET 20000 TOP 0", "TOP is 1 to 1000000"),
        ("RESERVE k BUDGET 20000 TOP 1000001", "TOP is"),
        ("RESERVE k BUDGET 4600 TOP 5", "4 KB of it beside the top"),
        ("RESERVE k BUDGET 20000 FLAT 1", "the options"),
        ("TOP plain", "without TOP"),
        ("TOP kept COUNTS", "WITHCOUNT"),
        ("TOP kept 0", "1 to 1000000"),
        ("TOP kept WITHCOUNT WITHCOUNT", "each once"),
        ("TOP kept ABOVE 1 ABOVE 1", "each once"),
        ("TOP kept WITHCOUNT 5", "a number of items"),
        ("TOP kept ABOVE", "ABOVE with a count"),
        ("TOP kept ABOVE x", "ABOVE is an integer"),
        ("INTOP plain a", "without TOP"),
        ("UNION 2 plain ITEMS a", "behind the keys"),
        ("UNION 1 plain a b", "behind the keys"),
        ("UNION 1 plain ITEMS", "behind the keys"),
        ("UNION 1 plain WITHBOUNDS ITEMS", "behind the keys"),
        ("UNION 1 plain BOUNDS ITEMS a", "behind the keys"),
        ("UNION 1 plain TOP 5", "without TOP"),
        ("UNION 0 plain ITEMS a", "numkeys"),
        ("UNION 5 plain ITEMS a", "numkeys"),
        ("UNION 01 plain ITEMS a", "numkeys"),
        ("UNION 2 plain brick ITEMS a", "another model"),
        ("MERGE d 1 plain WEIGHTS", "a weight for each"),
        ("MERGE d 1 plain WEIGHTS 1 2", "a weight for each"),
        ("MERGE d 2 plain plain WEIGHTS 1 1.5", "a weight is an integer"),
        ("MERGE d 1 plain WEIGHT 1", "only WEIGHTS"),
        ("MERGE d 1 kept WEIGHTS -1", "a sketch that has TOP"),
        ("MERGE d 1 plain WEIGHTS 9223372036854775807", "64 bits"),
        ("FOLD plain 0", "blocks are 1 to"),
        ("FOLD plain 4294967296", "blocks are 1 to"),
        ("FOLD plain x", "blocks are 1 to"),
        ("FOLD plain 1 1", "or BUDGET and"),
        ("FOLD plain BUDGET 4095", "BUDGET is 4096 to 68719476736"),
        ("FOLD plain BUDGET 5K", "BUDGET is"),
        ("FOLD brick BUDGET 5000", "no fold of this sketch has 5000 bytes"),
        ("MERGE d 2 plain", "numkeys"),
        ("MERGE d 1 plain plain", "numkeys"),
        ("MERGE d 0 plain", "numkeys"),
        ("MERGE d -1 plain", "numkeys"),
        ("MERGE d x plain", "numkeys"),
        ("MERGE d 01 plain", "numkeys"),
        ("LOAD d x", "not a file of this kind"),
        ("LOAD d x TOPS 5", "only option"),
    ],
)
def test_words(keys, words, why):
    assert why in refused(keys, *("LEGO." + words).split(" "))


def test_fold_names_a_number_that_works(keys):
    words = keys("LEGO.INFO", "plain")
    blocks = dict(zip(words[::2], words[1::2]))[b"blocks"]
    asked = next(n for n in range(blocks // 2, 0, -1) if blocks % n)
    said = refused(keys, "LEGO.FOLD", "plain", asked)
    assert str(blocks) in said
    assert keys("LEGO.FOLD", "plain", int(said.split()[-1])) == b"OK"


def test_merge_of_what_does_not_fit(keys):
    keys("LEGO.RESERVE", "seed", "BUDGET", 20000, "SEED", 1)
    keys("LEGO.RESERVE", "model", "BUDGET", 20000, "MODEL", "paper")
    assert "another seed" in refused(keys, "LEGO.MERGE", "plain", 2, "plain", "seed")
    assert "another model" in refused(keys, "LEGO.MERGE", "d", 2, "model", "plain")


def crowd(server, name, *options):
    """A sketch in which not every count is exact any more: it no longer merges with one of any size."""
    server("LEGO.RESERVE", name, *options)
    for part in range(8):
        server("LEGO.ADD", name, *(f"{name}{part}{i}" for i in range(2000)))


@pytest.mark.parametrize(("a", "b", "remade"), [([], [], "b"), (["TOP", 5], ["TOP", 5], "b"),
                                                ([], ["TOP", 5], "a"), (["TOP", 5], [], "b")])  # fmt: skip
def test_a_merge_that_would_ruin_names_what_fits(server, a, b, remade):
    """Numbers of blocks that have only a small divisor in common: both are named, and a budget, and no fold. The
    budget is one of the two sketches' own, so that it is enough to make the other again."""
    for name, budget, top in (("a", 20000, a), ("b", 30000, b)):
        crowd(server, name, "BUDGET", budget, *top)
    said = refused(server, "LEGO.MERGE", "d", 2, "a", "b")
    found = re.fullmatch(r"sketches that have (\d+) and (\d+) blocks do not merge, as neither folds to the other: make "
                         r"both with BUDGET (\d+)( and TOP)?", said)
    assert found, said
    one, other, budget = (int(found[i]) for i in (1, 2, 3))
    assert one % other and other % one and 8 * math.gcd(one, other) < min(one, other)
    assert (found[4] is not None) == (a != b)
    for name in (remade, "ab".replace(remade, "")):
        server("DEL", name)
        crowd(server, name, "BUDGET", budget, *(a or b))
        assert server("LEGO.MERGE", "d", 2, "a", "b") == b"OK"


def test_a_merge_that_folds_would_save_names_them(server):
    """Numbers of blocks of which a third and more is common: folded to that, the sketches merge."""
    budget, blocks = next((b, n) for b in range(20000, 30000, 100) if (n := Sketch(b).blocks) % 6 == 0)
    for name, part in (("a", 2), ("b", 3)):
        crowd(server, name, "BUDGET", budget)
        assert server("LEGO.FOLD", name, blocks // part) == b"OK"
    said = refused(server, "LEGO.MERGE", "d", 2, "a", "b")
    found = re.search(rf"have {blocks // 2} and {blocks // 3} blocks .* make both with BUDGET \d+, or LEGO.FOLD both to (\d+)$", said)
    assert found and int(found[1]) == blocks // 6, said
    for name in "ab":
        assert server("LEGO.FOLD", name, found[1]) == b"OK"
    assert server("LEGO.MERGE", "d", 2, "a", "b") == b"OK"


def test_young_sketches_merge_whatever_their_budgets(server):
    for name, budget in (("a", 20000), ("b", 30000)):
        server("LEGO.RESERVE", name, "BUDGET", budget)
        server("LEGO.ADD", name, "x", name)
    assert server("LEGO.MERGE", "d", 2, "a", "b") == b"OK"
    assert server("LEGO.QUERY", "d", "WITHBOUNDS", "ITEMS", "x", "a", "b") == [[2] * 4, [1] * 4, [1] * 4]


def test_bricks_of_other_columns(server):
    for name, budget in (("a", 30000), ("b", 40000)):
        server("LEGO.RESERVE", name, "BUDGET", budget, "MODEL", "paper")
    said = refused(server, "LEGO.MERGE", "d", 2, "a", "b")
    found = re.search(r"have (\d+) and (\d+) columns in a brick .* make both with BUDGET (\d+)$", said)
    assert found, said
    assert int(found[1]) < int(found[2])
    server("DEL", "a", "b")
    for name in "ab":
        server("LEGO.RESERVE", name, "BUDGET", found[3], "MODEL", "paper")
    assert server("LEGO.MERGE", "d", 2, "a", "b") == b"OK"


def test_parts_for_top_that_do_not_fit(server):
    """The blocks do. BUDGET alone makes no such sketches; others than ours have more or less than an eighth for TOP."""
    sketches = Sketch("300K", top="24K"), Sketch("293K", top="16K")
    assert sketches[0].blocks == sketches[1].blocks
    for name, sketch in zip("ab", sketches):
        sketch.add_many(list(range(100_000)))
        server("LEGO.LOAD", name, sketch.to_bytes())
    said = refused(server, "LEGO.MERGE", "d", 2, "a", "b")
    assert all(f" {sketch.top_budget} " in said for sketch in sketches) and "bytes for TOP" in said and "BUDGET" in said


@pytest.mark.parametrize("key", ["plain", "kept"])
@pytest.mark.parametrize("bad", ["x", "", "1.5", "9223372036854775808", " 1", "1 "])
def test_counts_all_or_nothing(keys, key, bad):
    assert "integer" in refused(keys, "LEGO.INCRBY", key, "a", bad)
    assert "integer" in refused(keys, "LEGO.INCRBY", key, "a", 5, "b", bad, "c", 1)
    assert keys("LEGO.INCRBY", key, "a", 0) == 2


@pytest.mark.parametrize("key", ["plain", "kept"])
def test_sums_never_leave_64_bits(keys, key):
    most = 2**61 - 3  # Q is 4, and 2 are there
    assert "64 bits" in refused(keys, "LEGO.INCRBY", key, "c", most + 1)
    assert "64 bits" in refused(keys, "LEGO.INCRBY", key, "a", 1, "c", most, "b", 5)
    assert "64 bits" in refused(keys, "LEGO.INCRBY", key, "a", 1, "c", -(2**63), "b", 5)
    assert keys("LEGO.INCRBY", key, "c", most) == 2**61 - 1
    assert keys("LEGO.QUERY", key, "c") == [most]
    keys("LEGO.MERGE", "copy", 1, key)
    assert "64 bits" in refused(keys, "LEGO.MERGE", "d", 2, key, "copy")


def test_load_of_other_things(keys):
    plain, kept = keys("LEGO.DUMP", "plain"), keys("LEGO.DUMP", "kept")
    assert "not of a sketch with TOP" in refused(keys, "LEGO.LOAD", "d", plain, "TOP", 5)
    for number in ("0", "-1", "1000001", "x"):
        assert "TOP is 1 to" in refused(keys, "LEGO.LOAD", "d", kept, "TOP", number)
    assert "shorter or longer" in refused(keys, "LEGO.LOAD", "d", plain[:-1])
    assert "damaged" in refused(keys, "LEGO.LOAD", "d", plain[:-1] + bytes([plain[-1] ^ 1]))
    for version in (b"\1", b"\2", b"\3", bytes([plain[8] + 1])):
        assert "version" in refused(keys, "LEGO.LOAD", "plain", plain[:8] + version + plain[9:])


def test_models_that_are_not_built_in(keys):
    import xxhash

    data = bytearray(keys("LEGO.DUMP", "plain"))
    data[40:56] = b"mine".ljust(16, b"\0")
    data[-8:] = xxhash.xxh3_64_intdigest(bytes(data[:-8])).to_bytes(8, "little")
    assert "not built in" in refused(keys, "LEGO.LOAD", "d", bytes(data))


def test_options_are_options_before_items_alone(keys):
    """Without ITEMS behind them they are items."""
    keys("LEGO.ADD", "plain", "WITHBOUNDS", "ITEMS", "ABSENT")
    for plain in (
        "WITHBOUNDS", "ITEMS", "ABSENT", "a WITHBOUNDS", "WITHBOUNDS a", "ABSENT WITHBOUNDS", "WITHBOUNDS ITEMS",
        "ABSENT ITEMS", "ABSENT ITEMS a", "a ITEMS b", "b WITHBOUNDS ITEMS a", "WITHBOUNDS a ITEMS b",
    ):  # fmt: skip
        assert keys("LEGO.QUERY", "plain", *plain.split()) == [1] * len(plain.split()), plain
    assert keys("LEGO.QUERY", "plain", "absent", "0.5", "a") == [0, 0, 1]
    for options, items in (
        ("ITEMS", ["ITEMS"]), ("items", ["a", "WITHBOUNDS", "ITEMS"]), ("ABSENT 0.5 ITEMS", ["ITEMS", "a"]),
        ("absent 0 ITEMS", ["WITHBOUNDS"]),
    ):  # fmt: skip
        assert keys("LEGO.QUERY", "plain", *options.split(), *items) == [1] * len(items), options
        bounded = keys("LEGO.QUERY", "plain", "WithBounds", *options.split(), *items)
        assert bounded == [[1, 1, 1, 1]] * len(items), options
        assert keys("LEGO.QUERY", "plain", *options.split()[:-1], "WITHBOUNDS", "ITEMS", *items) == bounded


@pytest.mark.parametrize("items", [["a"], ["a", "b"]])
@pytest.mark.parametrize("option", ["ABSENT 1", "ABSENT -0.1", "ABSENT nan", "ABSENT inf", "ABSENT x", "ABSENT 0.5x"])
def test_numbers_of_a_question(keys, option, items):
    for key in ("plain", "kept", "brick"):
        said = refused(keys, "LEGO.QUERY", key, *option.split(), "ITEMS", *items)
        assert "ABSENT is a number from 0 to below 1" in said


def test_the_papers_model_answers_in_one_way(keys):
    said = refused(keys, "LEGO.QUERY", "brick", "ABSENT", "0.5", "ITEMS", "a", "b")
    assert "the model paper has one way to answer" in said
    plain = keys("LEGO.QUERY", "brick", "a", "b")
    assert keys("LEGO.QUERY", "brick", "ABSENT", "0", "ITEMS", "a", "b") == plain
    # An option that there is no more is an item.
    assert len(keys("LEGO.QUERY", "plain", "RELATIVE", "0.5", "ITEMS", "a")) == 4


def pairs(words):
    return zip(words[::2], words[1::2])


def test_maxmemory(keys):
    try:
        used = keys.client.info("memory")["used_memory"]
        keys("CONFIG", "SET", "maxmemory", used + 20_000_000)
        with pytest.raises(redis.exceptions.OutOfMemoryError):  # it begins with OOM
            keys("LEGO.RESERVE", "k", "BUDGET", 30_000_000)
        keys("LEGO.RESERVE", "k", "BUDGET", 15_000_000)
        items = list(range(100_000))
        while dict(pairs(keys("LEGO.INFO", "k")))[b"bytes"] < 11_000_000:
            keys("LEGO.ADD", "k", *items)
            items = [item + len(items) for item in items]
        assert "memory" in refused(keys, "LEGO.MERGE", "d", 1, "k")  # by us, or by the server before us
        keys("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        keys("LEGO.RESERVE", "next", "BUDGET", 15_000_000)  # other keys make room for it
        assert "out of memory" in refused(keys, "LEGO.RESERVE", "too much", "BUDGET", used + 30_000_000)
        keys("CONFIG", "SET", "maxmemory-policy", "noeviction", "maxmemory", 1_000_000)
        for words in (["ADD", "plain", "a"], ["RESERVE", "d", "BUDGET", 4096], ["LOAD", "d", "x"]):
            with pytest.raises(redis.exceptions.OutOfMemoryError):
                keys("LEGO." + words[0], *words[1:])
    finally:
        keys("CONFIG", "SET", "maxmemory", 0, "maxmemory-policy", "noeviction")


def test_a_sum_is_within_maxmemory(keys):
    """Each source is small; their sum would not fit."""
    try:
        names = [f"source {i}" for i in range(12)]
        for i, name in enumerate(names):
            keys("LEGO.RESERVE", name, "BUDGET", "64mb")
            keys("LEGO.ADD", name, *range(20_000 * i, 20_000 * (i + 1)))
        keys("CONFIG", "SET", "maxmemory", keys.client.info("memory")["used_memory"] + 2_000_000)
        with pytest.raises(redis.exceptions.OutOfMemoryError):
            keys("LEGO.MERGE", "d", len(names), *names)
        assert keys("EXISTS", "d") == 0
        keys("CONFIG", "SET", "maxmemory", 0)
        keys("LEGO.MERGE", "d", len(names), *names)
        assert keys("LEGO.CARD", "d") == 240_000
    finally:
        keys("CONFIG", "SET", "maxmemory", 0)


def test_the_system_has_no_memory(keys):
    """An allocation that fails is an answer, not the end of the server."""
    with open(f"/proc/{keys.process.pid}/statm") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    before = resource.prlimit(keys.process.pid, resource.RLIMIT_AS, (mapped + (64 << 20), resource.RLIM_INFINITY))
    try:
        for top in ([], ["TOP", 10]):
            said = refused(keys, "LEGO.RESERVE", "k", "BUDGET", 400 << 20, "MODEL", "paper", *top)
            assert "out of memory" in said
        keys("LEGO.RESERVE", "k", "BUDGET", 400 << 20)  # which grows when it must, or says that it can not
        with pytest.raises(ERROR, match="out of memory"):
            for first in range(0, 20_000_000, 20_000):
                keys("LEGO.ADD", "k", *range(first, first + 20_000))
        assert keys("LEGO.INCRBY", "k", "0", 0) == first  # all of a command or none
        assert keys("LEGO.QUERY", "k", 0, first - 1, first) == [1, 1, 0]
    finally:
        resource.prlimit(keys.process.pid, resource.RLIMIT_AS, before)
    assert keys("LEGO.ADD", "plain", "a") == 3


def test_the_system_has_no_memory_for_a_reply():
    """Of LEGO.DUMP, which is a copy of the bytes: they fit once, but not twice."""
    with Server() as server:
        server("LEGO.RESERVE", "key", "BUDGET", 32 << 20, "MODEL", "paper")  # which takes all of it at once
        for first in range(0, 100_000, 10_000):
            server("LEGO.INCRBY", "key", *(word for i in range(first, first + 10_000) for word in (i, 2**30 + i)))
        with open(f"/proc/{server.process.pid}/statm") as file:
            mapped = int(file.read().split()[0]) * resource.getpagesize()
        answers = []
        for more in range(8, 200, 16):
            resource.prlimit(server.process.pid, resource.RLIMIT_AS, (mapped + (more << 20), resource.RLIM_INFINITY))
            try:
                answers.append(len(server("LEGO.DUMP", "key")))
            except redis.exceptions.OutOfMemoryError:
                answers.append(0)
        assert answers[0] == 0 and answers[-1] > 8 << 20 and answers == sorted(answers)



def test_nothing_is_lost(keys):
    """Commands that are refused half-way, and those that are not, leave no memory behind."""
    keys("LEGO.RESERVE", "other", "BUDGET", 20000, "SEED", 1)
    data, items = keys("LEGO.DUMP", "plain"), [f"item{i}" for i in range(200)]
    commands = [["MERGE", "d", 2, "plain", "other"], ["MERGE", "d", 3, "plain", "plain", "none"],
                ["MERGE", "d", 2, "plain", "kept"], ["MERGE", "d", 2, "plain", "plain"], ["LOAD", "d", data],
                ["LOAD", "d", data[:-1]], ["RESERVE", "plain", "BUDGET", 20000], ["ADD", "plain", *items],
                ["INCRBY", "plain", "a", 1, *["b", "x"] * 200], ["QUERY", "plain", *items], ["DUMP", "plain"],
                ["TOP", "kept"], ["FOLD", "d", 1], ["INFO", "kept"], ["INTOP", "kept", "a", "a", "x"], ["CARD", "kept"],
                ["UNION", 2, "plain", "kept", "ITEMS", "a"], ["UNION", 2, "plain", "other", "ITEMS", "a"],
                ["MERGE", "d", 2, "plain", "kept", "WEIGHTS", 5, 3], ["MERGE", "d", 1, "kept", "WEIGHTS", -1],
                ["INCRBY", "plain", "ESTIMATES", "ITEMS", "a", 1, "b", 2],
                ["INCRBY", "plain", "ESTIMATES", "ITEMS", "a", 1, "b", "x"], ["FOLD", "d", 77]]  # fmt: skip
    commands = [["LEGO." + words[0], *words[1:]] for words in commands]
    keys.pipeline(commands * 10)
    before = keys.client.info("memory")["used_memory"]
    keys.pipeline(commands * 100)
    assert keys.client.info("memory")["used_memory"] - before < 100_000  # one of 20 KB each time would be 2 MB
