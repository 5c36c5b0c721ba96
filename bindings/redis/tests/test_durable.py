"""What was acknowledged is there after a restart, from RDB files and from logs, also after SIGKILL."""

import glob
import threading
import time

import pytest
import redis
from server import Server, wait_for
from streams import MODELS, count, reserve, stream


def fill(server):
    """Keys of every kind; the truth of each."""
    sketches = {}
    for model in MODELS:
        for top in (None, 10):
            key = f"{model}{top}"
            sketches[key] = reserve(server, key, 30000, model, 3, top)
            count(server, key, sketches[key], stream(700))
    reserve(server, "empty", 4096)
    server("EXPIRE", "compact10", 10000)
    return sketches


def check(server, sketches, digest):
    assert server("DEBUG", "DIGEST") == digest
    for key, sketch in sketches.items():
        assert server("LEGO.DUMP", key) == sketch.to_bytes()
        assert server("LEGO.INCRBY", key, "x", 0) == sketch.total
    assert len(server("LEGO.TOP", "paper10")) == 10
    assert server("TTL", "compact10") > 9000


@pytest.mark.parametrize("compression", ["yes", "no"])
def test_rdb(compression):
    with Server(f"rdbcompression {compression}") as server:
        sketches = fill(server)
        digest = server("DEBUG", "DIGEST")
        server("SAVE")
        server.kill()
        server.start()
        check(server, sketches, digest)
        server("BGSAVE")
        wait_for(lambda: server.client.info("persistence")["rdb_bgsave_in_progress"] == 0)
        assert server.client.info("persistence")["rdb_last_bgsave_status"] == "ok"


def log_size(server):
    return sum(len(open(name, "rb").read()) for name in glob.glob(f"{server.folder}/appendonlydir/*.aof"))


@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_log(preamble):
    with Server("appendonly yes", "appendfsync always", f"aof-use-rdb-preamble {preamble}") as server:
        sketches = fill(server)
        digest = server("DEBUG", "DIGEST")
        server.kill()
        server.start()
        check(server, sketches, digest)
        # Rewritten, and then more.
        server("BGREWRITEAOF")
        wait_for(lambda: server.client.info("persistence")["aof_rewrite_in_progress"] == 0)
        assert server.client.info("persistence")["aof_last_bgrewrite_status"] == "ok"
        (base,) = glob.glob(f"{server.folder}/appendonlydir/*.base.*")
        with open(base, "rb") as file:
            assert (b"LEGO.LOAD" in file.read()) == (preamble == "no")
        for key, sketch in sketches.items():
            count(server, key, sketch, stream(300, 5))
        server("LEGO.MERGE", "merged", 2, "compactNone", "compactNone")
        server("LEGO.FOLD", "compactNone", 1)
        sketches["compactNone"].fold(1)
        server("LEGO.LOAD", "loaded", sketches["compact10"].to_bytes(), "TOP", 4)
        sketches["loaded"] = sketches["compact10"].copy()
        digest = server("DEBUG", "DIGEST")
        server.kill()
        server.start()
        check(server, sketches, digest)
        assert len(server("LEGO.TOP", "loaded")) == 4


def test_the_log_has_what_changed_and_nothing_else():
    with Server("appendonly yes", "appendfsync always") as server:
        server("LEGO.RESERVE", "key", "BUDGET", 20000, "SEED", 0)
        (name,) = glob.glob(f"{server.folder}/appendonlydir/*.incr.aof")
        with open(name, "rb") as file:
            words = file.read().split(b"\r\n")[1::2]
        # As the server writes it: every default said.
        assert words[-8:] == [b"LEGO.RESERVE", b"key", b"BUDGET", b"20000", b"MODEL", b"compact", b"SEED", b"0"]
        server("LEGO.RESERVE", "other", "BUDGET", 20000)  # with a secret seed, which is told when it is made
        before = log_size(server)
        failing = ["RESERVE key BUDGET 20000", "INCRBY key a 1 b x", "INCRBY key a 2305843009213693952", "ADD none a",
                   "MERGE d 2 key none", "FOLD key 7777777", "LOAD d x",
                   "QUERY key a", "INFO key", "DUMP key"]  # fmt: skip
        answers = server.pipeline([("LEGO." + words).split() for words in failing])
        assert [isinstance(answer, redis.ResponseError) for answer in answers] == [True] * 7 + [False] * 3
        server("PING")
        assert log_size(server) == before
        server("LEGO.ADD", "key", "a")
        assert log_size(server) > before


def test_a_log_is_read_whatever_maxmemory_is():
    with Server("appendonly yes", "appendfsync always") as server:
        server("LEGO.RESERVE", "key", "BUDGET", 5_000_000)
        server.kill()
        server.options += ("maxmemory 3mb",)
        server.start()
        assert server("LEGO.QUERY", "key", "x") == [0]


@pytest.mark.parametrize("top", [None, 10])
def test_killed_while_counting(top):
    """Every acknowledged command is there, each whole, and at most one more, which was on its way."""
    with Server("appendonly yes", "appendfsync always") as server:
        sketch = reserve(server, "key", 30000, top=top)
        counted = stream(20000)
        acknowledged = []
        begun = threading.Event()

        def run():
            with server.connect(retry=None) as client:
                try:
                    for i in range(0, len(counted), 2):
                        pairs = [word for pair in counted[i : i + 2] for word in pair]
                        acknowledged.append(client.execute_command("LEGO.INCRBY", "key", *pairs))
                        if i == 600:
                            begun.set()
                except redis.ConnectionError:
                    pass

        thread = threading.Thread(target=run)
        thread.start()
        assert begun.wait(60)
        server.kill()
        thread.join()
        server.start()
        at = 0
        for _ in acknowledged:
            for item, number in counted[at : at + 2]:
                sketch.add(item, number)
            at += 2
        assert 300 < len(acknowledged) < len(counted) // 2 and acknowledged[-1] == sketch.total
        found = server("LEGO.DUMP", "key")
        if found != sketch.to_bytes():
            for item, number in counted[at : at + 2]:
                sketch.add(item, number)
        assert found == sketch.to_bytes()


class Clerk(threading.Thread):
    """Counts an item of its own, once a command, until its server dies, and keeps the books."""

    def __init__(self, server, item):
        super().__init__()
        self.server, self.item, self.acknowledged, self.in_doubt = server, item, 0, False

    def run(self):
        with self.server.connect(retry=None) as client:
            try:
                while True:
                    self.in_doubt = True
                    client.execute_command("LEGO.INCRBY", "key", self.item, 1)
                    self.in_doubt = False
                    self.acknowledged += 1
            except redis.ConnectionError:
                pass


@pytest.mark.parametrize("top", [None, 10])
def test_killed_a_hundred_times(top):
    """10,000 increments and more that were acknowledged over 100 SIGKILLs, half of them with TOP: none is lost and none
    is there twice. One that was on its way when the server died is there or not, and counts as it is then."""
    kills, each = 50, 100
    with Server("appendonly yes", "appendfsync always") as server:
        reserve(server, "key", 30000, top=top)
        counts = {f"item{i}".encode(): 0 for i in range(4)}
        acknowledged = 0
        for _ in range(kills):
            clerks = [Clerk(server, item) for item in counts]
            for clerk in clerks:
                clerk.start()
            while sum(clerk.acknowledged for clerk in clerks) < each:
                time.sleep(0.001)
            server.kill()
            for clerk in clerks:
                clerk.join()
            server.start()
            found = dict(zip(counts, server("LEGO.QUERY", "key", *counts)))
            for clerk in clerks:
                least = counts[clerk.item] + clerk.acknowledged
                assert least <= found[clerk.item] <= least + clerk.in_doubt
                acknowledged += clerk.acknowledged
            counts = found
        assert acknowledged >= kills * each and server("LEGO.INCRBY", "key", "x", 0) == sum(counts.values())


def test_damaged_files_stop_the_start():
    """An RDB file with a sketch that can not be is refused as a whole; the server says so, and does not crash."""
    with Server("rdbcompression no", "rdbchecksum no") as server:
        server("LEGO.RESERVE", "key", "BUDGET", 4096)
        server("SAVE")
        server.kill()
        name = f"{server.folder}/dump.rdb"
        with open(name, "rb") as file:
            data = bytearray(file.read())
        at = data.index(b"LEGOSKCH") + 70
        data[at] ^= 1
        with open(name, "wb") as file:
            file.write(data)
        with pytest.raises(RuntimeError, match="the file is damaged"):
            server.start()
        assert server.process.wait(10) >= 0  # it ended itself, and not by a signal
