# %% [markdown]
# # Who asks most? A log counted in 64 KB
#
# Counts the first field of every line of a log, which in the log of a web server is who asked, and compares what the
# sketch says with the truth. Runs cell by cell in an editor that knows `# %%`, or from top to bottom:
#
#     pip install ./bindings/python matplotlib
#     python examples/count_a_log.py [LOG]
#
# Without LOG it makes one. The picture, estimates.png, goes into the current folder; without matplotlib there is none.

# %% The log: an iterable of lines
import random
import sys
from collections import Counter
from pathlib import Path

from legosketch import Sketch


def made_log(requests=300_000, clients=40_000):
    """Few clients ask often, most of them hardly ever: the k-th with probability ~ 1 / k."""
    chance = random.Random(1)
    addresses = [f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}" for i in range(1, clients + 1)]
    for address in chance.choices(addresses, [1 / k for k in range(1, clients + 1)], k=requests):
        yield f'{address} - - [15/Nov/2026:22:15:10 +0000] "GET / HTTP/1.1" 200 512'


own = sys.argv[0].endswith("count_a_log.py") and len(sys.argv) > 1  # in a notebook argv is the kernel's
lines = Path(sys.argv[1]).read_text("utf-8", "replace").splitlines() if own else made_log()
clients = [line.split(maxsplit=1)[0] for line in lines if line.strip()]

# %% Count. The exact counts are here only to compare with: they are what a sketch does without
sketch = Sketch("64K", top=True)
sketch.update(clients)
truth = Counter(clients)
assert sketch.total == len(clients)
print(sketch, "--", f"{len(truth):,} of them distinct")

# %% How far off? Over all clients, beside the answer "once" for everybody
names, counts = list(truth), list(truth.values())
estimates = sketch.estimate_many(names)
error = sum(abs(estimate - count) for estimate, count in zip(estimates, counts)) / len(counts)
error_of_one = sum(count - 1 for count in counts) / len(counts)
print(f"mean error {error:.3f}; of always answering 1: {error_of_one:.3f}")
assert own or error < error_of_one / 20  # a log of your own may be too much for 64 KB

# %% Bounds: the upper one always holds, the lower one and the likely one for 99 % of the items or more
lower, upper, likely = sketch.bounds_many(names)
assert all(count <= bound for count, bound in zip(counts, upper))
held = sum(count >= bound for count, bound in zip(counts, lower)) / len(counts)
print(f"lower bound at most the count: {held:.1%}")
assert held >= 0.99

# %% The most frequent, from the sketch alone: it keeps their names, and for most of them the exact count
print(f"{'client':24} {'estimate':>10} {'count':>10}")
for top in sketch.top(10):
    print(f"{top.item:24} {top.estimate:10.0f} {truth[top.item]:10}")
    assert top.estimate == truth[top.item] or (own and not top.exact)
tenth = truth.most_common(10)[-1][1]
assert own or all(truth[top.item] >= tenth for top in sketch.top(10))  # >=: the tenth may be one of several

# %% Two halves of a log, counted apart, on two machines or two days, add up to the sketch of the whole, byte for byte
half = len(clients) // 2
first, second, whole = Sketch("4M"), Sketch("4M"), Sketch("4M")  # in which no block is so full that it keeps the heaviest
first.update(clients[:half])
second.update(clients[half:])
whole.update(clients)
assert first + second == whole
print("first half + second half == whole:", first + second == whole)

# %% Estimate against truth
try:
    import matplotlib.pyplot as plt
except ImportError:
    print("no picture: pip install matplotlib")
else:
    figure, axes = plt.subplots(figsize=(5, 5))
    axes.loglog(counts, estimates, ".", markersize=3, alpha=0.3)
    axes.plot([1, max(counts)], [1, max(counts)], color="gray", linewidth=1)
    axes.set(xlabel="count", ylabel="estimate", title=f"{len(truth):,} clients in {sketch.bytes:,} bytes")
    figure.savefig("estimates.png", dpi=150)
    print("estimates.png")
