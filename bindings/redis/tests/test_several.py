"""Several sketches as one: weights of LEGO.MERGE, and LEGO.UNION, which keeps nothing; and the last 24 hours with it."""

from collections import Counter

import pytest
import redis
from legosketch import Sketch
from server import wait_for
from streams import count, reserve, stream


def test_weights(server):
    """As if every stream had come so many times."""
    a, b = (reserve(server, name, 60000) for name in "ab")
    count(server, "a", a, stream(3000, 1, deletions=False))
    count(server, "b", b, stream(3000, 2, deletions=False))
    assert a.exact and b.exact
    whole = Sketch(60000)
    for sketch, weight in ((a, 5), (b, 3)):
        for _ in range(weight):
            whole.merge(sketch)
    assert server("LEGO.MERGE", "sum", 2, "a", "b", "WEIGHTS", 5, 3) == b"OK"
    assert server("LEGO.DUMP", "sum") == whole.to_bytes()
    assert server("LEGO.MERGE", "a", 2, "b", "a", "WEIGHTS", 3, 5) == b"OK"  # into a source
    assert server("LEGO.DUMP", "a") == whole.to_bytes()


def test_weights_of_crowded_sketches(server):
    """Bounds hold, and the order of the sources does not matter."""
    truth = Counter()
    for name, seed, weight in (("a", 1, 5), ("b", 2, 3)):
        counted = stream(3000, seed, deletions=False)
        count(server, name, reserve(server, name, 5000), counted)
        for item, number in counted:
            truth[item] += weight * number
    assert server("LEGO.MERGE", "sum", 2, "a", "b", "WEIGHTS", 5, 3) == b"OK"
    assert server("LEGO.INCRBY", "sum", "x", 0) == truth.total()
    answers = server("LEGO.QUERY", "sum", "WITHBOUNDS", "ITEMS", *truth)
    _, lower, upper, likely = zip(*answers)
    assert all(bound >= n for bound, n in zip(upper, truth.values()))
    assert sum(bound >= n for bound, n in zip(likely, truth.values())) >= 0.99 * len(truth)
    assert sum(bound <= n for bound, n in zip(lower, truth.values())) >= 0.99 * len(truth)
    whole = server("LEGO.DUMP", "sum")
    assert server("LEGO.MERGE", "a", 2, "b", "a", "WEIGHTS", 3, 5) == b"OK"  # into a source
    assert server("LEGO.DUMP", "a") == whole


def test_what_is_light_in_every_part_and_heavy_in_all(server):
    """All parts are joined before the lightest items are let go. Were one added after the other, each part's share of
    these items would be lighter than anything in the full sum, and go again."""
    risers = [f"riser {i}" for i in range(20)]
    count(server, "part 0", reserve(server, "part 0", 4096), [(f"item {i}", 50) for i in range(8000)])
    for part in range(1, 50):
        count(server, f"part {part}", reserve(server, f"part {part}", 4096), [(riser, 10) for riser in risers])
    keys = [f"part {part}" for part in range(50)]
    assert server("LEGO.MERGE", "sum", 50, *keys) == b"OK"
    for answers in (server("LEGO.QUERY", "sum", *risers), server("LEGO.UNION", 50, *keys, "ITEMS", *risers)):
        assert 0.8 * 490 * 20 <= sum(answers) <= 1.2 * 490 * 20, answers


def test_weights_that_take_away(server):
    a, b = (reserve(server, name, 60000) for name in "ab")
    count(server, "a", a, stream(1000, 1, deletions=False))
    count(server, "b", b, stream(1000, 2, deletions=False))
    server("LEGO.MERGE", "sum", 2, "a", "b", "WEIGHTS", 2, 3)
    server("LEGO.MERGE", "back", 2, "sum", "b", "WEIGHTS", 1, -3)
    a.merge(a.copy())
    assert server("LEGO.DUMP", "back") == a.to_bytes()
    server("LEGO.MERGE", "nothing", 1, "b", "WEIGHTS", 0)
    assert server("LEGO.DUMP", "nothing") == Sketch(60000).to_bytes()
    server("LEGO.MERGE", "negative", 1, "b", "WEIGHTS", -1)
    items = [item for item, _ in stream(1000, 2, deletions=False)]
    assert server("LEGO.QUERY", "negative", *items) == [-n for n in server("LEGO.QUERY", "b", *items)]


def test_weights_with_top(server):
    kept = reserve(server, "kept", 60000, top=10)
    count(server, "kept", kept, [(f"item{i}".encode(), 100 - i) for i in range(50)])
    server("LEGO.MERGE", "thrice", 1, "kept", "WEIGHTS", 3)
    listed = [word for i in range(10) for word in (b"item%d" % i, 3 * (100 - i))]
    assert server("LEGO.TOP", "thrice", "WITHCOUNT") == listed


@pytest.mark.parametrize("top", [None, 20])
@pytest.mark.parametrize("model", ["compact", "paper"])
def test_union_is_what_a_merge_would_reply(server, model, top):
    for i in range(3):
        count(server, f"day{i}", reserve(server, f"day{i}", 30000, model, 5, top), stream(2000, i))
    keys = ["day0", "day1", "day2"]
    before = server("DEBUG", "DIGEST")
    items = [item for item, _ in stream(2000, 1)]
    plain = server("LEGO.UNION", 3, *keys, "ITEMS", *items)
    bounds = server("LEGO.UNION", 3, *keys, "WITHBOUNDS", "ITEMS", *items)
    listed = server("LEGO.UNION", 3, *keys, "TOP", "WITHCOUNT") if top else []
    few = server("LEGO.UNION", 3, *keys, "TOP", 3, "ABOVE", 10) if top else []
    assert server("DEBUG", "DIGEST") == before
    server("LEGO.MERGE", "all", 3, *keys)
    assert plain == server("LEGO.QUERY", "all", *items)
    assert bounds == server("LEGO.QUERY", "all", "WITHBOUNDS", "ITEMS", *items)
    if top:
        assert listed == server("LEGO.TOP", "all", "WITHCOUNT") and few == server("LEGO.TOP", "all", 3, "ABOVE", 10)
    assert server("EVAL_RO", "return redis.call('LEGO.UNION', 1, KEYS[1], 'ITEMS', 'item1')", 1, "all") == server(
        "LEGO.QUERY", "all", "item1")


def test_union_of_what_is_not_there(server):
    reserve(server, "a", 20000)
    server("LEGO.ADD", "a", "x", "x")
    server("SET", "text", "x")
    assert server("LEGO.UNION", 3, "none", "a", "neither", "ITEMS", "x", "y") == [2, 0]
    assert server("LEGO.UNION", 2, "a", "a", "ITEMS", "x") == [4]
    for keys, why in ((["none", "neither"], "no such sketch"), (["a", "text"], "WRONGTYPE")):
        with pytest.raises(redis.ResponseError, match=why):
            server("LEGO.UNION", 2, *keys, "ITEMS", "x")


def test_the_last_hours(server):
    """The recipe of docs/redis.md: a sketch an hour, which expires by itself; nothing is merged but for the answer."""
    hours = [f"clicks:{hour}" for hour in range(30)]
    for at, key in enumerate(hours):
        server("LEGO.RESERVE", key, "BUDGET", "64kb", "TOP", 10)
        server("EXPIRE", key, 25 * 3600)
        server("LEGO.INCRBY", key, "/home", at, "/shop", 1)
    last = hours[-24:]
    assert server("LEGO.UNION", 24, *last, "ITEMS", "/home", "/shop") == [sum(range(6, 30)), 24]
    assert server("LEGO.UNION", 24, *last, "TOP", 1, "WITHCOUNT") == [b"/home", sum(range(6, 30))]
    server("PEXPIRE", last[0], 1)
    wait_for(lambda: server("EXISTS", last[0]) == 0)
    assert server("LEGO.UNION", 24, *last, "ITEMS", "/home", "/shop") == [sum(range(7, 30)), 23]
