#!/usr/bin/env python3
"""Writes the golden files that the C tests read: python3 tests/reference/make_golden.py [folder]

RandomState is used because numpy promises never to change its stream."""

import os
import sys

import numpy as np

import blocks
import lego

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
# of the seeds tried: every activation sees both sides of zero, answers fall below and above f'', little cancels
SEED = 1524
MASK = 2**64 - 1
TIES = [154, 1713, 2078, 2723]


def uniform(rng, low, high, shape=None):
    return low + (high - low) * rng.random_sample(shape)


def log_uniform(rng, low, high, shape=None):
    """From 2^low to 2^high; about uniform in the logarithm, and without pow, whose last bit differs by machine."""
    return np.ldexp(uniform(rng, 1, 2, shape), rng.randint(low, high, shape))


def random_model(rng, rows=5, columns=5120, quantum=1024, name="random"):
    """Random weights, of sizes that keep every activation on both sides of zero and the answers near f''."""
    layers = {}
    for layer, inputs, outputs in lego.LAYERS:
        bound = np.sqrt(3 / inputs)
        matrix = uniform(rng, -0.6 * bound, bound, (outputs, inputs))  # more plus than minus: less cancels
        bias = uniform(rng, -0.5, 0.5, outputs)
        if layer in ("scan.cell.0", "dec.pair.0"):
            # cells go from 0 to millions: kinks from 1 to 1000
            sign = np.where(rng.random_sample(outputs) < 0.7, 1, -1)
            matrix[:, 0] = sign * log_uniform(rng, -10, 0, outputs)
        if layer == "dec.mix.0":
            matrix[:, 16:20] *= 0.3  # implicit
            matrix[:, 21] *= 1e-4   # N
        if layer == "dec.out.0":
            matrix[:, :16] *= 0.3  # the mixture
            matrix[:, 17] *= 1e-4   # N
            matrix[:, 16] = abs(matrix[:, 16])  # f''
        layers[layer] = matrix, bias
    v = uniform(rng, 0.001, 1, 80)
    v[:6] = [0.001, 1, 100.5 / 65536, 101.5 / 65536, 0.5, 1000.5 / 65536]  # the bounds, and ties in the rounding
    return lego.Model(name, rows, columns, quantum, np.maximum(v, np.float32(0.001)).tolist(), 1, -1e30, 1e30, layers)


def lcg_cells(seed, modulus, rows=5, columns=512):
    state, cells = seed, []
    for _ in range(rows * columns):
        state = (state * 6364136223846793005 + 1442695040888963407) & MASK
        cells.append((state >> 33) % modulus)
    return np.array(cells).reshape(rows, columns)


def scan_cases(model):
    # 187 and 206: a unit of every head is above zero in one row and below in another, so that it matters that the mean
    # over the rows comes after the heads
    for seed, modulus in [(1, 1), (2, 300), (187, 9357), (206, 16408), (4, 60000), (5, 1000000), (2**64 - 6, 2**31)]:
        yield seed, modulus, lego.g_scan(model, lego.to_paper(model, lcg_cells(seed, modulus)))


def decode_cases(model, rng, scans):
    """m, w, implicit, N, alpha, n, f'': what a sketch could hold, beside some scan; inputs are floats exactly."""
    shape = lego.Shape(21, 5120)
    for i in range(40):
        _, modulus, (implicit, alpha, n) = scans[i % (len(scans) - 1)]
        w = lego.item_to_cells(model, shape, i).weights
        count = int(log_uniform(rng, 0, 13)) if i else 0
        m = [count * wk + int(modulus * rng.random_sample() * rng.random_sample()) for wk in w]
        if i == 39:
            m = [-mk for mk in m]  # more was deleted than was there
        total = int(log_uniform(rng, 13, 20))
        implicit, alpha, n = np.float32(implicit), np.float32(alpha), np.float32(n)
        yield m, w, implicit.astype(float), total, float(alpha), float(n), min(mk / wk for mk, wk in zip(m, w))


def numbers(*values):
    """Integers as they are, the rest with all digits of a double."""
    flat = np.concatenate([np.atleast_1d(np.array(v, object)) for v in values])
    return " ".join(str(x) if isinstance(x, int) else "%.17g" % x for x in flat)


def write_networks(path, model, rng):
    scans = list(scan_cases(model))
    with open(path, "w") as file:
        file.write("""\
# What the networks of random.lego answer, in double precision (tests/reference/make_golden.py).
# scan SEED MODULUS implicit[4] alpha n
#   5 rows of 512 cells, row after row; before each cell, from state = SEED:
#   state = state * 6364136223846793005 + 1442695040888963407 mod 2^64; cell = (state >> 33) mod MODULUS
#   The network sees cell * 5 / 1024.
# dec m[5] w[5] implicit[4] N alpha n f2 f1
#   m and w are integers as in a sketch; the network sees m * 5 / 1024 and w * 5 / 1024.
#   f2 = min(m / w), not rounded; f1 is what the network answers.
""")
        for seed, modulus, answer in scans:
            file.write("scan " + numbers(seed, modulus, *answer) + "\n")
        for m, w, implicit, total, alpha, n, f2 in decode_cases(model, rng, scans):
            f1 = lego.g_dec(model, lego.to_paper(model, np.array(m)), lego.to_paper(model, np.array(w)), implicit, f2,
                            total, alpha, n)
            file.write("dec " + numbers(m, w, implicit, total, alpha, n, f2, f1) + "\n")


def write_hash(path, model, rng):
    # around every length at which XXH3 changes its method, integers, and some of any length
    lengths = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 97, 127, 128, 129, 143, 144, 239, 240,
               241, 255, 256, 257, 299, 300, 1023, 1024, 1025, 1089]
    items = [bytes(rng.randint(0, 256, n).tolist()) for n in lengths]
    items += [lego.item_bytes(i) for i in [0, 1, 2, 255, 256, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, MASK]]
    # at seed 0 a weight of these depends on how ties are rounded
    items += [lego.item_bytes(i) for i in TIES]
    items += [b"apple", "naïve".encode(), b"a b\tc", b"\0", b"\0\0"]
    items += [bytes(rng.randint(0, 256, rng.randint(1, 40)).tolist()) for _ in range(10)]
    seeds = [0, 1, 42, 2**32, 2**63, MASK]
    seed_of = [0 if item in map(lego.item_bytes, TIES) else seeds[i % len(seeds)] for i, item in enumerate(items)]
    with open(path, "w") as file:
        file.write("""\
# item SEED lo hi brick columns[5] weights[5] group
#   item: its bytes in hex, or - for the empty item; lo and hi, the halves of XXH3's 128 bits, in hex, the rest decimal;
#   for 21 bricks of 5 rows and 5120 columns, the V and Q (1024) of random.lego, and 1000 groups
""")
        for item, seed in zip(items, seed_of):
            place = lego.item_to_cells(model, lego.Shape(21, 5120, seed), item)
            file.write(f"{item.hex() or '-'} {seed} {place.lo:016x} {place.hi:016x} {place.brick} "
                       + numbers(place.columns, place.weights, lego.item_to_group(item, 1000, seed)) + "\n")


def write_secrets(path):
    with open(path, "w") as file:
        file.write("# item secret lo hi fingerprint, all in hex; - is the empty item\n")
        for i, n in enumerate([0, 1, 7, 8, 8, 9, 15, 16, 17, 23, 24, 31, 63, 64, 255, 256, 300]):
            item, secret = bytes(7 * i + j for j in range(n % 250)) * (1 + n // 250), bytes(range(i, i + 16))
            lo, hi = lego.hash_item(item, secret)
            file.write(f"{item.hex() or '-'} {secret.hex()} {lo:016x} {hi:016x} {lego.shown(secret)[1]:016x}\n")


def streams():
    """Name and items with their counts; tests/test_golden.c has the same streams."""
    yield "light", [(b"word %d" % i, 1 + i % 5) for i in range(100)]
    yield "mixed", [(b"word %d" % i, i**3) if i % 60 == 0 else (i << 40, 1 + i % 3) for i in range(800)]
    yield "deep", [(i * i, i**5) for i in range(400)]
    yield "signed", [(i % 250, i * 37 % 23 - 9) for i in range(300)]


SEEDS = [42, 0, MASK, 7]


def draw(state):
    """SplitMix64, endless."""
    while True:
        state = state + 0x9E3779B97F4A7C15 & MASK
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        yield z ^ z >> 31


def write_blocks(path):
    """Single blocks, from whole lists to the last step."""
    with open(path, "w") as file:
        file.write("""\
# WHOLE POOL N BITS SIGNED SEED block
#   the canonical bytes, in hex, of a block to which N items were added, one after the other; whole keys have WHOLE bits.
#   Of every item SplitMix64, from state SEED on, gives in turn which of POOL it is (draw mod POOL), a shift and its
#   count: (draw >> 63 - shift mod (BITS + 1)) + 1, negative if SIGNED is 2, or it is 1 and draw mod 3 = 0. The key of
#   number k of a pool is the leading WHOLE bits of SplitMix64's first output from state k.
""")
        sizes = [0, 1, 2, 3, 4, 5, 8, 9, 20, 40, 60, 90, 105, 120, 150, 200, 300, 400, 700, 1000, 2500]
        sizes = 5 * sizes + list(range(95, 145))
        for i, n in enumerate(sizes):
            whole, bits, signed = 34 + i % 29, [0, 5, 12, 30, 48, 0, 1, 0][i // 21], (i % 5 == 4) * (1 + i % 2)
            pool, draws, block = max(1, n // 2) if i % 3 == 2 else 100 * n + 1, draw(i), blocks.List(whole)
            for _ in range(n):
                number, shift, count = next(draws) % pool, next(draws), next(draws)
                value = (count >> 63 - shift % (bits + 1)) + 1
                value = -value if signed == 2 or signed and count % 3 == 0 else value
                block = block.added(blocks.cut(next(draw(number)), whole), value)
            file.write(f"{whole} {pool} {n} {bits} {signed:d} {i} {block.pack().hex()}\n")


# What the library judged of the items of each stream that are not listed, which this program does not know.
UNLISTED = [(1, 0, 0, 0), (1, 2**64 - 1, 0, 0), (102400000, 2**64 - 1, 1, 0), (1, 2**64 - 1, 0, 0)]


def block_cases():
    """name, the most blocks, seed and stream of a sketch of the compact model, and what was judged"""
    for most, seed, (name, stream), unlisted in zip([6, 3, 5, 2], SEEDS, streams(), UNLISTED):
        yield name, most, seed, stream, unlisted


def brick_cases():
    """name, shape and stream of a sketch of random.lego"""
    for shape, seed, (name, stream) in zip([(2, 64), (6, 32), (3, 18), (1, 100)], SEEDS, streams()):
        yield name, lego.Shape(*shape, seed), stream


def write_sketches(folder, model):
    for name, most, seed, stream, unlisted in block_cases():
        with open(os.path.join(folder, f"blocks-{name}.sketch"), "wb") as file:
            file.write(blocks.write_sketch(blocks.build(most, stream, seed=seed, unlisted=unlisted)))
    for name, shape, stream in brick_cases():
        with open(os.path.join(folder, f"bricks-{name}.sketch"), "wb") as file:
            file.write(lego.write_sketch(lego.build(model, shape, stream)))


def make(folder):
    os.makedirs(folder, exist_ok=True)
    rng = np.random.RandomState(SEED)
    path = os.path.join(folder, "random.lego")
    lego.write_model(path, random_model(rng))
    model = lego.read_model(path)  # as rounded to floats
    write_networks(os.path.join(folder, "networks.txt"), model, rng)
    write_hash(os.path.join(folder, "hash.txt"), model, rng)
    write_secrets(os.path.join(folder, "hash-secret.txt"))
    write_blocks(os.path.join(folder, "blocks.txt"))
    write_sketches(folder, model)


if __name__ == "__main__":
    make(sys.argv[1] if len(sys.argv) > 1 else GOLDEN)
