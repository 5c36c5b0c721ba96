"""Sketches of the compact model once more, in Python: the rule of src/block/keep.h and the layout of src/block/block.h,
with exact integers, a step at a time and nothing remembered that can be counted.

A block is a List, which has everything that was counted, or a Keeper, which keeps the heaviest. Keys are integers of 64
bits, of which those that are not known are 0; the bits of a block are one long integer. What the library
takes from a look at its samples (src/sketch/judge.c), and so what it answers for items that are not listed, is not
here: the four numbers of it in a file are taken as they are."""

import functools
import struct
from dataclasses import dataclass, field

from lego import HEAD_SIZE, MASK, check, hash_item, kind_of, read_head, write_head

HEAD, SIZE, ENTRIES, SAMPLE = 40, 2048, 191, 4
ROOM = SIZE - HEAD
LAST_LIST, FIRST_KEEPER, FLOOR, LAST = 5, 6, 9, 10  # steps
DIGITS = [1, 1, 1, 2, 4, 8, 16, 31]
ABOVE, BOTH, BELOW = 0, 1, 2  # signs
HEAVY, SAMPLED = 22, 20       # bits of a print that an entry may know


def print_bits(step, whole=None):
    """How many bits of a key all entries of a step know."""
    return whole if step == 0 else max(25 - step, 16)


def cut(key, length):
    return key >> 64 - length << 64 - length


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
    """Of a value that has another sign, a huge one, as 64 bits wrap."""
    if signs == BOTH:
        return 2 * value if value >= 0 else -2 * value - 1
    return (value if signs == ABOVE else -value) - 1 & MASK


def from_number(number, signs):
    if signs == BOTH:
        value = number // 2 if number % 2 == 0 else -(number + 1) // 2
    else:
        value = number + 1 if signs == ABOVE else -number - 1
    check(-2**63 <= value < 2**63, "a value of more than 64 bits")
    return value


# ---- the code of keys -----------------------------------------------------------------------------------------------

def quotient_bits(n):
    return max(2, (n - 1).bit_length())


def keys_length(n, known):
    """Of n keys that have so many bits."""
    q = quotient_bits(n)
    return 2**q + n * (1 + known - q) if n else 0


def put_keys(bits, keys, known):
    """In their order. The quotients as one number: the ones of entry i are i places above its quotient's zeros."""
    if not keys:
        return
    q = quotient_bits(len(keys))
    bits.put(sum(1 << (key >> 64 - q) + i for i, key in enumerate(keys)), len(keys) + 2**q)
    for key in keys:
        bits.put(key >> 64 - known & 2**(known - q) - 1, known - q)


def take_keys(bits, n, known):
    if n == 0:
        return []
    q, keys = quotient_bits(n), []
    for quotient in range(2**q):
        while bits.take(1):
            keys.append(quotient << 64 - q)
    check(len(keys) == n, "quotients")
    return [key | bits.take(known - q) << 64 - known for key in keys]


# ---- lists ----------------------------------------------------------------------------------------------------------

@dataclass
class List:
    whole: int  # bits of a whole key
    step: int = 0
    counts: dict = field(default_factory=dict)  # by key; none is 0

    def known(self):
        return print_bits(self.step, self.whole)

    def numbers(self):
        """Signs, and the counts' integers in the order of their keys."""
        signs = signs_of(self.counts.values())
        return signs, [to_number(self.counts[key], signs) for key in sorted(self.counts)]

    def fits(self):
        _, numbers = self.numbers()
        room = ROOM - keys_length(len(numbers), self.known())
        return len(numbers) <= ENTRIES and any(numbers_length(numbers, g) <= room for g in range(32))

    def add(self, key, count):
        """Without a look at whether it still fits."""
        key = cut(key, self.known())
        self.counts[key] = self.counts.get(key, 0) + count
        if self.counts[key] == 0:
            del self.counts[key]

    def lowered(self, step):
        """The same at a later step."""
        made = List(self.whole, step)
        for key, count in self.counts.items():
            made.add(key, count)
        return made

    def settled(self):
        """At the first step at which it fits; if there is none, its heaviest are kept from now on."""
        made = self
        while not made.fits():
            if made.step == LAST_LIST:
                return Keeper.of(made)
            made = made.lowered(made.step + 1)
        return made

    def added(self, key, count):
        made = List(self.whole, self.step, dict(self.counts))
        made.add(key, count)
        return made.settled()

    def listed(self):
        """As entries of a block that keeps."""
        known = min(HEAVY, self.known())
        return [Entry(cut(key, known), known, self.counts[key]) for key in sorted(self.counts)]

    def pack(self):
        """The canonical bytes, as a file has them: those with bits in use."""
        signs, numbers = self.numbers()
        g = min(range(32), key=lambda g: numbers_length(numbers, g))  # the first of several
        body = Bits()
        put_keys(body, sorted(self.counts), self.known())
        put_levels(body, numbers, g)
        head = head_bits(body.at, self.step, len(numbers), g, signs)
        return (body.value << HEAD | head).to_bytes((HEAD + body.at + 7) // 8, "little")


def numbers_length(numbers, g):
    return len(numbers) * (1 + g) + sum([digit_bits(number >> g) for number in numbers])


def head_bits(used, step, n, g, signs, a=0, b=0, m=0):
    head = Bits()
    for x, width in ((used, 11), (step, 4), (n, 9), (g, 5), (signs, 2), (a, 4), (b, 4), (m, 1)):
        head.put(x, width)
    return head.value


# ---- blocks that keep -----------------------------------------------------------------------------------------------

@dataclass(eq=False)
class Entry:
    key: int
    known: int  # bits of the key
    value: int

    def order(self):
        return self.key, self.known

    def agrees(self, key):
        return cut(key, self.known) == self.key

    def cut_to(self, known):
        if known < self.known:
            self.key, self.known = cut(self.key, known), known

    def learn(self, key, known):
        self.key, self.known = cut(key, known), known


@dataclass(eq=False)
class Keeper:
    step: int
    entries: list  # in their order
    g: int = 0
    signs: int = ABOVE
    plus: int = 0    # what was lost above 0
    minus: int = 0   # and below, without its sign
    press: int = 0   # what all newcomers weighed
    nursed: int = 0  # and those since one of them took the place of the smallest
    left: int = 0    # newcomers that weigh less change nothing but these sums
    wide: int = 0    # a in the head
    hand: int = 0

    @staticmethod
    def of(made):
        """Of a list that does not fit."""
        keeper = Keeper(FIRST_KEEPER, made.listed())
        keeper.find_g()
        keeper.tidy()
        keeper.fit_and_settle()
        return keeper

    def added(self, key, count):
        self.add(key, count)
        return self

    def listed(self):
        return [Entry(**vars(entry)) for entry in self.entries]

    # -- how long

    def known(self):
        return print_bits(self.step)

    def is_heavy(self, value):
        return self.step == LAST or to_number(value, self.signs) >> self.g >= 15  # which has four digits

    def may_know(self, i):
        return HEAVY if self.is_heavy(self.entries[i].value) else SAMPLED if i < SAMPLE else self.known()

    def counts_length(self, g):
        numbers = [to_number(entry.value, self.signs) for entry in self.entries]
        heavy = len(numbers) if self.step == LAST else sum([number >> g >= 15 for number in numbers])
        return numbers_length(numbers, g) + heavy * (HEAVY + 1 - self.known())

    def code_of_lost(self):
        return (max(self.plus, self.minus).bit_length() + 1) // 4

    def sample_bits(self):
        return 0 if self.step == LAST else SAMPLED + 1 - self.known()

    def length(self):
        lost = (4 * self.code_of_lost() + 2) * (2 if self.minus else 1)
        tail = 2 * (4 * self.wide + 1) + 4 * self.wide + 3 + lost + SAMPLE * self.sample_bits() + 8
        return keys_length(len(self.entries), self.known()) + self.counts_length(self.g) + tail

    def is_full(self):
        return self.length() > ROOM

    # -- entries

    def tidy(self, spared=None):
        """Cuts what entries know too much, adds up those that became equal, drops those of 0 outside the sample, until
        nothing changes. Returns who is spared: where that was added up, who has its count; None if it is gone."""
        before, now = None, self.state()
        while before != now:
            self.signs = signs_of(entry.value for entry in self.entries)
            for i, entry in enumerate(self.entries):
                entry.cut_to(self.may_know(i))
            united = []
            for i, entry in enumerate(sorted(self.entries, key=Entry.order)):
                if united and united[-1][1].order() == entry.order():
                    united[-1][1].value += entry.value
                    spared = united[-1][1] if entry is spared else spared
                else:
                    united.append((i, entry))
            self.entries = [entry for i, entry in united if i < SAMPLE or entry.value != 0]
            before, now = now, self.state()
        return spared if spared in self.entries else None

    def state(self):
        return [(entry.key, entry.known, entry.value) for entry in self.entries]

    def place(self, key):
        """The number of entries whose keys are below."""
        return sum([entry.key < key for entry in self.entries])

    def find_g(self):
        """The best g of all for what there is, the first of several."""
        self.signs = signs_of(entry.value for entry in self.entries)
        self.g = min(range(32), key=self.counts_length)

    def choose_g(self, spared=None):
        """The best g next to the one there is, uphill or down."""
        before = self.g
        while self.g < 31 and self.counts_length(self.g + 1) < self.counts_length(self.g):
            self.g += 1
        while self.g > 0 and self.counts_length(self.g - 1) < self.counts_length(self.g):
            self.g -= 1
        return spared if self.g == before else self.tidy(spared)

    # -- letting go

    def sizes(self, spared=None):
        """Of those that may go, the smallest first."""
        return sorted(abs(entry.value) for entry in self.entries[SAMPLE:] if entry is not spared)

    def border(self, spared=None):
        """The smallest size, that of the last in the nursery, and the limit of what presses on that; None if nobody may
        go."""
        sizes, n = self.sizes(spared), self.nursery()
        return (sizes[0], sizes[:n][-1], min(8 * sizes[:n][-1], 2**62)) if sizes else None

    def nursery(self):
        listed = sum(abs(entry.value) for entry in self.entries)
        return 8 * 2**sum(self.plus + self.minus > times * listed for times in (4, 8, 16))

    def lose(self, value):
        if value < 0:
            self.minus -= value
        else:
            self.plus += value

    def next_victim(self, size, spared):
        """Of that size, the next after the hand; None if there is none."""
        at = self.place(self.hand << 56)
        for entry in self.entries[max(at, SAMPLE):] + self.entries[SAMPLE:max(at, SAMPLE)]:
            if entry is not spared and abs(entry.value) == size:
                return entry
        return None

    def pressed_out(self, newcomer):
        """Whom a newcomer displaces."""
        border = self.border(newcomer)
        if border is None:
            return newcomer
        smallest, nth, limit = border
        self.press += abs(newcomer.value)
        if smallest < nth and self.press >= limit:
            self.press = 0
            return self.next_victim(nth, newcomer)
        self.nursed += abs(newcomer.value)
        if self.nursed < smallest:
            return newcomer
        self.nursed = 0
        return self.next_victim(smallest, newcomer)

    def let_go(self, spared, new, n):
        """A newcomer presses; else one of the n-th smallest size goes."""
        if new and spared and spared not in self.entries[:SAMPLE]:
            victim = self.pressed_out(spared)
        else:
            victim = self.next_victim(([0] + self.sizes(spared)[:n])[-1], spared) or spared
        if victim is not spared:
            self.hand = ((victim.key >> 56) + 1) % 256
        self.lose(victim.value)
        self.entries.remove(victim)
        return None if victim is spared else spared

    def is_crowded(self):
        return self.entries[SAMPLE - 1].key >> 56 == 0

    def fit(self, spared, new):
        n = 1
        while self.is_full():
            if self.step < FLOOR or not new:
                spared = self.choose_g(spared)
                if not self.is_full():
                    break
            if self.step < FLOOR or self.step == FLOOR and self.is_crowded():
                self.step += 1
                spared = self.tidy(spared)
                n = self.nursery() if self.step == LAST else 1
            else:
                spared, new = self.let_go(spared, new, n), False

    def settle(self):
        """What newcomers may weigh until somebody has to look, and how wide the sums are till then."""
        self.left = 0
        if self.step < FLOOR:
            return
        border = self.border()
        if border is None:
            self.press = self.nursed = self.wide = 0
            return
        smallest, nth, limit = border
        self.press, self.nursed = min(self.press, limit - 1), min(self.nursed, smallest - 1)
        self.wide = (limit + smallest - 2).bit_length() // 4
        n = len(self.entries)
        if self.length() + keys_length(n + 1, self.known()) - keys_length(n, self.known()) + 1 + self.g <= ROOM:
            return
        self.left = smallest - self.nursed
        if smallest < nth:
            self.left = min(self.left, limit - self.press)

    def fit_and_settle(self, spared=None, new=False):
        self.fit(spared, new)
        self.settle()
        while self.is_full():
            self.fit(None, False)
            self.settle()

    # -- one item

    def find(self, key):
        """Of those that agree in all they know, who knows most."""
        agree = [entry for entry in self.entries if entry.agrees(key)]
        return max(agree, key=lambda entry: entry.known, default=None)  # the first of several

    def comes_off(self, key, count, but=None):
        """Whether it takes away what was lost above 0. Not if another one that is listed may be meant."""
        if count > 0 or -count > self.plus or any(entry is not but for entry in self.alike(key)):
            return False
        self.plus += count
        return True

    def alike(self, key):
        """Those that agree in the bits that all know."""
        return [entry for entry in self.entries if cut(entry.key, self.known()) == cut(key, self.known())]

    def add(self, key, count):
        if count == 0:
            return
        entry = self.find(key)
        if entry is None:
            self.come(key, count)
        elif entry.value * count > 0:
            self.grow(entry, key, count)
        else:
            self.fall(entry, entry.value + count)

    def come(self, key, count):
        if self.comes_off(key, count):
            return
        if self.place(cut(key, self.known())) >= SAMPLE and abs(count) < self.left:
            self.press += abs(count)
            self.nursed += abs(count)
            self.left -= abs(count)
            self.lose(count)
            if self.is_full():
                self.fit_and_settle()
            return
        at = self.place(cut(key, HEAVY if self.is_heavy(count) else self.known()))
        newcomer = Entry(cut(key, HEAVY), HEAVY, count)
        self.entries.insert(at, newcomer)
        self.fit_and_settle(self.tidy(newcomer), True)

    def grow(self, entry, key, count):
        """It takes the longer bits of its print from the item that came. It may belong elsewhere then, and another one
        be of the sample."""
        at, before, knew = self.entries.index(entry), self.counts_length(self.g), entry.known
        entry.value += count
        entry.learn(key, self.may_know(at))
        if self.counts_length(self.g) == before and entry.known == knew:
            return
        self.entries.sort(key=Entry.order)
        if self.entries.index(entry) != at:
            self.fit_and_settle(self.tidy(entry))
        elif self.is_full():
            self.fit_and_settle(entry)

    def fall(self, entry, now):
        """Its count goes down, or beyond 0, or is 0 and comes again."""
        beyond = (entry.value < 0) != (now < 0) and now != 0
        entry.value = 0 if beyond and self.comes_off(entry.key, now, entry) else now
        self.fit_and_settle(self.tidy(entry))

    # -- bytes

    def pack(self):
        numbers = [to_number(entry.value, self.signs) for entry in self.entries]
        heavy = [self.is_heavy(entry.value) for entry in self.entries]
        fields = [1 << more | entry.key >> 64 - entry.known & 2**more - 1
                  for entry in self.entries for more in [entry.known - self.known()]]
        body, tail, b, m = Bits(), Bits(), self.code_of_lost(), self.minus > 0
        put_keys(body, [entry.key for entry in self.entries], self.known())
        put_levels(body, numbers, self.g)
        for is_heavy, longer in zip(heavy, fields):
            if is_heavy:
                body.put(longer, HEAVY + 1 - self.known())
        for x, width in ((self.left, 4 * self.wide + 1), (self.nursed, 4 * self.wide + 1),
                         (self.press, 4 * self.wide + 3), (self.plus, 4 * b + 2), (self.minus, (4 * b + 2) * m)):
            tail.put(x, width)
        if self.step < LAST:
            for is_heavy, longer in list(zip(heavy + 4 * [True], fields + 4 * [1]))[:SAMPLE]:
                tail.put(1 if is_heavy else longer, self.sample_bits())
        tail.put(self.hand, 8)
        check(body.at + tail.at == self.length() <= ROOM, "room in a block")
        head = head_bits(body.at, self.step, len(self.entries), self.g, self.signs, self.wide, b, m)
        return (tail.value << SIZE - tail.at | body.value << HEAD | head).to_bytes(SIZE // 8, "little")

    def is_possible(self):
        """As far as one look can tell."""
        smallest = next(iter(self.sizes()), 0)
        if self.step < FLOOR and (self.plus or self.minus or self.hand):
            return False
        if self.step < FLOOR or smallest == 0:
            return not (self.press or self.nursed or self.left or self.wide)
        return self.nursed < smallest and self.nursed + self.left <= smallest \
            and self.press + self.left <= 2**(4 * self.wide + 3)


def signs_of(values):
    """Of counts of one sign, the sign."""
    values = set((value > 0) - (value < 0) for value in values)
    return BELOW if values == {-1} else ABOVE if values <= {1} else BOTH


def unpack(data, whole):
    """The block that data begins with, and its bytes; refuses what no block is."""
    check(len(data) >= 5, "a head")
    head = Bits(int.from_bytes(data[:5], "little"), HEAD)
    used, step, n, g, signs, a, b, m = [head.take(width) for width in (11, 4, 9, 5, 2, 4, 4, 1)]
    size = SIZE // 8 if step > LAST_LIST else (HEAD + used + 7) // 8
    check(used <= ROOM and step <= LAST and signs <= BELOW and len(data) >= size, "head of a block")
    bits = Bits(int.from_bytes(data[:size], "little") >> HEAD, used)
    keys = take_keys(bits, n, print_bits(step, whole))
    values = [from_number(number, signs) for number in take_levels(bits, n, g)]
    if step <= LAST_LIST:
        block = List(whole, step, dict(zip(keys, values, strict=True)))
        check(len(block.counts) == n and 0 not in values, "keys of a list")
    else:
        block = Keeper(step, [Entry(key, print_bits(step), value) for key, value in zip(keys, values)], g, signs)
        unpack_longer(block, bits)
        unpack_tail(block, int.from_bytes(data[:size], "little"), a, b, m)
        check_entries(block)
        check(block.is_possible(), "what a block has lost")
    check(block.pack() == data[:size], "a block that is not canonical")
    return block, size


def unpack_field(entry, longer):
    check(longer > 0, "longer bits of a print")
    more = longer.bit_length() - 1
    entry.known += more
    entry.key |= (longer - (1 << more)) << 64 - entry.known


def unpack_longer(block, bits):
    for entry in block.entries:
        if block.is_heavy(entry.value):
            unpack_field(entry, bits.take(HEAVY + 1 - block.known()))


def unpack_tail(block, data, a, b, m):
    widths = [4 * a + 1, 4 * a + 1, 4 * a + 3, 4 * b + 2, (4 * b + 2) * m] + SAMPLE * [block.sample_bits()] + [8]
    bits = Bits(data >> SIZE - sum(widths), sum(widths))
    block.wide = a
    block.left, block.nursed, block.press, block.plus, block.minus, *longer, block.hand = map(bits.take, widths)
    for entry, field_ in zip(block.entries, longer):
        if not block.is_heavy(entry.value) and block.step < LAST:
            unpack_field(entry, field_)


def check_entries(block):
    entries = block.entries
    check(all(x.order() < y.order() for x, y in zip(entries, entries[1:])), "order of the entries")
    check(all(entry.value for entry in entries[SAMPLE:]), "a count of 0")
    check(block.signs == BOTH or signs_of(entry.value for entry in entries) == block.signs, "signs")


# ---- where an item is -----------------------------------------------------------------------------------------------

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


def numbers_of_blocks(most):
    """Every number that a sketch may have, the least first."""
    return [most >> shift for shift in reversed(range(most.bit_length()))]


# ---- sketches -------------------------------------------------------------------------------------------------------

@dataclass
class Sketch:
    most: int
    seed: object = 0  # a number, or 16 bytes that are secret
    name: str = "golden"
    fingerprint: int = 0x0123456789abcdef
    total: int = 0
    items: int = 0
    blocks: list = None
    unlisted: tuple = (1, 0, 0, 0)  # what was judged of items that are not listed (src/sketch/judge.c)

    def __post_init__(self):
        self.blocks = self.blocks or [List(whole_bits(1))]

    def is_empty(self):
        return all(isinstance(block, List) and block.step == 0 and not block.counts for block in self.blocks)

    def is_whole(self):
        """Exact."""
        return all(isinstance(block, List) and block.step == 0 for block in self.blocks)

    def keeps(self):
        return any(isinstance(block, Keeper) for block in self.blocks)

    def add(self, item, count):
        known = hash62(item, self.seed)
        self.total += count
        self.items |= kind_of(item, count)
        while True:
            index, key = spot(known, len(self.blocks))
            made = self.blocks[index].added(key, count)
            if len(self.blocks) == self.most or isinstance(made, List) and made.step == 0:
                self.blocks[index] = made
                return
            larger = [number for number in numbers_of_blocks(self.most) if number > len(self.blocks)]
            self.blocks = spread(content_of(self), larger)

    def smallest(self):
        """Its blocks as a file has them: as few as can be, if it is exact."""
        return spread(content_of(self), numbers_of_blocks(self.most)) if self.is_whole() else self.blocks

    def read(self, item):
        """What is listed of it, the sum of all that have its short print, and what its block lost above 0 and below."""
        index, key = spot(hash62(item, self.seed), len(self.blocks))
        block = self.blocks[index]
        if isinstance(block, List):
            value = block.counts.get(cut(key, block.known()), 0)
            return value, value, 0, 0
        entry = block.find(key)
        return entry.value if entry else 0, sum(alike.value for alike in block.alike(key)), block.plus, block.minus

    def answer(self, item):
        """value, lower, upper; value is None where it depends on what is not listed."""
        value, alike, plus, minus = self.read(item)
        upper = max(alike, value) + plus
        if plus == minus == 0 and (value != 0 or alike <= 0):
            return value, value, upper
        if minus > plus // 8 or value < 0 or alike < value:
            return value, min(alike, value) - minus, upper
        return None, value - minus, upper


def content_of(sketch):
    """The hashes and counts of a sketch whose keys are whole."""
    number = len(sketch.blocks)
    return {spot_hash(i, key, number): count for i, block in enumerate(sketch.blocks)
            for key, count in block.counts.items()}


def spread(content, numbers):
    """Hashes and their counts in the first of these numbers of blocks at which whole keys fit, or the last."""
    for number in numbers:
        blocks = [List(whole_bits(number)) for _ in range(number)]
        for known, count in content.items():
            block, key = spot(known, number)
            blocks[block].add(key, count)
        if all(block.fits() for block in blocks):
            break
    return [block.settled() for block in blocks]


def build(most, stream, **options):
    """The sketch of a stream of (item, count)."""
    sketch = Sketch(most, **options)
    for item, count in stream:
        sketch.add(item, count)
    return sketch


# ---- merging --------------------------------------------------------------------------------------------------------

def merge(into, *others):
    """into and others, each (sketch, times), as one sketch."""
    parts = [(into, 1), *others]
    most = min([into.most] + [sketch.most for sketch, _ in others if not sketch.is_whole()])
    check(all(sketch.is_whole() or sketch.most % most == 0 for sketch, _ in parts), "numbers of blocks that do not nest")
    made = Sketch(most, into.seed, into.name, into.fingerprint)
    for sketch, times in parts:
        made.total += times * sketch.total
        made.items |= sketch.items
    for number in numbers_of_blocks(most) if all(sketch.is_whole() for sketch, _ in parts) else [most]:
        made.blocks = [joined(parts, number, i, number == most) for i in range(number)]
        if None not in made.blocks:
            return made


def fold(sketch, most):
    """The same in fewer blocks, a divisor of those there are at most."""
    if most == sketch.most:
        return sketch
    return merge(Sketch(most, sketch.seed, sketch.name, sketch.fingerprint), (sketch, 1))


def pieces(parts, number, index):
    """What comes to a block of `number`: blocks, at whole keys those entries that belong there, and how often."""
    for sketch, times in parts:
        own = len(sketch.blocks)
        for i in range(index * own // number, -(-(index + 1) * own // number)):
            block = sketch.blocks[i]
            if isinstance(block, List) and block.step == 0:
                made = List(whole_bits(number))
                for key, count in block.counts.items():
                    home, there = spot(spot_hash(i, key, own), number)
                    if home == index:
                        made.add(there, count)
                block = made
            yield block, times


def joined(parts, number, index, at_most):
    """A list if the pieces fit one; else, if there can be no more blocks, who is heaviest; else None."""
    last, made = LAST_LIST if at_most else 0, List(whole_bits(number))
    for block, times in pieces(parts, number, index):
        if max(made.step, block.step) > last:
            break
        made = made.lowered(max(made.step, block.step))
        for key, count in block.counts.items():
            made.add(key, times * count)
        while len(made.counts) > ENTRIES and made.step < last:
            made = made.lowered(made.step + 1)
        if len(made.counts) > ENTRIES:
            break
    else:
        while not made.fits() and made.step < last:
            made = made.lowered(made.step + 1)
        if made.fits():
            return made
    return join_heaviest(list(pieces(parts, number, index))) if at_most else None


def join_heaviest(blocks):
    made = Keeper(max([FIRST_KEEPER] + [block.step for block, _ in blocks]), [])
    for block, times in blocks:
        for entry in block.listed():
            entry.cut_to(HEAVY)
            entry.value *= times
            made.entries.append(entry)
        if isinstance(block, Keeper):
            plus, minus = (block.plus, block.minus) if times > 0 else (block.minus, block.plus)
            made.plus += abs(times) * plus
            made.minus += abs(times) * minus
            made.press = min(made.press + abs(times) * block.press, 2**62)
            made.nursed = min(made.nursed + abs(times) * block.nursed, 2**62)
    made.entries.sort(key=Entry.order)
    join_prints(made)
    if len(made.entries) > ENTRIES:
        made.step = FLOOR
        join_prints(made)
    while len(made.entries) > ENTRIES:
        lightest = min(made.entries[SAMPLE:], key=lambda entry: abs(entry.value))  # the first of several
        made.lose(lightest.value)
        made.entries.remove(lightest)
    made.find_g()
    made.tidy()
    made.fit_and_settle()
    return made


def join_prints(keeper):
    """Adds each entry to the one that agrees with it and knows most, be it as much as itself."""
    left = []
    for entry in keeper.entries:
        same = left and cut(left[-1][0].key, keeper.known()) == cut(entry.key, keeper.known())
        if not same:
            left.append([])
        left[-1].append(entry)
    keeper.entries = [entry for group in left for entry in join_group(group)]


def join_group(group):
    i = 0
    while i < len(group):
        agree = [k for k, entry in enumerate(group) if k != i and cut(entry.key, group[i].known) == group[i].key]
        agree = [k for k in agree if (-group[k].known, k) < (-group[i].known, i)]
        if agree:
            best = min(agree, key=lambda k: (-group[k].known, k))
            group[best].value += group[i].value
            del group[i]
        else:
            i += 1
    return group


# ---- files ----------------------------------------------------------------------------------------------------------

def write_sketch(sketch):
    saved = sketch.smallest()
    body = b"".join(block.pack() for block in saved)
    if sketch.keeps():
        body += struct.pack("<QQQQ", *sketch.unlisted)
    return write_head(2, 0 if sketch.is_empty() else sketch.items, sketch.seed, sketch.fingerprint, sketch.name,
                      sketch.most, len(saved), sketch.total, body)


def read_sketch(data, secret=None):
    items, seed, fingerprint, name, most, number, total = read_head(data, 2, secret)
    check(number in numbers_of_blocks(most), "number of blocks")
    at, blocks = HEAD_SIZE, []
    for _ in range(number):
        block, size = unpack(data[at:-8], whole_bits(number))
        blocks.append(block)
        at += size
    sketch = Sketch(most, seed, name, fingerprint, total, items, blocks)
    if sketch.keeps():
        sketch.unlisted = struct.unpack_from("<QQQQ", data, at)
        check(0 < sketch.unlisted[0] < 2**63, "what is answered for items that are not listed")
        at += 32
    check(at == len(data) - 8, "length")
    check((items == 0) == sketch.is_empty(), "kinds of items")
    check(total == sum(sum_of(block) for block in blocks), "total")
    check(4 * max(abs(total), sum(sizes_of(block) for block in blocks)) < 2**63, "sums that may overflow")
    check(number == most or sketch.is_whole(), "whole keys")
    check(len(sketch.smallest()) == number, "the least number of blocks")
    return sketch


def sum_of(block):
    if isinstance(block, List):
        return sum(block.counts.values())
    return sum(entry.value for entry in block.entries) + block.plus - block.minus


def sizes_of(block):
    if isinstance(block, List):
        return sum(abs(count) for count in block.counts.values())
    return sum(abs(entry.value) for entry in block.entries) + block.plus + block.minus
