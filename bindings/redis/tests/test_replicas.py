"""A replica has the master's bytes: from the first copy of everything, and from each command after it."""

import pytest
import redis
from legosketch import Sketch
from server import Server, wait_for
from streams import MODELS, count, reserve, stream


@pytest.fixture
def pair():
    with Server("repl-diskless-sync-delay 0") as master, Server("maxmemory 3mb") as replica:
        yield master, replica


def same(master, replica):
    assert master("WAIT", 1, 20000) == 1
    return master("DEBUG", "DIGEST") == replica("DEBUG", "DIGEST")


def test_replica(pair):
    master, replica = pair
    sketches = {}
    for model in MODELS:
        for top in (None, 10):
            key = f"{model}{top}"
            sketches[key] = reserve(master, key, 30000, model, 3, top)
            count(master, key, sketches[key], stream(700))
    replica("REPLICAOF", "127.0.0.1", master.port)
    # While it copies, and after that.
    for key, sketch in sketches.items():
        count(master, key, sketch, stream(700, 2))
    wait_for(lambda: replica.client.info("replication")["master_link_status"] == "up")
    assert same(master, replica)
    for key, sketch in sketches.items():
        count(master, key, sketch, stream(300, 3))
        assert same(master, replica)
        assert replica("LEGO.DUMP", key) == sketch.to_bytes()
    master.pipeline([["LEGO.INCRBY", "compact10", "a", 1, "b", "x"], ["LEGO.RESERVE", "paperNone", "BUDGET", 9999]])
    master("LEGO.ADD", "paper10", *(item for item, _ in stream(300, 4)))
    master("LEGO.MERGE", "merged", 2, "compact10", "compact10")
    master("LEGO.MERGE", "paperNone", 2, "paperNone", "paperNone")
    master("LEGO.FOLD", "compactNone", 1)
    master("LEGO.LOAD", "loaded", Sketch(20000, top=True).to_bytes(), "TOP", 3)
    master("COPY", "merged", "copied")
    master("EVAL", "return redis.call('LEGO.ADD', KEYS[1], 'a', 'b')", 1, "copied")
    with master.client.pipeline(transaction=True) as transaction:
        transaction.execute_command("LEGO.ADD", "copied", "c")
        transaction.execute_command("LEGO.FOLD", "copied", "BUDGET", 20000)
        transaction.execute(raise_on_error=False)
    master("DEL", "paperNone")
    # More than the replica's own maxmemory: it has what its master has.
    master("LEGO.RESERVE", "large", "BUDGET", 5_000_000)
    assert same(master, replica)
    # It answers, and takes nothing from others.
    assert replica("LEGO.TOP", "copied") == master("LEGO.TOP", "copied") != []
    assert replica("LEGO.QUERY", "copied", "a") == master("LEGO.QUERY", "copied", "a")
    with pytest.raises(redis.ReadOnlyError):
        replica("LEGO.ADD", "copied", "a")
    master("FLUSHALL")
    assert same(master, replica)


@pytest.mark.parametrize("load", ["disabled", "on-empty-db", "swapdb"])
def test_chain(load):
    """A replica's replica, each of which takes its first copy as it is set up to; none of ours stands in the way."""
    with (
        Server("repl-diskless-sync-delay 0") as master,
        Server("repl-diskless-sync-delay 0", f"repl-diskless-load {load}") as middle,
        Server(f"repl-diskless-load {load}") as last,
    ):
        for key, top in (("plain", None), ("kept", 10)):
            count(master, key, reserve(master, key, 30000, top=top), stream(700))
        for above, below in ((master, middle), (middle, last)):
            below("REPLICAOF", "127.0.0.1", above.port)
            wait_for(lambda below=below: below.client.info("replication")["master_link_status"] == "up")
            assert "Skipping diskless-load" not in below.log()
        master("LEGO.ADD", "kept", "a", "b")
        assert same(master, middle)
        wait_for(lambda: last("DEBUG", "DIGEST") == master("DEBUG", "DIGEST"))
