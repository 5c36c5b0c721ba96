"""build/bench: every path is there, its numbers are numbers and its answers right; options. Never how fast it is.

SPDX-License-Identifier: MIT
"""
import itertools, json, os, re, shutil, subprocess, tempfile, unittest

BENCH = os.environ["BENCH"]
LEGO = {"lego compact", "lego top", "lego secret", "lego paper"}
YARDSTICKS = {"count-min", "count-min prefetch"}
LIMITS = {"one counter"}
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
            (SMALL, MIDDLE), ("u64", "text", "counted"), ("store", "query", "pairs"), ("single", "batch")):
        if keys == "text" and operation == "pairs" or keys == "counted" and (operation, calls) != ("store", "batch"):
            continue
        methods = LEGO if keys == "counted" else LEGO | YARDSTICKS if calls == "batch" else LEGO | {"count-min"}
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
        cls.rows = cls.result["rows"]

    def test_every_path_once(self):
        self.assertEqual(sorted(map(key, self.rows)), sorted(expected()))

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
            self.assertTrue(0 < row["items"] <= self.result["length"] and 0 < row["distinct"] <= row["ranks"], row)
            # Blocks come as they are needed; all else has the size of its budget, but for what that leaves over.
            grows = row["method"] in LEGO - {"lego paper"}
            least = row["distinct"] if grows else 0.88 * row["budget"]
            self.assertTrue(least < row["bytes"] <= row["budget"], row)

    def test_compared_with(self):
        """Ratios are to the faster yardstick and to one thread; shares are there wherever a limit or networks are."""
        def speed(row):  # by CPU time where that says something
            return row["by_cpu"] if row["threads"] == 1 else row["millions_per_second"]

        speeds = {key(row): speed(row) for row in self.rows}
        medians = {key(row): row["millions_per_second"] for row in self.rows}
        for row in self.rows:
            *work, method, threads = key(row)
            yard = max(speeds.get((*work, name, 1), 0) for name in YARDSTICKS)
            self.assertAlmostEqual(row["x_yardstick"], speed(row) / yard if yard > 0 else 0)
            self.assertGreater(row["of_limit"], 0)
            gain = row["millions_per_second"] / medians[(*work, method, 1)] if threads > 1 else 0
            self.assertAlmostEqual(row["x_one_thread"], gain)
            if row["operation"] == "query" and method == "lego paper":
                flops = 2 * 3476 * speed(row) * 1e6 / threads
                self.assertAlmostEqual(row["of_limit"] / (flops / self.result["peak_flops"]), 1)

    def test_how_it_was_measured(self):
        for field in "compiler", "date", "version", "yardstick_instructions", "peak_instructions":
            self.assertTrue(self.result[field], field)
        self.assertTrue(self.result["command"].startswith(f"{BENCH} --quick --threads 2 --json "))
        self.assertEqual(self.result["machine"]["cores"], os.cpu_count())
        self.assertGreater(self.result["peak_flops"], 0)
        self.assertGreater(self.result["bytes_per_second"], 0)

    def test_tables(self):
        for word in *LEGO, *YARDSTICKS, *LIMITS, "GFLOP/s", "1.2M: ", "16M: ":
            self.assertIn(word, self.text)
        self.assertLessEqual(max(map(len, self.text.splitlines())), 130)


class Asked(unittest.TestCase):
    def test_table(self):
        """Every row has a number for each size, but for young sketches, which are of one, and a ratio but for counts."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "asked.json")
            text = run("asked", "--quick", "--quiet", "--sizes", "256K,1M", "--json", path).stdout
            with open(path) as file:
                result = json.load(file)
        table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
        self.assertEqual(table[0], ["M/s at 256K / 1M", "asked", "measured", "x count-min"])
        self.assertEqual(len(table), 2 + 17)
        for name, asked, measured, ratio in table[2:]:
            numbers, ratios = measured.split(" / "), ratio.split(" / ")
            absent = [] if "million" in name else ["-"] if "young" in name else []
            self.assertEqual(numbers[1:].count("-"), len(absent), name)
            self.assertGreater(float(numbers[0]), 0, name)
            self.assertEqual(ratios[0] == "-", "with counts" in name or "million" in name, name)
        self.assertEqual({row["right"] for row in result["rows"]}, {True})
        self.assertEqual({row["batch"] for row in result["rows"]}, {0, 1 << 20, 1 << 16})
        full = {(row["operation"], row["crowd"]) for row in result["rows"] if row["crowd"] > 0}
        self.assertEqual(full, {(operation, size) for operation in ("query", "store") for size in (256 << 10, 1 << 20)})
        self.assertGreater(result["small_sketch_microseconds_an_item"], 0)


class Growth(unittest.TestCase):
    def test_points(self):
        """Four things grow; the sketch's errors are below the Count-Min's, and there are those of the answer 1."""
        rows = json.loads(run("growth", "--quick", "--quiet", "--threads", "2", "--json", "-").stdout)["rows"]
        for by in "by_length", "by_distinct", "by_bytes", "by_threads":
            points = [row for row in rows if by in row]
            self.assertGreater(len({row[by] for row in points}), 1)
            for row in points:
                self.assertTrue("answers" in row or row["nanoseconds"] > 0 and row["right"], row)
        errors = {}
        for row in rows:
            if "aae" in row:
                place = tuple(sorted((name, value) for name, value in row.items() if name.startswith("by_")))
                errors.setdefault(place, {})[row["answers"]] = row["aae"]
                if row["answers"] == "the answer 1":
                    self.assertAlmostEqual(row["aae"], row["length"] / row["distinct"] - 1)
        self.assertGreater(len(errors), 6)
        for place, of in errors.items():
            self.assertEqual(set(of), {"lego compact", "count-min", "the answer 1"}, place)
            self.assertLessEqual(of["lego compact"], of["count-min"], place)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed: apt-get install gnuplot-nox")
    def test_plots(self):
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.html")
            run("growth", "--quick", "--quiet", "--threads", "2", "--json", os.path.join(folder, "growth.json"))
            subprocess.run([os.environ["LEGOSKETCH"], "report", "--quiet", "-o", page, folder], check=True)
            with open(page) as file:
                labels = re.findall('<svg [^>]*aria-label="([^"]*)"', file.read())
        self.assertEqual(labels, [f"{y}, growth, {grows}" for grows in ("length", "distinct", "bytes") for y in ("Time", "AAE")]
                         + ["Time, growth, threads"])

    def test_table(self):
        lines = run("growth", "--quick", "--quiet").stdout.splitlines()
        self.assertEqual({len(line.split("\t")) for line in lines}, {9})


class Options(unittest.TestCase):
    def test_filter(self):
        """What the paths are compared with stays; --json - prints nothing else."""
        done = run("--quiet", "--json", "-", "--sizes", "128K", "--length", "65536", "--repeat", "1",
                   "--distinct", "1000", "--batch", "1000", "--filter", "compact|paper store,batch text")
        rows = json.loads(done.stdout)["rows"]
        self.assertEqual({row["method"] for row in rows}, {"lego compact", "lego paper"} | YARDSTICKS | LIMITS)
        self.assertEqual({row["keys"] for row in rows if row["method"] not in LIMITS}, {"text"})
        self.assertEqual({row["right"] for row in rows}, {True})
        self.assertTrue(all(row["x_yardstick"] > 0 and row["of_limit"] > 0 for row in rows if row["method"] in LEGO))
        self.assertEqual({(row["ranks"], row["distinct"]) for row in rows}, {(1000, 1000)})

    def test_help(self):
        text = run("--help").stdout
        self.assertIn("Usage: bench [OPTION...] [asked|growth]\n", text)
        self.assertIn("Examples:\n  bench\n", text)

    def test_wrong_usage(self):
        for arguments in ["speed"], ["asked", "growth"], ["asked", "--filter", "u64"], ["growth", "--sizes", "1M"], \
                ["asked", "--sizes", "1M,2M,3M"], ["--sizes", "1.2M,,16M"], ["--sizes", "1K"], ["--sizes", ""], ["--repeat", "100"], \
                ["--length", "1000"], ["--length", "18446744073709551615"], ["--distinct", "0"], ["--sise", "1M"]:
            with self.subTest(arguments):
                done = run(*arguments, status=2)
                self.assertEqual(done.stdout, "")
                self.assertIn("'bench --help' shows how it is used", done.stderr)
        self.assertIn("cannot", run("--json", "/nowhere/x.json", status=1).stderr)


if __name__ == "__main__":
    unittest.main()
