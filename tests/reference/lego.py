"""The Lego sketch once more, in Python: slow, in double precision, with exact integers.

Written from docs/format.md and the paper's facts alone, not from src/, so that the two do not share mistakes.
Every sum is taken in a fixed order or by math.fsum, so the golden files come out the same on every machine."""

import dataclasses
import math
import re
import struct
from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np
import xxhash

MASK = 2**64 - 1

# name, inputs, outputs: the order of the file
LAYERS = [
    ("scan.cell.0", 1, 8), ("scan.cell.1", 8, 16), ("scan.cell.2", 16, 32),
    ("scan.implicit.0", 32, 16), ("scan.implicit.1", 16, 8), ("scan.implicit.2", 8, 4),
    ("scan.skew.0", 32, 16), ("scan.skew.1", 16, 16), ("scan.skew.2", 16, 8), ("scan.skew.3", 8, 1),
    ("scan.distinct.0", 32, 16), ("scan.distinct.1", 16, 16), ("scan.distinct.2", 16, 8), ("scan.distinct.3", 8, 1),
    ("dec.pair.0", 2, 8), ("dec.pair.1", 8, 16), ("dec.pair.2", 16, 16),
    ("dec.mix.0", 24, 32), ("dec.mix.1", 32, 16),
    ("dec.out.0", 20, 8), ("dec.out.1", 8, 4), ("dec.out.2", 4, 1),
]

Shape = namedtuple("Shape", "bricks columns seed", defaults=[0])
Place = namedtuple("Place", "lo hi brick columns weights")
Brick = namedtuple("Brick", "total rows")  # rows: of Row


def check(condition, what):
    if not condition:
        raise ValueError(what)


# ---- models ---------------------------------------------------------------------------------------------------------

@dataclass
class Model:
    name: str
    rows: int
    columns: int
    quantum: int
    v: list
    kind: int = 1
    beta: float = 0.0
    limit: float = 0.0
    layers: dict = field(default_factory=dict)  # name -> (matrix [out][in], bias [out]), doubles that are floats
    fingerprint: int = 0


def write_model(path, model):
    body = struct.pack("<IIIIff16s", model.rows, model.columns, model.quantum, len(model.v), model.beta, model.limit,
                       model.name.encode())
    body += np.asarray(model.v, "<f4").tobytes()
    for name, inputs, outputs in LAYERS:
        matrix, bias = model.layers[name]
        check(matrix.shape == (outputs, inputs) and bias.shape == (outputs,), "shape of " + name)
        body += matrix.astype("<f4").tobytes() + bias.astype("<f4").tobytes()
    data = b"LEGOMODL" + struct.pack("<IIQ", 1, model.kind, 24 + len(body) + 8) + body
    with open(path, "wb") as file:
        file.write(data + struct.pack("<Q", xxhash.xxh3_64_intdigest(data)))


def read_model(path):
    with open(path, "rb") as file:
        data = file.read()
    check(data[:8] == b"LEGOMODL", "magic")
    version, kind, length = struct.unpack_from("<IIQ", data, 8)
    rows, columns, quantum, entries, beta, limit, name = struct.unpack_from("<IIIIff16s", data, 24)
    check(version == 1 and kind == 1 and length == len(data), "version, kind or length")
    check(1 <= rows <= 8 and columns % 16 == 0 and 16 <= columns <= 8192, "rows or columns")
    check(rows <= quantum <= 4096 and 1 <= entries <= 256, "quantum or entries")
    check(re.fullmatch(rb"[a-z0-9.-]{1,15}\0+", name), "name")
    numbers = np.frombuffer(data[64:-8], "<f4").astype(float)
    check(np.isfinite(numbers).all(), "a number that is not finite")
    v, numbers = numbers[:entries], numbers[entries:]
    check(v.min() >= np.float32(0.001) and v.max() <= 1, "V")
    layers = {}
    for layer, inputs, outputs in LAYERS:
        size = inputs * outputs
        layers[layer] = numbers[:size].reshape(outputs, inputs), numbers[size:size + outputs]
        numbers = numbers[size + outputs:]
    check(len(numbers) == 0, "length of the tensors")
    fingerprint, = struct.unpack("<Q", data[-8:])
    check(fingerprint == xxhash.xxh3_64_intdigest(data[:-8]), "checksum")
    name = name.rstrip(b"\0").decode()
    return Model(name, rows, columns, quantum, v.tolist(), kind, beta, limit, layers, fingerprint)


# ---- from an item to its cells --------------------------------------------------------------------------------------

def splitmix64(n):
    """The first n outputs from state 0."""
    state = 0
    for _ in range(n):
        state = state + 0x9E3779B97F4A7C15 & MASK
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        yield z ^ z >> 31


*MULTIPLIERS, OF_GROUPS = [x | 1 for x in splitmix64(9)]


def item_bytes(item):
    return item.to_bytes(8, "little") if isinstance(item, int) else item


def turned(x, n):
    return (x << n | x >> (64 - n)) & MASK


def siphash13(key, data):
    """Aumasson and Bernstein's, with one round a word and three in the end."""
    def round_of(v):
        v[0] = (v[0] + v[1]) & MASK
        v[1] = turned(v[1], 13) ^ v[0]
        v[0] = turned(v[0], 32)
        v[2] = (v[2] + v[3]) & MASK
        v[3] = turned(v[3], 16) ^ v[2]
        v[0] = (v[0] + v[3]) & MASK
        v[3] = turned(v[3], 21) ^ v[0]
        v[2] = (v[2] + v[1]) & MASK
        v[1] = turned(v[1], 17) ^ v[2]
        v[2] = turned(v[2], 32)

    v = [int.from_bytes(a, "big") ^ int.from_bytes(b, "little")
         for a, b in zip((b"somepseu", b"dorandom", b"lygenera", b"tedbytes"), 2 * (key[:8], key[8:]))]
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for word in struct.unpack(f"<{len(padded) // 8}Q", padded):
        v[3] ^= word
        round_of(v)
        v[0] ^= word
    v[2] ^= 255
    for _ in range(3):
        round_of(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def hash_item(item, seed):
    """lo and hi; of a secret seed, 16 bytes, both are made of 64 bits."""
    if isinstance(seed, bytes):
        lo = siphash13(seed, item_bytes(item))
        return lo, turned(lo, 38)
    hash128 = xxhash.xxh3_128_intdigest(item_bytes(item), seed=seed)
    return hash128 & MASK, hash128 >> 64


def item_to_cells(model, shape, item):
    lo, hi = hash_item(item, shape.seed)
    columns, t = [], []
    for k in range(model.rows):
        x = MULTIPLIERS[k] * (lo + k * hi) & MASK
        columns.append((x >> 32) % shape.columns)
        index = (x >> 16) % 2**16 * len(model.v) >> 16
        t.append(round(65536 * model.v[index]))  # the product is exact, and Python rounds ties to even
    s = sum(t)
    weights = [max(1, (2 * model.quantum * tk + s) // (2 * s)) for tk in t]
    return Place(lo, hi, (hi >> 32) % shape.bricks, columns, weights)


def item_to_group(item, groups, seed):
    lo, hi = hash_item(item, seed)
    return ((OF_GROUPS * (lo + 8 * hi) & MASK) >> 32) % groups


# ---- the networks ---------------------------------------------------------------------------------------------------

def relu(x):
    return np.where(x > 0, x, 0.0)


def leaky(x):
    return np.where(x > 0, x, 0.01 * x)


def linear(model, name, x):
    """Last axis in -> out. Column by column instead of matmul, whose order of summation depends on the machine."""
    matrix, bias = model.layers[name]
    y = bias + np.zeros(x.shape[:-1] + bias.shape)
    for j in range(x.shape[-1]):
        y = y + x[..., j, None] * matrix[:, j]
    return y


def mean(x):
    """Over the first axis."""
    return np.array([math.fsum(column) for column in x.T]) / len(x)


def g_scan(model, memory):
    """memory: the first tenth of the columns of each row, in the scale of the paper. -> implicit[4], s(alpha), s(n)"""
    rows = []
    for row in memory:  # of which wide ones have fewer cells
        x = np.asarray(row, float)[..., None]
        for i in range(3):
            x = relu(linear(model, f"scan.cell.{i}", x))
        rows.append(mean(x))
    rows = np.array(rows)

    def head(name, layers):
        y = rows
        for i in range(layers):
            y = linear(model, f"scan.{name}.{i}", y if i == 0 else leaky(y))
        return y

    implicit = mean(leaky(head("implicit", 3)))  # the only head with an activation at its end
    return implicit, float(mean(head("skew", 4))[0]), float(mean(head("distinct", 4))[0])


def g_dec(model, m, v, implicit, f2, total, alpha, n):
    x = np.stack([np.asarray(m, float), np.asarray(v, float)], axis=1)
    for i in range(3):
        x = relu(linear(model, f"dec.pair.{i}", x))
    known = np.array([f2, total, alpha, n], float)
    x = np.concatenate([mean(x), implicit, known])
    for i in range(2):
        x = leaky(linear(model, f"dec.mix.{i}", x))
    x = np.concatenate([x, known])
    x = leaky(linear(model, "dec.out.0", x))
    x = leaky(linear(model, "dec.out.1", x))
    return float(linear(model, "dec.out.2", x)[0])


def to_paper(model, integer):
    """Cells and weights are integers that sum to Q an item; in the paper they sum to the number of rows."""
    return integer * model.rows / model.quantum


# ---- sketches -------------------------------------------------------------------------------------------------------

NARROW = 2**31  # a cell of a narrow row is at least minus this, and below it
# version, kinds of the model and of the items, whether the seed is secret, length, seed, fingerprint, name, blocks, columns, total, buckets
HEAD = "<IBBHQQQ16sIIqI"
HEAD_SIZE = 76
VERSION = 5
BYTES, INTEGERS = 1, 2  # kinds of items


def kind_of(item, count):
    return 0 if count == 0 else INTEGERS if isinstance(item, int) else BYTES


def shown(seed):
    """What a file tells of a seed: whether it is secret, and its number or fingerprint."""
    secret = isinstance(seed, bytes)
    return secret, hash_item(b"fingerprint of a secret seed", seed)[0] if secret else seed


def write_head(kind, items, seed, fingerprint, name, blocks, columns, total, body):
    """The file of a sketch that keeps no most frequent items: head, body and checksum."""
    size = HEAD_SIZE + len(body) + 8
    data = b"LEGOSKCH" + struct.pack(HEAD, VERSION, kind, items, shown(seed)[0], size, shown(seed)[1], fingerprint,
                                     name.encode(), blocks, columns, total, 0) + body
    return data + struct.pack("<Q", xxhash.xxh3_64_intdigest(data))


def read_head(data, kind, secret):
    """-> items, seed, fingerprint, name, blocks, columns, total of a sketch that keeps no most frequent items."""
    check(data[:8] == b"LEGOSKCH", "magic")
    version, kind_there, items, is_secret, length, seed, fingerprint, name, blocks, columns, total, buckets = \
        struct.unpack_from(HEAD, data, 8)
    check((version, kind_there, length, buckets) == (VERSION, kind, len(data), 0) and is_secret <= 1, "head")
    if is_secret:
        check((is_secret, seed) == shown(secret), "the secret seed")
        seed = secret
    check(items <= BYTES | INTEGERS, "kinds of items")
    check(xxhash.xxh3_64_intdigest(data[:-8]) == struct.unpack("<Q", data[-8:])[0], "checksum")
    return items, seed, fingerprint, name.rstrip(b"\0").decode(), blocks, columns, total


class Row:
    """Exact sums. `cells` are those of C columns; of a wide row, of n. `pairs`: numbers of two cells that are one, whose
    sum both of them have."""

    def __init__(self, columns):
        self.columns, self.cells, self.wide, self.pairs = columns, [0] * columns, False, set()

    def __eq__(self, other):
        return vars(self) == vars(other)

    def read(self, column):
        return self.cells[column % len(self.cells)]  # the last columns are with the first ones where a row is wide

    def pair(self, j):
        if j not in self.pairs:
            self.pairs.add(j)
            self.cells[2 * j:2 * j + 2] = [sum(self.cells[2 * j:2 * j + 2])] * 2

    def widen(self):
        if not self.wide:
            tail = 2 * math.ceil(self.columns / 130)
            moved, self.cells, self.wide = self.cells[-tail:], self.cells[:-tail], True
            for column, value in enumerate(moved):
                self.add(column, value)

    def add(self, column, value):
        i = column % len(self.cells)
        if i // 2 in self.pairs:
            self.cells[i // 2 * 2:i // 2 * 2 + 2] = [self.cells[i] + value] * 2
        elif -NARROW <= self.cells[i] + value < NARROW:
            self.cells[i] += value
        else:
            if self.wide:
                self.pair(i // 2)
            self.widen()
            self.add(column, value)

    def add_all(self, other):
        """A wide row makes this one wide, a pair a pair."""
        if other.wide:
            self.widen()
        for j in other.pairs:
            self.pair(j)
        for i, value in enumerate(other.cells):
            if i // 2 not in other.pairs or i % 2 == 0:
                self.add(i, value)

    def to_bytes(self):
        data = b""
        for j in range(len(self.cells) // 2):
            both = self.cells[2 * j:2 * j + 2]
            data += struct.pack("<q", both[0]) if j in self.pairs else struct.pack("<ii", *both)
        tail = 4 * (self.columns - len(self.cells))
        return data + sum(1 << j for j in self.pairs).to_bytes(tail, "little")

    @staticmethod
    def from_bytes(data, wide):
        row = Row(len(data) // 4)
        if wide:
            row.wide, row.cells = True, row.cells[:-2 * math.ceil(row.columns / 130)]
            bits = int.from_bytes(data[4 * len(row.cells):], "little")
            check(bits < 1 << len(row.cells) // 2, "a pair beyond the cells")
            row.pairs = {j for j in range(len(row.cells) // 2) if bits >> j & 1}
        for j in range(len(row.cells) // 2):
            both = struct.unpack_from("<q" if j in row.pairs else "<ii", data, 8 * j)
            row.cells[2 * j:2 * j + 2] = both * 2 if j in row.pairs else both
        return row


@dataclass
class Sketch:
    shape: Shape
    rows: int
    fingerprint: int
    name: str
    bricks: list  # of Brick
    items: int = 0
    scans: dict = field(default_factory=dict)

    def total(self):
        return sum(brick.total for brick in self.bricks)

    def wide_rows(self):
        return sum(row.wide for brick in self.bricks for row in brick.rows)

    def add(self, model, item, count):
        place = item_to_cells(model, self.shape, item)
        self.items |= kind_of(item, count)
        brick = self.bricks[place.brick]
        self.bricks[place.brick] = Brick(brick.total + count, brick.rows)
        for row, column, weight in zip(brick.rows, place.columns, place.weights):
            row.add(column, count * weight)


def empty_bricks(shape, rows):
    return [Brick(0, [Row(shape.columns) for _ in range(rows)]) for _ in range(shape.bricks)]


def build(model, shape, counted):
    """The sketch of a stream of (item, count)."""
    sketch = Sketch(shape, model.rows, model.fingerprint, model.name, empty_bricks(shape, model.rows))
    for item, count in counted:
        sketch.add(model, item, count)
    return sketch


def fold(sketch, bricks):
    """The same stream in so many bricks, a divisor of those there are."""
    shape = sketch.shape._replace(bricks=bricks)
    folded = empty_bricks(shape, sketch.rows)
    for b, brick in enumerate(sketch.bricks):
        there = folded[b % bricks]
        folded[b % bricks] = Brick(there.total + brick.total, there.rows)
        for row, other in zip(there.rows, brick.rows):
            row.add_all(other)
    return dataclasses.replace(sketch, shape=shape, bricks=folded, scans={})


def write_sketch(sketch):
    body = b"".join(row.to_bytes() for brick in sketch.bricks for row in brick.rows)
    body += struct.pack(f"<{len(sketch.bricks)}q", *(brick.total for brick in sketch.bricks))
    body += bytes(sum(row.wide << k for k, row in enumerate(brick.rows)) for brick in sketch.bricks)
    items = sketch.items if any(body) else 0
    return write_head(1, items, sketch.shape.seed, sketch.fingerprint, sketch.name, *sketch.shape[:2], sketch.total(), body)


def read_sketch(data, rows, secret=None):
    """rows: of the model, which the file only names."""
    items, seed, fingerprint, name, count, columns, total = read_head(data, 1, secret)
    check((items != 0) == any(data[HEAD_SIZE:-8]), "kinds of items")
    check(count >= 1 and columns % 2 == 0 and 16 <= columns <= 16384, "shape")
    check(len(data) == HEAD_SIZE + count * (rows * 4 * columns + 9) + 8, "length")
    totals = struct.unpack_from(f"<{count}q", data, HEAD_SIZE + count * rows * 4 * columns)
    marks, bricks = data[-8 - count:-8], []
    for b in range(count):
        check(marks[b] < 2**rows, "marks")
        at = [HEAD_SIZE + (b * rows + k) * 4 * columns for k in range(rows)]
        cells = [Row.from_bytes(data[at[k]:at[k] + 4 * columns], marks[b] >> k & 1) for k in range(rows)]
        bricks.append(Brick(totals[b], cells))
    check(sum(totals) == total, "stream length")
    return Sketch(Shape(count, columns, seed), rows, fingerprint, name, bricks, items)


def read_cells(model, sketch, item):
    """-> the item's brick, its cells, its weights"""
    place = item_to_cells(model, sketch.shape, item)
    rows = sketch.bricks[place.brick].rows
    return place.brick, [row.read(c) for row, c in zip(rows, place.columns)], place.weights


def rule_estimate(model, sketch, item):
    _, cells, weights = read_cells(model, sketch, item)
    return min(m // w for m, w in zip(cells, weights))  # // rounds down below zero too


def scan(model, sketch, brick):
    if brick not in sketch.scans:
        rows = [row.cells for row in sketch.bricks[brick].rows]
        first = [cells[:max(1, len(cells) // 10)] for cells in rows]  # few columns: at least one
        sketch.scans[brick] = g_scan(model, [[to_paper(model, cell) for cell in row] for row in first])
    return sketch.scans[brick]


def decode(model, sketch, item):
    """f' alone, whatever the thresholds say"""
    brick, cells, weights = read_cells(model, sketch, item)
    implicit, alpha, n = scan(model, sketch, brick)
    f2 = min(m / w for m, w in zip(cells, weights))
    return g_dec(model, [to_paper(model, m) for m in cells], [to_paper(model, w) for w in weights], implicit, f2,
                 sketch.bricks[brick].total, alpha, n)


def estimate(model, sketch, item):
    """-> value, upper"""
    upper = rule_estimate(model, sketch, item)
    _, alpha, n = scan(model, sketch, read_cells(model, sketch, item)[0])
    if n > model.beta and alpha < model.limit:
        # in this order: the answer is never above upper, even where deletions have left that below zero
        return min(max(0.0, decode(model, sketch, item)), upper), upper
    return upper, upper
