"""A sketch in groups on a single server, through connections that break: what is counted, refused and in doubt."""

import random
import threading

import pytest
import redis
from legosketch import Sketch, group
from legosketch.redis import MANY, AddError, SketchGroups
from proxy import Proxy
from redis.backoff import NoBackoff
from redis.retry import Retry
from server import Server, wait_for
from writer import Writer, sketches_here

BUDGET = 300 << 10


@pytest.fixture(params=[2, 3], ids=["RESP2", "RESP3"])
def connected(server, request):
    """A server, a proxy before it, and a client of the proxy."""
    with Proxy(server.port) as proxy, redis.Redis(port=proxy.port, protocol=request.param) as client:
        yield server, proxy, client


@pytest.mark.parametrize("fault, counted", [("request", 0), ("answer", 100), ("silence", 100)])
@pytest.mark.parametrize("groups", [1, 4])
def test_a_lost_answer_is_a_doubt_and_not_sent_again(connected, fault, counted, groups):
    server, proxy, client = connected
    sketch = SketchGroups.create(client, "lost", groups, BUDGET, timeout=0.5)
    proxy.fault = fault
    with pytest.raises(AddError, match="100 are in doubt") as caught:
        sketch.add_many(range(100))
    assert sorted(caught.value.in_doubt) == [(i, 1) for i in range(100)]
    assert caught.value.counted == caught.value.refused == []
    assert isinstance(caught.value.__cause__, redis.TimeoutError if fault == "silence" else redis.ConnectionError)
    assert sketch.total() == counted  # whatever it was, once
    sketch.add_many(range(100))  # and nobody reads an answer that was meant for another
    assert sketch.total() == counted + 100
    assert sketch.estimate_many(range(100)) == [1 + counted // 100] * 100


def test_what_is_in_doubt_is_no_more_than_what_was_on_its_way(connected):
    server, proxy, client = connected
    sketch = SketchGroups.create(client, "partly", 1, BUDGET)
    proxy.skip, proxy.fault = 1, "request"
    items = list(range(2 * MANY + 100))
    with pytest.raises(AddError) as caught:
        sketch.add_many(items, [i + 1 for i in items])
    pairs = [(i, i + 1) for i in items]
    error = caught.value
    assert (error.counted, error.in_doubt, error.refused) == (pairs[:MANY], pairs[MANY : 2 * MANY], pairs[2 * MANY :])
    assert sketch.total() == sum(count for _, count in error.counted)


def test_a_group_that_is_gone_is_not_made_again():
    """Not even by a server that makes sketches by itself."""
    with Server(module="BUDGET 64kb") as server, server.connect() as client:
        sketch = SketchGroups.create(client, "gone", 1, BUDGET)
        server("DEL", sketch.keys[0])
        with pytest.raises(AddError) as caught:
            sketch.add_many(range(3))
        assert len(caught.value.refused) == 3 and server("EXISTS", sketch.keys[0]) == 0


def test_info(connected):
    """Shares and errors are numbers that are not whole, and of bricks an error is not known."""
    server, proxy, client = connected
    sketch = SketchGroups.create(client, "told", 2, 60000)
    sketch.add_many(range(68000))
    for key, told in zip(sketch.keys, sketch.info(), strict=True):
        here = Sketch.from_bytes(server("LEGO.DUMP", key))
        assert (told["keeping"], told["exact"]) == (pytest.approx(here.keeping), 0) and 0 < here.keeping <= 1
        assert told["expected-aae"] == pytest.approx(here.expected_error().absolute)
        assert told["expected-are"] == pytest.approx(here.expected_error().relative)
    bricks = SketchGroups.create(client, "bricks", 2, 60000, model="paper")
    for told in bricks.info():
        assert (told["keeping"], told["expected-aae"], told["expected-are"], told["classes"]) == (0, None, None, None)


def test_questions_are_asked_again(connected, monkeypatch):
    server, proxy, client = connected
    sketch = SketchGroups.create(client, "asked", 4, BUDGET)
    sketch.add_many(range(100))
    monkeypatch.setattr("proxy.COMMAND", b"LEGO.QUERY")
    for fault in ("request", "answer"):
        proxy.fault = fault
        assert sketch.estimate_many(range(100)) == [1] * 100
        assert proxy.fault is None


def test_a_server_that_is_not_there(server):
    with Proxy(server.port) as proxy:
        client = redis.Redis(port=proxy.port, retry=Retry(NoBackoff(), 0))
        sketch = SketchGroups.create(client, "gone", 4, BUDGET, timeout=0.3)
        sketch.add("apple")
    client.connection_pool.disconnect()  # and nobody listens there any more
    with pytest.raises(AddError) as caught:
        sketch.add_many(["apple", "pear"])
    assert caught.value.refused == [("apple", 1), ("pear", 1)] and not caught.value.in_doubt
    with pytest.raises(redis.ConnectionError):
        sketch.estimate("apple")
    assert SketchGroups.open(server.client, "gone").total() == 1


def test_a_server_that_takes_no_writes(server):
    sketch = SketchGroups.create(server.client, "readonly", 4, BUDGET)
    brief = SketchGroups.open(server.client, "readonly", timeout=0.2)
    server("REPLICAOF", "127.0.0.1", "1")
    try:
        with pytest.raises(AddError) as caught:
            brief.add_many(range(10))
        assert len(caught.value.refused) == 10 and isinstance(caught.value.__cause__, redis.exceptions.ReadOnlyError)
        threading.Timer(0.2, server, ("REPLICAOF", "NO", "ONE")).start()
        sketch.add_many(range(10))
    finally:
        server("REPLICAOF", "NO", "ONE")
    assert sketch.total() == 10


@pytest.mark.parametrize("groups", [1, 4])
def test_a_server_that_is_loading(server, groups):
    sketch = SketchGroups.create(server.client, "loading", groups, BUDGET)
    for i in range(20):  # a second, while the server answers what comes every 1024 bytes
        server("SET", f"filler {i}", random.randbytes(2048))
    server("CONFIG", "SET", "key-load-delay", "50000", "loading-process-events-interval-bytes", "1024")
    impatient = server.connect(retry=Retry(NoBackoff(), 0))
    reload = threading.Thread(target=server.connect().execute_command, args=("DEBUG", "RELOAD"))
    reload.start()
    wait_for(lambda: is_loading(impatient))
    sketch.add_many(range(100))
    reload.join()
    server("CONFIG", "SET", "key-load-delay", "0")
    assert sketch.total() == 100


def is_loading(client):
    try:
        return not client.ping()
    except redis.exceptions.BusyLoadingError:
        return True


def test_a_server_that_restarts_under_load():
    """There is what was acknowledged: the log has it before the answer is sent (with everysec it might not)."""
    with Server("appendonly yes", "appendfsync always") as server:
        sketch = SketchGroups.create(server.connect(), "restart", 6, BUDGET)
        with Writer(sketch) as writer:
            for _ in range(3):
                writer.more(5)
                server.kill()
                server.start()
        assert writer.refused == 0 and writer.doubts <= 3  # one batch each time that the server died
        counted, in_doubt = writer.counted.total(), writer.in_doubt.total()
        assert counted <= sketch.total() <= counted + in_doubt
        if not in_doubt:
            here = sketches_here(sketch, BUDGET, writer.counted)
            assert [server("LEGO.DUMP", key) for key in sketch.keys] == [part.to_bytes() for part in here]


@pytest.mark.parametrize("options", [{}, {"decode_responses": True}, {"health_check_interval": 1},
                                     {"protocol": 3, "decode_responses": True}])
def test_clients_as_users_make_them(server, options):
    pool = redis.BlockingConnectionPool(port=server.port, max_connections=2, **options)
    sketch = SketchGroups.create(redis.Redis(connection_pool=pool), "client", 5, BUDGET, top=3)
    writers = [threading.Thread(target=sketch.add_many, args=(["a", "b", "a", i],)) for i in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sketch.total() == 32 and sketch.top(2, str) == [("a", 16), ("b", 8)]
    assert sketch.to_sketch().total == 32


def test_groups_may_be_one(server):
    sketch = SketchGroups.create(server.client, "one", 1, BUDGET)
    sketch.add_many(["apple", "pear"], [3, 4])
    assert [sketch.estimate("apple"), sketch.bounds("pear"), group("apple", 1)] == [3, (4, 4, 4), 0]


def test_secret_groups_of_one_server(server):
    """Which makes a secret seed by itself."""
    sketch = SketchGroups.create(server.client, "secret", 3, BUDGET, seed="secret", top=3)
    sketch.add_many(["a", "b", "a", 7])
    assert sketch.top(1, str) == [("a", 2)] and SketchGroups.open(server.client, "secret").estimate("a") == 2
    public = SketchGroups.create(server.client, "public", 3, BUDGET, top=3)
    for key, made in zip(sketch.keys, public.keys):
        server("RENAME", made, key)
    with pytest.raises(LookupError, match="its seed is not secret"):
        SketchGroups.open(server.client, "secret")
