"""Sketches of the compact model once more, in Python: written from docs/format.md alone, with exact integers.

A block here is its step and its rows, lists of integers; its 64 bytes are made and read at the end only, as one integer
of 512 bits."""

import functools
from dataclasses import dataclass

import xxhash

from lego import MASK, MULTIPLIERS, check, item_bytes, read_head, write_head

LADDER = list(zip(*[map(int, row.split()) for row in (
    "128 128 128 128 128 128  64  64  32  32  16  16   8   8   4   4   2",
    " 64  64  64  64  64  64  64  32  32  16  16   8   8   4   4   2   2",
    " 64  64  64  32  16   0   0   0   0   0   0   0   0   0   0   0   0",
    " 64  32   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0")]))
DIGITS = [1, 1, 1, 2, 4, 8, 16, 31]
ROOM = 501


# ---- the code -------------------------------------------------------------------------------------------------------

def to_number(cell, signed):
    return (2 * cell if cell >= 0 else -2 * cell - 1) if signed else cell


def from_number(number, signed):
    return (number // 2 if number % 2 == 0 else -(number + 1) // 2) if signed else number


def digits(number, g):
    """The digits of a number, lowest level first."""
    found, t = [], number >> g
    while t:
        width = DIGITS[len(found)]
        found.append((t - 1) % 2**width)
        t = t - 1 >> width
    return found


@functools.cache
def digit_bits(t):
    """What the digits take, and their places in the maps of their levels."""
    return sum(1 + width for width, _ in zip(DIGITS, digits(t, 0)))


def length(numbers, g):
    return len(numbers) * (1 + g) + sum(digit_bits(number >> g) for number in numbers)


def orders(numbers):
    """Every g with which so many numbers may fit."""
    return range(min(32, ROOM // len(numbers)))


def best_g(numbers):
    return min(orders(numbers), key=lambda g: length(numbers, g))  # the first of several


def cells_of(rows):
    return [cell for row in rows for cell in row]


def numbers_of(rows):
    cells = cells_of(rows)
    signed = min(cells) < 0
    return [to_number(cell, signed) for cell in cells], signed


def fits(rows):
    numbers, _ = numbers_of(rows)
    return any(length(numbers, g) <= ROOM for g in orders(numbers))


def pack(step, rows):
    """The canonical block -> 64 bytes."""
    numbers, signed = numbers_of(rows)
    g = best_g(numbers)
    bits = ""  # bit 0 first

    def put(value, width):
        nonlocal bits
        bits += "".join(str(value >> i & 1) for i in range(width))

    coded = [digits(n, g) for n in numbers]
    for code in coded:
        put(len(code) > 0, 1)
    for number in numbers:
        put(number % 2**g, g)
    for level, width in enumerate(DIGITS):
        coded = [code for code in coded if len(code) > level]
        for code in coded:
            put(len(code) > level + 1, 1)
        for code in coded:
            put(code[level], width)
    check(len(bits) == length(numbers, g) <= ROOM, "room in a block")
    bits = bits.ljust(ROOM, "0")
    put(step, 5)
    put(g, 5)
    put(signed, 1)
    return int(bits[::-1], 2).to_bytes(64, "little")


def unpack(data):
    """64 bytes -> step, rows; refuses what is not canonical."""
    whole = int.from_bytes(data, "little")
    at = 0

    def take(width):
        nonlocal at
        check(at + width <= ROOM, "a level that runs past the end")
        at += width
        return whole >> at - width & 2**width - 1

    step, g, signed = whole >> ROOM & 31, whole >> ROOM + 5 & 31, whole >> 511
    check(step < len(LADDER), "step")
    count = sum(LADDER[step])
    goes_on = [take(1) for _ in range(count)]
    numbers = [take(g) for _ in range(count)]
    open_, shift = [i for i in range(count) if goes_on[i]], g
    for width in DIGITS:
        goes_on = [take(1) for _ in open_]
        for i in open_:
            numbers[i] += take(width) + 1 << shift
        open_ = [i for i, on in zip(open_, goes_on) if on]
        shift += width
    check(not open_, "more than eight digits")
    cells = [from_number(number, signed) for number in numbers]
    check(all(-2**63 <= cell < 2**63 for cell in cells), "a cell of more than 64 bits")
    rows = []
    for columns in LADDER[step]:
        rows.append(cells[:columns])
        cells = cells[columns:]
    check(pack(step, rows) == data, "a block that is not canonical")
    return step, rows


# ---- blocks ---------------------------------------------------------------------------------------------------------

@dataclass
class Block:
    step: int
    rows: list

    def go_to(self, step):
        """Down the ladder, at least to this step."""
        while self.step < step:
            self.step += 1
            for k, columns in enumerate(LADDER[self.step]):
                row = self.rows[k]
                if columns == 0:
                    self.rows[k] = []
                elif columns < len(row):
                    self.rows[k] = [a + b for a, b in zip(row[:columns], row[columns:], strict=True)]

    def settle(self):
        while not fits(self.rows):
            self.go_to(self.step + 1)

    def add_all(self, other):
        self.go_to(other.step)
        other.go_to(self.step)
        self.rows = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(self.rows, other.rows)]
        self.settle()

    def add(self, k, column, count):
        if self.rows[k]:
            self.rows[k][column % len(self.rows[k])] += count
            self.settle()


def empty_block():
    return Block(0, [[0] * columns for columns in LADDER[0]])


def odd_and_even(blocks):
    """An odd number and a power of two, whose product this is."""
    even = 1
    while blocks % (2 * even) == 0:
        even *= 2
    return blocks // even, even


@dataclass
class Sketch:
    seed: int
    total: int
    blocks: list
    name: str
    fingerprint: int

    def places(self, item):
        """Row, block and column hash of an item, for each of the four rows."""
        hash128 = xxhash.xxh3_128_intdigest(item_bytes(item), seed=self.seed)
        hi, lo = hash128 >> 64, hash128 & MASK
        x = [MULTIPLIERS[k] * (lo + k * hi) & MASK for k in range(6)]
        odd, even = odd_and_even(len(self.blocks))
        block = [(x[k] >> 32) % odd + odd * (x[k] % even) for k in (4, 5)]
        return [(k, self.blocks[block[k % 2]], x[k] >> 32) for k in (0, 2, 1, 3)]

    def add(self, item, count, order=(0, 1, 2, 3)):
        """order: of the four places. It may change steps where there are deletions, and nothing else."""
        places = self.places(item)
        for i in order:
            k, block, column = places[i]
            block.add(k, column, count)
        self.total += count

    def cells(self, item):
        return [block.rows[k][column % len(block.rows[k])] for k, block, column in self.places(item) if block.rows[k]]

    def upper(self, item):
        return min(self.cells(item))


def build(blocks, stream, seed=0, name="golden", fingerprint=0x0123456789abcdef, order=(0, 1, 2, 3)):
    sketch = Sketch(seed, 0, [empty_block() for _ in range(blocks)], name, fingerprint)
    for item, count in stream:
        sketch.add(item, count, order)
    return sketch


def fold(sketch, blocks):
    """The same stream in so many blocks, a divisor of those there are."""
    odd, _ = odd_and_even(len(sketch.blocks))
    odd_now, even_now = odd_and_even(blocks)
    folded = Sketch(sketch.seed, sketch.total, [empty_block() for _ in range(blocks)], sketch.name, sketch.fingerprint)
    for i, block in enumerate(sketch.blocks):
        q, r = divmod(i, odd)
        folded.blocks[r % odd_now + odd_now * (q % even_now)].add_all(block)
    return folded


def write_sketch(sketch):
    body = b"".join(pack(block.step, block.rows) for block in sketch.blocks)
    return write_head(2, sketch.seed, sketch.fingerprint, sketch.name, len(sketch.blocks), 0, sketch.total, body)


def read_sketch(data):
    seed, fingerprint, name, count, columns, total = read_head(data, 2)
    check(count >= 1 and columns == 0 and len(data) == 88 + 64 * count + 8, "length")
    blocks = [Block(*unpack(data[88 + 64 * i:152 + 64 * i])) for i in range(count)]
    for block in blocks:
        for k in (2, 3):
            check(not block.rows[k] or sum(block.rows[k]) == sum(block.rows[k - 2]), "sums of a block")
    for k in (0, 1):
        check(sum(sum(block.rows[k]) for block in blocks) == total, "stream length")
    return Sketch(seed, total, blocks, name, fingerprint)
