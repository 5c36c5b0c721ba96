"""What docs/security.md says of those who choose items: with the seed they can hide an item and make up distinct ones, in a
sketch that has less room than items; without it the same items do nothing of the kind."""

import pytest
import xxhash

BUDGET, OTHERS = 4096, [f"other {i}" for i in range(8000)]
VICTIM, COUNT = "victim", 1000


def place(item, blocks):
    """The item's block with seed 0, and its print."""
    both = xxhash.xxh3_128_intdigest(item.encode(), 0)
    return (both >> 26 & (1 << 38) - 1) * blocks >> 38, both >> 104


def make(server, *seed):
    server("LEGO.RESERVE", "key", "BUDGET", BUDGET, *seed)
    server("LEGO.INCRBY", "key", VICTIM, COUNT, *(word for item in OTHERS for word in (item, 1)))
    told = server("LEGO.INFO", "key")
    return dict(zip(told[::2], told[1::2]))[b"blocks"]


@pytest.mark.parametrize("known", [True, False])
def test_hiding_an_item(server, known):
    blocks = make(server, *(["SEED", 0] if known else []))
    assert 0 <= server("LEGO.QUERY", "key", VICTIM)[0] - COUNT <= 5  # one of the others may have its print, by chance
    its = place(VICTIM, blocks)[0]
    near = [item for item in (f"chosen {i}" for i in range(100 * blocks)) if place(item, blocks)[0] == its]
    server("LEGO.INCRBY", "key", *(word for item in near[:60] for word in (item, COUNT + 1)))
    ((estimate, _, upper, _),) = server("LEGO.QUERY", "key", "WITHBOUNDS", "ITEMS", VICTIM)
    assert upper >= COUNT and (estimate < COUNT / 100 if known else 0 <= estimate - COUNT <= 5)


@pytest.mark.parametrize("known", [True, False])
def test_making_up_distinct_items(server, known):
    blocks = make(server, *(["SEED", 0] if known else []))
    chosen = {}
    for item in (f"chosen {i}" for i in range(20_000 * blocks)):
        block, print_ = place(item, blocks)
        chosen[block] = sorted([*chosen.get(block, []), (print_, item)])[:4]
    server("LEGO.INCRBY", "key", OTHERS[0], 10**9)  # no more items are told than what was lost has room for
    server("LEGO.INCRBY", "key", *(word for item in OTHERS for word in (item, 100)))
    server("LEGO.ADD", "key", *(item for few in chosen.values() for _, item in few))
    told = server("LEGO.CARD", "key")
    assert told > 10 * len(OTHERS) if known else told < 2 * len(OTHERS)
