"""lab of the command: what each experiment writes, against eval and the formulas; and what goes wrong.

SPDX-License-Identifier: MIT
"""
import json, lzma, math, os, struct, sys, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import PROGRAM, Case, words

SHARED_FIELDS = ("method", "model", "budget", "bytes", "n", "N", "aae", "are")
FIGURES = {"ablations": "Figure 9", "bound": "Theorem 4.3", "bytes": "no figure of the paper", "real": "Figure 6",
           "scaling": "Figure 6, Wiki and Webdocs", "skew": "Figure 5, Theorem 4.2", "space": "Figure 2",
           "speed": "Figure 8", "synthetic": "Figures 7 and 10"}


class LabCase(Case):
    def lab(self, experiment, *arguments, **more):
        """Runs it quietly and returns what it wrote."""
        self.run_program("lab", experiment, "-q", *arguments, **more)
        return json.loads(self.read(f"lab-results/{experiment}.json"))

    def eval_rows(self, *arguments, data=b""):
        lines = self.run_program("eval", "-q", "--json", *arguments, data=data).splitlines()
        return [{field: row[field] for field in SHARED_FIELDS} for row in map(json.loads, lines)]

    def shared(self, rows):
        return [{field: row[field] for field in SHARED_FIELDS} for row in rows]


class Experiments(LabCase):
    def test_how_it_was_measured(self):
        self.write("it's one.txt", b"\n".join(words(500)))
        arguments = ["--quiet", "--seed", "7", "--seeds", "2", "--budget", "8K", "--methods", "cms", "it's one.txt"]
        result = self.lab("real", *arguments)
        quoted = [word if word != "it's one.txt" else "'it'\\''s one.txt'" for word in arguments]
        self.assertEqual(result["command"], " ".join([PROGRAM, "lab", "real", "-q", *quoted]))
        self.assertEqual((result["experiment"], result["figure"]), ("real", "Figure 6"))
        self.assertEqual((result["seed"], result["seeds"]), (7, 2))
        self.assertRegex(f"legosketch {result['version']}\n".encode(), self.run_program("--version"))
        self.assertRegex(result["commit"] or "0" * 12, r"^[0-9a-f]{12}(\+changes)?$")
        self.assertRegex(result["date"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(result["machine"]["cores"], os.cpu_count())
        self.assertGreater(result["machine"]["memory"], 2**20)
        self.assertGreaterEqual(result["seconds"], 0)
        self.assertEqual(result["failures"], [])
        self.assertEqual(self.files(), ["it's one.txt", "lab-results"])  # nothing temporary is left
        self.assertEqual(os.listdir(self.folder / "lab-results"), ["real.json"])

    def test_real_is_eval(self):
        self.write("words.txt.xz", lzma.compress(b"\n".join(words(20000))))
        options = ["--methods", "lego,cms,one", "--budget", "4K,16K", "--seeds", "2", "--seed", "3"]
        result = self.lab("real", *options, "words.txt.xz")
        self.assertEqual(self.shared(result["rows"]), self.eval_rows(*options, "words.txt.xz"))
        self.assertEqual({row["stream"] for row in result["rows"]}, {"words"})
        for row in result["rows"]:
            self.assertAlmostEqual(row["bytes_per_key"], row["budget"] / row["n"])
        self.assertEqual(result["rows"], self.lab("real", *options, "--threads", "1", "words.txt.xz")["rows"])

    def test_formats_by_name(self):
        keys = [int(1000 / (i + 1)) for i in range(1000)]
        self.write("a.u32", struct.pack("<1000I", *keys))
        self.write("b.u64.xz", lzma.compress(struct.pack("<1000Q", *keys)))
        self.write("c.tsv", b"".join(b"%d\t%d\n" % (key, keys.count(key)) for key in sorted(set(keys))))
        self.write("d", b"".join(b"%d\n" % key for key in keys))
        rows = self.lab("real", "--budget", "4K", "--methods", "one", "a.u32", "b.u64.xz", "c.tsv", "d")["rows"]
        self.assertEqual([row["stream"] for row in rows], list("abcd"))
        for row in rows:
            self.assertEqual((row["n"], row["N"]), (len(set(keys)), 1000))
            self.assertAlmostEqual(row["aae"], 1000 / len(set(keys)) - 1)
        row, = self.lab("real", "--budget", "4K", "--methods", "one", "--format", "u64", "a.u32")["rows"]
        self.assertEqual(row["N"], 500)

    def test_own_budgets(self):
        """0.5, 1, 2 and 4 bytes a distinct item, in whole KB and none below the least; every method, and the constant."""
        self.write("a.tsv", b"".join(b"%d\t%d\n" % (i, 1 + i % 7) for i in range(20000)))
        rows = self.lab("real", "--quick", "a.tsv")["rows"]  # of 10 KB and more, where a brick of ms fits
        self.assertEqual(sorted({row["budget"] for row in rows}), [10 << 10, 20 << 10, 40 << 10, 79 << 10])
        self.assertGreaterEqual({row["method"] for row in rows}, {"lego", "rule", "lego-paper", "cms", "one"})
        self.assertFalse({"exact", "d-lego-quarter", "d-cms-quarter"} & {row["method"] for row in rows})
        self.write("b", b"x\nx\nx\n")  # a constant stream
        rows = self.lab("real", "--methods", "lego", "b")["rows"]
        self.assertEqual([(row["method"], row["budget"], row["n"], row["N"]) for row in rows],
                         [("lego", 4096, 1, 3), ("one", 4096, 1, 3)])
        self.assertLess(rows[0]["aae"], 1e-6)
        self.assertEqual((rows[1]["aae"], rows[1]["are"]), (2, 2 / 3))

    def test_space(self):
        """From an eighth of a byte a distinct item to 15, of the methods of its own unless others are asked for."""
        self.write("a.tsv", b"".join(b"%d\t%d\n" % (i, 1 + i % 7) for i in range(40000)))
        sizes = [0.125, 0.25, 0.5, 1, 1.5, 2, 2.5, 3.75, 5, 7.5, 10, 15]
        budgets = [max(int(size * 40000) // 1024 + 1, 4) << 10 for size in sizes]
        rows = self.lab("space", "--methods", "cms", "--seeds", "1", "a.tsv")["rows"]
        self.assertEqual([row["budget"] for row in rows if row["method"] == "cms"], budgets)
        self.assertEqual({row["method"] for row in rows}, {"cms", "one"})
        rows = self.lab("space", "--quick", "a.tsv", says="ms at 5K on a is left out")["rows"]
        self.assertEqual(sorted({row["budget"] for row in rows}), budgets[::3])
        self.assertEqual({row["method"] for row in rows}, {"cms", "cs", "lcs", "ms", "d-cms", "lego-paper", "rule-paper", "d-lego-paper",
                                                           "d-lego", "lego", "cqf", "one"})
        self.assertEqual([row["error"] for row in rows if row["method"] == "cqf" and "aae" not in row][0],
                         "the stream does not fit")
        options = ["--methods", "d-cms,lego,one", "--budget", "8K,32K"]
        self.write("words.txt", b"\n".join(words(20000)))
        self.assertEqual(self.shared(self.lab("space", "--seeds", "1", *options, "words.txt")["rows"]),
                         self.eval_rows(*options, "words.txt"))

    def test_synthetic_is_gen_and_eval(self):
        options = ["--methods", "cs,cms,one", "--budget", "4K,8K", "--seeds", "2"]
        rows = self.lab("synthetic", *options, "--alphas", "0.7,1.2", "--distinct", "3000")["rows"]
        for alpha in ("0.7", "1.2"):
            stream = self.run_program("gen", "zipf", "-n", "3000", "-a", alpha, "-f", "u32")
            ours = self.shared(row for row in rows if row["alpha"] == float(alpha))
            for mine, wanted in zip(ours, self.eval_rows(*options, "-f", "u32", data=stream), strict=True):
                for field in ("aae", "are"):  # summed in another order
                    self.assertAlmostEqual(mine.pop(field), wanted.pop(field), 9)
                self.assertEqual(mine, wanted)

    def test_bytes(self):
        rows = self.lab("bytes", "--quick", "-n", "5000", "--alphas", "0.9", "--methods", "lego,cms",
                        says="lego at 1.2K on zipf 0.9 is left out: the budget")["rows"]
        sizes = [0.25, 0.5, 1, 2, 3, 4, 6, 8]
        for method in ("lego", "cms", "one"):
            mine = [row for row in rows if row["method"] == method]
            self.assertEqual([row["budget"] for row in mine], [int(size * 5000) for size in sizes])
            for row, size in zip(mine, sizes):
                if method == "lego" and row["budget"] < 4096:  # it says why instead
                    self.assertIn("the budget does not fit", row["error"])
                    self.assertNotIn("aae", row)
                else:
                    self.assertAlmostEqual(row["bytes_per_key"], size)
                    self.assertGreaterEqual(row["aae"], 0)

    def test_scaling(self):
        result = self.lab("scaling", "--scale", "0.001", "--methods", "cms")
        self.assertEqual(result["seeds"], 1)
        rows = result["rows"]
        for name, distinct, total in (("wiki-like", 9380, 24981), ("webdocs-like", 5268, 299887)):
            mine = [row for row in rows if row["stream"] == name and row["method"] == "cms"]
            budgets = [row["budget"] for row in mine]
            self.assertEqual((len(budgets), budgets[0], budgets[-1]), (6, 102400, 204800))
            self.assertEqual(sorted(budgets), budgets)
            for row in mine:
                self.assertEqual(row["n"], distinct)
                self.assertLess(abs(row["N"] - total), 0.03 * total)

    def test_speed(self):
        rows = self.lab("speed", "--quick", "--scale", "0.001", "--methods", "lego,cms")["rows"]
        published = [row for row in rows if "published" in row]
        self.assertEqual(sorted((row["device"], row["threads"], row["operation"]) for row in published),
                         sorted((device, threads, operation) for device, threads in (("CPU", 1), ("CPU", 16), ("GPU", 1))
                                for operation in ("query", "store")))
        rows = [row for row in rows if row not in published and row["device"] == "CPU"]
        methods = {row["method"] for row in rows}
        self.assertEqual(methods, {"lego", "cms", "one", "lego, batches", "lego, batches, all cores",
                                   "lego-paper, batches", "lego-paper, batches, all cores"})
        self.assertEqual(sorted((row["method"], row["operation"]) for row in rows),
                         sorted((method, operation) for method in methods for operation in ("query", "store")))
        for row in rows:
            self.assertGreater(row["millions_per_second"], 0)
            self.assertEqual(row["items"], row["N"] if row["operation"] == "store" else row["n"])
            self.assertEqual(row["threads"], os.cpu_count() if "all cores" in row["method"] else 1)

    def test_skew(self):
        """Theorem 4.2 summed here in full, for few bricks; one brick has the whole stream, so its skewness."""
        rows = self.lab("skew", "--quick")["rows"]
        found = {(row["how"], row["bricks"], row["rank"]): row["ratio"] for row in rows}
        self.assertEqual({bricks for _, bricks, _ in found}, {1, 4, 16, 64, 256, 1400})
        self.assertEqual({rank for _, _, rank in found}, {*range(1, 11), 20, 50, 100, 200, 500, 1000})
        self.assertEqual({row["series"] for row in rows if row["bricks"] == 1}, {"K = 1, alpha itself"})
        for bricks, rank in [(4, 1), (4, 2), (4, 10), (16, 1), (16, 3)]:
            p, log, expected, likely = 1 / bricks, math.log, 0, (1 / bricks)**rank
            distances = [(d, p * (1 - p)**(d - 1)) for d in range(1, 40 * bricks)]
            for r in range(rank, rank + 40 * rank * bricks):
                expected += likely * sum(q * log(1 + d / r) for d, q in distances)
                likely *= r / (r - rank + 1) * (1 - p)
            self.assertAlmostEqual(found["theorem", bricks, rank], expected / log(1 + 1 / rank), 4)
        for (how, bricks, rank), ratio in found.items():
            if bricks == 1:
                self.assertAlmostEqual(ratio, 1, 9)
            elif how == "simulation":  # 4,000 samples whose deviation is about 1
                self.assertLess(abs(ratio - found["theorem", bricks, rank]), 0.09, (bricks, rank))
        self.assertLess(abs(found["theorem", 1400, 100] - 1), 0.01)  # what the paper says of all but the first ten

    def test_bound(self):
        rows = self.lab("bound", "--quick", "-n", "3000", "--alphas", "0.8")["rows"]
        table = self.run_program("gen", "zipf", "-n", "3000", "-a", "0.8", "-f", "tsv").splitlines()
        counts = {int(key): int(count) for key, count in (line.split(b"\t") for line in table)}
        stream = struct.pack(f"<{sum(counts.values())}I", *(key for key, count in counts.items() for _ in range(count)))
        self.build("a", stream, "-q", "-f", "u32", "--model", "paper", "--blocks", "1", "--columns", "5120")
        upper = self.query("a", *counts, options=["-f", "u32"])
        checked = 0
        for row in rows:
            if row["stream"] == "the bound":
                self.assertAlmostEqual(row["share"], 1 / row["times"])
                continue
            self.assertTrue(row["holds"])
            self.assertLessEqual(row["share"], row["bound"])
            self.assertAlmostEqual(row["epsilon"], row["times"] / row["columns"])
            self.assertEqual((row["model"], row["columns"]), ("paper", 5120))
            limit = row["times"] * row["N"] / 5120
            beyond = sum(upper[b"%d" % key] - count >= limit for key, count in counts.items())
            self.assertAlmostEqual(row["share"], beyond / len(counts))
            checked += 1
        self.assertEqual(checked, 8)

    def test_ablations(self):
        """Models as eval has them, each by the name in it; the rule of the first and the constant 1 once."""
        train = ["train", "--preset", "quick", "--tasks", "8", "--n-min", "2000", "-q"]
        self.run_program(*train, "-o", "a.lego", "--name", "complete")
        self.run_program(*train, "-o", "b.lego", "--name", "no-normalis.", "--no-normalisation")
        options = ["--budget", "100K,300K", "--seeds", "2", "--seed", "3"]
        result = self.lab("ablations", *options, "-n", "3000", "--alphas", "0.7,1.2", "a.lego", "paper", "b.lego")
        rows = result["rows"]
        kinds = {"complete": ("a.lego", "lego-paper"), "rule": ("a.lego", "rule"), "one": (None, "one"),
                 "paper": ("paper", "lego-paper"), "no-normalis.": ("b.lego", "lego-paper")}
        self.assertEqual({row["variant"]: (row["file"], row["method"]) for row in rows}, kinds)
        for alpha in ("0.7", "1.2"):
            stream = self.run_program("gen", "zipf", "-n", "3000", "-a", alpha, "-f", "u32")
            for variant, (file, method) in kinds.items():
                ours = self.shared(row for row in rows if (row["variant"], row["alpha"]) == (variant, float(alpha)))
                asked = [*options, "--methods", method, "-m", file or "a.lego", "-f", "u32"]
                for mine, wanted in zip(ours, self.eval_rows(*asked, data=stream), strict=True):
                    for field in ("aae", "are"):  # summed in another order
                        self.assertAlmostEqual(mine.pop(field), wanted.pop(field), 6)
                    self.assertEqual(mine, wanted)
        rows = self.lab("ablations", "--quick", "-n", "2000", "paper")["rows"]
        self.assertEqual({(row["alpha"], row["budget"]) for row in rows},
                         {(alpha, size << 10) for alpha in (0.7, 0.9, 1.1) for size in (300, 900, 2100)})
        self.write("none", b"LEGOTRAI")
        self.run_program("lab", "ablations", "-q", "--quick", "-n", "2000", "none", "b.lego", code=1,
                         says="(?s)none is not a model.*some of it failed")
        result = json.loads(self.read("lab-results/ablations.json"))
        self.assertEqual(result["failures"], ["none could not be used"])
        self.assertEqual({row["variant"] for row in result["rows"]}, {"no-normalis.", "rule", "one"})

    def test_all(self):
        """One stream cannot be read: the rest of it and the others' results are there, and the status tells."""
        self.write("a.txt", b"\n".join(words(300)))
        self.run_program("lab", "all", "--quick", "-q", "-n", "2000", "--alphas", "0.9", "--scale", "0.0005",
                         "--methods", "cms", "--budget", "8K", "a.txt", "missing.txt", code=1,
                         says="(?s)missing.txt: No such file.*ablations: left out.*2 of 9 experiments failed")
        self.assertEqual(sorted(os.listdir(self.folder / "lab-results")),
                         sorted(f"{name}.json" for name in FIGURES if name != "ablations"))
        for name in FIGURES.keys() - {"ablations"}:
            result = json.loads(self.read(f"lab-results/{name}.json"))
            self.assertEqual((result["experiment"], result["figure"]), (name, FIGURES[name]))
            if name in ("real", "space"):
                self.assertEqual({row["stream"] for row in result["rows"]}, {"a"})
                self.assertEqual(result["failures"], ["missing.txt could not be used"])


class WrongInput(LabCase):
    def test_wrong_usage(self):
        for arguments, says in [
            ([], "which experiment"), (["reel"], "no experiment 'reel'; did you mean 'real'"),
            (["real"], "real: name the files"), (["space"], "space: name the files"), (["ablations"], "name models"),
            (["skew", "x"], "skew takes no files"),
            (["bytes", "--methods", "lego,cmz"], "'cmz' is not a method"),
            (["bytes", "--methods", ""], "'' is not a method"),
            (["synthetic", "--budget", "1K"], "'1K' is not a budget: the least is 4K"),
            (["synthetic", "--budget", "100G"], "the largest is 64G"),
            (["synthetic", "--budget", "4K,"], "'' is not a size"),
            (["synthetic", "--alphas", "0.5,x"], "'x' is not a skewness"), (["bytes", "--seeds", "0"], "'0' is not"),
            (["synthetic", "--budget", ",".join(["4K"] * 65)], "list is too long"),
        ]:
            with self.subTest(arguments=arguments):
                self.run_program("lab", *arguments, code=2, says=says)
        self.assertEqual(self.files(), [])

    def test_streams(self):
        for name, data, says in [("empty", b"", "empty has no items"), ("short.u32", b"abcde", "short.u32:2: "),
                                 ("bad.tsv", b"a\t1\nb\n", "bad.tsv:2: "), ("bad.xz", b"not xz", "bad.xz")]:
            self.write(name, data)
            self.fails("lab", "real", "-q", name, says=f"(?s){says}.*real: failed, nothing is written")
        self.fails("lab", "real", "-q", "missing", says="missing: No such file")
        self.fails("lab", "real", "-q", ".", says="(?s)directory.*nothing is written")
        self.assertEqual(os.listdir(self.folder / "lab-results"), [])
        result = self.lab("real", "--on-error", "skip", "--methods", "one", "bad.tsv", says="bad.tsv:2: ")
        self.assertEqual(result["rows"][0]["N"], 1)

    def test_deletions(self):
        """A method that cannot delete is not measured on what is left, as if nothing had been deleted."""
        self.write("back.tsv", b"a\t3\nb\t5\na\t-1\n")
        self.fails("lab", "real", "-q", "--methods", "lego,cu", "--budget", "10K", "back.tsv",
                   says="(?s)negative counts, and cu cannot delete: leave it out.*nothing is written")
        result = self.lab("real", "--methods", "lego", "--budget", "10K", "back.tsv")
        self.assertEqual([row["N"] for row in result["rows"]], [7, 7])

    def test_files_stay_whole(self):
        self.write("a", b"a\nb\n")
        self.lab("real", "--methods", "one", "a")
        before = self.read("lab-results/real.json")
        self.fails("lab", "real", "-q", "missing", says="nothing is written")
        self.assertEqual(self.read("lab-results/real.json"), before)
        self.fails("lab", "skew", "-q", "-o", "a", says="cannot write into the folder a: Not a directory")
        self.fails("lab", "skew", "-q", "-o", "no/where", says="cannot make the folder no/where: No such file")
        os.mkdir(self.folder / "lab-results" / "skew.json")
        self.fails("lab", "skew", "-q", "--quick",
                   says="(?s)cannot write lab-results/skew.json: Is a directory.*failed")
        self.assertEqual(sorted(os.listdir(self.folder / "lab-results")), ["real.json", "skew.json"])


if __name__ == "__main__":
    unittest.main()
