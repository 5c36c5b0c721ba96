"""Sums never wrap: sketches in a table against Python's integers, with counts near every limit. What is asked of a sketch
is either refused by name, and then the value is the same as before, or exact. An exact sketch is refused just where the
counts that it has and gets, without their signs, come to 2^61."""
import random

import psycopg
import pytest

STEPS = 700
LIMIT = {"compact": 2**61, "paper": 2**53}
SKETCHES = 5
ITEMS = 12
EDGES = [0, 1, 2, 2**31, 2**52, 2**53, 2**59, 2**60, 2**61, 2**62, 2**63]
DONE, REFUSED, NO_BIGINT = "done", "counts are too large", "bigint out of range"


class Model:
    """What a sketch has: item -> count, and what that weighs."""

    def __init__(self, counts=()):
        self.counts = {item: count for item, count in dict(counts).items() if count}

    def weight(self):
        return sum(abs(count) for count in self.counts.values())

    def plus(self, changes, sign=1):
        counts = dict(self.counts)
        for item, count in changes:
            counts[item] = counts.get(item, 0) + sign * count
        return Model(counts)


def near(dice):
    """An integer of either sign, near an edge, or that leaves a sum near one."""
    count = dice.choice(EDGES) + dice.randrange(-3, 4)
    return dice.choice((1, 1, -1)) * (count if dice.randrange(3) else count // dice.randrange(1, 9))


def changes_of(dice, model, n):
    for _ in range(n):
        item = dice.randrange(ITEMS)
        known = model.counts.get(item, 0)
        yield item, dice.choice((near(dice), near(dice), -known, 2**61 - model.weight(), 2**61 - 1 - model.weight()))


def state_of(connection, i):
    saved, total, estimates = connection.execute(
        "SELECT s::bytea, lego_total(s), lego_estimates(s, (SELECT array_agg(g) FROM generate_series(0, %s) g)) "
        "FROM sums WHERE id = %s", [ITEMS - 1, i]).fetchone()
    return saved, total, estimates


def holds(connection, i, model):
    _, total, estimates = state_of(connection, i)
    assert total == sum(model.counts.values())
    assert estimates == [float(model.counts.get(item, 0)) for item in range(ITEMS)]
    bounds = connection.execute("SELECT lower, upper, likely FROM sums, generate_series(0, %s) g, lego_bounds(s, g) WHERE id = %s "
                                "ORDER BY g", [ITEMS - 1, i]).fetchall()
    assert bounds == [(model.counts.get(item, 0),) * 3 for item in range(ITEMS)]


def attempt(connection, i, expression, parameters):
    """Sketch i becomes that; or it is refused, and i is what it was."""
    before = state_of(connection, i)[0]
    try:
        connection.execute(f"UPDATE sums SET s = ({expression}) WHERE id = %s", [*parameters, i])
        return DONE
    except psycopg.errors.NumericValueOutOfRange as error:
        assert state_of(connection, i)[0] == before
        return next(reason for reason in (REFUSED, NO_BIGINT) if reason in str(error))


AGGREGATE = "SELECT lego_agg(i, c, '64kB') FROM unnest(%s::bigint[], %s::numeric[]) t(i, c)"


@pytest.mark.parametrize("seed", [1, 2])
def test_exact_or_refused(connection, seed):
    dice = random.Random(seed)
    connection.execute("CREATE TEMP TABLE sums AS SELECT g AS id, lego_empty('64kB') AS s FROM generate_series(0, %s) g",
                       [SKETCHES - 1])
    models = [Model() for _ in range(SKETCHES)]
    seen = {DONE: 0, REFUSED: 0, NO_BIGINT: 0}
    for _ in range(STEPS):
        i, j, way = dice.randrange(SKETCHES), dice.randrange(SKETCHES), dice.randrange(7)
        model, other = models[i], models[j]
        if way == 0:
            [(item, count)] = changes_of(dice, model, 1)
            made, weight = model.plus([(item, count)]), model.weight() + abs(count)
            done = attempt(connection, i, "lego_add(s, %s::bigint, %s::numeric)", [item, count])
            fits = -(2**63) <= count < 2**63
        elif way == 1:
            rows = list(changes_of(dice, Model(), dice.randrange(1, 6)))
            made, weight = Model().plus(rows), sum(abs(count) for _, count in rows)
            done = attempt(connection, i, AGGREGATE, [[item for item, _ in rows], [count for _, count in rows]])
            fits = all(-(2**63) <= count < 2**63 for _, count in rows)
        elif way in (2, 3):
            sign = 1 if way == 2 else -1
            made, weight, fits = model.plus(other.counts.items(), sign), model.weight() + other.weight(), True
            done = attempt(connection, i, f"s {'+' if sign > 0 else '-'} (SELECT s FROM sums WHERE id = %s)", [j])
        elif way == 4:
            among = sorted(dice.sample(range(SKETCHES), dice.randrange(1, 4)))
            made, weight, fits = Model(), 0, True
            for k in among:
                made, weight = made.plus(models[k].counts.items()), weight + models[k].weight()
            done = attempt(connection, i, "SELECT lego_merge_agg(s) FROM sums WHERE id = ANY(%s)", [among])
        elif way == 5:  # saved, sent, and loaded
            saved = state_of(connection, j)[0]
            made, weight, fits = other, 0, True
            done = attempt(connection, i, "%s::bytea::legosketch", [saved])
        else:
            made, weight, fits = Model(), 0, True
            done = attempt(connection, i, "lego_empty('64kB')", [])
        assert done == (NO_BIGINT if not fits else DONE if weight < LIMIT["compact"] else REFUSED), (way, weight)
        seen[done] += 1
        if done == DONE:
            models[i] = made
            holds(connection, i, made)
    assert min(seen.values()) > STEPS / 200, seen


@pytest.mark.parametrize("made", ["lego_agg(g, 1, 4096)", "lego_top_agg(g, 1, 8192)", "lego_agg(g, 1, 20480, 0, 'paper')"])
def test_totals_of_crowded_sketches(connection, made):
    """Where items share cells too: the total is Python's, and what is refused would weigh too much."""
    dice = random.Random(made)
    limit = LIMIT["paper" if "paper" in made else "compact"]
    connection.execute(f"CREATE TEMP TABLE sums AS SELECT 0 AS id, {made} AS s FROM generate_series(1, 4000) g")
    total = weight = 4000
    refused = 0
    for _ in range(STEPS // 3):
        item, count = dice.randrange(5000), near(dice)
        if dice.randrange(4) == 0:
            count = dice.choice((1, -1)) * (limit - 1 - abs(total) - dice.randrange(-3, 4))
        before = connection.execute("SELECT s::bytea, lego_total(s) FROM sums").fetchone()
        assert before[1] == total
        try:
            connection.execute("UPDATE sums SET s = lego_add(s, %s::bigint, %s::numeric)", [item, count])
            assert abs(total + count) < limit
            total, weight = total + count, weight + abs(count)
        except psycopg.errors.NumericValueOutOfRange as error:
            assert connection.execute("SELECT s::bytea, lego_total(s) FROM sums").fetchone() == before
            assert weight + abs(count) >= limit if REFUSED in str(error) else not -(2**63) <= count < 2**63, error
            refused += 1
    assert 10 < refused < STEPS // 3 - 10
