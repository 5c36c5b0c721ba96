"""Six servers as a cluster on this machine: three masters with a replica each."""

from __future__ import annotations

import subprocess
import time

import redis
from redis.crc import key_slot
from server import Server, wait_for

MASTERS = 3


class Cluster:
    """with Cluster() as cluster: cluster.client()"""

    def __init__(self) -> None:
        # A replica takes over about a second after its master died, whenever it last heard of it.
        options = ["cluster-enabled yes", "cluster-node-timeout 1000", "cluster-replica-validity-factor 0",
                   "repl-diskless-sync-delay 0", "repl-ping-replica-period 1"]
        self.servers: list[Server] = []
        try:
            for _ in range(2 * MASTERS):
                self.servers.append(Server(*options))
            addresses = [f"127.0.0.1:{server.port}" for server in self.servers]
            self.redis_cli("create", *addresses, "--cluster-replicas", "1")
            self.settle()
        except BaseException:
            self.close()
            raise

    def client(self, **options) -> redis.RedisCluster:
        return redis.RedisCluster("127.0.0.1", self.live()[0].port, **options)

    def redis_cli(self, *words: str) -> None:
        """A subcommand of redis-cli --cluster."""
        line = ["redis-cli", "--cluster", *words, "--cluster-yes"]
        done = subprocess.run(line, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr

    def live(self) -> list[Server]:
        return [server for server in self.servers if server.process.poll() is None]

    def masters(self) -> list[Server]:
        return [server for server in self.live() if server("ROLE")[0] == b"master"]

    def replica_of(self, master: Server) -> Server:
        return next(server for server in self.live() if server("ROLE")[:3] == [b"slave", b"127.0.0.1", master.port])

    def holder_of(self, key: str) -> Server:
        """The master that has the key's slot, as all live servers see it."""
        found = {self._owner(server, key_slot(key.encode())) for server in self.live()}
        assert len(found) == 1, found
        return next(server for server in self.live() if server.port in found)

    def _owner(self, server: Server, slot: int) -> int:
        return next(node[2][1] for node in server("CLUSTER", "SLOTS") if node[0] <= slot <= node[1])

    def id_of(self, server: Server) -> str:
        return server("CLUSTER", "MYID").decode()

    def fail_over(self, replica: Server) -> None:
        """As an administrator does, who asks again: where votes are late, Redis gives up after 5 seconds."""
        asked = 0.0
        while replica("ROLE")[0] != b"master":
            if time.monotonic() - asked > 6:
                replica("CLUSTER", "FAILOVER")
                asked = time.monotonic()
            time.sleep(0.02)

    def settle(self) -> None:
        """Until all live servers agree, and every replica follows its master."""
        wait_for(self._is_settled, 60)

    def _is_settled(self) -> bool:
        seen = set()
        for server in self.live():
            if b"cluster_state:ok" not in server("CLUSTER", "INFO"):
                return False
            role = server("ROLE")
            if role[0] == b"slave" and role[3] != b"connected":
                return False
            if role[0] == b"master" and len(role[2]) != 1:
                return False
            seen.add(tuple(sorted((low, high, master[1]) for low, high, master, *_ in server("CLUSTER", "SLOTS"))))
        return len(seen) == 1

    def close(self) -> None:
        for server in self.servers:
            server.close()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_) -> None:
        self.close()
