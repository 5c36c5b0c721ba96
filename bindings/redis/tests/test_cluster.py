"""A sketch in groups over a real cluster: where the groups are, what they answer, and that every item is counted once
while slots move, masters change and servers die."""

from collections import Counter

import pytest
import redis
from cluster import MASTERS, Cluster
from legosketch import Sketch, group
from legosketch.redis import AddError, SketchGroups
from redis.crc import key_slot
from server import wait_for
from writer import Writer, sketches_here

BUDGET = 600 << 10


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def alive(cluster):
    yield
    for server in cluster.servers:
        assert server.process.poll() is None, server.log()[-3000:]


@pytest.fixture(params=[2, 3], ids=["RESP2", "RESP3"])
def client(cluster, request):
    return cluster.client(protocol=request.param)


def content(data):
    """All of a sketch's bytes but for what its items are, of which Redis knows no more than bytes, and the checksum."""
    return data[:13] + data[14:-8]


def dumps(cluster, sketch):
    return [content(cluster.holder_of(key)("LEGO.DUMP", key)) for key in sketch.keys]


def assert_counted_once(cluster, sketch, writer):
    """To the byte, where nothing is in doubt; otherwise as exactly as can be known."""
    counted, in_doubt = writer.counted.total(), writer.in_doubt.total()
    assert counted <= sketch.total() <= counted + in_doubt
    items = list(writer.counted)
    for item, (_, upper, _) in zip(items, sketch.bounds_many(items)):
        assert upper >= writer.counted[item]
    if not in_doubt:
        here = sketches_here(sketch, BUDGET, writer.counted)
        assert dumps(cluster, sketch) == [content(part.to_bytes()) for part in here]


# ---- where they are --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [MASTERS, 4 * MASTERS, 64])
def test_groups_are_spread_evenly(cluster, client, groups):
    sketch = SketchGroups.create(client, f"spread {groups}", groups, groups * 4096)
    held = Counter(cluster.holder_of(key).port for key in sketch.keys)
    assert len(held) == MASTERS
    assert max(held.values()) - min(held.values()) <= (groups % MASTERS > 0)
    for i, key in enumerate(sketch.keys):  # however many nodes there will be
        assert i / groups <= key_slot(key.encode()) / 16384 < (i + 1) / groups
        assert cluster.holder_of(key)("EXISTS", key) == 1
    SketchGroups.delete(client, sketch.name)


def test_create_again_open_delete(cluster, client):
    with pytest.raises(LookupError, match="no sketch"):
        SketchGroups.open(client, "made")
    made = SketchGroups.create(client, "made", 6, BUDGET, seed=7, top=5)
    made.add("apple", 3)
    for again in (SketchGroups.create(client, "made", 6, "600K", seed=7, top=5), SketchGroups.open(client, "made")):
        assert (again.keys, again.groups, again.seed) == (made.keys, 6, 7)
        assert again.estimate("apple") == 3
    for other in ({"groups": 3}, {"budget": "1M"}, {"seed": 8}, {"model": "paper"}, {"top": 6}):
        with pytest.raises(ValueError, match="already"):
            SketchGroups.create(client, "made", **{"groups": 6, "budget": BUDGET, "seed": 7, "top": 5, **other})
    cluster.holder_of(made.keys[4])("DEL", made.keys[4])  # not made again by itself: that would hide a loss
    with pytest.raises(LookupError, match="lacks a group"):
        SketchGroups.open(client, "made")
    with pytest.raises(LookupError, match="lacks a group"):
        SketchGroups.create(client, "made", 6, BUDGET, seed=7, top=5)
    SketchGroups.delete(client, "made")
    with pytest.raises(LookupError):
        SketchGroups.delete(client, "made")
    assert not any(cluster.holder_of(key)("EXISTS", key) for key in ("made", *made.keys))


def test_secret_groups(cluster, client):
    """Every node has to know the same secret seed, which no client sees."""
    first = cluster.masters()[0]
    if not first("LEGO.SECRET"):
        with pytest.raises(redis.ResponseError, match="all nodes of a cluster need the same secret seed"):
            SketchGroups.create(client, "secret", 6, BUDGET, seed="secret")
        plan = SketchGroups.create(client, "plan", 6, BUDGET)
        cluster.holder_of(plan.keys[0])("LEGO.SECRET", "ab" * 16)
        with pytest.raises(redis.ResponseError, match="no secret seed is known that has the fingerprint"):
            SketchGroups.create(client, "secret", 6, BUDGET, seed="secret")
        with pytest.raises(LookupError, match="not finished"):
            SketchGroups.open(client, "secret")
        for server in cluster.masters():
            server("LEGO.SECRET", "ab" * 16)
        SketchGroups.delete(client, "plan")
    made = SketchGroups.create(client, "secret", 6, BUDGET, seed="secret")
    ((fingerprint, _),) = first("LEGO.SECRET")
    made.add_many(range(1000))
    for again in (SketchGroups.create(client, "secret", 6, BUDGET, seed="secret"), SketchGroups.open(client, "secret")):
        assert again.seed == int(fingerprint, 16) and again.estimate_many(range(1000)) == [1] * 1000
    assert {info["seed"] for info in made.info()} == {f"secret:{fingerprint.decode()}"}
    held = Counter(group(i, 6, made.seed) for i in range(1000))
    assert [info["total"] for info in made.info()] == [held[i] for i in range(6)]
    with pytest.raises(ValueError, match="already"):
        SketchGroups.create(client, "secret", 6, BUDGET)
    replica = cluster.replica_of(cluster.holder_of(made.keys[0]))
    assert replica("LEGO.SECRET") == first("LEGO.SECRET")
    SketchGroups.delete(client, "secret")


def test_create_goes_on_where_it_failed(cluster, client):
    blocked = SketchGroups.create(client, "half", 6, BUDGET).keys[3]
    SketchGroups.delete(client, "half")
    holder = cluster.holder_of(blocked)
    holder("SET", blocked, "in the way")
    with pytest.raises(LookupError):
        SketchGroups.create(client, "half", 6, BUDGET)
    with pytest.raises(LookupError, match="not finished"):
        SketchGroups.open(client, "half")
    holder("DEL", blocked)
    SketchGroups.create(client, "half", 6, BUDGET).add("apple")
    assert SketchGroups.open(client, "half").total() == 1
    SketchGroups.delete(client, "half")


def test_arguments(client):
    for wrong in ({"groups": 0}, {"groups": 1025}, {"name": "a{b}"}, {"seed": -1}, {"seed": "7"}, {"budget": "lots"}):
        with pytest.raises(ValueError):
            SketchGroups.create(client, **{"name": "wrong", "groups": 6, "budget": BUDGET, **wrong})
    for refused in ({"budget": 6 * 4095}, {"model": "none"}, {"top": -1}):
        with pytest.raises(redis.ResponseError):
            SketchGroups.create(client, **{"name": "refused", "groups": 6, "budget": BUDGET, **refused})
        SketchGroups.delete(client, "refused")
    sketch = SketchGroups.create(client, "arguments", 6, BUDGET)
    for items in ([{}], [object()], ["a", None]):
        with pytest.raises(TypeError):
            sketch.add_many(items)
    for counts in ([1], [1, 2, 3], [1, 1.5]):
        with pytest.raises((TypeError, ValueError)):
            sketch.add_many(["a", "b"], counts)
    with pytest.raises(ValueError):
        sketch.top(1)
    sketch.add_many([])
    assert sketch.estimate_many([]) == [] and sketch.total() == 0
    SketchGroups.delete(client, "arguments")


# ---- what they answer ------------------------------------------------------------------------------------------------


def test_groups_are_the_sketches_of_their_items(cluster, client):
    sketch = SketchGroups.create(client, "equal", 6, BUDGET, seed=42)
    items = [f"item {i * i % 5000}" for i in range(30_000)] + [b"\0\xff{}" * i for i in range(50)]
    items += range(-50, 9000)
    items += ["WITHBOUNDS", "ITEMS", ""]
    items += ["x" * (2 << 20), "y" * (2 << 20)]  # more than a command should have
    counts = [i % 7 - 1 for i in range(len(items))]
    sketch.add_many(items, counts)
    here = [Sketch(BUDGET // 6, seed=42) for _ in sketch.keys]
    for item, count in zip(items, counts):
        here[group(item, 6, 42)].add(item, count)
    assert dumps(cluster, sketch) == [content(part.to_bytes()) for part in here]
    assert sketch.total() == sum(counts) == sum(info["total"] for info in sketch.info())
    asked = ["WITHBOUNDS", "ITEMS", *items[::5], "never seen"]
    parts = [here[group(item, 6, 42)] for item in asked]
    assert sketch.bounds_many(asked) == [part.bounds(item) for part, item in zip(parts, asked)]
    # the server rounds halves away from 0
    assert all(abs(a - part.estimate(item)) <= 0.5 for a, part, item in zip(sketch.estimate_many(asked), parts, asked))
    wary = sketch.estimate_many(asked, absent=0.5)
    assert wary[:9] == [sketch.estimate(item, absent=0.5) for item in asked[:9]]
    for answer, part, item in zip(wary, parts, asked, strict=True):
        assert abs(answer - part.estimate(item, absent=0.5)) <= 0.5
    with pytest.raises(redis.exceptions.ResponseError):
        sketch.estimate(7, absent=1)
    assert sketch.estimate(7) == sketch.estimate_many([7])[0] and sketch.bounds(7) == sketch.bounds_many([7])[0]
    whole = here[0]
    for part in here[1:]:
        whole.merge(part)
    assert content(sketch.to_sketch().to_bytes()) == content(whole.to_bytes())
    SketchGroups.delete(client, "equal")


def test_top(cluster, client):
    sketch = SketchGroups.create(client, "top", 6, BUDGET, top=20)
    sketch.add_many([f"item {i}" for i in range(1000)], [i * i for i in range(1000)])
    assert sketch.top(3, str) == [("item 999", 999**2), ("item 998", 998**2), ("item 997", 997**2)]
    assert [count for _, count in sketch.top()] == [i * i for i in range(999, 979, -1)]
    assert sketch.top(1) == [(b"item 999", 999**2)] and sketch.top(0) == []
    with pytest.raises(ValueError):
        sketch.top(21)
    assert [top.item for top in sketch.to_sketch().top(2, str)] == ["item 999", "item 998"]
    SketchGroups.delete(client, "top")


def test_merge_is_refused_across_slots(cluster, client):
    sketch = SketchGroups.create(client, "slots", 6, BUDGET)
    server = cluster.holder_of(sketch.keys[0])
    assert cluster.holder_of(sketch.keys[1]) is server  # it could, but keys of several slots can not move together
    for sources in (sketch.keys[:2], sketch.keys[1:2]):
        with pytest.raises(redis.exceptions.ClusterCrossSlotError):
            server("LEGO.MERGE", sketch.keys[0], len(sources), *sources)
    SketchGroups.delete(client, "slots")


def test_sketches_of_as_many_groups_merge(cluster, client):
    monday, tuesday = (SketchGroups.create(client, day, 6, BUDGET) for day in ("monday", "tuesday"))
    monday.add_many(range(1000))
    tuesday.add_many(range(500, 1500))
    for into, source in zip(monday.keys, tuesday.keys):  # the keys of a group have one slot in every sketch
        cluster.holder_of(into)("LEGO.MERGE", into, "2", into, source)
    assert dumps(cluster, monday) == [
        content(part.to_bytes()) for part in sketches_here(monday, BUDGET, Counter(range(1000)) + Counter(range(500, 1500)))
    ]
    assert monday.total() == 2000 and monday.estimate(700) == 2
    for sketch in (monday, tuesday):
        SketchGroups.delete(client, sketch.name)


# ---- what is not counted ---------------------------------------------------------------------------------------------


def test_a_refused_group_leaves_the_others_counted(cluster, client):
    sketch = SketchGroups.create(client, "refused", 6, BUDGET)
    items = list(range(100))
    too_many = [2**62 if i == 50 else 1 for i in items]  # times 4, the quantum of the model: more than 63 bits
    with pytest.raises(AddError, match="in doubt") as caught:
        sketch.add_many(items, too_many)
    with_it = {i for i in items if group(i, 6) == group(50, 6)}
    assert {item for item, _ in caught.value.refused} == with_it
    assert {item for item, _ in caught.value.counted} == set(items) - with_it
    assert caught.value.in_doubt == [] and isinstance(caught.value.__cause__, redis.ResponseError)
    assert sketch.total() == 100 - len(with_it)
    SketchGroups.delete(client, "refused")


def test_too_few_replicas_are_a_doubt(cluster, client):
    SketchGroups.create(client, "few", 6, BUDGET, replicas=1)
    sketch = SketchGroups.open(client, "few", replicas=2, timeout=0.2)
    with pytest.raises(AddError, match="1 replicas have it, not the 2") as caught:
        sketch.add_many(["apple", "pear"])
    assert caught.value.in_doubt == [("apple", 1), ("pear", 1)]
    assert sketch.total() == 2
    SketchGroups.delete(client, "few")


# ---- while the cluster changes ---------------------------------------------------------------------------------------


def test_slots_that_move_step_by_step(cluster, client):
    """What redis-cli does for a slot, with counting in between: at the source until the key has moved, with ASK until
    the slot has, and by MOVED then. Another client, which has not been told, comes last."""
    sketch = SketchGroups.create(client, "steps", 6, BUDGET)
    key = sketch.keys[2]
    slot = key_slot(key.encode())
    unaware = SketchGroups.open(cluster.client(), "steps")
    source = cluster.holder_of(key)
    target = next(server for server in cluster.masters() if server is not source)
    items = [i for i in range(1000) if group(i, 6) == 2]

    def move(source, target):
        target("CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.id_of(source))
        source("CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.id_of(target))
        sketch.add_many(items)
        source("MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "KEYS", key)
        sketch.add_many(items)
        assert sketch.estimate_many(items[:3]) == [expected] * 3
        for server in (target, source, *cluster.masters()):
            server("CLUSTER", "SETSLOT", slot, "NODE", cluster.id_of(target))
        sketch.add_many(items)

    expected = 2
    move(source, target)
    unaware.add_many(items)
    expected = 6
    move(target, source)
    unaware.add_many(items)
    cluster.settle()
    counted = Counter({item: 8 for item in items})
    assert dumps(cluster, sketch) == [content(part.to_bytes()) for part in sketches_here(sketch, BUDGET, counted)]
    SketchGroups.delete(client, "steps")


def test_resharding_under_load(cluster):
    sketch = SketchGroups.create(cluster.client(), "reshard", 24, BUDGET)
    nodes = cluster.masters()
    with Writer(sketch) as writer:
        # the first 1500 slots of a node, which have two groups, go to the next node, on to the third, and back
        first = cluster.holder_of(sketch.keys[0])
        second, third = (node for node in nodes if node is not first)
        for source, target in ((first, second), (second, third), (third, first)):
            cluster.redis_cli("reshard", f"127.0.0.1:{first.port}", "--cluster-from", cluster.id_of(source),
                              "--cluster-to", cluster.id_of(target), "--cluster-slots", "1500")
            cluster.settle()
            assert [cluster.holder_of(key) for key in sketch.keys[:2]] == [target, target]
            writer.more(5)
    assert writer.refused == 0 and not writer.in_doubt
    assert_counted_once(cluster, sketch, writer)
    SketchGroups.delete(cluster.client(), "reshard")


def test_manual_failover_under_load(cluster):
    sketch = SketchGroups.create(cluster.client(), "failover", 6, BUDGET)
    with Writer(sketch) as writer:
        for master in cluster.masters():
            cluster.fail_over(cluster.replica_of(master))
            cluster.settle()
            writer.more(5)
    assert writer.refused == 0 and not writer.in_doubt
    assert_counted_once(cluster, sketch, writer)
    SketchGroups.delete(cluster.client(), "failover")


def test_rolling_restart_under_load(cluster):
    """As for a new version of the server: each is stopped and started, a master after its replica took over."""
    sketch = SketchGroups.create(cluster.client(), "rolling", 6, BUDGET)
    with Writer(sketch) as writer:
        for server in cluster.servers:
            if server("ROLE")[0] == b"master":
                cluster.fail_over(cluster.replica_of(server))
                cluster.settle()
            server.stop()
            server.start()
            cluster.settle()
            writer.more(5)
    assert writer.refused == 0
    assert_counted_once(cluster, sketch, writer)
    SketchGroups.delete(cluster.client(), "rolling")


def test_what_only_a_killed_master_had_was_in_doubt(cluster):
    """Nothing that was acknowledged is lost, and what is lost had not been."""
    sketch = SketchGroups.create(cluster.client(), "only", 6, BUDGET, replicas=1, timeout=1)
    master = cluster.holder_of(sketch.keys[0])
    replica = cluster.replica_of(master)
    its = {i for i in range(1000) if cluster.holder_of(sketch.keys[group(i, 6)]) is master}
    sketch.add_many(range(1000))
    replica("CONFIG", "SET", "masterauth", "wrong")  # so that it can not connect to its master again
    replica("CLIENT", "KILL", "TYPE", "master")
    wait_for(lambda: not master("ROLE")[2])
    with pytest.raises(AddError, match="0 replicas have it") as caught:
        sketch.add_many(range(1000))
    assert {item for item, _ in caught.value.in_doubt} == its and not caught.value.refused
    assert sketch.total() == 2000
    master.kill()
    replica("CONFIG", "SET", "masterauth", "")
    wait_for(lambda: replica("ROLE")[0] == b"master")
    master.start()
    cluster.settle()
    counted = Counter(range(1000)) + Counter(item for item, _ in caught.value.counted)
    assert dumps(cluster, sketch) == [content(part.to_bytes()) for part in sketches_here(sketch, BUDGET, counted)]
    SketchGroups.delete(cluster.client(), "only")


def test_a_master_that_is_killed_under_load(cluster):
    """What was acknowledged is at its replica, which takes over; the old master comes back as a replica, and equal."""
    sketch = SketchGroups.create(cluster.client(), "killed", 6, BUDGET, replicas=1, timeout=30)
    master = cluster.holder_of(sketch.keys[0])
    replica = cluster.replica_of(master)
    with Writer(sketch) as writer:
        master.kill()
        wait_for(lambda: replica("ROLE")[0] == b"master")
        master.start()  # only then are there as many replicas again as were asked for
        cluster.settle()
    assert writer.refused == 0
    assert_counted_once(cluster, sketch, writer)
    held = [key for key in sketch.keys if cluster.holder_of(key) is replica]
    wait_for(lambda: master("ROLE")[4] == replica("ROLE")[1])  # all of the stream has arrived
    assert held and master("DEBUG", "DIGEST-VALUE", *held) == replica("DEBUG", "DIGEST-VALUE", *held)
    SketchGroups.delete(cluster.client(), "killed")
