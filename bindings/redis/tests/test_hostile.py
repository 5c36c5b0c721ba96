"""Bytes that somebody made up, by RESTORE and by LEGO.LOAD: refused, or a sketch that works; never the server's end."""

import random

import pytest
import redis
from hostile import Fuzzer, mutated, sealed
from server import Server
from streams import MODELS, count, reserve, stream

UINT, STRING, EOF = 2, 5, 0  # what comes next in a module's value, in Redis's rdb.h


@pytest.fixture(scope="module")
def target():
    """Its DUMP payloads carry a CRC that keeps mistakes out; it is told not to look at it."""
    with Server("rdbcompression no") as server:
        server("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
        yield server


def length(n):
    if n < 64:
        return bytes([n])
    if n < 1 << 14:
        return (n | 1 << 14).to_bytes(2, "big")
    return b"\x80" + n.to_bytes(4, "big") if n < 1 << 32 else b"\x81" + n.to_bytes(8, "big")


def payload(original, top, data, version=0):
    """What RESTORE takes, with the type's number and the end of one that the server made."""
    number = int.from_bytes(original[2:10], "big") & ~1023 | version
    head = original[:2] + number.to_bytes(8, "big")
    value = length(UINT) + length(top) + length(STRING) + length(len(data)) + data + length(EOF)
    return head + value + original[-10:]


@pytest.fixture(scope="module")
def samples(target):
    """A key's canonical bytes, its TOP and its payload, for every kind."""
    found = []
    for model in MODELS:
        for top in (None, 10):
            sketch = reserve(target, "sample", 8192 if top else 4096, model, 3, top)
            count(target, "sample", sketch, [(i, n) for i, n in stream(200) if len(i) < 200])
            found.append((target("LEGO.DUMP", "sample"), top or 0, target("DUMP", "sample")))
            target("DEL", "sample")
    return found


def exercise(target, key):
    """A sketch that was let in can do everything; what it is is saved and comes back the same."""
    top = dict(zip(*[iter(target("LEGO.INFO", key))] * 2))[b"top"]
    target.pipeline([["LEGO.ADD", key, "a", "b"], ["LEGO.INCRBY", key, "a", -5], ["LEGO.QUERY", key, "a", "never"]])
    target.pipeline([["LEGO.TOP", key, "WITHCOUNT"], ["LEGO.MERGE", "twice", 2, key, key], ["DEL", "twice"]])
    data = target("LEGO.DUMP", key)
    assert target("LEGO.LOAD", "again", data, *(["TOP", top] if top else [])) == b"OK"
    assert target("DEBUG", "DIGEST-VALUE", "again")[0] == target("DEBUG", "DIGEST-VALUE", key)[0]
    target.pipeline([["LEGO.FOLD", key, 1], ["DEL", key, "again"]])


def attack(target, commands):
    """Each puts something into the key that it names, or not; how many did."""
    let_in = 0
    for at in range(0, len(commands), 100):
        part = commands[at : at + 100]
        answers = target.pipeline(part)
        for words, answer in zip(part, answers):
            if isinstance(answer, redis.ResponseError):
                continue
            let_in += 1
            exercise(target, words[1])
        assert target("DBSIZE") == 0
    return let_in


@pytest.fixture
def bounded(target, samples):
    """Nothing is allocated for what is refused, and nothing stays: 4 KB that are kept each time would show."""
    before = target.client.info("memory")
    yield
    after = target.client.info("memory")
    assert after["used_memory_peak"] - before["used_memory_peak"] < 50 << 20
    assert after["used_memory"] - before["used_memory"] < 1 << 20


def test_the_payload_is_understood(target, samples):
    for data, top, original in samples:
        assert payload(original, top, data) == original
        assert sealed(data) == data


def test_restore_of_changed_sketches(target, samples, bounded):
    source = random.Random(11)
    commands = []
    for i in range(3000):
        data, top, original = source.choice(samples)
        if source.random() < 0.15:
            top = source.choice([0, 1, 10**6, 10**6 + 1, 2**32, 2**32 + 10, 2**64 - 1])
        made = payload(original, top, mutated(data, source), source.choice([0] * 30 + [1, 1023]))
        commands.append(["RESTORE", f"k{i}", 0, made])
    let_in = attack(target, commands)
    assert 0 < let_in < 1500  # a changed seed makes another good sketch; most are refused


def test_load_of_changed_sketches(target, samples, bounded):
    source = random.Random(12)
    commands = []
    for i in range(3000):
        data, top, _ = source.choice(samples)
        option = ["TOP", source.choice([top, 1, 10**6])] if top and source.random() < 0.5 else []
        commands.append(["LEGO.LOAD", f"k{i}", mutated(data, source), *option])
    assert 0 < attack(target, commands) < 1500


def test_wrong_top_and_version(target, samples):
    for data, top, original in samples:
        bad = [(1, 0), (10**6, 0)] if top == 0 else [(0, 0), (10**6 + 1, 0), (2**32 + 1, 0), (2**64 - 1, 0)]
        answers = target.pipeline([["RESTORE", "k", 0, payload(original, t, data, v)] for t, v in [*bad, (top, 1)]])
        assert all(isinstance(answer, redis.ResponseError) for answer in answers), answers


def test_restore_of_changed_payloads(target, samples):
    """Also what is around the bytes: kinds, lengths, ends. Here the server may allocate what a length says."""
    source = random.Random(13)
    commands = []
    for i in range(3000):
        _, _, original = source.choice(samples)
        made = bytearray(original)
        for _ in range(source.choice([1, 1, 2, 4])):
            made[source.randrange(source.choice([24, len(made)]))] = source.choice([0, 1, 2, 5, 64, 128, 129, 255])
        if source.random() < 0.2:
            del made[source.randrange(11, len(made) - 10) : -10]
        if made[0] == original[0]:  # ours, not one of the server's own types
            commands.append(["RESTORE", f"k{i}", 0, bytes(made)])
    assert len(commands) > 2000
    attack(target, commands)


def test_random_commands():
    """For ten seconds; `run.sh BUILD hostile.py COMMANDS` does as many as one likes."""
    with Server("maxmemory 300mb") as server:
        assert Fuzzer(server, 1).run(seconds=10) > 1000
