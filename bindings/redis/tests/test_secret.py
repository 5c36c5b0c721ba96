"""Secret seeds: made on first use, kept with the data, told to replicas, and shown by nothing but LEGO.SECRET."""

import threading
import time

import pytest
import redis
from server import MODULE, Server, wait_for

ERROR = redis.exceptions.ResponseError
HEX = "00112233445566778899aabbccddeeff"
OTHER = "ffeeddccbbaa99887766554433221100"
LOGGED = ("appendonly yes", "appendfsync always")


def seed_of(server, key):
    words = server("LEGO.INFO", key)
    return dict(zip(words[::2], words[1::2]))[b"seed"].decode()


def make(server, key, *words):
    assert server("LEGO.RESERVE", key, "BUDGET", 20000, *words) == b"OK"
    server("LEGO.INCRBY", key, "a", 3, "b", 4)


def known(server):
    return [text.decode() for _, text in server("LEGO.SECRET")]


def assert_goes_on(server, seed, key="key"):
    """The sketch is there, and a new one merges with it."""
    assert seed_of(server, key) == seed and server("LEGO.QUERY", key, "a", "b") == [3, 4]
    server("DEL", "new", "both")
    make(server, "new")
    assert seed_of(server, "new") == seed
    assert server("LEGO.MERGE", "both", 2, key, "new") == b"OK"
    assert server("LEGO.QUERY", "both", "a", "b") == [6, 8]
    server("DEL", "new", "both")


@pytest.fixture
def fresh():
    with Server(*LOGGED) as server:
        yield server


@pytest.fixture
def pair():
    with Server("repl-diskless-sync-delay 0", *LOGGED) as master, Server(*LOGGED) as replica:
        yield master, replica


def follow(replica, master):
    replica("REPLICAOF", "127.0.0.1", master.port)
    wait_for(lambda: replica.client.info("replication")["master_link_status"] == "up")


def same(master, replica):
    assert master("WAIT", 1, 20000) == 1
    return master("DEBUG", "DIGEST") == replica("DEBUG", "DIGEST") and known(master) == known(replica)


# ---- what new sketches get -------------------------------------------------------------------------------------------


def test_the_first_is_made_when_it_is_needed(fresh):
    assert fresh("LEGO.SECRET") == []
    make(fresh, "public", "SEED", 7)
    assert fresh("LEGO.SECRET") == [] and seed_of(fresh, "public") == "7"
    make(fresh, "key")
    ((fingerprint, text),) = fresh("LEGO.SECRET")
    assert len(text) == 32 and seed_of(fresh, "key") == f"secret:{fingerprint.decode()}"
    make(fresh, "key2")
    assert fresh("LEGO.SECRET") == [[fingerprint, text]]
    assert fresh("LEGO.MERGE", "both", 2, "key", "key2") == b"OK"
    with pytest.raises(ERROR, match="another seed"):
        fresh("LEGO.MERGE", "both", 2, "key", "public")
    with Server() as another:
        make(another, "key")
        assert known(another) != [text.decode()]


def test_one_of_several_is_named_by_its_fingerprint(fresh):
    assert fresh("LEGO.SECRET", HEX, OTHER) == fresh("LEGO.SECRET", OTHER.upper()) == b"OK"
    (first, _), (second, _) = fresh("LEGO.SECRET")
    make(fresh, "first")
    make(fresh, "second", "SEED", b"secret:" + second.upper())
    assert seed_of(fresh, "first") == f"secret:{first.decode()}"
    assert seed_of(fresh, "second") == f"secret:{second.decode()}"
    assert known(fresh) == [HEX, OTHER]
    with pytest.raises(ERROR, match="fingerprint 0123456789abcdef: give it with LEGO.SECRET, or with the module's SEED-FILE"):
        fresh("LEGO.RESERVE", "k", "BUDGET", 20000, "SEED", "secret:0123456789abcdef")
    for wrong in ("secret:", "secret", "secret:123", "secret:0123456789abcdeg", "Secret:0123456789abcdef", HEX):
        with pytest.raises(ERROR, match="SEED is 0 to 18446744073709551615, or secret: and the 16 hex digits"):
            fresh("LEGO.RESERVE", "k", "BUDGET", 20000, "SEED", wrong)
    assert fresh("EXISTS", "k") == 0


def test_the_modules_own_sketches_are_secret():
    with Server(*LOGGED, module="BUDGET 64kb") as server:
        assert server("LEGO.ADD", "key", "a") == 1
        ((fingerprint, text),) = server("LEGO.SECRET")
        assert seed_of(server, "key") == f"secret:{fingerprint.decode()}"
        server.kill()
        server.start()
        assert server("LEGO.QUERY", "key", "a") == [1] and known(server) == [text.decode()]


def test_by_items_and_error(fresh):
    assert fresh("LEGO.RESERVE", "key", "ITEMS", 1000, "ERROR", 0.01) == b"OK"
    assert seed_of(fresh, "key").startswith("secret:")


def test_what_is_no_seed_is_refused_and_not_repeated(fresh):
    for wrong in ("", HEX[:-1], HEX + "0", HEX[:-1] + "g", HEX[:16] + "0" * 16, "0" * 32):
        for words in ([wrong], [HEX, wrong]):
            with pytest.raises(ERROR, match="a secret seed is 32 hex digits|no secret seed ends in 16 zeros") as error:
                fresh("LEGO.SECRET", *words)
            assert HEX[:15] not in str(error.value)
    assert fresh("LEGO.SECRET") == []


def test_there_is_room_for_so_many(fresh):
    many = [f"{i:032x}" for i in range(1, 1025)]
    assert fresh("LEGO.SECRET", *many) == b"OK" and known(fresh) == many
    assert fresh("LEGO.SECRET", *many[:5]) == b"OK"
    with pytest.raises(ERROR, match="1024 secret seeds at most"):
        fresh("LEGO.SECRET", many[0], HEX)
    assert known(fresh) == many


# ---- bytes -----------------------------------------------------------------------------------------------------------


def test_dump_and_restore_need_it(fresh):
    make(fresh, "key")
    seed, bytes, payload = seed_of(fresh, "key"), fresh("LEGO.DUMP", "key"), fresh("DUMP", "key")
    (secret,) = known(fresh)
    fingerprint = seed.removeprefix("secret:")
    for data in (bytes, payload):
        assert int(secret, 16).to_bytes(16, "big") not in data and secret.encode() not in data
    with Server() as other:
        with pytest.raises(ERROR, match=f"fingerprint {fingerprint}: give it with LEGO.SECRET, or with the module's SEED-FILE"):
            other("LEGO.LOAD", "key", bytes)
        with pytest.raises(ERROR, match="Bad data format"):
            other("RESTORE", "key", 0, payload)
        assert f"no secret seed is known that has the fingerprint {fingerprint}" in other.log()
        assert other("EXISTS", "key") == 0
        make(other, "mine")  # its own secret seed is not the one
        with pytest.raises(ERROR, match=fingerprint):
            other("LEGO.LOAD", "key", bytes)
        other("LEGO.SECRET", secret)
        other("LEGO.LOAD", "key", bytes)
        other("RESTORE", "restored", 0, payload)
        assert seed_of(other, "key") == seed_of(other, "restored") == seed
        assert other("LEGO.QUERY", "key", "a") == other("LEGO.QUERY", "restored", "a") == [3]
        assert other("LEGO.DUMP", "restored") == bytes and other("DUMP", "key") == payload
        assert seed_of(other, "mine") != seed


def test_large_bytes_in_a_thread(fresh):
    make(fresh, "key")
    fresh("LEGO.RESERVE", "large", "BUDGET", 24 << 20)
    for first in range(0, 400_000, 20_000):
        fresh("LEGO.ADD", "large", *range(first, first + 20_000))
    bytes = fresh("LEGO.DUMP", "large")
    assert len(bytes) > 1 << 20
    assert fresh("LEGO.LOAD", "again", bytes) == b"OK" and fresh("LEGO.DUMP", "again") == bytes
    with Server() as other, pytest.raises(ERROR, match="no secret seed is known"):
        other("LEGO.LOAD", "again", bytes)


def test_the_secret_is_shown_by_nothing_else(fresh, tmp_path):
    watcher = fresh.connect().monitor()
    with watcher:
        fresh("CONFIG", "SET", "slowlog-log-slower-than", 0)
        fresh("LEGO.SECRET", HEX)
        make(fresh, "key")
        shown = repr([fresh("LEGO.INFO", "key"), fresh("LEGO.DUMP", "key"), fresh("DUMP", "key"), fresh("LEGO.SECRET") and "",
                      fresh("DEBUG", "OBJECT", "key"), fresh("DEBUG", "DIGEST-VALUE", "key"), fresh("MODULE", "LIST"),
                      fresh("CLIENT", "LIST"), fresh("SLOWLOG", "GET", 100), fresh("INFO", "everything"),
                      fresh("CONFIG", "GET", "*")])
        fresh("PING", "the end")
        for said in watcher.listen():
            shown += repr(said)
            if "the end" in said["command"]:
                break
    assert "LEGO.INFO" in shown and HEX not in shown.lower() + fresh.log()
    with pytest.raises(ERROR, match="not allowed from script"):
        fresh("EVAL", "return redis.call('LEGO.SECRET')", 0)


@pytest.mark.parametrize("rules", ["+@all -lego.secret", "+@all -@dangerous", "+@all -@admin", "-@all +@read", "+@all -config"])
def test_who_may_see_them(fresh, rules):
    fresh("LEGO.SECRET", HEX)
    fresh("ACL", "SETUSER", "limited", "on", ">password", "~*", *rules.split())
    with fresh.connect(username="limited", password="password") as limited:
        for words in ([], [OTHER]):
            with pytest.raises(redis.exceptions.NoPermissionError):
                limited.execute_command("LEGO.SECRET", *words)
    assert known(fresh) == [HEX]
    fresh("ACL", "SETUSER", "manager", "on", ">password", "~*", "+@all")
    with fresh.connect(username="manager", password="password") as manager:
        assert manager.execute_command("LEGO.SECRET", OTHER) == b"OK" and len(manager.execute_command("LEGO.SECRET")) == 2


def test_who_may_see_them_where_config_is_renamed():
    with Server('rename-command CONFIG ""') as server:
        server("LEGO.SECRET", HEX)
        server("ACL", "SETUSER", "limited", "on", ">password", "~*", "+@all", "-@admin", "-@dangerous", "-config", "-acl")
        with server.connect(username="limited", password="password") as limited:
            with pytest.raises(redis.exceptions.NoPermissionError):
                limited.execute_command("LEGO.SECRET")
        assert known(server) == [HEX]


def test_a_command_that_fails_tells_of_the_secret_that_it_made():
    with Server("appendonly yes", "appendfsync always") as server:
        with pytest.raises(redis.exceptions.ResponseError):
            server("LEGO.INCRBY", "key", "item", "no number")
        made = known(server)
        server.kill()
        server.start()
        assert known(server) == made


# ---- with the data ---------------------------------------------------------------------------------------------------


def test_a_line_end_is_no_part_of_it(fresh):
    fresh("LEGO.SECRET", f" {HEX}\n")  # as redis-cli -x sends a file
    assert known(fresh) == [HEX]


def test_rdb():
    with Server() as server:
        server("LEGO.SECRET", HEX, OTHER)
        make(server, "key")
        seed = seed_of(server, "key")
        server("SAVE")
        server.kill()
        server.start()
        assert known(server) == [HEX, OTHER]
        assert_goes_on(server, seed)
        server("DEBUG", "RELOAD")
        assert_goes_on(server, seed)


@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_log(preamble):
    with Server(*LOGGED, f"aof-use-rdb-preamble {preamble}") as server:
        make(server, "key")
        seed, secrets = seed_of(server, "key"), known(server)
        server.kill()  # right after its first use
        server.start()
        assert known(server) == secrets
        assert_goes_on(server, seed)
        server("LEGO.SECRET", OTHER)
        make(server, "other", "SEED", b"secret:" + server("LEGO.SECRET")[1][0])
        for _ in range(2):
            server("BGREWRITEAOF")
            wait_for(lambda: server.client.info("persistence")["aof_rewrite_in_progress"] == 0)
            server.kill()
            server.start()
            assert known(server) == [*secrets, OTHER]
            assert_goes_on(server, seed)
            assert server("LEGO.QUERY", "other", "a") == [3]


@pytest.mark.parametrize("preamble", ["yes", "no"])
@pytest.mark.parametrize("how", ["RESERVE", "LOAD", "RESTORE"])
def test_a_log_that_was_rewritten_before(preamble, how):
    """What the rewritten log does not say, since no sketch was there, is said with the next one."""
    with Server(*LOGGED, f"aof-use-rdb-preamble {preamble}") as server:
        server("LEGO.SECRET", HEX, OTHER)
        make(server, "key")
        seed, bytes, payload = seed_of(server, "key"), server("LEGO.DUMP", "key"), server("DUMP", "key")
        server("DEL", "key")
        server("BGREWRITEAOF")
        wait_for(lambda: server.client.info("persistence")["aof_rewrite_in_progress"] == 0)
        if how == "RESERVE":
            make(server, "key")
        elif how == "LOAD":
            server("LEGO.LOAD", "key", bytes)
        else:
            server("RESTORE", "key", 0, payload)
        server.kill()
        server.start()
        assert known(server)[0] == HEX
        assert_goes_on(server, seed)


def test_killed_right_after_first_use():
    """Whatever was acknowledged, with whatever seed, is read with it."""
    for _ in range(10):
        with Server(*LOGGED) as server:
            acknowledged = []

            def run():
                with server.connect(retry=None) as client:
                    try:
                        for i in range(10_000):
                            client.execute_command("LEGO.RESERVE", f"key{i}", "BUDGET", 4096)
                            acknowledged.append(i)
                    except redis.ConnectionError:
                        pass

            thread = threading.Thread(target=run)
            thread.start()
            while not acknowledged:
                time.sleep(0.0001)
            server.kill()
            thread.join()
            server.start()
            assert len(known(server)) == 1
            assert len({seed_of(server, f"key{i}") for i in acknowledged}) == 1
            make(server, "next")
            assert seed_of(server, "next") == seed_of(server, "key0")


def test_files_without_secrets_load():
    """Such as versions before wrote: the part before the keys is not there."""
    with Server("rdbcompression no", "rdbchecksum no") as server:
        make(server, "key", "SEED", 5)
        server("SAVE")
        server.kill()
        name = f"{server.folder}/dump.rdb"
        with open(name, "rb") as file:
            data = file.read()
        at = data.index(b"\xf7\x81")  # RDB_OPCODE_MODULE_AUX and the type's number, to the end of version 1 and 0 seeds
        part = data[at : at + 17]
        assert part[10:] == bytes([2, 1, 2, 1, 2, 0, 0]), part
        for changed, loads in ((b"", True), (part[:13] + b"\2" + part[14:], False), (part[:15] + b"\1" + part[16:], False)):
            with open(name, "wb") as file:
                file.write(data[:at] + changed + data[at + 17 :])
            if loads:
                server.start()
                assert server("LEGO.QUERY", "key", "a") == [3]
                server.kill()
                continue
            with pytest.raises(RuntimeError, match="secret seeds"):
                server.start()
            assert server.process.wait(10) >= 0


# ---- replicas --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [True, False])
def test_replica_and_promoted_replica(pair, before):
    """Made before the replica's first copy of everything or after it; the replica had sketches of its own."""
    master, replica = pair
    make(replica, "gone")
    own = known(replica)
    if before:
        make(master, "key")
    follow(replica, master)
    if not before:
        make(master, "key")
    seed = seed_of(master, "key")
    assert master("WAIT", 1, 20000) == 1 and replica("EXISTS", "gone") == 0
    assert known(replica) == known(master) + own  # which nothing needs any more, but somebody may have bytes
    assert master("DEBUG", "DIGEST") == replica("DEBUG", "DIGEST")
    replica("REPLICAOF", "NO", "ONE")
    assert_goes_on(replica, seed)
    wait_for(lambda: not any(replica.client.info("persistence")[f"aof_rewrite_{now}"] for now in ("in_progress", "scheduled")))
    replica.kill()
    replica.start()
    assert_goes_on(replica, seed)


@pytest.mark.parametrize("how", ["RESTORE", "ADD"])
def test_a_file_that_only_the_master_has(how, tmp_path):
    """Its replica, which does not start anew but goes on where it was, learns what it needs before it needs it."""
    (tmp_path / "seed").write_text(HEX)
    with Server() as source:
        source("LEGO.SECRET", HEX)
        make(source, "key")
        payload = source("DUMP", "key")
    with Server("repl-diskless-sync-delay 0") as replica, Server("save 3600 1", *LOGGED[1:]) as master:
        follow(replica, master)
        master("SET", "x", "y")
        assert master("WAIT", 1, 20000) == 1
        full = master.client.info("stats")["sync_full"]
        master.stop()
        master.options = (f"loadmodule {MODULE} BUDGET 20000 SEED-FILE {tmp_path}/seed", *master.options[1:])
        master.start()
        wait_for(lambda: replica.client.info("replication")["master_link_status"] == "up")
        assert full == 1 and master.client.info("stats")["sync_full"] == 0 and known(replica) == []
        master(*(["RESTORE", "key", 0, payload] if how == "RESTORE" else ["LEGO.ADD", "key", "a"]))
        assert same(master, replica) and known(replica) == [HEX]
        assert replica("LEGO.DUMP", "key") == master("LEGO.DUMP", "key")


def test_a_master_that_others_tell(pair):
    master, replica = pair
    follow(replica, master)
    master("LEGO.SECRET", HEX)
    master("LEGO.SECRET", OTHER)
    make(master, "key")
    assert same(master, replica) and known(replica) == [HEX, OTHER]
    replica("LEGO.SECRET", "1" * 32)  # one for itself alone
    assert known(replica) == [HEX, OTHER, "1" * 32] != known(master)
    assert seed_of(replica, "key") == seed_of(master, "key")


def test_a_paused_master_takes_none(pair):
    """Nothing may be replicated then: the command waits, as writes do."""
    master, replica = pair
    follow(replica, master)
    master("CLIENT", "PAUSE", 600, "WRITE")
    begun = time.monotonic()
    assert master("LEGO.SECRET", HEX) == b"OK" and time.monotonic() - begun > 0.3
    assert master("WAIT", 1, 20000) == 1 and known(replica) == [HEX]


# ---- SEED-FILE -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bare():
    """A server without our module."""
    with Server(module=None) as bare:
        yield bare


def refused_to_load(bare, *arguments):
    """What it logs of it, as it does when it starts so, and ends then."""
    before = len(bare.log())
    with pytest.raises(ERROR):
        bare("MODULE", "LOAD", MODULE, *map(str, arguments))
    return bare.log()[before:]


def test_seed_file(tmp_path):
    path = tmp_path / "seed"
    path.write_text(f"  {HEX.upper()}\n")
    with Server(module=f"BUDGET 20000 SEED-FILE {path} TOP 5") as server:
        assert known(server) == [HEX]
        server("LEGO.ADD", "key", "a", "a", "a", "b", "b", "b", "b")
        server("LEGO.SECRET", OTHER)
        seed = seed_of(server, "key")
        make(server, "mine")
        assert seed_of(server, "mine") == seed and server("LEGO.TOP", "key") == [b"b", b"a"]
        server("SAVE")
        server.kill()
        path.write_text(OTHER)  # a new one comes first; the old one stays known
        server.start()
        assert known(server) == [OTHER, HEX]
        assert server("LEGO.QUERY", "key", "a") == [3]
        make(server, "new")
        assert seed_of(server, "new") != seed == seed_of(server, "key")


def test_a_file_says_what_a_replica_goes_on_with(tmp_path):
    (tmp_path / "seed").write_text(HEX)
    with Server("repl-diskless-sync-delay 0") as master, Server(module=f"SEED-FILE {tmp_path}/seed") as replica:
        make(master, "key")
        follow(replica, master)
        assert known(replica) == [HEX, *known(master)]
        make(master, "key2")
        assert master("WAIT", 1, 20000) == 1 and known(replica) == [HEX, *known(master)]
        assert master("DEBUG", "DIGEST") == replica("DEBUG", "DIGEST")


@pytest.mark.parametrize(("content", "why"), [(None, "No such file"), ("", "32 hex digits"), (HEX + "0", "32 hex digits"),
                                              (HEX[:-1] + "x", "32 hex digits"), ("0" * 32, "ends in 16 zeros"),
                                              ("7" * 5000, "32 hex digits")])  # fmt: skip
def test_a_bad_seed_file_stops_the_module(bare, tmp_path, content, why):
    if content is not None:
        (tmp_path / "seed").write_text(content)
    assert f"SEED-FILE: {tmp_path}/seed: " in refused_to_load(bare, "SEED-FILE", tmp_path / "seed") and why in bare.log()
    assert HEX[:15] not in bare.log()


def test_a_seed_file_is_one_file(bare, tmp_path):
    (tmp_path / "seed").write_text(HEX)
    file = ("SEED-FILE", tmp_path / "seed")
    for wrong in (file[:1], ("BUDGET", "64kb", *file[:1]), (*file, *file)):
        assert "SEED-FILE needs the name of one file" in refused_to_load(bare, *wrong)
    assert "Is a directory" in refused_to_load(bare, "SEED-FILE", tmp_path)
    assert "BUDGET is 4096 to" in refused_to_load(bare, *file, "BUDGET", "1")


# ---- clusters --------------------------------------------------------------------------------------------------------


def test_a_cluster_makes_none_by_itself():
    """Each node would make another, and keys could not move."""
    with Server("cluster-enabled yes") as node:
        node("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        wait_for(lambda: node.client.cluster("info")["cluster_state"] == "ok")
        with pytest.raises(ERROR, match="all nodes of a cluster need the same secret seed"):
            node("LEGO.RESERVE", "key", "BUDGET", 20000)
        make(node, "public", "SEED", 0)
        node("LEGO.SECRET", HEX)
        make(node, "key")
        assert seed_of(node, "key").startswith("secret:")


def test_migrate():
    with Server() as source, Server() as target:
        make(source, "key")
        seed = seed_of(source, "key")
        with pytest.raises(ERROR, match="Bad data format"):
            source("MIGRATE", "127.0.0.1", target.port, "key", 0, 5000)
        assert source("EXISTS", "key") == 1 and seed.removeprefix("secret:") in target.log()
        target("LEGO.SECRET", *known(source))
        source("MIGRATE", "127.0.0.1", target.port, "key", 0, 5000)
        assert_goes_on(target, seed)
