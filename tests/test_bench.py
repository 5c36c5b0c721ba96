"""build/bench: every path is there, its numbers are numbers and its answers right; options. Never how fast it is.

SPDX-License-Identifier: MIT
"""
import itertools, json, os, subprocess, tempfile, unittest

BENCH = os.environ["BENCH"]
LEGO = {"lego dense", "lego flat", "lego paper", "lego rule"}
LAB = {"cu", "elastic"}
YARDSTICKS = {"count-min", "count-min prefetch"}
LIMITS = {"one counter", "one counter prefetch"}
SMALL, MIDDLE = int(1.2 * 2**20), 16 * 2**20
THREADS = 2


def run(*arguments, status=0):
    done = subprocess.run([BENCH, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done


def key(row):
    return tuple(row[field] for field in ("budget", "keys", "operation", "calls", "method", "threads"))


def expected():
    """Every path that `--quick --threads 2` must have."""
    for budget, keys, operation, calls in itertools.product(
            (SMALL, MIDDLE), ("u64", "text"), ("store", "query", "pairs"), ("single", "batch")):
        if keys == "text" and operation == "pairs":
            continue
        methods = LEGO | YARDSTICKS if calls == "batch" else LEGO | LAB | {"count-min"}
        if calls == "batch" and keys == "u64" and operation != "pairs":
            methods = methods | LIMITS
        for method in methods:
            yield budget, keys, operation, calls, method, 1
            if method in LEGO and calls == "batch" and keys == "u64":
                yield budget, keys, operation, calls, method, THREADS


class Quick(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bench.json")
            cls.text = run("--quick", "--threads", str(THREADS), "--json", path).stdout
            with open(path) as file:
                cls.result = json.load(file)
        rows = cls.result["rows"]
        cls.rows = [row for row in rows if row["row"] == "path"]
        cls.paths = [row for row in cls.rows if row["growth_by"] is None]
        cls.growth = [row for row in cls.rows if row["growth_by"] is not None]
        cls.targets = [row for row in rows if row["row"] == "target"]

    def test_every_path_once(self):
        self.assertEqual(sorted(map(key, self.paths)), sorted(expected()))

    def test_answers_are_right(self):
        self.assertEqual(self.result["failures"], [])
        self.assertEqual({row["right"] for row in self.rows}, {True})

    def test_numbers(self):
        for row in self.rows:
            self.assertEqual(len(row["wall"]), self.result["repeats"], row)
            self.assertEqual(len(row["cpu"]), self.result["repeats"], row)
            self.assertGreater(min(row["wall"] + row["cpu"] + [row["cpu_per_wall"], row["by_cpu"]]), 0, row)
            self.assertAlmostEqual(row["most"] / (row["items"] / min(row["wall"]) / 1e6), 1)
            self.assertAlmostEqual(row["least"] / (row["items"] / max(row["wall"]) / 1e6), 1)
            self.assertTrue(row["least"] <= row["millions_per_second"] <= row["most"], row)
            self.assertTrue(0 < row["items"] <= row["length"] and 0 < row["distinct"] <= row["ranks"], row)
            self.assertTrue(0.9 * row["budget"] < row["bytes"] <= row["budget"], row)

    def test_compared_with(self):
        """Ratios are to the faster yardstick; shares are there wherever a limit or networks are."""
        def speed(row):  # by CPU time where that says something
            return row["by_cpu"] if row["threads"] == 1 else row["millions_per_second"]

        speeds = {key(row): speed(row) for row in self.paths}
        for row in self.paths:
            *work, method, threads = key(row)
            yard = max(speeds.get((*work, name, 1), 0) for name in YARDSTICKS)
            self.assertAlmostEqual(row["x_yardstick"], speed(row) / yard)
            self.assertGreater(row["of_limit"], 0)
            if row["operation"] == "query" and method == "lego dense":
                flops = 2 * (14 * 40 + 40 * 24 + 24) * speed(row) * 1e6 / threads
                self.assertAlmostEqual(row["of_limit"] / (flops / self.result["peak_flops"]), 1)

    def test_growth(self):
        for axis, field in ("length", "length"), ("distinct", "distinct"), ("budget", "budget"), ("threads", "threads"):
            for operation in "store", "query":
                series = [row[field] for row in self.growth if (row["growth_by"], row["operation"], row["method"]) ==
                          (axis, operation, "lego dense")]
                self.assertGreater(len(series), 1)
                self.assertEqual(series, sorted(set(series)))

    def test_targets(self):
        self.assertIn(("dense store, batch", SMALL), {(row["target"], row["budget"]) for row in self.targets})
        for row in self.targets:
            self.assertEqual(row["reached"], row["measured"] >= row["wanted"])
            self.assertIn(row["target"], self.text)

    def test_how_it_was_measured(self):
        for field in "compiler", "date", "version", "yardstick_instructions", "peak_instructions":
            self.assertTrue(self.result[field], field)
        self.assertTrue(self.result["command"].startswith(f"{BENCH} --quick --threads 2 --json "))
        self.assertEqual(self.result["machine"]["cores"], os.cpu_count())
        self.assertGreater(self.result["peak_flops"], 0)
        self.assertGreater(self.result["bytes_per_second"], 0)

    def test_tables(self):
        for word in *LEGO, *LAB, *YARDSTICKS, *LIMITS, "Growth by threads", "1.2M: ", "16M: ":
            self.assertIn(word, self.text)
        self.assertLessEqual(max(map(len, self.text.splitlines())), 130)


class Options(unittest.TestCase):
    def test_filter(self):
        """What the paths are compared with stays; --json - prints nothing else."""
        done = run("paths", "--quiet", "--json", "-", "--sizes", "128K", "--length", "65536", "--repeat", "1", "--small-pages",
                   "--batch", "1000", "--filter", "dense|flat store,batch text")
        rows = [row for row in json.loads(done.stdout)["rows"] if row["row"] == "path"]
        self.assertEqual({row["method"] for row in rows}, {"lego dense", "lego flat"} | YARDSTICKS | LIMITS)
        self.assertEqual({row["keys"] for row in rows if row["method"] not in LIMITS}, {"text"})
        self.assertEqual({row["right"] for row in rows}, {True})
        self.assertTrue(all(row["x_yardstick"] > 0 and row["of_limit"] > 0 for row in rows if row["method"] in LEGO))

    def test_help(self):
        text = run("--help").stdout
        self.assertIn("Usage: bench [OPTION...] [paths] [growth]", text)
        self.assertIn("Examples:\n  bench\n", text)

    def test_wrong_usage(self):
        for arguments in ["speed"], ["--sizes", "1.2M,,16M"], ["--sizes", "1K"], ["--sizes", ""], ["--repeat", "100"], \
                ["--length", "1000"], ["--length", "18446744073709551615"], ["--sise", "1M"]:
            with self.subTest(arguments):
                done = run(*arguments, status=2)
                self.assertEqual(done.stdout, "")
                self.assertIn("'bench --help' shows how it is used", done.stderr)
        self.assertIn("cannot", run("--json", "/nowhere/x.json", status=1).stderr)


if __name__ == "__main__":
    unittest.main()
