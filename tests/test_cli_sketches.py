"""Sketches as files: merge, fold, info, models, and files that are damaged or missing.

SPDX-License-Identifier: MIT
"""
import collections, json, math, os, random, re, struct, subprocess, sys, unittest

import xxhash

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import PROGRAM, ROOT, Case, words

GOLDEN = ROOT / "tests" / "golden"


def crowds():
    """Two streams of so many distinct items that no sketch of the tests, of 1 MB or less, counts all of them exactly."""
    return [b"\n".join(b"%d" % i for i in range(first, first + 150000)) for first in (0, 100000)]


def sampled(*streams):
    """How often some of the items of streams come, each of which has an item a line."""
    counts = collections.Counter(line for stream in streams for line in stream.split(b"\n"))
    return dict(random.Random(3).sample(sorted(counts.items()), min(len(counts), 20000)))


def make_model(name):
    """A model of bricks with random networks, under another name (docs/format.md)."""
    body = bytearray((GOLDEN / "random.lego").read_bytes()[:-8])
    body[48:64] = name.ljust(16, b"\0")
    return bytes(body) + struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(body)))


class Sketches(Case):
    def test_merge(self):
        stream = words(100000)
        wanted = self.build("all", b"\n".join(stream), "--budget", "200K")
        for part in range(3):
            self.build(f"{part}", b"\n".join(stream[part::3]), "--budget", "200K")
        self.run_program("merge", "-o", "sum", "0", "1", "2")
        self.assertEqual(self.read("sum"), wanted)
        self.run_program("merge", "-o", "0", "2", "1", "0")  # onto one of its inputs
        self.assertEqual(self.read("0"), wanted)
        self.assertEqual(self.run_program("merge", "-o", "-", "-", data=wanted), wanted)

    def check_like(self, name, like, *streams):
        """A sketch of streams is, byte for byte, `like`, which has counted them itself; where blocks keep only their
        heaviest items, which depends on the order of additions, it only knows as much."""
        told, wanted = self.info(name), self.info(like)
        if wanted["keeping"] == 0:
            self.assertEqual(self.read(name), self.read(like))
            return
        for field in ("total", "items", "blocks", "budget", "top_budget", "exact"):
            self.assertEqual(told[field], wanted[field])
        self.assertGreater(told["keeping"], 0)
        distinct = len(set(line for stream in streams for line in stream.split(b"\n")))
        self.assertLess(abs(told["distinct"] / distinct - 1), 4 * 1.3 / math.sqrt(4 * told["blocks"]), told)
        self.check_bounds(name, sampled(*streams))

    def test_merge_at_once(self):
        """What is rare in each of many parts, and not in all of them, is not lost."""
        parts = [b"".join(b"riser%d\nriser%d\n" % (i, i) for i in range(20))
                 + b"".join(b"%d\n" % i for i in range(1500 * part, 1500 * part + 1500)) for part in range(40)]
        for i, part in enumerate(parts):
            self.build(f"{i}", part, "--budget", "8K")
        self.run_program("merge", "-o", "sum", *range(40))
        told = self.info("sum")
        self.assertEqual((told["total"], told["exact"]), (40 * 1540, False))
        for item, (estimate, lower, upper, likely) in self.answers("sum", *(f"riser{i}" for i in range(20))).items():
            self.assertTrue(72 <= estimate <= 88 and upper >= 80, (item, estimate, upper))
        truth = sampled(*(part[:-1] for part in parts))
        self.check_bounds("sum", truth)

    def test_merge_of_sizes_that_nest(self):
        parts = crowds()
        shapes = [(["--model", "paper", "--columns", "1024", "--blocks", "12"],
                   ["--model", "paper", "--columns", "1024", "--blocks", "4"])]
        shapes += [(["--budget", large], ["--budget", small])
                   for large, small in (("128K", "64K"), ("4M", "1M"), ("600K", "300K"), ("64K", "64K"))]
        for large, small in shapes:
            with self.subTest(large=large):
                self.build("a", parts[0], *large)
                self.build("b", parts[1], *small)
                self.build("wanted", b"\n".join(parts), *small)
                self.run_program("merge", "-o", "sum", "a", "b")
                self.run_program("merge", "-o", "turned", "b", "a")
                self.assertEqual(self.read("sum"), self.read("turned"))
                if "paper" in small:
                    self.assertEqual(self.read("sum"), self.read("wanted"))
                else:
                    self.check_like("sum", "wanted", *parts)

    def remedy(self, into, path):
        """What the refusal to merge says to do, after it named both files with their sizes."""
        done = subprocess.run([PROGRAM, "merge", "-o", "x", into, path], cwd=self.folder, capture_output=True,
                              text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        told = {name: self.info(name) for name in (into, path)}
        sizes = [rf"{name} \({told[name]['blocks']} (?:block|brick)s?, [\d.]+[KM]?\)" for name in (path, into)]
        found = re.search(rf"\Alegosketch: cannot merge {sizes[0]} into {sizes[1]}: .*\. (.*)\n\Z", done.stderr)
        self.assertTrue(found, done.stderr)
        self.assertNotIn("x", self.files())
        return found[1]

    def test_merge_of_sizes_that_do_not_nest(self):
        parts = crowds()
        for one, other, common in (1536, 1024, 512), (320, 480, 160), (12, 8, 4):
            for more in [], ["--top=4K"]:
                self.build("a", parts[0], "--blocks", one, *more)
                self.build("b", parts[1], "--blocks", other)
                size, = re.findall(r"\AFold both first: legosketch fold --blocks (\d+)\Z", self.remedy("a", "b"))
                for name in "ab":
                    self.run_program("fold", "-o", name, "--blocks", size, name)
                self.run_program("merge", "-o", "sum", "a", "b")
                self.assertEqual(self.info("sum")["blocks"], common)
            self.run_program("merge", "-o", "sum", "b", "a")  # into the plain one, which counts everything
            self.build("wanted", b"\n".join(parts), "--blocks", common)
            self.check_like("sum", "wanted", *parts)

    def test_merge_of_any_sizes_while_they_are_exact(self):
        parts = [b"\n".join(words(5000, seed)) for seed in (1, 2)]
        for name, budget, data in ("a", "90K", parts[0]), ("b", "110K", parts[1]):
            self.build(name, data, "--budget", budget)
        for order, budget in ("ab", "90K"), ("ba", "110K"):
            self.run_program("merge", "-o", "sum", *order)
            self.assertEqual(self.read("sum"), self.build("wanted", b"\n".join(parts), "--budget", budget))
            self.assertTrue(self.info("sum")["exact"])
        self.build("b", crowds()[0], "--budget", "110K")  # that no longer is, and its size is the larger
        self.assertEqual(self.remedy("a", "b"), "Name them the other way round")
        self.run_program("merge", "-o", "sum", "b", "a")
        self.assertFalse(self.info("sum")["exact"])

    def test_merge_of_sizes_that_hardly_nest(self):
        parts = crowds()
        cases = [("90K", "110K", []), ("90K", "110K", ["--top"]), ("90K", "700K", ["--model", "paper"])]
        for one, other, more in cases:
            self.build("a", parts[0], "--budget", one, *more)
            self.build("b", parts[1], "--budget", other, *more)
            advice = self.remedy("a", "b")
            found = re.fullmatch(r"Build one of them again with (--budget \d+(?: --top=\d+)?)", advice)
            self.assertTrue(found, advice)
            self.assertEqual("--top" in advice, "--top" in more)
            self.build("b", parts[1], *[option for option in more if option != "--top"], *found[1].split())
            self.run_program("merge", "-o", "sum", "a", "b")
            self.assertEqual(self.info("sum")["blocks"], self.info("a")["blocks"])
            os.remove(self.folder / "sum")

    def test_text_and_integers(self):
        """Programs can count both in one sketch."""
        made = bytearray(self.build("a", b"6\n12345678\n", "--top"))
        made[13] = 3  # docs/format.md
        made[-8:] = struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(made[:-8])))
        self.write("both", bytes(made))
        self.assertEqual(self.info("both")["items"], "mixed")
        self.assertRegex(self.run_program("info", "both").decode(), r"(?m)^items +text and integers$")
        number = int.from_bytes(b"12345678", "little")  # is that item, too
        self.assertEqual(self.query("both", 6, 12345678), {b"6": 1, b"12345678": 1})
        self.assertEqual(self.query("both", 6, number, options=["-f", "u64"]), {b"6": 0, b"%d" % number: 1})
        self.assertIn(b"12345678\t1\t1\t1\t1\t", self.run_program("top", "both"))
        self.build("k", struct.pack("<Q", 6), "-f", "u64", "--top")
        self.run_program("merge", "-o", "sum", "both", "k")  # there is nothing left to mix up
        self.run_program("build", "--append", "-f", "u64", "-o", "both", data=struct.pack("<Q", 6))
        self.assertEqual(self.query("both", 6, options=["-f", "u64"]), {b"6": 1})

    def test_merge_refused(self):
        self.build("a", "x\n")
        self.build("b", "x\n", "--seed", "1")
        self.build("c", "x\n", "--model", "paper")
        before = self.write("out", "something else")
        self.fails("merge", "-o", "out", "a", "b", says="(?s)cannot merge b into a.*seed")
        self.fails("merge", "-o", "out", "a", "c", says="(?s)cannot merge c into a.*model")
        self.fails("merge", "-o", "out", "a", "none", says="cannot read none: No such file")
        self.fails("merge", "-o", "out", "a", "a", "b", "c", says=r"\Alegosketch: cannot merge b into a:\nlegosketch: b: .*seed")
        self.build("d", b"x\t%d\n" % 2**60, "-f", "tsv")
        self.fails("merge", "-o", "out", "a", *"ddddddddd", says=r"\Alegosketch: cannot merge d into a:\nlegosketch: d: .*64 bits")
        self.assertEqual(self.read(before), b"something else")
        self.assertEqual(self.files(), ["a", "b", "c", "d", "out"])

    def test_fold(self):
        data = b"\n".join(words(20000))
        for shape in ["--model", "paper", "--columns", "512"], []:
            self.build("a", data, "--blocks", "12", *shape)
            for blocks in (12, 6, 4, 3, 2, 1):
                self.run_program("fold", "-o", "small", "--blocks", blocks, "a")
                made = self.build("b", data, "--blocks", blocks, *shape)
                if shape:
                    self.assertEqual(self.read("small"), made)
                else:
                    self.check_like("small", "b", data)
        self.fails("fold", "-o", "none", "--blocks", "5", "a", says="a has 12 blocks, .*can not be folded to that")
        self.fails("fold", "-o", "none", "--blocks", "5", "b", says="b has 1 block, ")
        self.assertNotIn("none", self.files())

    def test_fold_to_a_budget(self):
        data = b"\n".join(words(20000))
        self.build("a", data, "--budget", "256K")
        for budget in ("256K", "128K", "64K"):
            self.run_program("fold", "-o", "small", "--budget", budget, "a")
            self.assertEqual(self.read("small"), self.build("b", data, "--budget", budget))
        whole = self.info("a")["blocks"]
        divisors = [n for n in range(1, whole + 1) if whole % n == 0]
        for budget in (5000, 70000, 100000):  # the most that fits
            self.run_program("fold", "-o", "small", "--budget", budget, "a")
            told = self.info("small")
            self.assertTrue(told["bytes"] <= told["budget"] <= budget, told)
            self.build("larger", "", "--blocks", min(n for n in divisors if n > told["blocks"]))
            self.assertGreater(self.info("larger")["budget"], budget)
        self.fails("fold", "-o", "none", "--budget", "10", "a", says="legosketch: a")
        self.assertNotIn("none", self.files())

    def test_info(self):
        self.build("a", b"apple\t5\npear\t-2\n", "--format", "tsv", "--blocks", "6", "--columns", "256",
                   "--seed", 2**64 - 1, "--model", "paper")
        told = self.info("a")
        wanted = dict(kind="sketch", model="paper", seed=2**64 - 1, total=3, blocks=6, rows=5, columns=256, top_bytes=0,
                      top_budget=0, top_total=0, top_items=0, exact=False, keeping=0,
                      expected_aae=None, expected_are=None, expected_aae_error=None, expected_are_error=None,
                      distinct_error=None, classes=None, class_errors=None)
        self.assertEqual({key: told[key] for key in wanted}, wanted)
        text = self.run_program("info", "a").decode()
        for name in ("stream", "memory", "model", "seed", "bricks"):
            self.assertRegex(text, rf"(?m)^{name}  ")
        self.assertEqual(self.run_program("info", "-", data=self.read("a")).decode(), text)
        self.assertNotRegex(text, r"(?m)^(keeping|items come)")
        self.build("b", "apple\n", "--blocks", "6")
        told = self.info("b")
        wanted = dict(kind="sketch", model="compact", total=1, distinct=1, distinct_error=0, exact=True, keeping=0, blocks=6, columns=0,
                      expected_aae=0, expected_aae_error=0, expected_are=0, expected_are_error=0, classes=[1], class_errors=[0])
        self.assertEqual({key: told[key] for key in wanted}, wanted)
        text = self.run_program("info", "b").decode()
        for line in (r"stream +1 items counted, 1 distinct", r"answers +exact: every item is listed",
                     rf"memory +{told['bytes']} bytes \({told['bytes']}\) of a budget of \d+ \([\d.]+K\)",
                     r"blocks +at most 6, of 256 bytes",
                     r"keeping +0 % of the blocks keep only their heaviest items: bytes follow from the content alone"):
            self.assertRegex(text, rf"(?m)^{line}$")
        self.assertTrue(text.endswith(f"\nitems come    once  1{' ' * 10} {'#' * 30}\n"), text)
        self.fails("info", "--scan", "b", says="b has blocks, and --scan is of the paper's bricks")

    def test_info_where_every_count_is_exact(self):
        counts = {b"%d" % i: count for i, count in enumerate([3] * 12 + [4] * 3 + [5] * 2 + [1 << 40])}
        self.build("a", b"\n".join(b"%s\t%d" % pair for pair in counts.items()), "-f", "tsv")
        told = self.info("a")
        self.assertEqual((told["classes"], told["class_errors"]), ([0, 0, 15, 2] + [0] * 36 + [1], [0] * 41))
        lines = self.run_program("info", "a").decode().split("\n")
        shown = [line[14:] for line in lines[lines.index(next(line for line in lines if line.startswith("items come"))):-1]]
        self.assertEqual(shown[0].split(), ["3", "to", "4", "15", "#" * 30])
        self.assertEqual(shown[1].split(), ["5", "to", "8", "2", "####"])
        self.assertEqual(shown[-1].split(), [str(2**39 + 1), "to", str(2**40), "1", "##"])
        self.assertEqual(len(shown), 39)

    def test_info_where_blocks_keep(self):
        """Each item came once. What is told is near the truth, with an honest error; the text says what JSON does."""
        for budget, keeps_all in (("64K", True), ("4K", True), ("1M", False)):
            self.build("c", crowds()[0], "--budget", budget)
            told = self.info("c")
            self.assertFalse(told["exact"])
            self.assertLessEqual(told["bytes"], told["budget"])
            self.assertEqual(told["keeping"], 1 if keeps_all else 0)
            bound = 1.3 / math.sqrt(4 * told["blocks"]) if keeps_all else 0.001
            self.assertLess(abs(told["distinct"] / 150000 - 1), 4 * bound)
            self.assertLessEqual(told["distinct_error"] / told["distinct"], 1.5 * bound)
            self.assertTrue(0 <= told["expected_aae"] < 0.5 and 0 <= told["expected_are"] < 0.5, told)
            self.assertEqual(len(told["classes"]), len(told["class_errors"]))
            self.assertGreater(told["classes"][0], 0.9 * sum(told["classes"]))
            self.assertLess(abs(sum(told["classes"]) / told["distinct"] - 1), 0.05)
            text = self.run_program("info", "c").decode()

            def rough(value):
                return re.escape("%.2g" % value if value < 99.5 else "%.0f" % value)

            def behind(error):
                return rf" \+- {rough(error)}" if error > 0 else ""
            self.assertRegex(text, rf"(?m)^stream +150000 items counted, about {told['distinct']:.0f}{behind(told['distinct_error'])} distinct$")
            errors = [rough(told["expected_aae"]) + behind(told["expected_aae_error"]),
                      rough(100 * told["expected_are"]) + behind(100 * told["expected_are_error"])]
            self.assertRegex(text, rf"(?m)^answers +estimates\n +[\d.]+ bytes a distinct item; expected error {errors[0]} an item, {errors[1]} % of a count$")
            order = "order of additions, too" if keeps_all else "content alone"
            self.assertRegex(text, rf"(?m)^keeping +{'100' if keeps_all else '0'} % of the blocks keep only their heaviest items: bytes follow from the {order}$")
            self.assertRegex(text, rf"(?m)^items come +once +{told['classes'][0]:.0f}{behind(told['class_errors'][0])} +#{{30}}$")
        self.build("c", crowds()[0], "--budget", "64K", "--top")
        self.assertIn("the order of additions, too\n", self.run_program("info", "c").decode())
        self.build("c", "x\n", "--top")
        self.assertIn("the order of additions, too, since a top is kept\n", self.run_program("info", "c").decode())

    def test_shapes_that_cannot_be(self):
        for options in (["--blocks", "2", "--columns", "101", "--model", "paper"], ["--blocks", "4294967295"],
                        ["--blocks", "2", "--columns", "64"]):
            self.fails("build", "-o", "a", *options, data="x\n", says="no sketch of that shape: ")
        self.assertEqual(self.files(), [])

    def test_damaged(self):
        good = self.build("a", "apple\n", "--budget", "4K")
        draw = random.Random(7)
        cases = [good[:size] for size in (0, 1, 7, 8, 40, 88, len(good) - 1, *draw.sample(range(len(good)), 10))]
        cases.append(good + b"\0")
        for at in (0, 8, 12, 16, 24, 32, 40, 56, 60, 64, 66, 68, 72, 80, *draw.sample(range(88, len(good)), 10)):
            flipped = bytearray(good)
            flipped[at] ^= 1 << draw.randrange(8)
            cases.append(bytes(flipped))
        for number, data in enumerate(cases):
            with self.subTest(number=number):
                self.write("bad", data)
                self.fails("query", "bad", "apple", says=r"\Alegosketch: bad")
                self.fails("merge", "-o", "out", "a", "bad", says=r"\Alegosketch: bad")
        self.fails("info", "bad", says="bad: ")
        self.fails("fold", "-o", "out", "--blocks", "1", "bad", says="bad: ")
        self.write("bad", good[:8] + struct.pack("<I", 1) + good[12:])
        self.fails("info", "bad", says="bad: .*version")
        self.assertEqual(self.files(), ["a", "bad"])

    def test_missing(self):
        self.fails("build", "-o", "a", "none", says="cannot read none: No such file")
        self.fails("build", "-o", "a", ".", says="Is a directory")
        for command in ("query none x", "info none", "fold -o a --blocks 1 none", "merge -o a none", "eval none"):
            self.fails(*command.split(), says="cannot read none: No such file")
        self.write("in", "not a sketch")
        self.fails("query", "in", "x", says="in is not a sketch")
        self.fails("info", "in", says="in is not a sketch or a model")
        self.fails("build", "-o", "a", "in", "none", says="none")  # found out before the first is read
        self.assertEqual(self.files(), ["in"])

    def test_model_files(self):
        model = self.write("tiny.lego", make_model(b"tiny"))
        other = self.write("other.lego", make_model(b"other"))
        told = self.info(model)
        self.assertEqual(told, dict(kind="model", name="tiny", rows=5, columns=5120, quantum=1024,
                                    fingerprint="%016x" % struct.unpack("<Q", make_model(b"tiny")[-8:])))
        self.assertIn(b"tiny", self.run_program("info", model))
        self.build("a", "apple\napple\n", "--model", model)
        self.build("b", "apple\n", "--model", model)
        self.build("c", "apple\n", "--model", other)
        self.assertEqual(self.query("a", "apple", options=["-m", model]), {b"apple": 2})
        self.run_program("merge", "-o", "sum", "-m", model, "a", "b")
        self.run_program("fold", "-o", "sum", "-m", model, "--blocks", "1", "sum")
        self.assertEqual(self.query("sum", "apple", options=["-m", model]), {b"apple": 3})
        self.assertEqual(self.info("-m", model, "a")["model"], "tiny")
        row = json.loads(self.run_program("eval", "-q", "--json", "--methods", "rule", "-m", model, data="x\n"))
        self.assertEqual((row["model"], row["aae"]), ("tiny", 0))
        for command in ("query a x", "query -m other.lego a x", "info a", "merge -o x -m tiny.lego a c"):
            self.fails(*command.split(), says="was made with the model")
        self.fails("build", "-o", "x", "-m", "none", says="'none' is neither a built-in model nor a file")
        self.fails("build", "-o", "x", "-m", "a", says="a is not a model")
        self.write("bad.lego", make_model(b"bad")[:-1] + b"?")
        self.fails("build", "-o", "x", "-m", "bad.lego", says="bad.lego: .*checksum")
        self.assertNotIn("x", self.files())

    def test_scan(self):
        model = GOLDEN / "random.lego"
        self.build("a", b"\n".join(words(20000)), "--model", model, "--budget", "300K")
        told, *bricks = map(json.loads, self.run_program("info", "--json", "--scan", "-m", model, "a").splitlines())
        self.assertEqual([brick["brick"] for brick in bricks], list(range(told["blocks"])))
        self.assertEqual(sum(brick["total"] for brick in bricks), 20000)
        self.assertEqual([list(brick) for brick in bricks], [["brick", "total", "distinct", "skew"]] * told["blocks"])
        table = self.run_program("info", "--scan", "-m", model, "a").decode().split("\n\n")[1].splitlines()
        self.assertEqual(table[0].split(), ["brick", "items", "counted", "distinct", "skew"])
        self.assertEqual([int(row.split()[1]) for row in table[1:]], [brick["total"] for brick in bricks])


if __name__ == "__main__":
    unittest.main()
