#!/usr/bin/env python3
"""small.py [MODULE]: 10,000 sketches of 20 items with a budget of 300 KB, beside HyperLogLogs and hashes of the same.

Bytes a key are what the server's memory grew by, so they have the key's name and all that the allocator rounds up.
Build is the time from the first command sent to the last reply, of commands that were packed before. Load is how long
a server that starts takes for the RDB file, as its own log says. The median of ROUNDS=5 servers. Run it with
build/engines/environment/bin/python; KEYS=10000 and ITEMS=20 are the sizes.
"""

import os
import re
import socket
import statistics
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULE = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "../../../build/legosketch.so"
os.environ["LEGOSKETCH_MODULE"] = str(MODULE.resolve())
sys.path.insert(0, str(HERE.parent / "tests"))
from server import Server  # noqa: E402: it reads which module

KEYS, ITEMS, ROUNDS = (int(os.environ.get(name, number)) for name, number in
                       (("KEYS", 10_000), ("ITEMS", 20), ("ROUNDS", 5)))


def items(key):
    return [f"item:{key * 7 + i}" for i in range(ITEMS)]


def sketches(key):
    return [["LEGO.RESERVE", f"k:{key}", "BUDGET", 300_000], ["LEGO.ADD", f"k:{key}", *items(key)]]


def one_by_one(key):
    return [["LEGO.RESERVE", f"k:{key}", "BUDGET", 300_000], *(["LEGO.ADD", f"k:{key}", item] for item in items(key))]


def logs(key):
    return [["PFADD", f"k:{key}", *items(key)]]


def hashes(key):
    return [["HINCRBY", f"k:{key}", item, 1] for item in items(key)]


def pack(words):
    parts = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


def seconds_of(port, commands):
    """All commands down one connection while another thread takes the replies, each of which is a line."""
    packed = b"".join(map(pack, commands))
    with socket.create_connection(("127.0.0.1", port)) as connection:
        start = time.perf_counter()
        sender = threading.Thread(target=connection.sendall, args=(packed,))
        sender.start()
        lines = 0
        while lines < len(commands):
            got = connection.recv(1 << 20)
            assert got and not re.search(rb"^-", got, re.M), got
            lines += got.count(b"\n")
        sender.join()
        return time.perf_counter() - start


def measure(kind):
    """Bytes a key, seconds to build, seconds to load."""
    commands = [command for key in range(KEYS) for command in kind(key)]
    with Server() as server:
        before = server.client.info("memory")["used_memory"]
        build = seconds_of(server.port, commands)
        used = server.client.info("memory")["used_memory"] - before
        server.client.save()
        server.stop()
        server.start()
        load = float(re.findall(r"DB loaded from disk: ([\d.]+) seconds", server.log())[-1])
        assert server.client.dbsize() == KEYS
    return used / KEYS, build, load


def main():
    print(f"{KEYS} keys of {ITEMS} items      bytes a key   build s   load s")
    for name, kind in {"LEGO.ADD": sketches, "LEGO.ADD, an item a command": one_by_one,
                       "PFADD": logs, "HINCRBY, an item a command": hashes}.items():
        rounds = [measure(kind) for _ in range(ROUNDS)]
        used, build, load = (statistics.median(column) for column in zip(*rounds))
        print(f"{name:28} {used:12.0f} {build:9.3f} {load:8.3f}", flush=True)


main()
