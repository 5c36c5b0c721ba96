"""What LEGO.INCRBY and LEGO.ADD do besides counting: sketches that they make, estimates that they reply, items that they
do not take for options. And what LEGO.TOP, INTOP and CARD say of what was counted."""

import glob

import pytest
import redis
from legosketch import Sketch, suggest
from server import Server, wait_for


@pytest.fixture(scope="module")
def maker():
    """A server in which items make their sketch."""
    with Server("appendonly yes", "appendfsync always", module="BUDGET 64kb TOP 7 SEED 3") as server:
        yield server


def test_the_first_item_makes_the_sketch(maker):
    truth = Sketch("64K", top=True, seed=3)
    assert maker("LEGO.ADD", "added", "a", "b", "a") == 3
    assert maker("LEGO.INCRBY", "counted", "a", 2, "b", 1) == 3
    assert maker("LEGO.INCRBY", "one", "a", 5) == 5
    for item, count in (("a", 2), ("b", 1)):
        truth.add(item, count)
    assert maker("LEGO.DUMP", "counted") == truth.to_bytes()
    assert maker("LEGO.TOP", "added", "WITHCOUNT") == [b"a", 2, b"b", 1]
    info = dict(zip(*[iter(maker("LEGO.INFO", "added"))] * 2))
    assert (info[b"top"], info[b"seed"]) == (7, b"3") and info[b"budget"] <= 64 << 10


def test_what_fails_makes_nothing(maker):
    maker("SET", "text", "x")
    for words in ("INCRBY k a x", "INCRBY k a 1 b x", "INCRBY k a 9223372036854775807", "INCRBY k NOCREATE ITEMS a 1",
                  "QUERY k a", "TOP k", "CARD k"):  # fmt: skip
        with pytest.raises(redis.ResponseError):
            maker(*("LEGO." + words).split())
        assert maker("EXISTS", "k") == 0, words
    with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
        maker("LEGO.ADD", "text", "x")


def test_replicas_and_logs_need_no_default(maker):
    """They are told of the sketch as it was made; one command, so a transaction of both."""
    with Server() as replica:
        replica("REPLICAOF", "127.0.0.1", maker.port)
        wait_for(lambda: replica.client.info("replication")["master_link_status"] == "up")
        maker("LEGO.ADD", "sent", "a", "b")
        maker("LEGO.INCRBY", "sent too", "ESTIMATES", "ITEMS", "a", 3)
        assert maker("WAIT", 1, 20000) == 1
        digest = maker("DEBUG", "DIGEST")
        assert replica("DEBUG", "DIGEST") == digest
    (name,) = glob.glob(f"{maker.folder}/appendonlydir/*.incr.aof")
    with open(name, "rb") as file:
        log = file.read()
    at = log.index(b"sent too")
    assert log.rindex(b"MULTI", 0, at) < log.rindex(b"LEGO.RESERVE", 0, at) < log.index(b"LEGO.INCRBY", at) < log.index(
        b"EXEC", at)
    maker.kill()
    maker.options = tuple(option.replace("BUDGET 64kb TOP 7 SEED 3", "") for option in maker.options)
    maker.start()
    assert maker("DEBUG", "DIGEST") == digest
    with pytest.raises(redis.ResponseError, match="no such sketch"):
        maker("LEGO.ADD", "k", "a")


def test_estimates(server):
    server("LEGO.RESERVE", "key", "BUDGET", "20kb")
    assert server("LEGO.INCRBY", "key", "ESTIMATES", "ITEMS", "a", 3, "b", 2) == [3, 2]
    assert server("LEGO.INCRBY", "key", "estimates", "items", "a", -1, "b", 0, "a", 5) == [7, 2, 7]
    assert server("LEGO.INCRBY", "key", "NOCREATE", "ESTIMATES", "ITEMS", "c", 1) == [1]
    assert server("LEGO.INCRBY", "key", "NOCREATE", "ITEMS", "c", 1) == 11
    with pytest.raises(redis.ResponseError, match="integer"):
        server("LEGO.INCRBY", "key", "ESTIMATES", "ITEMS", "a", 1, "b", "x")
    assert server("LEGO.QUERY", "key", "a", "b", "c") == [7, 2, 2]


def test_options_are_items_where_no_marker_follows(server):
    server("LEGO.RESERVE", "key", "BUDGET", 20000)
    for words, items in (("ITEMS 5", ["ITEMS"]), ("ESTIMATES 5", ["ESTIMATES"]), ("ITEMS ITEMS 5", ["ITEMS"]),
                         ("ESTIMATES 1 ITEMS 2", ["ESTIMATES", "ITEMS"]), ("ESTIMATES ITEMS ITEMS 5", ["ITEMS"]),
                         ("ITEMS NOCREATE 5", ["NOCREATE"]), ("ITEMS 1 a 1", ["ITEMS", "a"])):  # fmt: skip
        server("DEL", "key")
        server("LEGO.RESERVE", "key", "BUDGET", 20000)
        server("LEGO.INCRBY", "key", *words.split())
        assert min(server("LEGO.QUERY", "key", "ITEMS", *items)) > 0 and server("LEGO.CARD", "key") == len(items), words
    server("LEGO.ADD", "key", "ESTIMATES", "ITEMS", "WITHBOUNDS")  # all of them are items here
    assert server("LEGO.QUERY", "key", "ITEMS", "WITHBOUNDS") == [1]


@pytest.mark.parametrize(("words", "wish"), [("ITEMS 1000000 ERROR 0.01", {"distinct": 1_000_000, "error": 0.01, "skew": 1}),
                                             ("ITEMS 100 ERROR 0", {"distinct": 100, "error": 0}),
                                             ("ITEMS 1000000 ERROR 0.01 SKEW 1.5",
                                              {"distinct": 1_000_000, "error": 0.01, "skew": 1.5})])  # fmt: skip
def test_a_budget_by_items_and_error(server, words, wish):
    """That which the library suggests; a sketch may be able to use a little less of it."""
    assert server("LEGO.RESERVE", "key", *words.split()) == b"OK"
    info = dict(zip(*[iter(server("LEGO.INFO", "key"))] * 2))
    suggested = suggest(**wish).budget
    assert info[b"budget"] == Sketch(suggested).budget and 0.98 * suggested <= info[b"budget"] <= suggested
    with server.client.pipeline(transaction=True) as transaction:  # where no client can wait
        transaction.execute_command("LEGO.RESERVE", "again", *words.split())
        assert transaction.execute() == [b"OK"]
    assert server("LEGO.DUMP", "again") == server("LEGO.DUMP", "key")


@pytest.mark.parametrize(("said", "bytes"), [("64kb", 65536), ("64KB", 65536), ("1mb", 1 << 20), ("1Gb", 1 << 30)])
def test_sizes(server, said, bytes):
    server("LEGO.RESERVE", "key", "BUDGET", said, "SEED", 0)
    assert server("LEGO.DUMP", "key") == Sketch(bytes).to_bytes()
    server("LEGO.FOLD", "key", "BUDGET", "64kb")
    sketch = Sketch(bytes)
    sketch.fold(budget=65536)
    assert server("LEGO.DUMP", "key") == sketch.to_bytes()


def test_top_with_a_number_and_a_floor(server):
    server("LEGO.RESERVE", "key", "BUDGET", 40000, "TOP", 5)
    server("LEGO.INCRBY", "key", *(word for i in range(20) for word in (f"item{i:02}", 100 - i)))
    listed = [b"item%02d" % i for i in range(20)]
    assert server("LEGO.TOP", "key") == listed[:5]
    assert server("LEGO.TOP", "key", 2) == listed[:2]
    assert server("LEGO.TOP", "key", 12) == listed[:12]  # it keeps more than it lists unasked
    assert server("LEGO.TOP", "key", 1, "WITHCOUNT") == [b"item00", 100]
    assert server("LEGO.TOP", "key", "ABOVE", 98, "withcount") == [b"item00", 100, b"item01", 99]
    assert server("LEGO.TOP", "key", 20, "ABOVE", 85) == listed[:15]
    assert server("LEGO.TOP", "key", "ABOVE", 100) == []


def test_membership(server):
    server("LEGO.RESERVE", "key", "BUDGET", 40000, "TOP", 3)
    server("LEGO.INCRBY", "key", "a", 9, "b", 8, "c", 7, "d", 6, "", 20)
    assert server("LEGO.INTOP", "key", "a", "b", "c", "d", "e", "", "a") == [1, 1, 0, 0, 0, 1, 1]
    assert server("LEGO.INTOP", "key", "WITHCOUNT") == [0]


def test_card(server):
    server("LEGO.RESERVE", "key", "BUDGET", 40000, "SEED", 0)
    assert server("LEGO.CARD", "key") == 0
    server("LEGO.ADD", "key", *(f"item{i % 700}" for i in range(2000)))
    assert server("LEGO.CARD", "key") == 700
    server("LEGO.ADD", "key", *range(50_000))
    assert abs(server("LEGO.CARD", "key") - 50_700) < 10_000


def test_long_items_are_warned_of_once():
    with Server() as server:
        server("LEGO.RESERVE", "plain", "BUDGET", 20000)
        server("LEGO.RESERVE", "kept", "BUDGET", 20000, "TOP", 3)
        server("LEGO.ADD", "plain", "x" * 300)
        server("LEGO.ADD", "kept", "x" * 238)
        assert "LEGO.TOP lists none" not in server.log() and server("LEGO.TOP", "kept") == [b"x" * 238]
        for i in range(3):
            server("LEGO.INCRBY", "kept", "a", 1, "x" * 239, 100)
        assert server.log().count("an item of 239 bytes was counted in a sketch with TOP") == 1
        assert server("LEGO.TOP", "kept", "WITHCOUNT") == [b"a", 3, b"x" * 238, 1]
