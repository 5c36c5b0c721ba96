#!/usr/bin/env python3
"""blocking.py [MODULE]: how long each command takes with a sketch of 100 MB, and how long another client waits then.

Two streams: one whose items the sketch lists, all of them, with exact counts, and one of ten times as many, of which its
blocks keep the heaviest. The other client sends PING after PING from a process of its own; the table has the longest
that it waited, beside that of an idle server. Run it with build/engines/environment/bin/python; MB=100 is the size,
ROUNDS=3 the rounds, of which the median is shown.
"""

import multiprocessing
import os
import socket
import statistics
import sys
import time
from pathlib import Path

import numpy

HERE = Path(__file__).resolve().parent
MODULE = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "../../../build/legosketch.so"
os.environ["LEGOSKETCH_MODULE"] = str(MODULE.resolve())
sys.path.insert(0, str(HERE.parent / "tests"))
from legosketch import Sketch  # noqa: E402
from server import Server  # noqa: E402: it reads which module

SIZE, ROUNDS = int(os.environ.get("MB", 100)) << 20, int(os.environ.get("ROUNDS", 3))


def ping(port, stop, longest):
    """Until it is told to stop; then the longest wait, in seconds."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        while not stop.is_set():
            start = time.perf_counter()
            connection.sendall(b"PING\r\n")
            connection.recv(100)
            longest.value = max(longest.value, time.perf_counter() - start)
            time.sleep(0.0005)


def watched(server, work):
    """Seconds that the work took, and the longest wait of another client meanwhile."""
    stop, longest = multiprocessing.Event(), multiprocessing.Value("d", 0)
    other = multiprocessing.Process(target=ping, args=(server.port, stop, longest))
    other.start()
    time.sleep(0.3)
    longest.value = 0
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    time.sleep(0.2)  # what the server does behind a reply is waited for, too
    stop.set()
    other.join()
    return seconds, longest.value


def commands(server, data):
    """Names, and what runs them; each leaves the keys as they were, but for `made`."""
    payload = server("DUMP", "key")
    return {
        "nothing": lambda: time.sleep(1),
        "LEGO.LOAD": lambda: server("LEGO.LOAD", "made", data),
        "LEGO.DUMP": lambda: server("LEGO.DUMP", "key"),
        "LEGO.MERGE of 2": lambda: server("LEGO.MERGE", "made", 2, "key", "other"),
        "LEGO.UNION of 2": lambda: server("LEGO.UNION", 2, "key", "other", "ITEMS", "12345678"),
        "LEGO.FOLD": lambda: server("LEGO.FOLD", "folded", "BUDGET", SIZE // 2),
        "LEGO.INFO": lambda: server("LEGO.INFO", "key"),
        "LEGO.CARD": lambda: server("LEGO.CARD", "key"),
        "LEGO.QUERY": lambda: server("LEGO.QUERY", "key", "12345678"),
        "COPY": lambda: server("COPY", "key", "made", "REPLACE"),
        "DUMP": lambda: server("DUMP", "key"),
        "RESTORE": lambda: server("RESTORE", "made", 0, payload, "REPLACE"),
    }


def main():
    for name, items in (("lists", SIZE // 16), ("keeps", SIZE)):
        rounds = {}
        with Server("proto-max-bulk-len 2gb", "client-query-buffer-limit 2gb") as server:
            for key, seed in (("key", 1), ("other", 2)):
                sketch = Sketch(SIZE)
                keys = numpy.random.default_rng(seed).integers(0, 2**63, items, dtype=numpy.int64)
                for at in range(0, items, 1 << 22):
                    sketch.add_many(keys[at : at + (1 << 22)])
                data = sketch.to_bytes()
                server("LEGO.LOAD", key, data)
            print(f"\n{items} items, {sketch.bytes >> 20} MB, {len(data) >> 20} in a file: it {name}"
                  f"\n{'':16} seconds   another waits, ms")
            for command, run in commands(server, data).items():
                rounds[command] = []
                for _ in range(ROUNDS):
                    server("COPY", "key", "folded", "REPLACE")
                    rounds[command].append(watched(server, run))
                seconds, waits = (statistics.median(column) for column in zip(*rounds[command]))
                print(f"{command:16} {seconds:7.3f} {1000 * waits:19.1f}", flush=True)


if __name__ == "__main__":
    main()
