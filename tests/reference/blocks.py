"""Sketches of the compact model once more, in Python: written from docs/format.md alone, with exact integers.

A list here is a dict of keys, 64-bit integers whose bits beyond the print are 0, and their counts; rows are lists of
integers. The bits of a block are one long integer."""

import functools
from collections import Counter
from dataclasses import dataclass, field

from lego import HEAD_SIZE, check, hash_item, kind_of, read_head, write_head

HEAD, ROOM, ENTRIES = 40, 2048 - 40, 511
SHARE, LAST, CAP, CAP_LAST = 50, 94, 95, 119
DIGITS = [1, 1, 1, 2, 4, 8, 16, 31]
A_CAP = 32


# ---- steps ----------------------------------------------------------------------------------------------------------

def print_length(step, whole, key):
    """How many bits of a key a list of this step keeps."""
    if step == 0:
        return whole
    given_up, quarters = divmod(step - 1, 4)
    return 24 - given_up - (key >> 62 < quarters)


def cut(key, length):
    return key & ~(2**(64 - length) - 1)


def folds_of(step):
    """How many quarters each row of a step has had folded, and how many cells it began with."""
    if step >= CAP:
        return [(512, step - CAP)]
    rounds, rest = divmod(step - SHARE, 8)
    return [(512, 4 * rounds + min(rest, 4)), (256, 4 * rounds + max(rest - 4, 0))]


def cells_of_row(start, folds):
    halvings, quarters = divmod(folds, 4)
    return start // 2**halvings * (8 - quarters) // 8


def folded(cell, start, folds):
    """Where a cell of the row as it began is after these folds."""
    halvings, _ = divmod(folds, 4)
    size = start // 2**halvings
    cell %= size
    return cell - size // 2 if cell >= cells_of_row(start, folds) else cell


def first_cells(step, key):
    """The cells of a key in rows that are not folded."""
    print24, print12 = key >> 40, key >> 52
    if step >= CAP:
        return [print24 * 0xc2b2ae35 % 2**32 >> 23]
    return [print12 * 0x9e3779b1 % 2**32 >> 23, print12 * 0x85ebca6b % 2**32 >> 24]


# ---- the code of integers -------------------------------------------------------------------------------------------

def digits(t):
    """Lowest first."""
    found = []
    while t:
        width = DIGITS[len(found)]
        found.append((t - 1) % 2**width)
        t = t - 1 >> width
    return found


@functools.cache
def digit_bits(t):
    """What the digits take, and their places in the maps of their levels."""
    return sum(1 + width for width, _ in zip(DIGITS, digits(t)))


def levels_length(numbers, g):
    return len(numbers) * (1 + g) + sum(digit_bits(number >> g) for number in numbers)


def best_g(numbers):
    return min(range(32), key=lambda g: levels_length(numbers, g))  # the first of several


class Bits:
    """Written or read from bit 0 on."""

    def __init__(self, value=0, end=None):
        self.value, self.end, self.at = value, end, 0

    def put(self, x, width):
        check(0 <= x < 2**width, "a number too wide")
        self.value |= x << self.at
        self.at += width

    def take(self, width):
        check(self.at + width <= self.end, "a code that runs past its end")
        self.at += width
        return self.value >> self.at - width & 2**width - 1


def put_levels(bits, numbers, g):
    coded = [digits(number >> g) for number in numbers]
    for code in coded:
        bits.put(len(code) > 0, 1)
    for number in numbers:
        bits.put(number % 2**g, g)
    for level, width in enumerate(DIGITS):
        coded = [code for code in coded if len(code) > level]
        for code in coded:
            bits.put(len(code) > level + 1, 1)
        for code in coded:
            bits.put(code[level], width)


def take_levels(bits, n, g):
    reached = [i for i in range(n) if bits.take(1)]
    numbers, shift = [bits.take(g) for _ in range(n)], g
    for width in DIGITS:
        goes_on = [bits.take(1) for _ in reached]
        for i in reached:
            numbers[i] += bits.take(width) + 1 << shift
        reached = [i for i, on in zip(reached, goes_on) if on]
        shift += width
    check(not reached, "more than eight digits")
    return numbers


def to_number(value, signs):
    return (value, 2 * value if value >= 0 else -2 * value - 1, -value)[signs]


def from_number(number, signs):
    value = (number, number // 2 if number % 2 == 0 else -(number + 1) // 2, -number)[signs]
    check(-2**63 <= value < 2**63, "a value of more than 64 bits")
    return value


# ---- the code of keys -----------------------------------------------------------------------------------------------

def quotient_bits(n):
    return max(2, (n - 1).bit_length())


def keys_length(step, whole, keys):
    q = quotient_bits(len(keys))
    return 2**q + sum(1 + print_length(step, whole, key) - q for key in keys) if keys else 0


def put_keys(bits, step, whole, keys):
    """In their order. The quotients as one number: the ones of entry i are i places above its quotient's zeros."""
    q = quotient_bits(len(keys))
    bits.put(sum(1 << (key >> 64 - q) + i for i, key in enumerate(keys)), len(keys) + 2**q)
    for key in keys:
        length = print_length(step, whole, key)
        bits.put(key >> 64 - length & 2**(length - q) - 1, length - q)


def take_keys(bits, step, whole, n):
    q, keys = quotient_bits(n), []
    for quotient in range(2**q):
        while bits.take(1):
            keys.append(quotient << 64 - q)
    check(len(keys) == n, "quotients")
    for i, key in enumerate(keys):
        length = print_length(step, whole, key)
        keys[i] = key | bits.take(length - q) << 64 - length
    check(all(a < b for a, b in zip(keys, keys[1:])), "order of the keys")
    return keys


# ---- blocks ---------------------------------------------------------------------------------------------------------

@dataclass
class Block:
    whole: int  # bits of a whole key
    step: int = 0
    entries: dict = field(default_factory=dict)  # of a list
    rows: list = field(default_factory=list)     # of shared cells

    def lists(self):
        return self.step < SHARE

    def values(self):
        """In the order of the code."""
        return [self.entries[key] for key in sorted(self.entries)] if self.lists() else sum(self.rows, [])

    def numbers(self):
        values = self.values()
        signs = 0 if min(values, default=0) >= 0 else 1 if max(values) > 0 else 2
        return [to_number(value, signs) - self.lists() for value in values], signs

    def length(self):
        """Bits behind the head, of the canonical code."""
        numbers, _ = self.numbers()
        return keys_length(self.step, self.whole, list(self.entries)) + levels_length(numbers, best_g(numbers))

    def fits(self):
        return len(self.entries) <= ENTRIES and self.length() <= ROOM

    def add(self, key, count):
        """Without a look at whether it still fits."""
        if self.lists():
            key = cut(key, print_length(self.step, self.whole, key))
            self.entries[key] = self.entries.get(key, 0) + count
            if self.entries[key] == 0:
                del self.entries[key]
            return
        for row, first, (start, folds) in zip(self.rows, first_cells(self.step, key), folds_of(self.step)):
            row[folded(first, start, folds)] += count

    def go_to(self, step):
        """On to this step, if it is not there yet."""
        if step <= self.step:
            return
        old, self.step = (self.step, self.entries, self.rows), step
        self.entries, self.rows = {}, []
        if step >= SHARE:
            self.rows = [[0] * cells_of_row(*row) for row in folds_of(step)]
        for key, count in old[1].items():
            self.add(key, count)
        if old[0] >= SHARE:  # the cell of a cell: a row folded once more is one of fewer cells
            for row, cells, (start, folds) in zip(self.rows, old[2], folds_of(step)):
                for cell, value in enumerate(cells):
                    row[folded(cell, start, folds)] += value

    def settle(self):
        while not self.fits():
            self.go_to(self.step + 1)
        return self

    def join(self, other):
        """Adds another block, which is brought to the same step."""
        self.go_to(other.step)
        other.go_to(self.step)
        for key, count in other.entries.items():
            self.add(key, count)
        self.rows = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(self.rows, other.rows, strict=True)]
        return self

    def read(self, key):
        """What it says of a key, the least of two cells."""
        if self.lists():
            return self.entries.get(cut(key, print_length(self.step, self.whole, key)), 0)
        places = zip(self.rows, first_cells(self.step, key), folds_of(self.step))
        return min(row[folded(first, start, folds)] for row, first, (start, folds) in places)

    def pack(self):
        """The canonical bytes, as a file has them."""
        numbers, signs = self.numbers()
        bits, body, g = Bits(), Bits(), best_g(numbers)
        if self.entries:
            put_keys(body, self.step, self.whole, sorted(self.entries))
        put_levels(body, numbers, g)
        check(body.at == self.length() <= ROOM, "room in a block")
        for x, width in ((body.at, 11), (self.step, 7), (len(self.entries), 9), (g, 5), (signs, 2), (0, 6)):
            bits.put(x, width)
        bits.put(body.value, body.at)
        return bits.value.to_bytes((bits.at + 7) // 8, "little")


def unpack(data, whole):
    """The block that data begins with, and its bytes; refuses what is not canonical."""
    check(len(data) >= 5, "a head")
    head = Bits(int.from_bytes(data[:5], "little"), HEAD)
    used, step, n, g, signs = [head.take(width) for width in (11, 7, 9, 5, 2)]
    size = (HEAD + used + 7) // 8
    check(used <= ROOM and step <= CAP_LAST and len(data) >= size, "head of a block")
    block, bits = Block(whole, step), Bits(int.from_bytes(data[5:size], "little"), used)
    if step < SHARE:
        keys = take_keys(bits, step, whole, n) if n else []
        values = [from_number(number + 1, signs) for number in take_levels(bits, n, g)]
        block.entries = dict(zip(keys, values, strict=True))
    else:
        cells = [cells_of_row(*row) for row in folds_of(step)]
        values = [from_number(number, signs) for number in take_levels(bits, sum(cells), g)]
        block.rows = [values[:cells[0]], values[cells[0]:]][:len(cells)]
    check(block.pack() == data[:size], "a block that is not canonical")
    return block, size


# ---- the blocks of a sketch -----------------------------------------------------------------------------------------

def whole_bits(number):
    """Of a key, if there are so many blocks."""
    return 62 - (number.bit_length() - 1)


def hash62(item, seed):
    """What blocks know of an item: 38 bits of the lower half, 24 of the upper."""
    lo, hi = hash_item(item, seed)
    return lo >> 26, hi >> 40


def spot(known, number):
    """Block and key."""
    x, print24 = known
    block, fraction = divmod(x * number, 2**38)
    return block, print24 << 40 | fraction << 2


def spot_hash(block, key, number):
    """The other way, of a whole key: the first X of which block and fraction are not below."""
    return -(-((block << 38) + (key >> 2) % 2**38) // number), key >> 40


def caps_of(number, most):
    return 0 if number < most else max(1, most // A_CAP)


def cap_of(block, caps):
    return min(block // A_CAP, caps - 1)


def numbers_of_blocks(most):
    """Every number that a sketch may have, the least first."""
    return [most >> shift for shift in reversed(range(most.bit_length()))]


@dataclass
class Sketch:
    seed: object  # a number, or 16 bytes that are secret
    most: int
    total: int
    blocks: list
    caps: list
    name: str
    fingerprint: int
    items: int

    def is_empty(self):
        return all(block.step == 0 and not block.entries for block in self.blocks)

    def upper(self, item):
        """The least read; None where counts of both signs share cells, of which none is a bound."""
        block, key = spot(hash62(item, self.seed), len(self.blocks))
        found, step = self.blocks[block].read(key), self.blocks[block].step
        if step < 2 or step < SHARE and found < 64:  # a small count in a list is no giant's
            return found
        cap = self.caps[cap_of(block, len(self.caps))]
        if min(cap.values()) < 0:
            return found if step < SHARE else None
        return min(found, cap.read(key))


def spread(content, number):
    """Content, the hashes and their counts, in so many blocks at step 0."""
    blocks = [Block(whole_bits(number)) for _ in range(number)]
    for known, count in content.items():
        block, key = spot(known, number)
        blocks[block].add(key, count)
    return blocks


def make_caps(content, blocks, most):
    """A cap has all items of its blocks if one of them is past step 1."""
    caps = [Block(whole_bits(most), CAP, rows=[[0] * 512]) for _ in range(caps_of(len(blocks), most))]
    counts = [False] * len(caps)
    for i, block in enumerate(blocks):
        counts[cap_of(i, len(caps))] |= block.step >= 2
    for known, count in content.items():
        block, key = spot(known, len(blocks))
        caps[cap_of(block, len(caps))].add(key, count)
    return [cap.settle() if on else Block(whole_bits(most)) for cap, on in zip(caps, counts)]


def build(most, stream, seed=0, name="golden", fingerprint=0x0123456789abcdef):
    """The sketch of a stream, as if all of it came at once."""
    content, items = Counter(), 0
    for item, count in stream:
        content[hash62(item, seed)] += count
        items |= kind_of(item, count)
    return build_from(content, most, seed, name, fingerprint, items)


def build_from(content, most, seed=0, name="golden", fingerprint=0, items=0):
    for number in numbers_of_blocks(most):
        blocks = spread(content, number)
        if all(block.fits() for block in blocks):
            break
    caps = make_caps(content, [block.settle() for block in blocks], most) if number == most else []
    return Sketch(seed, most, sum(content.values()), blocks, caps, name, fingerprint, items)


def content_of(sketch):
    """The hashes and counts of a sketch whose keys are whole."""
    number = len(sketch.blocks)
    check(all(block.step == 0 for block in sketch.blocks), "whole keys")
    return Counter({spot_hash(i, key, number): count for i, block in enumerate(sketch.blocks)
                    for key, count in block.entries.items()})


def fold(sketch, most):
    """The same stream in fewer blocks, a divisor of those there are at most."""
    if all(block.step == 0 for block in sketch.blocks):
        return build_from(content_of(sketch), most, sketch.seed, sketch.name, sketch.fingerprint, sketch.items)
    parts = sketch.most // most
    check(parts * most == sketch.most, "a divisor")
    made = Sketch(sketch.seed, most, sketch.total, [], [], sketch.name, sketch.fingerprint, sketch.items)
    for i in range(most):
        made.blocks.append(fold_blocks(sketch, i * parts, parts, whole_bits(most)))
    for c in range(caps_of(most, most)):
        own = [i for i in range(most) if cap_of(i, caps_of(most, most)) == c]
        old = sorted({cap_of(i, len(sketch.caps)) for i in range(own[0] * parts, (own[-1] + 1) * parts)})
        cap = Block(whole_bits(most))
        if any(made.blocks[i].step >= 2 for i in own):
            cap = functools.reduce(Block.join, [counting_cap(sketch, k) for k in old])
            cap.whole = whole_bits(most)
            cap.settle()
        made.caps.append(cap)
    return made


def fold_blocks(sketch, first, parts, whole):
    """One block of several: through the hashes while all are whole, else by prints."""
    blocks = sketch.blocks[first:first + parts]
    made = Block(whole)
    if all(block.step == 0 for block in blocks):
        number = len(sketch.blocks)
        for i, block in enumerate(blocks, first):
            for key, count in block.entries.items():
                made.add(spot(spot_hash(i, key, number), number // parts)[1], count)
        return made.settle()
    made.go_to(max(block.step for block in blocks))
    for block in blocks:
        made.join(Block(block.whole, block.step, dict(block.entries), [list(row) for row in block.rows]))
    return made.settle()


def counting_cap(sketch, index):
    """A copy of a cap, made of its blocks' lists if it does not count yet."""
    cap = sketch.caps[index]
    if cap.step >= CAP:
        return Block(cap.whole, cap.step, {}, [list(row) for row in cap.rows])
    made = Block(cap.whole, CAP, rows=[[0] * 512])
    for i, block in enumerate(sketch.blocks):
        for key, count in block.entries.items():
            if cap_of(i, len(sketch.caps)) == index:
                made.add(key, count)
    return made


# ---- files ----------------------------------------------------------------------------------------------------------

def write_sketch(sketch):
    body = b"".join(block.pack() for block in sketch.blocks + sketch.caps)
    items = 0 if sketch.is_empty() else sketch.items
    return write_head(2, items, sketch.seed, sketch.fingerprint, sketch.name, sketch.most, len(sketch.blocks),
                      sketch.total, body)


def read_sketch(data, secret=None):
    items, seed, fingerprint, name, most, number, total = read_head(data, 2, secret)
    check(number in numbers_of_blocks(most), "number of blocks")
    at, blocks = HEAD_SIZE, []
    for _ in range(number + caps_of(number, most)):
        block, size = unpack(data[at:-8], whole_bits(number))
        blocks.append(block)
        at += size
    check(at == len(data) - 8, "length")
    sketch = Sketch(seed, most, total, blocks[:number], blocks[number:], name, fingerprint, items)
    check((items == 0) == sketch.is_empty(), "kinds of items")
    check_sums(sketch)
    return sketch


def check_sums(sketch):
    check(sum(sum(block.values()) // max(1, len(block.rows)) for block in sketch.blocks) == sketch.total, "total")
    for block in sketch.blocks:
        check(block.step <= LAST and len({sum(row) for row in block.rows}) <= 1, "sums of a block")
    check(len(sketch.blocks) == sketch.most or all(block.step == 0 for block in sketch.blocks), "whole keys")
    for c, cap in enumerate(sketch.caps):
        own = [block for i, block in enumerate(sketch.blocks) if cap_of(i, len(sketch.caps)) == c]
        check((cap.step >= CAP) == any(block.step >= 2 for block in own), "a cap that counts")
        expected = sum(sum(block.values()) // max(1, len(block.rows)) for block in own) if cap.step >= CAP else 0
        check(sum(cap.values()) == expected, "sum of a cap")
    if all(block.step == 0 for block in sketch.blocks):
        least = build_from(content_of(sketch), sketch.most)
        check(len(least.blocks) == len(sketch.blocks), "the least number of blocks")
