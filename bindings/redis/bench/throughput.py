#!/usr/bin/env python3
"""throughput.py [MODULE]: LEGO.INCRBY and LEGO.QUERY against INCRBY and GET, in one server, with redis-benchmark.

A sketch of 1 MB that holds a million items, one item a command, pipelined; a million keys for the commands of the server's
own, and one key alone (`hot`), which stays in the processor's caches. Rounds take turns, so that what else the machine does
hits all of them alike; the table has the median of each. redis-benchmark shares the cores with the server, so the
server's own time for a command, user and system, is there as well: it is the steadier of the two.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

ITEMS, ROUNDS = 1_000_000, int(os.environ.get("ROUNDS", 5))
REQUESTS = int(os.environ.get("REQUESTS", 500_000))
PORT = 7399
LOADS = {
    "INCRBY": ["INCRBY", "key:__rand_int__", "1"],
    "LEGO.INCRBY": ["LEGO.INCRBY", "sketch", "key:__rand_int__", "1"],
    "INCRBY hot": ["INCRBY", "counter", "1"],
    "GET": ["GET", "key:__rand_int__"],
    "LEGO.QUERY": ["LEGO.QUERY", "sketch", "key:__rand_int__"],
    "GET hot": ["GET", "counter"],
}


def redis(*words):
    answer = subprocess.run(["redis-cli", "-p", str(PORT), *words], capture_output=True, text=True)
    return answer.stdout.strip()


def server_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(pid, command, depth):
    """Requests a second, and microseconds of the server for each."""
    before = server_seconds(pid)
    options = ["-p", str(PORT), "-c", "50", "-P", str(depth), "-n", str(REQUESTS), "-r", str(ITEMS), "-q"]
    answer = subprocess.run(["redis-benchmark", *options, *command], capture_output=True, text=True, check=True)
    rate = float(re.findall(r"([\d.]+) requests per second", answer.stdout)[-1])
    return rate, 1e6 * (server_seconds(pid) - before) / REQUESTS


def main():
    default = os.path.join(os.path.dirname(__file__), "../../../build/legosketch.so")
    module = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else default)
    with tempfile.TemporaryDirectory() as folder:
        options = ["--port", str(PORT), "--bind", "127.0.0.1", "--save", "", "--dir", folder, "--loadmodule", module]
        server = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
        try:
            while redis("PING") != "PONG":
                time.sleep(0.1)
            redis("LEGO.RESERVE", "sketch", "BUDGET", str(1 << 20))
            fill = "".join(f"SET key:{i:012d} 1\nLEGO.INCRBY sketch key:{i:012d} 1\n" for i in range(ITEMS))
            subprocess.run(["redis-cli", "-p", str(PORT), "--pipe"], input=fill.encode(), capture_output=True, check=True)
            for depth in (16, 64):
                results = {name: [] for name in LOADS}
                for _ in range(ROUNDS):
                    for name, command in LOADS.items():
                        results[name].append(measure(server.pid, command, depth))
                print(f"pipelines of {depth}, {ROUNDS} rounds of {REQUESTS}")
                print(f"{'':12}  1000 a second  to its own  to hot  µs of the server  to its own  to hot")
                middle = {n: [statistics.median(column) for column in zip(*r)] for n, r in results.items()}
                for name, (rate, seconds) in middle.items():
                    own = name.split()[0].removeprefix("LEGO.").replace("QUERY", "GET")
                    plain, hot = middle[own], middle[own + " hot"]
                    print(
                        f"{name:12} {rate / 1000:14.0f} {rate / plain[0]:11.2f} {rate / hot[0]:7.2f} "
                        f"{seconds:17.3f} {plain[1] / seconds:11.2f} {hot[1] / seconds:7.2f}"
                    )
        finally:
            server.terminate()
            server.wait()


main()
