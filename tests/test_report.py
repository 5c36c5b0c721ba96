"""report of the command: the page against the results it is made of, opened in Chromium; and what goes wrong.

SPDX-License-Identifier: MIT
"""
import html.parser, json, os, re, shutil, subprocess, sys, tempfile, unittest
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import ENVIRONMENT, PROGRAM, Case, words

CHROMIUM = shutil.which("chromium")
HOSTILE = "<script>alert('x')</script>\"&`id`$(id)\n'; system 'id' #"

# Which field tells figures, lines and points of an experiment apart, and which are drawn.
ERRORS = ("aae", "are")
VIEWS = {
    "real": ("stream", "method", "budget", ERRORS),
    "space": ("stream", "method", "budget", ERRORS),
    "synthetic": ("alpha", "method", "budget", ERRORS),
    "speed": ("device", "operation", "method", ("millions_per_second",)),
    "ablations": ("alpha", "variant", "budget", ERRORS),
    "skew": ("how", "series", "rank", ("ratio",)),
    "bound": ("model", "stream", "times", ("share",)),
    "scaling": ("stream", "method", "budget", ERRORS),
    "bytes": ("alpha", "method", "bytes_per_key", ERRORS),
}


def size_text(size):
    units = ["", "K", "M", "G", "T"]
    unit = 0
    while size >= 1024 and unit < 4:
        size, unit = size / 1024, unit + 1
    return f"{size:.{0 if size == int(size) else 1}f}{units[unit]}"


class Page(html.parser.HTMLParser):
    """The tables of a page, how many plots it has and what is drawn in each, and every tag and attribute."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.plots, self.tags, self.names, self.cell = {}, [], set(), [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.add(tag)
        self.names += [attributes["id"]] if "id" in attributes else []
        if any(name.startswith("on") for name in attributes):
            raise AssertionError(attributes)
        if tag == "svg":
            self.plots.append({"label": attributes["aria-label"], "paths": 0})
        if tag == "path" and self.plots and attributes.get("d", "").count("L"):
            self.plots[-1]["paths"] += 1
        if tag == "table":
            self.rows = self.tables[attributes["data-experiment"], attributes["data-panel"], attributes["data-y"]] = []
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.cell = ""

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.rows[-1].append(self.cell)
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data


class Report(Case):
    @classmethod
    def setUpClass(cls):
        """Every experiment once, small."""
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.results = Path(folder.name) / "results"
        (Path(folder.name) / "a <b>.txt").write_bytes(b"\n".join(words(3000)))

        def run(*arguments):
            done = subprocess.run([PROGRAM, *arguments], cwd=folder.name, env=ENVIRONMENT, capture_output=True,
                                  text=True)
            if done.returncode != 0:
                raise RuntimeError(done.stderr)
        run("train", "--preset", "quick", "--tasks", "8", "-q", "-o", "a.lego", "--name", "complete")
        run("lab", "all", "--quick", "-q", "-o", "results", "-n", "5000", "--alphas", "0.7,0.9", "--scale", "0.001",
            "--methods", "lego,cms", "--models", "a.lego,paper", "a <b>.txt")

    def setUp(self):
        super().setUp()
        if shutil.which("gnuplot") is None:
            self.skipTest("gnuplot is not installed: apt-get install gnuplot-nox")
        shutil.copytree(self.results, self.folder / "results")

    def report(self, *arguments, **more):
        self.run_program("report", "-q", "-o", "report.html", *arguments, "results", **more)
        return self.read("report.html").decode()

    def change(self, name, how):
        path = self.folder / "results" / f"{name}.json"
        result = json.loads(path.read_text())
        how(result)
        path.write_text(json.dumps(result))
        return result

    def check_tables(self, page):
        """Every number of every result is where it belongs, and nothing else is."""
        for path in sorted((self.folder / "results").iterdir()):
            result = json.loads(path.read_text())
            panel, series, x, ys = VIEWS[result["experiment"]]
            for y in ys:
                cells = {}
                for row in result["rows"]:
                    if y in row:
                        where = row[panel] if panel is not None else ""
                        point = size_text(row[x]) if x == "budget" else row[x]
                        names = [v if isinstance(v, str) else f"{v:g}" for v in (where, row[series], point)]
                        cells.setdefault(names[0], {})[tuple(names[1:])] = f"{row[y]:.4g}"
                self.assertTrue(cells, (path, y))
                for where, wanted in cells.items():
                    header, *rows = page.tables.pop((result["experiment"], where, y))
                    found = {(name, row[0]): cell for row in rows for name, cell
                             in zip(header[1:], row[1:], strict=True) if cell != "\u2013"}
                    self.assertEqual({k: float(v) for k, v in found.items()}, {k: float(v) for k, v in wanted.items()})
        self.assertEqual(page.tables, {})

    def figures(self):
        count = 0
        for path in (self.folder / "results").iterdir():
            result = json.loads(path.read_text())
            panel, _, _, ys = VIEWS[result["experiment"]]
            count += len({row.get(panel) for row in result["rows"]}) * len(ys)
        return count

    def check_page(self, text):
        page = Page(text)
        self.assertEqual(len(page.plots), self.figures())
        for plot in page.plots:
            self.assertGreater(plot["paths"], 3, plot)
        self.assertEqual(len(page.names), len(set(page.names)), "an id is there twice")
        self.assertFalse(page.tags & {"script", "iframe", "object", "embed", "img", "form"}, page.tags)
        self.assertIsNone(re.search(r"(?i)(src|href)\s*=\s*[\"']?(https?:|//|file:)", text))
        self.check_tables(page)

    def test_page(self):
        text = self.report()
        self.check_page(text)
        self.assertTrue("prefers-color-scheme:dark" in text)
        self.assertTrue("@media print" in text)
        self.assertTrue("name=viewport" in text)
        self.assertIsNone(re.search("[\"']black[\"']", text))
        for path in (self.folder / "results").iterdir():
            result = json.loads(path.read_text())
            commit = result["commit"] or "unknown"
            figures = re.findall(r"<figcaption.*?</figcaption>", text)
            self.assertTrue(all(commit in figure and "lab all --quick" in figure for figure in figures))
            self.assertTrue(f'<section id="{result["experiment"]}">' in text)

    @unittest.skipUnless(CHROMIUM, "there is no Chromium to open the report in: apt-get install chromium")
    def test_in_a_browser(self):
        self.report()
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/profile",
                   "--enable-logging=stderr", "--no-first-run"]
        address = f"file://{self.folder}/report.html"

        def run(*arguments):
            done = subprocess.run([*command, *arguments, address], capture_output=True, text=True, timeout=120,
                                  env={**os.environ, "HOME": str(self.folder)})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("CONSOLE", done.stderr)  # errors of the page: of its policy, of what it could not load
            return done.stdout
        self.check_page(run("--dump-dom"))
        for name, width in (("phone", 390), ("wide", 1400)):
            run(f"--screenshot={self.folder}/{name}.png", f"--window-size={width},2000")
            self.assertGreater((self.folder / f"{name}.png").stat().st_size, 20000)
        run(f"--print-to-pdf={self.folder}/paper.pdf")
        self.assertEqual(self.read("paper.pdf")[:5], b"%PDF-")

    def test_hostile_text(self):
        def spoil(result):
            for field in ("title", "figure", "command", "commit", "version", "date"):
                result[field] = HOSTILE
            result["machine"] = {"cpu": HOSTILE, "system": HOSTILE, "cores": HOSTILE, "memory": []}
            result["failures"] = [HOSTILE, 7]
            for row in result["rows"][::2]:
                row["stream"] = row["method"] = HOSTILE
            result["rows"] += [7, None, [], {"stream": 7, "method": "lego", "budget": "x", "aae": 1},
                               {"stream": "a", "method": "lego", "budget": -1e300, "aae": 1e300}]
        self.change("real", spoil)
        self.write("results/worse.json", '{"experiment": "<script>", "rows": []}')
        self.run_program("report", "-o", "report.html", "results", code=1, says="worse.json is not a result")
        text = self.read("report.html").decode()
        page = Page(text)
        self.assertFalse(page.tags & {"script"})
        self.assertTrue("&lt;script&gt;alert(&#39;x&#39;)" in text)  # not assertIn, which would print the page
        self.assertFalse("<script" in text)

    def test_reference(self):
        os.mkdir(self.folder / "known")
        figures = {"budget_kb": [300, 600], "lego_AAE": [0.125, 0.0625], "lego_ARE": [0.5, 0.25], "cms_AAE": [3, 2],
                   "ms_budget_kb": [9, 300], "ms_AAE": [7, 6]}
        row = json.loads(self.read("results/real.json"))["rows"][0]
        peers = {row["stream"]: {"N": row["N"], "n": row["n"], "budgets": {"4KB": {"cu": [0.375, 0.875]}}}}
        self.write("known/synthetic.json", json.dumps({"0.7": figures}))
        self.write("known/real_peers.json", json.dumps(peers))

        def table(text, *name):
            header, *rows = Page(text).tables[name]
            return {(name, row[0]): cell for row in rows for name, cell in zip(header[1:], row[1:])}
        # the published streams have 100,000 items, these 5,000: nothing to compare
        self.assertFalse("lego, published" in self.report("--reference", "known"))

        def grow(result):
            for row in result["rows"]:
                row["n"] = 100000
        self.change("synthetic", grow)
        text = self.report("--reference", "known")
        found = table(text, "synthetic", "0.7", "aae")
        self.assertEqual([found["lego, published", size] for size in ("300K", "600K")], ["0.125", "0.0625"])
        self.assertEqual([found["ms, published", size] for size in ("9K", "300K")], ["7", "6"])
        self.assertEqual(table(text, "synthetic", "0.7", "are")["lego, published", "600K"], "0.25")
        self.assertNotIn(("lego, published", "300K"), table(text, "synthetic", "0.9", "aae"))
        self.assertEqual(table(text, "real", row["stream"], "are")["cu, reference", "4K"], "0.875")
        peers[row["stream"]]["N"] += 1  # another stream of that name
        self.write("known/real_peers.json", json.dumps(peers))
        self.assertFalse("cu, reference" in self.report("--reference", "known"))
        self.report("--reference", "nowhere", code=1,
                    says="(?s)nowhere/synthetic.json cannot be read: No such file.*no publish")

    def test_damaged(self):
        good = self.read("results/skew.json")
        self.write("results/skew.json", good[:len(good) // 2])
        self.write("results/other.json", "{}")
        self.write("results/empty.json", "")
        os.mkdir(self.folder / "results" / "folder.json")
        self.report(code=1, says="(?s)empty.json is empty: left out.*folder.json cannot be read: Is a directory.*"
                                 "other.json is not a result of 'legosketch lab': left out.*skew.json is damaged")
        text = self.read("report.html").decode()
        self.assertTrue("results/skew.json is damaged" in text)
        self.assertTrue('<section id="bound">' in text)
        self.assertFalse('<section id="skew">' in text)

    def test_wrong_usage(self):
        self.run_program("report", "results", code=2, says="--output FILE is missing")
        self.run_program("report", "-o", "a", "b", "c", code=2, says="'c': it takes one folder")
        self.fails("report", "-o", "a.html",
                   says="cannot read the folder lab-results: No such file.*'legosketch lab all")
        self.fails("report", "-o", "no/where.html", "results", says="cannot write no/where.html: No such file")
        os.mkdir(self.folder / "none")
        self.fails("report", "-o", "a.html", "none", says="none has no results")
        done = subprocess.run([PROGRAM, "report", "-o", "a.html", "results"], cwd=self.folder, capture_output=True,
                              text=True, env={**ENVIRONMENT, "PATH": "/nowhere"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("gnuplot, which is not installed: apt-get install gnuplot-nox", done.stderr)
        self.assertEqual(self.files(), ["none", "results"])


if __name__ == "__main__":
    unittest.main()
