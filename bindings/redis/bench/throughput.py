#!/usr/bin/env python3
"""throughput.py [MODULE]: LEGO.INCRBY and LEGO.QUERY against INCRBY and GET, in one server, with redis-benchmark.

Sketches of 1 MB that hold a million items, without and with TOP. The server's own commands have a key for each of a
million items, or one key (`hot`), which stays in the processor's caches. One item a command, pipelined; or 100
(`x100`). Rounds take turns, so that whatever else the machine does hits all of them alike; the table has the medians.
redis-benchmark shares the cores with the server, so the server's own time for an item, user and system, is there as
well: it is the steadier of the two. "to" is how many times as fast as INCRBY or GET.

ROUNDS=5 REQUESTS=500000 are the rounds, and the items of each.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

PORT, ITEMS = 7399, 1_000_000
ROUNDS, REQUESTS = int(os.environ.get("ROUNDS", 5)), int(os.environ.get("REQUESTS", 500_000))
ITEM = "key:__rand_int__"
COUNTING = {
    "INCRBY": ["INCRBY", ITEM, "1"],
    "INCRBY hot": ["INCRBY", "counter", "1"],
    "LEGO.INCRBY": ["LEGO.INCRBY", "plain", ITEM, "1"],
    "LEGO.INCRBY top": ["LEGO.INCRBY", "top", ITEM, "1"],
    "LEGO.ADD x100": ["LEGO.ADD", "plain", *[ITEM] * 100],
}
ASKING = {
    "GET": ["GET", ITEM],
    "GET hot": ["GET", "counter"],
    "LEGO.QUERY": ["LEGO.QUERY", "plain", ITEM],
    "LEGO.QUERY top": ["LEGO.QUERY", "top", ITEM],
    "LEGO.QUERY x100": ["LEGO.QUERY", "plain", *[ITEM] * 100],
}


def ask(*words, **options):
    return subprocess.run(["redis-cli", "-p", str(PORT), *words], capture_output=True, **options).stdout.strip()


def server_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(pid, name, command, depth):
    """Items a second, and microseconds of the server for each."""
    items = 100 if name.endswith("x100") else 1
    before = server_seconds(pid)
    options = ["-p", PORT, "-c", 50, "-P", depth, "-n", REQUESTS // items, "-r", ITEMS, "-q"]
    words = ["redis-benchmark", *map(str, options), *command]
    answer = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    rate = float(re.findall(r"([\d.]+) requests per second", answer)[-1])
    return items * rate, 1e6 * (server_seconds(pid) - before) / REQUESTS


def compare(pid, loads, depth):
    results = {name: [] for name in loads}
    for _ in range(ROUNDS):
        for name, command in loads.items():
            results[name].append(measure(pid, name, command, depth))
    middle = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in results.items()}
    own = next(iter(loads))
    print(f"\n{f'pipelines of {depth}':16} 1000 items/s  to {own:6}  to hot    µs an item  to {own:6}  to hot")
    for name, (rate, seconds) in middle.items():
        plain, hot = middle[own], middle[own + " hot"]
        print(
            f"{name:16} {rate / 1000:12.0f} {rate / plain[0]:10.2f} {rate / hot[0]:7.2f} "
            f"{seconds:13.3f} {plain[1] / seconds:10.2f} {hot[1] / seconds:7.2f}",
            flush=True,
        )


def main():
    default = os.path.join(os.path.dirname(__file__), "../../../build/legosketch.so")
    module = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else default)
    if ask("PING"):
        sys.exit(f"throughput: there is a server on port {PORT} already")  # a million keys are not for it
    with tempfile.TemporaryDirectory() as folder:
        options = ["--port", str(PORT), "--bind", "127.0.0.1", "--save", "", "--dir", folder, "--loadmodule", module]
        server = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
        try:
            while ask("PING") != b"PONG":
                if server.poll() is not None:
                    sys.exit("throughput: redis-server did not start")
                time.sleep(0.1)
            ask("LEGO.RESERVE", "plain", "BUDGET", str(1 << 20), "SEED", "0")
            ask("LEGO.RESERVE", "top", "BUDGET", str(1 << 20), "TOP", "100", "SEED", "0")
            names = [f"key:{i:012d}" for i in range(ITEMS)]
            fill = "SET counter 1\n" + "".join(
                f"SET {name} 1\nLEGO.ADD plain {name}\nLEGO.ADD top {name}\n" for name in names
            )
            ask("--pipe", input=fill.encode(), check=True)
            for depth in (16, 64):
                compare(server.pid, COUNTING, depth)
                compare(server.pid, ASKING, depth)
        finally:
            server.terminate()
            server.wait()


main()
