"""A sketch larger than one Redis node: groups of it, each a key of its own, spread over the nodes of a cluster.

    from redis.cluster import RedisCluster
    from legosketch.redis import SketchGroups
    words = SketchGroups.create(RedisCluster("10.0.0.1"), "words", groups=60, budget="24G", replicas=1)
    words.add_many(["apple", "pear", "apple"])
    words.estimate("apple")                                             # 2

Every item belongs to one group (legosketch.group()), so an estimate asks one key and has the error of the whole budget.
A `redis.Redis` client of a single server does as well. The servers need our module, see docs/redis.md.

SECRET. With seed="secret" the groups are hashed with the secret seed of the servers, which this never sees, and items go
to groups by its fingerprint. Every node has to know the same one, or create() fails: the module's SEED-FILE on each, or
`redis-cli --cluster call 10.0.0.1:6379 LEGO.SECRET <32 hex digits>`, which new nodes need, too, before slots move there.

COUNTED ONCE. A command that a server may have executed is not sent again. Redis answers MOVED, ASK, TRYAGAIN,
CLUSTERDOWN, LOADING and READONLY in place of executing one, and what no server got was not executed either: all that
is tried again for `timeout` seconds. If a connection breaks with a command on its way nobody knows, and AddError says
which items that is.

KEPT. Redis replicates after it has answered, so what was acknowledged can be lost with its node. With replicas=n, add
and add_many return once n replicas have it too (WAIT); if fewer have, the items are in doubt. n should be all that a
node has: of several, another one could take over. And a server that was killed and comes back empty, before a replica
took over, makes its replicas empty: persist, or do not restart it by itself.

Needs redis-py 6.4 or later. Threads may share a sketch. (Before redis-py 8, a client that looks for moved slots closes
connections that other threads use, and what these sent is in doubt; there, give each thread a client of its own.)

SPDX-License-Identifier: MIT
"""
# mypy: disable-error-code="import-not-found"

from __future__ import annotations

import heapq
import itertools
import json
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

try:
    import redis
except ImportError as error:
    raise ImportError("legosketch.redis talks to servers through redis-py: pip install 'redis>=6.4'") from error
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from . import Class, Sketch, _core, _seed, _shown, _size
from ._merging import merge_tree
from ._nodes import Lost, Nodes, cause

if TYPE_CHECKING:
    from typing_extensions import Self, TypeAlias

    from ._core import Item

    Client: TypeAlias = "redis.Redis | redis.RedisCluster"

__all__ = ["AddError", "SketchGroups"]

MANY = 4096  # items in a command: the server does nothing else for about a millisecond
LONG = 1 << 20  # bytes of items in a command, unless it is one item
SECRET = "secret"  # in place of a seed
GROUPS = 1024  # at most: Redis is for 1000 nodes


class AddError(Exception):
    """A batch was not counted, or not all of it. Each item is in one of three lists, as (item, count):

    counted     acknowledged by its node, and by as many replicas as were asked for
    refused     certainly not counted; it may be added again
    in_doubt    perhaps counted: the answer was lost, or too few replicas had it in time

    The __cause__ is what went wrong first.
    """

    def __init__(self, batch: Sequence[tuple[Any, int]], counted: set[int], in_doubt: set[int], first: Exception):
        self.counted = [batch[i] for i in sorted(counted)]
        self.in_doubt = [batch[i] for i in sorted(in_doubt)]
        self.refused = [pair for i, pair in enumerate(batch) if i not in counted and i not in in_doubt]
        self.__cause__ = first
        super().__init__(f"of {len(batch)} items {len(self.counted)} were counted, {len(self.refused)} were not and "
                         f"{len(self.in_doubt)} are in doubt: {first}")


class SketchGroups:
    """A sketch in groups. create() makes one and open() finds it again.

    groups          as it was made
    seed            by which group() finds an item's group: as it was made, or the fingerprint of the secret one
    keys            of the groups; those of other sketches of as many groups have the same slots, so LEGO.MERGE works
    """

    def __init__(self, client: Client, name: str, replicas: int, timeout: float, facts: dict[str, Any]):
        self.name, self.replicas = name, replicas
        self.groups: int = facts["groups"]
        self.seed: int = 0 if facts["seed"] == SECRET else facts["seed"]
        self.keys = [f"{name}:{group}/{self.groups}{{{tag}}}" for group, tag in enumerate(_tags(self.groups))]
        self._facts = facts
        self._nodes = Nodes(client, timeout)

    @classmethod
    def create(
        cls,
        client: Client,
        name: str,
        groups: int,
        budget: int | str,
        *,
        model: str = "compact",
        seed: int | Literal["secret"] = 0,
        top: int = 0,
        replicas: int = 0,
        timeout: float = 10.0,
    ) -> Self:
        """Make the keys of a sketch: those of its groups, and `name`, which says what create() was given. The same call
        again finishes what was not finished, or finds what is there.

        groups    a multiple of the number of masters gives each the same share; the more, the finer they can be moved
        budget    of all groups together: 24 << 30, "24G"
        model     "compact" or "paper"
        seed      a public one, or "secret": that of the first group's node, which all nodes have to know
        top       how many items top() can list; 0: none
        """
        facts: dict[str, Any] = {"groups": operator.index(groups), "budget": _size(budget), "model": model,
                                 "seed": seed if isinstance(seed, str) else _seed(seed),
                                 "top": operator.index(top)}
        if not 1 <= facts["groups"] <= GROUPS:
            raise ValueError(f"groups are 1 to {GROUPS}")
        if isinstance(seed, str) and seed != SECRET:
            raise ValueError("a seed is a number, or 'secret'")
        if "{" in name:
            raise ValueError("a name is without {, by which the keys of the groups say where they belong")
        self = cls(client, name, replicas, timeout, facts)
        self._nodes.ask(("SET", name, json.dumps({**facts, "complete": False}), "NX"))
        there = self._read(self._nodes, name)
        if {**there, "complete": False} != {**facts, "complete": False}:
            raise ValueError(f"there is a sketch {name} already: {there}")
        if not there["complete"]:
            options: tuple[Any, ...] = ("BUDGET", facts["budget"] // self.groups, "MODEL", model)
            if facts["top"]:
                options += ("TOP", facts["top"])
            shown = facts["seed"]
            if shown == SECRET:
                self._reserve(self.keys[:1], options)
                shown = _info(self._nodes.ask(("LEGO.INFO", self.keys[0]))[0])["seed"]
            self._reserve(self.keys, (*options, "SEED", shown))
        self._check()
        self._nodes.ask(("SET", name, json.dumps({**facts, "complete": True})))
        return self

    @classmethod
    def open(cls, client: Client, name: str, *, replicas: int = 0, timeout: float = 10.0) -> Self:
        """The sketch that create() made; LookupError if there is none, or not all of it."""
        facts = cls._read(Nodes(client, timeout), name)
        if not facts["complete"]:
            raise LookupError(f"create() has not finished {name}: call it again")
        self = cls(client, name, replicas, timeout, facts)
        self._check()
        return self

    @classmethod
    def delete(cls, client: Client, name: str, *, timeout: float = 10.0) -> None:
        """Remove all keys of a sketch; LookupError if there is none. If it fails, it can be called again."""
        self = cls(client, name, 0, timeout, cls._read(Nodes(client, timeout), name))
        self._nodes.ask(*(("UNLINK", key) for key in self.keys))
        self._nodes.ask(("UNLINK", name))  # last, since it tells of the others

    def _reserve(self, keys: list[str], options: tuple[Any, ...]) -> None:
        """Make those that are not there."""
        commands = {key: ("LEGO.RESERVE", key, *options) for key in keys}
        made = self._nodes.call(commands, again=True, replicas=self.replicas)
        for key, outcome in made.items():
            if isinstance(outcome, Exception) and not self._nodes.ask(("EXISTS", key))[0]:
                raise cause(outcome)

    @staticmethod
    def _read(nodes: Nodes, name: str) -> dict[str, Any]:
        stored = nodes.ask(("GET", name))[0]
        if stored is None:
            raise LookupError(f"there is no sketch {name}")
        facts: dict[str, Any] = json.loads(stored)
        return facts

    def _check(self) -> None:
        """All groups are there, and alike; those that are secret say by what items are routed."""
        try:
            infos = self.info()
        except redis.ResponseError as error:
            raise LookupError(f"{self.name} lacks a group: {error}") from error
        seed = infos[0]["seed"]
        if self._facts["seed"] != SECRET:
            seed = self.seed
        elif isinstance(seed, str):
            self.seed = int(seed.removeprefix("secret:"), 16)
        else:
            raise LookupError(f"{self.keys[0]} is not what {self.name} says: its seed is not secret")
        for key, info in zip(self.keys, infos):
            if (info["model"], info["seed"], info["top"], info["budget"]) != (
                self._facts["model"], seed, self._facts["top"], infos[0]["budget"]
            ):
                raise LookupError(f"{key} is not what {self.name} says: {info}")

    # ---- counting ----------------------------------------------------------------------------------------------------

    def add(self, item: Item, count: int = 1) -> None:
        """Count an item `count` times more; a negative count takes it away again. AddError if that failed."""
        self.add_many([item], [count])

    def add_many(self, items: Iterable[Item], counts: Iterable[int] | None = None) -> None:
        """Count every item once, or as often as counts say. An item or count that is none is an error before anything
        is sent; AddError says which items were counted if something failed later."""
        items = list(items)
        numbers = [1] * len(items) if counts is None else [operator.index(count) for count in counts]
        if len(items) != len(numbers):
            raise ValueError(f"items and counts differ in length: {len(items)} and {len(numbers)}")
        batch = list(zip(items, numbers))
        encoded = [_core.item_bytes(item) for item, _ in batch]
        counted: set[int] = set()
        in_doubt: set[int] = set()
        for chunks in self._rounds(encoded):
            outcomes = self._nodes.call(
                # a group that is gone is not made again, whatever the server makes by itself: that would hide a loss
                {key: ("LEGO.INCRBY", key, "NOCREATE", "ITEMS",
                       *(part for i in chunk for part in (encoded[i], batch[i][1])))
                 for key, chunk in chunks.items()},
                again=False,
                replicas=self.replicas,
            )
            failed = [outcome for outcome in outcomes.values() if isinstance(outcome, Exception)]
            for key, outcome in outcomes.items():
                if isinstance(outcome, Lost):
                    in_doubt.update(chunks[key])
                elif not isinstance(outcome, Exception):
                    counted.update(chunks[key])
            if failed:
                raise AddError(batch, counted, in_doubt, cause(failed[0]))

    def _rounds(self, encoded: Sequence[bytes]) -> Iterator[dict[str, list[int]]]:
        """Which items are sent at a time: a bounded number for each group, in their order."""
        positions: list[list[int]] = [[] for _ in self.keys]
        for i, item in enumerate(encoded):
            positions[_core.group(item, self.groups, self.seed)].append(i)
        for chunks in itertools.zip_longest(*(_chunks(of_group, encoded) for of_group in positions)):
            yield {key: chunk for key, chunk in zip(self.keys, chunks) if chunk is not None}

    # ---- asking ------------------------------------------------------------------------------------------------------

    def estimate(self, item: Item, *, absent: float = 0.0) -> int:
        """How often the item was counted, about. absent is what it is for Sketch.estimate()."""
        return self.estimate_many([item], absent=absent)[0]

    def estimate_many(self, items: Iterable[Item], *, absent: float = 0.0) -> list[int]:
        return [estimate for estimate, *_ in self._query(items, absent)]

    def bounds(self, item: Item, *, absent: float = 0.0) -> tuple[int, int, int]:
        """(lower, upper, likely), as Sketch.bounds() has them: if nothing was taken away more often than counted, no
        true count is above upper, and at least 99 % are not above likely; as many are not below lower."""
        return self.bounds_many([item], absent=absent)[0]

    def bounds_many(self, items: Iterable[Item], *, absent: float = 0.0) -> list[tuple[int, int, int]]:
        return [(lower, upper, likely) for _, lower, upper, likely in self._query(items, absent)]

    def _query(self, items: Iterable[Item], absent: float) -> list[list[int]]:
        options = ("WITHBOUNDS", "ABSENT", float(absent), "ITEMS")
        encoded = [_core.item_bytes(item) for item in items]
        found: list[list[int]] = [[]] * len(encoded)
        for chunks in self._rounds(encoded):
            answers = self._nodes.ask(*(("LEGO.QUERY", key, *options, *(encoded[i] for i in chunk))
                                        for key, chunk in chunks.items()))
            for chunk, answer in zip(chunks.values(), answers):
                for i, estimates in zip(chunk, answer):
                    found[i] = estimates
        return found

    def top(self, n: int | None = None, items: type[str] | type[bytes] | type[int] = bytes) -> list[tuple[str | bytes | int, int]]:
        """The n most frequent items and their estimates, most frequent first; n is at most the `top` of create(), and
        that if it is not given. Items are shown as `items`, or as bytes if they are not of that type."""
        most = self._facts["top"]
        n = most if n is None else operator.index(n)
        if not 0 <= n <= most:
            raise ValueError(f"n is 0 to {most}, what the sketch was made with")
        answers = self._nodes.ask(*(("LEGO.TOP", key, "WITHCOUNT") for key in self.keys)) if n else []
        pairs = [pair for answer in answers for pair in zip(answer[::2], answer[1::2])]
        return [(_shown(item, items), count) for item, count in heapq.nlargest(n, pairs, key=operator.itemgetter(1))]

    def total(self) -> int:
        """The sum of all counts."""
        return sum(info["total"] for info in self.info())

    def info(self) -> list[dict[str, Any]]:
        """What LEGO.INFO says of every group."""
        return [_info(answer) for answer in self._nodes.ask(*(("LEGO.INFO", key) for key in self.keys))]

    def to_sketch(self, *, secret: str | bytes | None = None) -> Sketch:
        """All groups merged into one Sketch, here. It has the size of one group, and so the errors of a sketch of that
        budget: to ask for items, ask the groups. Of secret ones, `secret` is what Sketch.from_bytes() takes."""
        reading: dict[str, Any] = {} if secret is None else {"secret": secret}
        parts = (Sketch.from_bytes(self._nodes.ask(("LEGO.DUMP", key))[0], **reading) for key in self.keys)
        whole = merge_tree(parts, 2)  # few at a time, as they are large
        assert whole is not None
        return whole


def _tags(groups: int) -> list[int]:
    """For each group the least number whose slot, as a key's {tag}, is in the middle half of the group's share of
    slots: of 4 groups, number 1 gets one from 5120 to 7167. So groups are spread as evenly as slots are; the middle,
    since nodes round where their slots begin."""
    found: dict[int, int] = {}
    for tag in itertools.count():
        group, quarter = divmod(key_slot(b"%d" % tag) * 4 * groups // REDIS_CLUSTER_HASH_SLOTS, 4)
        if quarter in (1, 2):
            found.setdefault(group, tag)
            if len(found) == groups:
                break
    return [found[group] for group in range(groups)]


def _chunks(positions: list[int], encoded: Sequence[bytes]) -> Iterator[list[int]]:
    chunk: list[int] = []
    size = 0
    for i in positions:
        if chunk and (len(chunk) == MANY or size + len(encoded[i]) > LONG):
            yield chunk
            chunk, size = [], 0
        chunk.append(i)
        size += len(encoded[i])
    if chunk:
        yield chunk


def _shown_seed(text: bytes) -> int | str:
    return text.decode() if text.startswith(b"secret:") else int(text)


def _info(answer: Any) -> dict[str, Any]:
    """A map of RESP3, or the list of RESP2, in which shares and errors are text, as the seed is in both. What is not
    known is None. A seed is a number, or secret:FINGERPRINT."""
    pairs = answer.items() if isinstance(answer, dict) else zip(answer[::2], answer[1::2])
    read: dict[bytes, Callable[[Any], Any]] = {
        b"model": bytes.decode, b"seed": _shown_seed, b"keeping": float, b"distinct-error": float,
        b"expected-aae": float, b"expected-aae-error": float, b"expected-are": float, b"expected-are-error": float,
        b"classes": lambda found: [Class(low, high, items, float(error)) for low, high, items, error in found],
    }
    return {name.decode(): None if value is None else read.get(name, int)(value) for name, value in pairs}
