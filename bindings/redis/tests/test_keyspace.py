"""Our keys are keys like others: for ACLs, transactions, scripts, COPY, expiry, events, and for tools that look."""

import pytest
import redis
from server import MODULE, Server, wait_for
from streams import count, reserve, stream


@pytest.fixture
def key(server):
    sketch = reserve(server, "key", 50000)
    count(server, "key", sketch, stream(500))
    return server


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        ("RESERVE a BUDGET 10000", "a"), ("INCRBY a x 1 y 2", "a"), ("ADD a x", "a"), ("QUERY a x y", "a"),
        ("TOP a", "a"), ("MERGE a 1 b", "a b"), ("MERGE a 3 b c d", "a b c d"), ("FOLD a 1", "a"),
        ("FOLD a BUDGET 5000", "a"), ("INFO a", "a"), ("DUMP a", "a"), ("LOAD a x TOP 1", "a"),
        ("MERGE a 2 b c WEIGHTS 1 2", "a b c"), ("CARD a", "a"), ("INTOP a x y", "a"), ("UNION 2 a b ITEMS x", "a b"),
        ("UNION 1 a WITHBOUNDS ITEMS x y", "a"), ("UNION 2 a b TOP 5", "a b"), ("INCRBY a NOCREATE ITEMS x 1", "a"),
    ],
)  # fmt: skip
def test_getkeys(server, words, keys):
    assert server("COMMAND GETKEYS", *("LEGO." + words).split()) == keys.split()


def test_command_docs_and_flags(server):
    names = "reserve incrby add query top intop merge union fold info card dump load secret".split()
    docs = server("COMMAND DOCS", *(f"lego.{name}" for name in names))
    assert len(docs) == 2 * len(names)
    for about in docs[1::2]:
        facts = dict(zip(about[::2], about[1::2]))
        assert facts[b"summary"].endswith(b".") and facts[b"module"] == b"legosketch" and facts[b"arguments"]
    listed = server("COMMAND LIST", "FILTERBY", "MODULE", "legosketch")
    assert sorted(listed) == sorted(f"lego.{name}".encode() for name in names)
    with server.connect() as plain:
        rows = plain.execute_command("COMMAND INFO", *(f"lego.{name}" for name in names))
        flags = {row[0]: set(row[2]) for row in rows}
    writes = {name for name, said in flags.items() if b"write" in said}
    assert writes == {f"lego.{name}".encode() for name in "reserve incrby add merge fold load".split()}
    assert {name for name, said in flags.items() if b"readonly" not in said} - writes == {b"lego.secret"}
    assert {name for name in writes if b"denyoom" not in flags[name]} == {b"lego.fold"}


def test_acl(key):
    key("ACL", "SETUSER", "limited", "on", ">secret", "~mine:*", "%R~read:*", "+@all")
    key("LEGO.RESERVE", "mine:a", "BUDGET", 50000)
    key("LEGO.RESERVE", "read:a", "BUDGET", 50000)
    denied = redis.exceptions.NoPermissionError
    with key.connect(username="limited", password="secret") as limited:
        ask = limited.execute_command
        assert ask("LEGO.MERGE", "mine:b", 2, "mine:a", "read:a") == b"OK"
        assert ask("LEGO.QUERY", "read:a", "x") == [0]
        assert ask("LEGO.UNION", 2, "mine:a", "read:a", "ITEMS", "x") == [0]
        for words in ("UNION 1 key ITEMS x", "UNION 2 mine:a key ITEMS x", "UNION 2 mine:a key TOP",
                      "INTOP key x", "CARD key", "MERGE mine:b 1 key WEIGHTS 2", "MERGE mine:b 1 key", "MERGE mine:b 2 mine:a key", "MERGE key 1 mine:a", "MERGE read:a 1 mine:a",
                      "ADD read:a x", "QUERY key x", "DUMP key", "FOLD read:a 1",
                      "RESERVE read:b BUDGET 9999"):  # fmt: skip
            with pytest.raises(denied):
                ask(*("LEGO." + words).split())
        # A number that the server does not read could hide keys from its checks.
        for number in ("01", "+1", " 1", "1 ", "0x1", "00000000000000000000001"):
            for words in (["mine:b", number, "key"], ["key", number, "mine:a"]):
                with pytest.raises(redis.ResponseError):
                    ask("LEGO.MERGE", *words)
            with pytest.raises(redis.ResponseError):
                ask("LEGO.UNION", number, "key", "ITEMS", "x")
    key("ACL", "DELUSER", "limited")


def test_a_cluster_looks_at_every_key():
    """Slots are looked up in another way than the keys that ACL rules are about."""
    with Server("cluster-enabled yes") as node:
        node("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        wait_for(lambda: node.client.cluster("info")["cluster_state"] == "ok")
        for key in ("{a}1", "{a}2", "{b}1"):
            node("LEGO.RESERVE", key, "BUDGET", 20000, "SEED", 0)
        for words in ("{a}3 1 {b}1", "{a}3 2 {a}1 {b}1", "{b}2 2 {a}1 {a}2", "{a}3 01 {b}1"):
            with pytest.raises(redis.exceptions.ClusterCrossSlotError):
                node("LEGO.MERGE", *words.split())
            with pytest.raises(redis.exceptions.ClusterCrossSlotError):
                node("LEGO.UNION", 2, *words.split()[-1:], "{b}1" if "{a}" in words.split()[-1] else "{a}1", "ITEMS", "x")
        assert node("LEGO.MERGE", "{a}3", 2, "{a}1", "{a}2", "WEIGHTS", 1, 2) == b"OK"
        assert node("LEGO.UNION", 2, "{a}1", "{a}2", "ITEMS", "{b}1") == [0]


def test_multi_and_watch(key):
    total = key("LEGO.INCRBY", "key", "x", 0)
    with key.client.pipeline(transaction=True) as transaction:
        transaction.execute_command("LEGO.ADD", "key", "x", "y")
        transaction.execute_command("LEGO.QUERY", "nothing", "x")
        transaction.execute_command("LEGO.ADD", "key", "x")
        answers = transaction.execute(raise_on_error=False)
    assert answers[0] == total + 2 and isinstance(answers[1], redis.ResponseError) and answers[2] == total + 3
    # A change of a watched key ends a transaction; a command that failed, or only read, does not.
    for words, changes in ((["LEGO.ADD", "key", "x"], True), (["LEGO.INCRBY", "key", "x", "none"], False),
                           (["LEGO.QUERY", "key", "x"], False), (["LEGO.FOLD", "key", 1], True)):  # fmt: skip
        with key.client.pipeline(transaction=True) as transaction:
            transaction.watch("key")
            key.pipeline([words])
            transaction.multi()
            transaction.execute_command("PING")
            if changes:
                with pytest.raises(redis.WatchError):
                    transaction.execute()
            else:
                assert transaction.execute() == [True]


def test_scripts(key):
    script = """redis.call('LEGO.RESERVE', KEYS[1], 'BUDGET', 10000)
                local total = redis.call('LEGO.INCRBY', KEYS[1], 'a', 3, 'b', 4)
                return {total, redis.call('LEGO.QUERY', KEYS[1], 'a', 'b')}"""
    assert key("EVAL", script, 1, "scripted") == [7, [3, 4]]
    with pytest.raises(redis.ResponseError, match="no such sketch"):
        key("EVAL", "return redis.call('LEGO.ADD', KEYS[1], 'a')", 1, "nothing")
    assert key("EVAL_RO", "return redis.call('LEGO.QUERY', KEYS[1], 'a')", 1, "scripted") == [3]
    with pytest.raises(redis.ResponseError):
        key("EVAL_RO", "return redis.call('LEGO.ADD', KEYS[1], 'a')", 1, "scripted")


@pytest.mark.parametrize("top", [None, 20])
def test_copy_rename_dump_restore(server, top):
    sketch = reserve(server, "from", 50000, top=top)
    count(server, "from", sketch, stream(800))
    server("COPY", "from", "copy")
    server("RESTORE", "restored", 0, server("DUMP", "from"))
    digests = server("DEBUG", "DIGEST-VALUE", "from", "copy", "restored")
    assert digests[0] == digests[1] == digests[2]
    count(server, "copy", sketch, stream(800, 2))  # they are sketches of their own
    assert server("LEGO.DUMP", "copy") == sketch.to_bytes() != server("LEGO.DUMP", "from")
    server("RENAME", "copy", "renamed")
    assert server("LEGO.DUMP", "renamed") == sketch.to_bytes()
    if top is not None:
        assert server("LEGO.TOP", "restored") == server("LEGO.TOP", "from")
        assert len(server("LEGO.TOP", "restored")) == top


def test_digest_tells_apart(server):
    for name, words in {"a": [], "b": ["SEED", 1], "c": ["MODEL", "paper"], "d": ["TOP", 3], "e": ["TOP", 4]}.items():
        server("LEGO.RESERVE", name, "BUDGET", 20000, *words)
    assert len(set(server("DEBUG", "DIGEST-VALUE", *"abcde"))) == 5


def test_type_and_memory(key):
    assert key("TYPE", "key") == b"LEGO-SKCH"
    assert key("OBJECT", "ENCODING", "key") == b"raw"
    assert list(key.client.scan_iter(_type="LEGO-SKCH")) == [b"key"]
    before = key.client.info("memory")["used_memory"]
    key("LEGO.RESERVE", "large", "BUDGET", 32 << 20)
    young = key("MEMORY", "USAGE", "large")
    assert young < 1000
    for first in range(0, 400_000, 20_000):
        key("LEGO.ADD", "large", *range(first, first + 20_000))
    used = key("MEMORY", "USAGE", "large")
    assert 1_000_000 < used <= 33 << 20
    # what it says is what it took, but for the buffers of the last command
    assert abs(key.client.info("memory")["used_memory"] - before - used) < 2_000_000
    words = key("LEGO.INFO", "large")
    info = dict(zip(words[::2], words[1::2]))
    assert info[b"bytes"] + info[b"cache-bytes"] < used < 1.25 * info[b"bytes"]  # the allocator's classes of sizes
    freed = key.client.info("memory")["lazyfreed_objects"]
    assert key("UNLINK", "large") == 1  # in the background
    wait_for(lambda: key.client.info("memory")["lazyfreed_objects"] > freed)
    assert key.client.info("memory")["used_memory"] < before + 1_000_000


def test_small_sketches_are_freed_at_once(key):
    """An effort of 0 would tell the server the opposite."""

    def handed_over():
        info = key.client.info("memory")
        return info["lazyfreed_objects"] + info["lazyfree_pending_objects"]

    key("LEGO.FOLD", "key", 1)
    assert key("MEMORY", "USAGE", "key") < 4096 + 40960  # with what was learnt of its stream when it was asked
    before = handed_over()
    assert key("UNLINK", "key") == 1
    assert handed_over() == before


def test_active_defragmentation(server):
    """Where a server was compiled with it, which Debian's was not: sketches move, and stay what they are."""
    try:
        server("CONFIG", "SET", "activedefrag", "yes")
    except redis.ResponseError:
        pytest.skip("this server can not defragment")
    names = [f"k{i}" for i in range(40_000)]
    server.pipeline([["LEGO.RESERVE", name, "BUDGET", 300_000, *(["TOP", 3] if i % 3 else [])]
                     for i, name in enumerate(names)])  # fmt: skip
    server.pipeline([["LEGO.ADD", name, *range(i % 50)] for i, name in enumerate(names) if i % 50])
    server("DEL", *(name for i, name in enumerate(names) if i % 4))
    digest, before = server("DEBUG", "DIGEST"), server.client.info("memory")["allocator_frag_bytes"]
    server("CONFIG", "SET", "active-defrag-ignore-bytes", "1mb", "active-defrag-threshold-lower", "5")
    wait_for(lambda: server.client.info("memory")["allocator_frag_bytes"] < before / 2, 60)
    server("CONFIG", "SET", "activedefrag", "no")
    assert server("DEBUG", "DIGEST") == digest
    server.pipeline([["LEGO.ADD", name, "x"] for name in names[::4]])
    assert set(map(tuple, server.pipeline([["LEGO.QUERY", name, "x"] for name in names[::4]]))) == {(1,)}


def test_flushall_async(server):
    before = server.client.info("memory")["used_memory"]
    for i in range(20):
        server("LEGO.RESERVE", i, "BUDGET", 2_000_000, *(["TOP", 10] if i % 2 else []))
    server("FLUSHALL", "ASYNC")
    wait_for(lambda: server.client.info("memory")["used_memory"] < before + 1_000_000)


def test_expiry(key):
    data = key("LEGO.DUMP", "key")
    key("EXPIRE", "key", 1000)
    key("LEGO.ADD", "key", "x")
    key("LEGO.FOLD", "key", 1)
    assert key("TTL", "key") > 900  # what changes a sketch leaves it its time,
    key("LEGO.MERGE", "key", 1, "key")
    assert key("TTL", "key") == -1  # what replaces one does not, as with SUNIONSTORE and SET
    key("EXPIRE", "key", 1000)
    key("LEGO.LOAD", "key", data)
    assert key("TTL", "key") == -1
    key("PEXPIRE", "key", 1)
    wait_for(lambda: key("EXISTS", "key") == 0)
    key("LEGO.RESERVE", "key", "BUDGET", 4096)


def test_events(server):
    server("CONFIG", "SET", "notify-keyspace-events", "Kd")
    listener = server.client.pubsub()
    listener.psubscribe("__keyspace@0__:*")
    assert listener.get_message(timeout=5)["type"] == "psubscribe"
    server("LEGO.RESERVE", "a", "BUDGET", 20000)
    server("LEGO.ADD", "a", "x")
    server("LEGO.INCRBY", "a", "x", 1, "y", 1)
    server.pipeline([["LEGO.INCRBY", "a", "x", "none"], ["LEGO.RESERVE", "a", "BUDGET", 20000], ["LEGO.FOLD", "a", 0]])
    server("LEGO.QUERY", "a", "x")
    server("LEGO.MERGE", "b", 1, "a")
    server("LEGO.FOLD", "b", 1)
    server("LEGO.LOAD", "a", server("LEGO.DUMP", "b"))
    expected = ["a reserve", "a add", "a incrby", "b merge", "b fold", "a load"]
    heard = [listener.get_message(timeout=5) for _ in expected]
    said = [f"{m['channel'].decode().split(':')[1]} {m['data'].decode().removeprefix('lego.')}" for m in heard]
    assert said == expected
    assert listener.get_message(timeout=0.1) is None
    listener.close()
    server("CONFIG", "SET", "notify-keyspace-events", "")


def test_categories(key):
    """Servers that can be told of them have them; 7.0 can not, and our module says so."""
    if key.client.info("server")["redis_version"] < "7.2":
        assert "can not be told of ACL categories" in key.log()
        return
    key("ACL", "SETUSER", "reader", "on", ">secret", "~*", "+@all", "-@write")
    denied = redis.exceptions.NoPermissionError
    with key.connect(username="reader", password="secret") as reader:
        for words in ("RESERVE k BUDGET 5000", "ADD key x", "INCRBY key x 1", "MERGE key 1 key", "FOLD key 1", "LOAD k x"):
            with pytest.raises(denied):
                reader.execute_command(*("LEGO." + words).split())
        for words in ("QUERY key x", "INFO key", "CARD key", "DUMP key", "UNION 1 key ITEMS x"):
            reader.execute_command(*("LEGO." + words).split())
    ours = {name for name in key("ACL", "CAT", "fast") + key("ACL", "CAT", "slow") if name.startswith(b"lego.")}
    assert len(ours) == 14 and ours & set(key("ACL", "CAT", "fast")) == {b"lego.add", b"lego.incrby", b"lego.query"}
    if b"lego" in key("ACL", "CAT"):  # which is later than the others
        assert set(key("ACL", "CAT", "lego")) == ours
    key("ACL", "DELUSER", "reader")


def test_the_module_reads_its_arguments_and_does_not_unload(server):
    with Server(module=None) as bare:
        for wrong in ("x", "BUDGET", "BUDGET 1", "BUDGET 64k", "ITEMS 10 ERROR 0.1", "BUDGET 64kb BUDGET 64kb", "TOP 5",
                      "BUDGET 4096 TOP 5"):
            with pytest.raises(redis.ResponseError):
                bare("MODULE", "LOAD", MODULE, *wrong.split())
        assert "BUDGET is 4096 to 68719476736 bytes" in bare.log() and "said twice" in bare.log()
        bare("MODULE", "LOAD", MODULE, "BUDGET", "64kb", "TOP", "5")
    with pytest.raises(redis.ResponseError, match="data types"):
        server("MODULE", "UNLOAD", "legosketch")
