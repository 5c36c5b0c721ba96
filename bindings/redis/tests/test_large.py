"""Sketches of a megabyte and more, which are worked on in threads: the answers are those of small ones, the server goes
on meanwhile, and what is changed at the same time is neither lost nor half."""

import threading

import pytest
import redis
from legosketch import Sketch
from redis.crc import key_slot
from server import Server, wait_for

BUDGET = 24 << 20
ITEM = b"xxxxxxxx"  # an integer, as the others are


def filled(seed, n=1_500_000, top=False):
    sketch = Sketch(BUDGET, top=top)
    sketch.add_many([f"{seed} {i}".encode() for i in range(n)] if top else list(range(seed * n, seed * n + n)))
    return sketch


@pytest.fixture(scope="module")
def sketches():
    return [filled(0), filled(1)]


@pytest.fixture
def large(server, sketches):
    for name, sketch in zip("ab", sketches):
        assert server("LEGO.LOAD", name, sketch.to_bytes()) == b"OK"
    return server


def raw(number):
    return number.to_bytes(8, "little")


def in_flight(server, *words):
    """Sends a command from a client of its own; waits until it is blocked, and so in a thread. Returns who joins."""
    answer = []

    def run():
        with server.connect() as client:
            try:
                answer.append(client.execute_command(*words))
            except redis.RedisError as error:
                answer.append(error)

    before = server.client.info("clients")["blocked_clients"]
    thread = threading.Thread(target=run)
    thread.start()
    while server.client.info("clients")["blocked_clients"] == before:
        assert not answer, "it was too quick to look at"

    def join():
        thread.join()
        return answer[0]

    return join


def test_answers_are_those_of_the_library(large, sketches):
    whole = sketches[0].copy()
    whole.merge(sketches[1])
    assert large("LEGO.DUMP", "a") == sketches[0].to_bytes()
    assert large("LEGO.MERGE", "sum", 2, "a", "b") == b"OK"
    assert large("LEGO.DUMP", "sum") == whole.to_bytes()
    assert large("LEGO.UNION", 2, "a", "b", "ITEMS", raw(7), raw(1_500_007), ITEM) == [1, 1, 0]
    assert large("LEGO.CARD", "sum") == round(whole.distinct)
    assert dict(zip(*[iter(large("LEGO.INFO", "sum"))] * 2))[b"total"] == whole.total
    assert large("LEGO.FOLD", "sum", "BUDGET", "12mb") == b"OK"
    whole.fold(budget=12 << 20)
    assert large("LEGO.DUMP", "sum") == whole.to_bytes()


def test_top(server):
    sketch = filled(3, 300_000, top=True)
    sketch.add_many([b"x"] * 50 + [b"y"] * 40)
    server("LEGO.LOAD", "key", sketch.to_bytes(), "TOP", 2)
    assert server("LEGO.TOP", "key", "WITHCOUNT") == [b"x", 50, b"y", 40]
    assert server("LEGO.INTOP", "key", "y", "z", "x") == [1, 0, 1]
    assert server("LEGO.UNION", 1, "key", "TOP", 1) == [b"x"]


def test_others_go_on(large):
    """The answer to a PING that is sent after the command comes before the command's."""
    done = in_flight(large, "LEGO.MERGE", "sum", 2, "a", "b")
    assert large("PING") and large("LEGO.QUERY", "a", raw(5)) == [1]
    assert large.client.info("clients")["blocked_clients"] == 1
    assert done() == b"OK"


@pytest.mark.parametrize("words", ["MERGE d 2 a b", "MERGE a 2 a b", "FOLD a BUDGET 12mb", "UNION 1 a ITEMS xxxxxxxx", "DUMP a"])
def test_what_is_counted_meanwhile_is_there(large, sketches, words):
    """Neither lost, nor seen by half: what reads has it or not, what writes has it, as if one had come after the
    other."""
    done = in_flight(large, *("LEGO." + words).split())
    for i in range(50):
        assert large("LEGO.INCRBY", "a", ITEM, 2) == 1_500_000 + 2 * i + 2
    answer = done()
    after = sketches[0].copy()
    after.add(int.from_bytes(ITEM, "little"), 100)
    if words.startswith("MERGE"):
        after.merge(sketches[1])
        assert large("LEGO.DUMP", words.split()[1]) == after.to_bytes()
    elif words.startswith("FOLD"):
        after.fold(budget=12 << 20)
        assert large("LEGO.DUMP", "a") == after.to_bytes()
    else:
        assert answer in ([0], [100], sketches[0].to_bytes(), after.to_bytes())
        assert large("LEGO.DUMP", "a") == after.to_bytes()


@pytest.mark.parametrize("change", [["DEL", "a"], ["UNLINK", "a"], ["FLUSHALL", "ASYNC"], ["RENAME", "a", "gone"],
                                    ["SET", "a", "text"]])  # fmt: skip
def test_keys_that_go_meanwhile(large, change):
    """What reads may have seen them; what writes would be another at the replicas, so it is refused then."""
    reads, writes = in_flight(large, "LEGO.DUMP", "a"), in_flight(large, "LEGO.MERGE", "d", 2, "a", "b")
    large(*change)
    assert isinstance(reads(), bytes)
    assert "no such sketch" in str(writes()) or "WRONGTYPE" in str(writes())
    assert large("EXISTS", "d") == 0


def test_clients_that_go_meanwhile(large):
    before = large.client.info("memory")["used_memory"]
    for words in ("MERGE d 2 a b", "DUMP a", "UNION 2 a b ITEMS xxxxxxxx"):
        client = large.connect()
        connection = client.connection_pool.get_connection()
        connection.send_command(*("LEGO." + words).split())
        wait_for(lambda: large.client.info("clients")["blocked_clients"] > 0)
        connection.disconnect()
        wait_for(lambda: large.client.info("clients")["blocked_clients"] == 0)
    large("LEGO.MERGE", "e", 2, "a", "b")  # which comes after them
    large("DEL", "d", "e")
    wait_for(lambda: large.client.info("memory")["used_memory"] < before + 3_000_000)


def test_where_no_client_can_wait(large, sketches):
    with large.client.pipeline(transaction=True) as transaction:
        transaction.execute_command("LEGO.MERGE", "sum", 2, "a", "b")
        transaction.execute_command("LEGO.CARD", "sum")
        transaction.execute_command("LEGO.LOAD", "c", sketches[0].to_bytes())
        answers = transaction.execute()
    assert answers[0] == answers[2] == b"OK" and abs(answers[1] - 3_000_000) < 100_000
    assert large("EVAL", "return redis.call('LEGO.FOLD', KEYS[1], 'BUDGET', '12mb')", 1, "c") == b"OK"


def test_watched_keys(large):
    with large.client.pipeline(transaction=True) as transaction:
        transaction.watch("sum")
        large("LEGO.MERGE", "sum", 2, "a", "b")
        transaction.multi()
        transaction.ping()
        with pytest.raises(redis.WatchError):
            transaction.execute()


def test_replicas_and_logs(sketches):
    """They have every command at its place among those that were counted meanwhile."""
    with (
        Server("appendonly yes", "appendfsync always", "repl-diskless-sync-delay 0") as master,
        Server("repl-diskless-sync-delay 0") as replica,
    ):
        replica("REPLICAOF", "127.0.0.1", master.port)
        wait_for(lambda: replica.client.info("replication")["master_link_status"] == "up")
        for name, sketch in zip("ab", sketches):
            master("LEGO.LOAD", name, sketch.to_bytes())
        for words in ("MERGE d 2 a b", "FOLD d BUDGET 12mb", "MERGE a 2 a b WEIGHTS 1 2"):
            done = in_flight(master, *("LEGO." + words).split())
            for key in "ab":
                master("LEGO.INCRBY", key, ITEM, 3)
            assert done() == b"OK"
            master("LEGO.ADD", "d", ITEM)
        assert master("WAIT", 1, 60000) == 1
        digest = master("DEBUG", "DIGEST")
        assert replica("DEBUG", "DIGEST") == digest
        master.kill()
        master.start()
        assert master("DEBUG", "DIGEST") == digest


def test_saved_while_a_thread_works(large):
    digest = large("DEBUG", "DIGEST")
    done = [in_flight(large, "LEGO.DUMP", "a") for _ in range(3)]
    large("SAVE")
    large("BGREWRITEAOF")
    for join in done:
        join()
    wait_for(lambda: large.client.info("persistence")["aof_rewrite_in_progress"] == 0)
    assert large("DEBUG", "DIGEST") == digest


def test_a_pause_or_a_failover_meanwhile(large):
    """Keys must not change then."""
    done = in_flight(large, "LEGO.MERGE", "d", 2, "a", "b")
    large("CLIENT", "PAUSE", 100_000, "WRITE")
    answer = done()
    large("CLIENT", "UNPAUSE")
    assert isinstance(answer, redis.exceptions.TryAgainError) and large("EXISTS", "d") == 0


def test_a_slot_that_moves_meanwhile(sketches):
    with Server("cluster-enabled yes", "cluster-require-full-coverage no") as node:
        node("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        wait_for(lambda: node.client.cluster("info")["cluster_state"] == "ok")
        done = in_flight(node, "LEGO.LOAD", "key", sketches[0].to_bytes())
        node("CLUSTER", "DELSLOTS", key_slot(b"key"))
        assert "meanwhile" in str(done()) and node("DBSIZE") == 0
        assert node("LEGO.LOAD", "other", sketches[0].to_bytes()) == b"OK"


def test_a_master_that_becomes_a_replica_meanwhile(large, sketches):
    with Server() as other:
        for name, sketch in zip("ab", sketches):
            other("LEGO.LOAD", name, sketch.to_bytes())
        done = in_flight(other, "LEGO.MERGE", "d", 2, "a", "b")
        other("REPLICAOF", "127.0.0.1", large.port)
        assert isinstance(done(), redis.RedisError)
        wait_for(lambda: other.client.info("replication")["master_link_status"] == "up")
        assert other("DEBUG", "DIGEST") == large("DEBUG", "DIGEST")
