"""The Lego sketch once more, in Python: slow, in double precision, with exact integers.

Written from docs/format.md and the paper's facts alone, not from src/, so that the two do not share mistakes.
Every sum is taken in a fixed order or by math.fsum, so the golden files come out the same on every machine."""

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
Brick = namedtuple("Brick", "total rows")  # rows: lists of Python integers


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
    kind: int = 0
    beta: float = 0.0
    limit: float = 0.0
    layers: dict = field(default_factory=dict)  # name -> (matrix [out][in], bias [out]), doubles that are floats
    fingerprint: int = 0


def write_model(path, model):
    body = struct.pack("<IIIIff16s", model.rows, model.columns, model.quantum, len(model.v), model.beta, model.limit,
                       model.name.encode())
    body += np.asarray(model.v, "<f4").tobytes()
    for name, inputs, outputs in LAYERS if model.kind else []:
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
    check(version == 1 and kind in (0, 1) and length == len(data), "version, kind or length")
    check(1 <= rows <= 8 and columns % 16 == 0 and 16 <= columns <= 8192, "rows or columns")
    check(rows <= quantum <= 4096 and 1 <= entries <= 256, "quantum or entries")
    check(re.fullmatch(rb"[a-z0-9.-]{1,15}\0+", name), "name")
    check(kind == 1 or (beta == 0 and limit == 0), "thresholds of a rule")
    numbers = np.frombuffer(data[64:-8], "<f4").astype(float)
    check(np.isfinite(numbers).all(), "a number that is not finite")
    v, numbers = numbers[:entries], numbers[entries:]
    check(v.min() >= np.float32(0.001) and v.max() <= 1, "V")
    layers = {}
    for layer, inputs, outputs in LAYERS if kind else []:
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


def item_to_cells(model, shape, item):
    hash128 = xxhash.xxh3_128_intdigest(item_bytes(item), seed=shape.seed)
    hi, lo = hash128 >> 64, hash128 & MASK
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
    hash128 = xxhash.xxh3_128_intdigest(item_bytes(item), seed=seed)
    hi, lo = hash128 >> 64, hash128 & MASK
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
    x = np.asarray(memory, float)[..., None]
    for i in range(3):
        x = relu(linear(model, f"scan.cell.{i}", x))
    rows = np.array([mean(row) for row in x])

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

def build(model, shape, counted):
    """The unfolded bricks of a stream of (item, count)."""
    totals = [0] * shape.bricks
    cells = [[[0] * shape.columns for _ in range(model.rows)] for _ in range(shape.bricks)]
    for item, count in counted:
        place = item_to_cells(model, shape, item)
        totals[place.brick] += count
        for row, column, weight in zip(cells[place.brick], place.columns, place.weights):
            row[column] += count * weight
    return [Brick(total, rows) for total, rows in zip(totals, cells)]


def fold_level(bricks):
    half = len(bricks) // 2
    if len(bricks) % 2 == 0:
        return [Brick(a.total + b.total, [[x + y for x, y in zip(*rows)] for rows in zip(a.rows, b.rows)])
                for a, b in zip(bricks[:half], bricks[half:])]
    half = len(bricks[0].rows[0]) // 2
    return [Brick(b.total, [[x + y for x, y in zip(row[:half], row[half:])] for row in b.rows]) for b in bricks]


def fold(bricks, level, p):
    """The bricks as they lie in a file of this level and p."""
    for _ in range(level):
        bricks = fold_level(bricks)
    if p == 0:
        return bricks
    folded = fold_level(bricks)
    return folded[:p] + [brick for b, brick in enumerate(bricks) if b % len(folded) >= p]


def level_shape(shape, level):
    bricks, columns = shape.bricks, shape.columns
    for _ in range(level):
        if bricks % 2 == 0:
            bricks //= 2
        else:
            columns //= 2
    return bricks, columns


@dataclass
class Sketch:
    shape: Shape
    rows: int
    cell_bits: int
    level: int
    p: int
    fingerprint: int
    name: str
    slots: int
    spilled: int
    bricks: list  # of Brick, in the order of the file
    scans: dict = field(default_factory=dict)

    def position(self, brick):
        """Where the brick that an item hashed to is now."""
        now, _ = level_shape(self.shape, self.level)
        after, _ = level_shape(self.shape, self.level + 1)
        if brick % after < self.p:
            return brick % after
        unfolded = [b for b in range(now) if b % after >= self.p]
        return self.p + unfolded.index(brick % now)


def read_sketch(path):
    with open(path, "rb") as file:
        data = file.read()
    check(data[:8] == b"LEGOSKCH", "magic")
    version, packing, length, seed, fingerprint, name = struct.unpack_from("<IIQQQ16s", data, 8)
    made, columns, rows, bits, level, zero, p, slots, spilled = struct.unpack_from("<IIBBBBIQQ", data, 56)
    check(version == 1 and packing == 0 and length == len(data) and zero == 0, "header")
    check(columns % 16 == 0 and 1 <= rows <= 8 and bits in (8, 16, 32, 64) and bits << level <= 64, "shape")
    check(slots == made * rows * columns // (8 * bits), "spill slots")
    check(xxhash.xxh3_64_intdigest(data[:-8]) == struct.unpack("<Q", data[-8:])[0], "checksum")

    shape = Shape(made, columns, seed)
    now, next_ = level_shape(shape, level), level_shape(shape, level + 1)
    check(p < next_[0] and (p == 0 or bits << level < 64), "p")
    # (columns, width) of each brick: p of the next level, then those of this level that are not in them
    kinds = [(next_[1], bits << level + 1)] * p
    kinds += [(now[1], bits << level) for b in range(now[0]) if b % next_[0] >= p]

    at = 88 + 8 * len(kinds)
    totals = struct.unpack_from(f"<{len(kinds)}q", data, 88)
    cells, width_of = [], []
    for columns_now, width in kinds:
        count = rows * columns_now
        low = np.frombuffer(data, "<u1" if width == 8 else f"<i{width // 8}", count, at)
        cells += low.tolist()
        width_of += [width] * count
        at += count * width // 8
    last = -1
    for number, high in struct.iter_unpack("<Qq", data[at:at + 16 * spilled]):
        check(last < number < len(cells) and high != 0 and width_of[number] < 64, "spill entry")
        cells[number] += high << width_of[number]
        last = number
    check(at + 16 * spilled + 8 == len(data), "length")

    bricks, at = [], 0
    for total, (columns_now, _) in zip(totals, kinds):
        bricks.append(Brick(total, [cells[at + k * columns_now:at + (k + 1) * columns_now] for k in range(rows)]))
        at += rows * columns_now
    return Sketch(shape, rows, bits, level, p, fingerprint, name.rstrip(b"\0").decode(), slots, spilled, bricks)


def high_part(cell, width):
    """What an entry holds of a cell; the low part is signed in cells wider than 8 bits."""
    if width == 64:
        return 0
    return cell >> 8 if width == 8 else cell + 2**(width - 1) >> width


def read_cells(model, sketch, item):
    """-> position of the item's brick, its cells, its weights"""
    place = item_to_cells(model, sketch.shape, item)
    position = sketch.position(place.brick)
    rows = sketch.bricks[position].rows
    # the columns only ever halve, so the column now is the column as made, modulo the columns now
    return position, [row[c % len(row)] for row, c in zip(rows, place.columns)], place.weights


def rule_estimate(model, sketch, item):
    _, cells, weights = read_cells(model, sketch, item)
    return min(m // w for m, w in zip(cells, weights))  # // rounds down below zero too


def scan(model, sketch, position):
    if position not in sketch.scans:
        rows = sketch.bricks[position].rows
        tenth = max(1, len(rows[0]) // 10)  # bricks of 2 to 9 columns: at least one
        sketch.scans[position] = g_scan(model, [[to_paper(model, cell) for cell in row[:tenth]] for row in rows])
    return sketch.scans[position]


def decode(model, sketch, item):
    """f' alone, whatever the thresholds say"""
    position, cells, weights = read_cells(model, sketch, item)
    implicit, alpha, n = scan(model, sketch, position)
    f2 = min(m / w for m, w in zip(cells, weights))
    return g_dec(model, [to_paper(model, m) for m in cells], [to_paper(model, w) for w in weights], implicit, f2,
                 sketch.bricks[position].total, alpha, n)


def estimate(model, sketch, item):
    """-> value, upper"""
    upper = rule_estimate(model, sketch, item)
    if model.kind == 1:
        _, alpha, n = scan(model, sketch, read_cells(model, sketch, item)[0])
        if n > model.beta and alpha < model.limit:
            # in this order: the answer is never above upper, even where deletions have left that below zero
            return min(max(0.0, decode(model, sketch, item)), upper), upper
    return upper, upper
