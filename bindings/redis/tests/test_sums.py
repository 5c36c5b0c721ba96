"""Sums never wrap: whatever comes near the limits is refused by name, with nothing changed, or exact, as Python counts."""

import random

import pytest
import redis
from server import Server

LIMIT = {"compact": (2**63 - 1) // 4, "paper": (2**63 - 1) // 1024}
ITEMS = [f"item {i}".encode() for i in range(12)]
NEAR = [0, 1, 2**58, 2**59, 2**60, 2**61, 2**61 - 1, 2**62, 2**63 - 1, 2**63, 2**64]


class Truth:
    """What a key holds. Nothing is refused before `gross`, the sum of all |counts| that came, is above the limit. Those
    that were taken away again leave room: at once where each item is listed, else at the latest when it is loaded."""

    def __init__(self, model, top):
        self.model, self.top, self.counts, self.gross = model, top, dict.fromkeys(ITEMS, 0), 0

    def add(self, pairs):
        for item, number in pairs:
            self.counts[item] += number
            self.gross += abs(number)

    def merge(self, other, weight):
        self.add([(item, weight * number) for item, number in other.counts.items()])
        self.gross += abs(weight) * (other.gross - other.net())

    def net(self):
        return sum(map(abs, self.counts.values()))

    def settle(self, loaded=False):
        if loaded or (self.model == "compact" and not self.top):
            self.gross = self.net()
        return self

    def copy(self):
        copy = Truth(self.model, self.top)
        copy.counts, copy.gross = dict(self.counts), self.gross
        return copy


class Machine:
    def __init__(self, server, seed):
        self.server, self.random, self.refused, self.done = server, random.Random(seed), 0, 0
        self.truths = {}
        for i in range(9):
            model, top = ("paper" if i % 3 == 2 else "compact"), i % 2 == 1
            server("LEGO.RESERVE", f"k{i}", "BUDGET", 60000, "MODEL", model, *(["TOP", 20] if top else []))
            self.truths[f"k{i}"] = Truth(model, top)

    def number(self):
        number = self.random.choice(NEAR) + self.random.choice([-2, -1, 0, 0, 1, 2])
        if self.random.random() < 0.5:
            number = self.random.randrange(2 ** self.random.randrange(1, 63))
        return -number if self.random.random() < 0.4 else number

    def key(self, *, like=None):
        keys = [key for key, truth in self.truths.items() if like is None or truth.model == self.truths[like].model]
        return self.random.choice(keys)

    def check(self, key):
        """All that can be asked of it; bricks share cells, so of those it is the sum."""
        truth = self.truths[key]
        words = self.server("LEGO.INFO", key)
        assert dict(zip(words[::2], words[1::2]))[b"total"] == sum(truth.counts.values())
        if truth.model == "compact":
            exact = [[number] * 4 for number in truth.counts.values()]
            assert self.server("LEGO.QUERY", key, "WITHBOUNDS", "ITEMS", *truth.counts) == exact

    def attempt(self, key, made, words, expected=()):
        """A command that makes `made` of a key, or is refused: for what is expected, or since the limit is passed."""
        before = self.server("DEBUG", "DIGEST")
        too_much = made.gross > LIMIT[made.model]
        try:
            self.server(*words)
        except redis.ResponseError as error:
            said = next((why for why in (*expected, "a sum could leave 64 bits") if why in str(error)), None)
            assert said, (words, error)
            assert said in expected or too_much, (words, error, made.gross)
            assert self.server("DEBUG", "DIGEST") == before
            self.refused += 1
            return
        assert not expected and made.net() <= LIMIT[made.model], (words, made.gross)
        self.truths[key] = made.settle()
        self.done += 1
        self.check(key)

    def count(self):
        key = self.key()
        pairs = [(self.random.choice(ITEMS), self.number()) for _ in range(self.random.choice([1, 1, 2, 5]))]
        made = self.truths[key].copy()
        made.add(pairs)
        wrong = any(not -(2**63) <= number < 2**63 for _, number in pairs)
        self.attempt(key, made, ["LEGO.INCRBY", key, *(word for pair in pairs for word in pair)],
                     ["a count is an integer of 64 bits"] if wrong else [])  # fmt: skip

    def take_away(self):
        """All that a key has, so that there is room again after it was loaded."""
        key = self.key()
        made = self.truths[key].copy()
        pairs = [(item, -number) for item, number in made.counts.items()]
        made.add(pairs)
        self.attempt(key, made, ["LEGO.INCRBY", key, *(word for pair in pairs for word in pair)])

    def merge(self):
        into = self.key()
        sources = [into if self.random.random() < 0.3 else self.key(like=into) for _ in range(self.random.choice([1, 2, 3]))]
        weights = [self.random.choice([0, 1, 1, 2, 3, -1, -2, self.number()]) for _ in sources]
        first = self.truths[sources[0]]
        made = Truth(first.model, first.top)
        for source, weight in zip(sources, weights):
            made.merge(self.truths[source], weight)
        expected = []
        if not all(-(2**63) <= weight < 2**63 for weight in weights):
            expected = ["a weight is an integer of 64 bits"]
        elif any(weight < 0 and (made.top or self.truths[source].top) for source, weight in zip(sources, weights)):
            expected = ["a negative weight takes away"]
        if expected and made.gross > LIMIT[made.model]:
            expected.append("a sum could leave 64 bits")
        self.attempt(into, made, ["LEGO.MERGE", into, len(sources), *sources, "WEIGHTS", *weights], expected)

    def union(self):
        """Asks of what merge would make, and changes nothing."""
        keys = [self.key(like="k0") for _ in range(3)]
        before = self.server("DEBUG", "DIGEST")
        sums = [sum(self.truths[key].counts[item] for key in keys) for item in ITEMS]
        gross = sum(self.truths[key].gross for key in keys)
        try:
            assert self.server("LEGO.UNION", 3, *keys, "ITEMS", *ITEMS) == sums and sum(map(abs, sums)) <= LIMIT["compact"]
        except redis.ResponseError as error:
            assert "a sum could leave 64 bits" in str(error) and gross > LIMIT["compact"]
        assert self.server("DEBUG", "DIGEST") == before

    def load(self):
        key, into = self.key(), self.key()
        if self.random.random() < 0.5:
            self.server("LEGO.LOAD", into, self.server("LEGO.DUMP", key))
        else:
            self.server("RESTORE", into, 0, self.server("DUMP", key), "REPLACE")
        self.truths[into] = self.truths[key].copy().settle(loaded=True)
        self.check(into)

    def reload(self):
        self.server("DEBUG", "RELOAD")
        for key, truth in self.truths.items():
            truth.settle(loaded=True)
            self.check(key)


@pytest.mark.parametrize("seed", [1, 2])
def test_sums_are_exact_or_refused(seed):
    with Server() as server:
        machine = Machine(server, seed)
        kinds = {machine.count: 10, machine.merge: 6, machine.take_away: 2, machine.union: 2, machine.load: 2, machine.reload: 0.3}
        for _ in range(1500):
            machine.random.choices([*kinds], [*kinds.values()])[0]()
        assert machine.done > 200 and machine.refused > 200, (machine.done, machine.refused)
