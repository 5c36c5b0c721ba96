"""Streams to measure on, where the real ones are, and ways to measure with build/legosketch.

Kinds: `issue` (those a decoder was once found wrong on), `kept-out` (others like them, which no choice may look at), `zipf`,
`real` (oltp and war_and_peace are kept out too) and `large` (10^6 items). All are the same every time. Real streams are the
files that $LAB_FILES names, else those in ../shared/data, else those in build/streams, where scripts/fetch-streams puts them:
`python3 scripts/streams.py` prints their paths, `… counts DIR` writes the counts of their items. $LEGOSKETCH names another
program than build/legosketch.
"""
import array, collections, json, lzma, math, os, pathlib, random, struct, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "reference"
PROGRAM = os.environ.get("LEGOSKETCH", ROOT / "build" / "legosketch")
FLOOR = 0.0005    # errors below it count as it
SMALLEST = 4096   # bytes: the least budget
POINTS = (0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 4, 8)  # bytes a key


# ---- the command ---------------------------------------------------------------------------------------------------------

folder = tempfile.TemporaryDirectory()


def run(*arguments, input=b""):
    """What the command prints. What it complains of is seen, and ends the script."""
    try:
        done = subprocess.run([PROGRAM, *map(str, arguments)], input=input, stdout=subprocess.PIPE)
    except FileNotFoundError:
        raise SystemExit(f"there is no {PROGRAM}: run make")
    if done.returncode != 0:
        raise SystemExit(f"legosketch {' '.join(map(str, arguments))}: exit status {done.returncode}")
    return done.stdout.decode()


def form(path):
    """What --format is told; a .txt has an item a line."""
    return path.name.split(".")[1].replace("txt", "lines")


def evaluate(path, methods, budgets, *more):
    """Rows of `eval`."""
    text = run("eval", "-q", "--json", "-f", form(path), "--methods", ",".join(methods), "-b", ",".join(map(str, budgets)), *more, path)
    return [json.loads(line) for line in text.splitlines()]


def offers(command, option):
    return option in run(command, "--help")


def build(lines, budget, seed=0):
    """A sketch of the lines, added as they come; the file is there until the next one is built."""
    sketch = os.path.join(folder.name, "a.sketch")
    run("build", "-q", "-o", sketch, "-f", "tsv", "-b", budget, "--seed", seed, input=lines)
    return sketch


def ask(sketch, items, *options):
    """[(estimate, lower, upper, likely)] of the items."""
    text = run("query", *options, sketch, input="".join(f"{item}\n" for item in items).encode())
    return [tuple(map(float, line.rsplit("\t", 4)[1:])) for line in text.split("\n")[:-1]]


def errors_of(answers, counts, upper=False):
    """(AAE, ARE) of the estimates, or of `upper`, over the items whose count is not 0, as `eval` has them."""
    off = [(abs(answer[2 if upper else 0] - count), abs(count)) for answer, count in zip(answers, counts.values()) if count]
    return sum(error for error, _ in off) / len(off), sum(error / count for error, count in off) / len(off)


def ratio(error, other):
    return max(error, FLOOR) / max(other, FLOOR)


def pair(errors):
    return f"{errors[0]:.4g}/{errors[1]:.4g}"


# ---- a stream ------------------------------------------------------------------------------------------------------------

def table(pairs):
    return "".join(f"{item}\t{count}\n" for item, count in pairs).encode()


class Stream:
    """Items and their counts. `passing` is added and then deleted after them, as other items. `points`: bytes a key to
    measure at, besides the usual ones."""
    def __init__(self, counts, passing=(), points=()):
        self.counts = counts if isinstance(counts, dict) else {str(item): count for item, count in enumerate(counts)}
        self.n, self.points = len(self.counts), points
        self.deletes = bool(passing) or min(self.counts.values()) < 0
        self.table = table(self.counts.items())
        burst = [(f"passing {item}", count) for item, count in enumerate(passing)]
        self.lines = self.table + table(burst) + table((item, -count) for item, count in burst)

    def budgets(self, points):
        """{bytes a key: bytes}, ascending. One that is above the last by less than a tenth is left out."""
        budgets = {}
        for budget in sorted(max(SMALLEST, int(point * self.n)) for point in (*points, *self.points)):
            if not budgets or budget > 1.1 * list(budgets.values())[-1]:
                budgets[budget / self.n] = budget
        return budgets

    def measure(self, methods, budgets, seed=0, seeds=1):
        """{(method, budget): (AAE, ARE)}, the mean over seeds. `eval` counts exactly before it adds, so what only passes
        through never reaches a method there. To Count-Min and the Count sketch that is the same; ours is really built."""
        ours = [method for method in methods if method in ("lego", "rule")] if len(self.lines) > len(self.table) else []
        others = [method for method in methods if method not in ours]
        text = run("eval", "-q", "--json", "-f", "tsv", "--methods", ",".join(others), "-b", ",".join(map(str, budgets)),
                   "--seed", seed, "--seeds", seeds, input=self.table) if others else ""
        rows = [json.loads(line) for line in text.splitlines()]
        found = {(row["method"], row["budget"]): (row["aae"], row["are"]) for row in rows}
        for budget in budgets if ours else ():
            runs = [ask(build(self.lines, budget, seed + i), self.counts) for i in range(seeds)]
            for method in ours:
                errors = [errors_of(answers, self.counts, upper=method == "rule") for answers in runs]
                found[method, budget] = tuple(sum(kind) / seeds for kind in zip(*errors))
        return found


# ---- the streams ---------------------------------------------------------------------------------------------------------

def pattern(n, law):
    return [law(i) for i in range(n)]


def drawn(n, law):
    """n counts, each by law(source of random numbers)."""
    source = random.Random(18)
    return [law(source) for _ in range(n)]


def zipf(n, alpha):
    """As `legosketch gen zipf` has it."""
    return [int(((n + 1) / rank) ** alpha + 0.5) for rank in range(2, n + 2)]


def geometric(mean):
    return lambda source: 1 + int(math.log(1 - source.random()) / math.log(1 - 1 / mean))


def lognormal(mean, deviation, rounded):
    return lambda source: max(1, rounded(math.exp(source.gauss(mean, deviation))))


def negative(counts):
    return [-count for count in counts]


def burst(counts, by):
    """Ten times the stream's mass passes through."""
    rounds = 10 * sum(counts) // sum(by)
    return Stream(counts, by * rounds, points=(3,))


NONE = "real streams are not there: run scripts/fetch-streams"


def real_paths(needed=False):
    """{name: path}. Where some are needed and there are none, it ends the script."""
    folders = ROOT.parent / "shared" / "data", ROOT / "build" / "streams"
    found = list(map(pathlib.Path, os.environ.get("LAB_FILES", "").split()))
    for path in found:
        if not path.exists():
            raise SystemExit(f"$LAB_FILES: there is no {path}")
    found = found or next(filter(None, (sorted(folder.glob("*.xz")) for folder in folders)), [])
    if needed and not found:
        raise SystemExit(NONE)
    return {path.name.split(".")[0]: path for path in found}


def real_among(names):
    """(name, path) of those of the names that are there; of others it says that they are not."""
    paths = real_paths(needed=True)
    for name in names:
        if name in paths:
            yield name, paths[name]
        else:
            print(f"{name} is left out: it is not there (scripts/fetch-streams)", file=sys.stderr)


def real_items(path):
    """The items of a file as text."""
    data = lzma.open(path).read() if path.suffix == ".xz" else path.read_bytes()
    if ".txt" in path.name:
        return data.decode().split("\n")[:-1]
    size, code = (4, "I") if ".u32" in path.name else (8, "Q")
    return [str(item) for item in struct.unpack(f"<{len(data) // size}{code}", data)]


def real(path):
    return Stream(collections.Counter(real_items(path)))


ALPHAS = (0.5, 0.7, 0.9, 1.1, 1.3, 1.5)
MAKERS = {
    "issue": {
        "equal-100": lambda: Stream([100] * 50000, points=(0.35,)),
        "equal-1000": lambda: Stream([1000] * 50000),
        "hundredth-10000": lambda: Stream(pattern(10**5, lambda i: 1 if i % 100 else 10000)),
        "giant": lambda: Stream([1] * 10**5 + [10**7]),
        "tenth-100": lambda: Stream(pattern(10**5, lambda i: 1 if i % 10 else 100)),
        "two-heaps": lambda: Stream(pattern(10**5, lambda i: 1 + i % 10 if i % 10 < 7 else 150 + i % 100)),
        "prices": lambda: Stream(drawn(50000, lognormal(9, 2, round))),
        "burst": lambda: burst(zipf(50000, 1.0), zipf(50000, 1.0)),
        "negative": lambda: Stream(negative(zipf(10**5, 1.0))),
        "lognormal": lambda: Stream(drawn(10**6, lognormal(1, 1.5, math.ceil)), points=(0.004,)),
    },
    "kept-out": {
        "geometric-10": lambda: Stream(drawn(10**5, geometric(10))),
        "uniform-1000": lambda: Stream(drawn(50000, lambda source: source.randint(1, 1000))),
        "two-points": lambda: Stream(pattern(10**5, lambda i: 3 if i % 4 else 70)),
        "sevens": lambda: Stream([7] * 10**5),
        "dozens": lambda: Stream([12 * count for count in drawn(50000, geometric(4))]),
        "half-50": lambda: Stream(pattern(10**5, lambda i: 1 if i % 2 else 50)),
        "pareto-1.2": lambda: Stream(drawn(10**5, lambda source: int(source.paretovariate(1.2)))),
        "squares": lambda: Stream(pattern(50000, lambda i: (1 + i % 100) ** 2)),
        "powers": lambda: Stream(pattern(50000, lambda i: 2 ** (i % 16))),
        "bell-1000": lambda: Stream(drawn(50000, lambda source: round(source.gauss(1000, 30)))),
        "singletons": lambda: Stream([1] * 10**5),
        "some-millions": lambda: Stream(pattern(10**5, lambda i: 1 + i % 3 if i % 1000 else 10**6)),
        "ten-giants": lambda: Stream(drawn(10**5, geometric(3)) + [10**6] * 10),
        "salaries": lambda: Stream(drawn(50000, lognormal(math.log(30000), 0.4, round))),
        "burst-of-ones": lambda: burst(drawn(20000, geometric(5)), [1] * 1000),
        "negative-geometric": lambda: Stream(negative(drawn(50000, geometric(20)))),
        "signs-alternate": lambda: Stream([count * (-1) ** i for i, count in enumerate(drawn(50000, geometric(10)))]),
    },
    "zipf": {f"zipf-{alpha}": lambda alpha=alpha: Stream(zipf(10**5, alpha)) for alpha in ALPHAS},
    "real": {name: lambda path=path: real(path) for name, path in real_paths().items()},
    "large": {f"zipf-{alpha}-large": lambda alpha=alpha: Stream(zipf(10**6, alpha)) for alpha in ALPHAS},
}


def chosen(names):
    """(kind, name, stream) of each that is named, or whose kind is, made one after the other."""
    names = names.split(",")
    unknown = set(names) - set(MAKERS) - {name for makers in MAKERS.values() for name in makers}
    if unknown:
        raise SystemExit(f"no such stream or kind: {', '.join(sorted(unknown))}; scripts/fetch-streams fetches real ones")
    if "real" in names and not MAKERS["real"]:
        if names == ["real"]:
            raise SystemExit(NONE)
        print(NONE, file=sys.stderr)
    for kind, makers in MAKERS.items():
        for name, make in makers.items():
            if kind in names or name in names:
                yield kind, name, make()


if __name__ == "__main__":
    if sys.argv[1:2] == ["counts"]:  # for scripts/small-sketches
        for name, path in real_paths(needed=True).items():
            pathlib.Path(sys.argv[2], name).write_bytes(array.array("i", real(path).counts.values()).tobytes())
    else:
        print(*real_paths(needed=True).values(), sep="\n")
