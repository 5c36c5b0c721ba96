"""The same stream into a key and into a Sketch of the Python package, which is the truth."""

import random

from legosketch import Sketch

MODELS = ["compact", "paper"]


def stream(n, seed=1, deletions=True):
    """Items with counts, binary ones and the empty one among them; nothing is deleted more often than it came."""
    source = random.Random(seed)
    names = [b"", b"\0", b"\0\0", b"a\r\nb", "größe".encode(), bytes(range(256)), b"x" * 300]
    names += [f"item{i}".encode() for i in range(n // 2)] + [source.randbytes(8) for _ in range(n // 8)]
    counted = [(names[int(len(names) * source.random() ** 3)], source.randrange(1, 50)) for _ in range(n)]
    if deletions:
        counted += [(item, -source.randrange(1, count + 1)) for item, count in counted[:: 5]]
    return counted


def reserve(server, key, budget, model=None, seed=0, top=None):
    """The key, and the truth."""
    words = ["LEGO.RESERVE", key, "BUDGET", budget, "SEED", seed]
    words += ["MODEL", model] if model else []
    words += ["TOP", top] if top else []
    assert server(*words) == b"OK"
    return Sketch(budget, model=model, seed=seed, top=top is not None)


def count(server, key, sketch, counted, most=100):
    """Commands of 1 to `most` items."""
    source = random.Random(len(counted))
    at = 0
    commands = []
    while at < len(counted):
        part = counted[at : at + source.choice([1, 2, 3, most])]
        at += len(part)
        commands.append(["LEGO.INCRBY", key, *(word for pair in part for word in pair)])
    answers = server.pipeline(commands)
    for item, number in counted:
        sketch.add(item, number)
    assert answers[-1] == sketch.total
