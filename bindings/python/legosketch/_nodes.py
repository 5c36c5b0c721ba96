"""Commands to the nodes of a Redis cluster, none of which is executed twice unless that does no harm.

redis-py's own methods send a command again when the connection broke after it, which would count items twice. So this
takes connections from the pools of a client, which knows where slots are, and looks at every answer itself.

SPDX-License-Identifier: MIT
"""
# mypy: disable-error-code="import-not-found"

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Mapping
from typing import Any

import redis
from redis import exceptions as E

PAUSES = [0.001 * 2**i for i in range(9)]  # seconds before a command is sent again; then always the last of them

# What Redis answers in place of executing a command, and may not a little later; and AskError, which MOVED is too
_NOT_NOW = (E.TryAgainError, E.ClusterDownError, E.BusyLoadingError, E.ReadOnlyError)


class Unsent(Exception):
    """No server got the command."""


class Lost(Exception):
    """A server may have executed the command; or it did, and too few replicas know."""


class _Pipeline:
    """Commands on their way to one node, through a connection that is nobody else's meanwhile."""

    def __init__(self, pool: Any, commands: Mapping[str, tuple[Any, ...]], asking: Iterable[str], replicas: int,
                 timeout: float):
        self.pool, self.commands, self.asking = pool, commands, asking
        self.replicas, self.timeout = replicas, timeout
        self.connection = pool.get_connection()
        self.unread = 0
        self.sent = False
        self.broken: Exception | None = None
        # A server that is loading says so to every command, but redis-py can not read on behind the first such answer.
        # Several commands would be in doubt, so they wait until a PING has been answered.
        if len(commands) > 1:
            self._send([("PING",)])

    def send(self) -> None:
        if self.unread > 0:
            self._answer(self.timeout)  # an error will do
        if self.broken is not None:
            return
        parts: list[tuple[Any, ...]] = []
        for key, command in self.commands.items():
            parts += [("ASKING",), command] if key in self.asking else [command]
        if self.replicas > 0:  # on this connection, whose last write is what it waits for
            parts.append(("WAIT", self.replicas, int(1000 * self.timeout)))
        self.sent = True
        self._send(parts)

    def receive(self) -> dict[str, Any]:
        """The outcomes; for what they are see Nodes.call()."""
        if not self.sent:
            return {key: Unsent(self.broken) for key in self.commands}
        outcomes = {}
        for key in self.commands:
            if key in self.asking:
                self._answer(self.timeout)
            outcomes[key] = self._answer(self.timeout)
        if self.replicas > 0:
            reached = self._answer(2 * self.timeout)  # WAIT itself takes up to one
            if isinstance(reached, Exception) or reached < self.replicas:
                error = reached if isinstance(reached, Exception) else E.ResponseError(
                    f"{reached} replicas have it, not the {self.replicas} asked for")
                outcomes = {key: answer if isinstance(answer, Exception) else Lost(cause(error))
                            for key, answer in outcomes.items()}
        return outcomes

    def close(self) -> None:
        if self.unread > 0:  # who gets the connection next would take them for its own
            self.connection.disconnect()
        self.pool.release(self.connection)

    def _send(self, commands: list[tuple[Any, ...]]) -> None:
        self.unread += len(commands)
        try:
            self.connection.send_packed_command(self.connection.pack_commands(commands), check_health=False)
        except (E.RedisError, OSError) as error:
            self.broken = error

    def _answer(self, timeout: float) -> Any:
        """The next answer, which may be an error of the server's; or Lost."""
        if self.broken is not None:
            return Lost(self.broken)
        try:
            if not self.connection.can_read(timeout=timeout):
                raise E.TimeoutError(f"no answer within {timeout:g} seconds")
            answer = self.connection.read_response(disable_decoding=True)
        except E.ResponseError as error:
            answer = error
        except (E.BusyLoadingError, E.AuthenticationError) as error:  # answers too, and the last that can be read
            self.broken = error
            return error
        except (E.RedisError, OSError) as error:
            self.broken = error
            return Lost(error)
        self.unread -= 1
        return answer


class Nodes:
    """What a client, redis.Redis or redis.RedisCluster, can reach. `timeout`: seconds to wait for an answer, and for
    which to send again what was not executed. How long it takes to connect is the client's own affair."""

    def __init__(self, client: Any, timeout: float):
        self.client, self.timeout = client, timeout
        self.is_cluster = isinstance(client, redis.RedisCluster)
        self._moved: dict[str, Any] = {}  # keys that moved since the client looked -> pools of their nodes

    def ask(self, *commands: tuple[Any, ...]) -> list[Any]:
        """The answers to commands that may be executed twice; the second part of each is a key of its own. Raises what
        went wrong."""
        outcomes = self.call({command[1]: command for command in commands}, again=True)
        for outcome in outcomes.values():
            if isinstance(outcome, Exception):
                raise cause(outcome)
        return list(outcomes.values())

    def call(self, commands: Mapping[str, tuple[Any, ...]], *, again: bool, replicas: int = 0) -> dict[str, Any]:
        """The outcome of a command for each key: an answer, an error of the server's, Unsent or Lost. What was not
        executed is sent again while there is time; what is Lost, only if `again`. With replicas, an answer that is no
        error means that so many have it too."""
        repeated = (*_NOT_NOW, Unsent) + (E.AskError,) * self.is_cluster + (Lost,) * again
        deadline = time.monotonic() + self.timeout
        outcomes: dict[str, Any] = dict.fromkeys(commands)
        left, asking = list(commands), dict[str, Any]()
        for pause in itertools.chain(PAUSES, itertools.repeat(PAUSES[-1])):
            outcomes.update(self._round({key: commands[key] for key in left}, asking, replicas))
            left = [key for key in left if isinstance(outcomes[key], repeated)]
            if not left or time.monotonic() + pause > deadline:
                break
            time.sleep(pause)
            asking = self._follow({key: outcomes[key] for key in left})
        return outcomes

    def _round(
        self, commands: Mapping[str, tuple[Any, ...]], asking: Mapping[str, Any], replicas: int
    ) -> dict[str, Any]:
        """Send each command once: those of a node together, and to all nodes before waiting for any."""
        outcomes: dict[str, Any] = {}
        at: dict[Any, dict[str, tuple[Any, ...]]] = {}
        for key, command in commands.items():
            try:
                at.setdefault(asking.get(key) or self._pool(key), {})[key] = command
            except E.SlotNotCoveredError as error:
                outcomes[key] = Unsent(error)
        pipelines = []
        try:
            for pool, some in at.items():
                try:
                    pipelines.append(_Pipeline(pool, some, asking, replicas, self.timeout))
                except (E.RedisError, OSError) as error:
                    outcomes |= {key: Unsent(error) for key in some}
            for pipeline in pipelines:
                pipeline.send()
            for pipeline in pipelines:
                outcomes |= pipeline.receive()
        finally:
            for pipeline in pipelines:
                pipeline.close()
        return outcomes

    def _pool(self, key: str) -> Any:
        """Of connections to the node that has the key, as far as is known."""
        if not self.is_cluster:
            return self.client.connection_pool
        return self._moved.get(key) or self._pool_of(self.client.get_node_from_key(key))

    def _pool_of(self, node: Any) -> Any:
        return self.client.get_redis_connection(node).connection_pool

    def _follow(self, errors: Mapping[str, Any]) -> dict[str, Any]:
        """Find where commands go that have failed so: the pools of those that have to be sent with ASKING."""
        asking = {}
        look = False
        for key, error in errors.items():
            is_redirected = self.is_cluster and isinstance(error, E.AskError)
            node = self.client.get_node(error.host, error.port) if is_redirected else None
            if node is None:
                self._moved.pop(key, None)
                look = self.is_cluster
            elif isinstance(error, E.MovedError):
                self._moved[key] = self._pool_of(node)
            else:
                asking[key] = self._pool_of(node)
        if look:
            try:
                self.client.nodes_manager.initialize()
            except (E.RedisError, E.RedisClusterException, OSError):
                pass  # no node answers, or a slot has none; it goes on with what it knew
        return asking


def cause(outcome: Exception) -> Exception:
    """What is behind an outcome that is an exception."""
    found: Exception = outcome.args[0] if isinstance(outcome, (Unsent, Lost)) else outcome
    return found
