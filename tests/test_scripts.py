"""scripts/ as those meet them who have no more than a clone: they work, or say what to do. How streams are converted.

SPDX-License-Identifier: MIT
"""
import importlib.machinery, importlib.util, json, lzma, os, shutil, struct, subprocess, sys, tempfile, unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = str(Path(os.environ.get("LEGOSKETCH", ROOT / "build" / "legosketch")).resolve())
sys.path.insert(0, str(ROOT / "scripts"))
import streams

loader = importlib.machinery.SourceFileLoader("fetch_streams", str(ROOT / "scripts" / "fetch-streams"))
fetch = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
loader.exec_module(fetch)


class Clone(unittest.TestCase):
    """A folder with scripts/ and reference/, no streams beside it, and the program in $LEGOSKETCH."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name, "clone")
        for part in ("scripts", "reference"):
            shutil.copytree(ROOT / part, self.root / part, ignore=shutil.ignore_patterns("__pycache__"))

    def run_script(self, name, *arguments, code=0, program=PROGRAM, **environment):
        done = subprocess.run([self.root / "scripts" / name, *map(str, arguments)], capture_output=True, text=True,
                              env={**os.environ, "LAB_FILES": "", "LEGOSKETCH": program, **environment})
        self.assertNotIn("Traceback", done.stderr)
        self.assertEqual(done.returncode, code, (name, done.stderr))
        return done.stdout, done.stderr

    def test_no_streams(self):
        for name in ("compare-peers", "compare-before", "compare-hindsight", "compare-keep", "check-top"):
            self.assertEqual(self.run_script(name, code=1)[1], "real streams are not there: run scripts/fetch-streams\n")
        self.assertIn("run scripts/fetch-streams", self.run_script("compare-baselines", "--peers", code=1)[1])
        for name in ("check-bounds", "check-monotone"):
            self.assertIn("run scripts/fetch-streams", self.run_script(name, code=1)[1])

    def test_no_program(self):
        said = self.run_script("compare-published", code=1, program="/nowhere/legosketch")[1]
        self.assertEqual(said, "there is no /nowhere/legosketch: run make\n")

    def test_some_streams(self):
        """Those of $LAB_FILES; the others are named and left out."""
        path = self.root / "retail.u32.xz"
        path.write_bytes(lzma.compress(struct.pack("<20000I", *(i * i % 16470 for i in range(20000)))))
        out, said = self.run_script("compare-before", "--points", "1.0", "--seeds", "1", LAB_FILES=str(path))
        self.assertIn("retail\t1.0\t", out)
        self.assertEqual(said.count("is left out"), 6)

    def test_published(self):
        known = json.loads((ROOT / "reference" / "synthetic.json").read_text())["0.5"]
        few = self.root / "few.json"
        few.write_text(json.dumps({"0.5": {name: figures[:1] for name, figures in known.items()}}))
        out, said = self.run_script("compare-published", "--method", "rule", few)
        self.assertEqual(said, "")
        self.assertRegex(out, r"(?m)^     all .* 1\.0\d+$|^     all .* 0\.9\d+$")


    def test_tables_of_the_lab(self):
        """lab-tables and compare-claim print what results say, and what makes them where there are none."""
        self.assertIn("lab space -o", self.run_script("lab-tables", "space", code=1)[1])
        self.assertIn("'legosketch lab space' makes it", self.run_script("compare-claim", code=1)[1])
        self.assertIn("no experiment 'spice'", self.run_script("lab-tables", "spice", code=2)[1])
        folder = self.root / "build" / "lab"
        folder.mkdir(parents=True)
        rows = [{"stream": "a", "method": method, "budget": (10 * size + 1) << 10, "n": 10240, "N": 50000, "aae": aae / size, "are": 0.1}
                for method, aae in (("lego-paper", 1), ("cms", 4), ("one", 3)) for size in (1, 5)]
        rows.append({"stream": "a", "method": "ms", "budget": 11 << 10, "error": "too small"})
        head = {"figure": "Figure 2", "commit": "c", "date": "2026-01-01T", "seconds": 1}
        (folder / "space.json").write_text(json.dumps({**head, "rows": rows}))
        out = self.run_script("lab-tables", "space")[0]
        self.assertIn("| `lego-paper` | 1 / 0.1 | 0.2 / 0.1 |", out)
        self.assertIn("| `ms` | fits 0 of 1 | fits 0 of 1 |", out)
        out = self.run_script("compare-claim")[0]
        self.assertRegex(out, r"0\.250.*1 of 1")  # one point of 2.5 to 15 bytes


class Streams(unittest.TestCase):
    def test_conversions(self):
        self.assertEqual(fetch.baskets(b"1 2 \n3 \n4 5\n", most=2), struct.pack("<3I", 1, 2, 3))
        self.assertEqual(fetch.baskets(b"1 2 \n3 \n4 5\n"), struct.pack("<5I", 1, 2, 3, 4, 5))
        self.assertEqual(fetch.edges(b"4 1 1254192988\n2 3 1254192989\n"), struct.pack("<2Q", (4 << 32) + 1, (2 << 32) + 3))
        self.assertEqual(fetch.big_endian(struct.pack(">2I", 1, 2)), struct.pack("<2I", 1, 2))
        self.assertEqual(fetch.words("Well, Prince: “He’s 42”\r\n".encode()), "well\nprince\n“he’s\n”\n".encode())
        log = b"\0ann@x\n\na.c\nb.c\n\0bob@y\n\0bob@y\n\nb.c\nd.c\n"
        self.assertEqual(fetch.edits(log), struct.pack("<4Q", 0, 1, (1 << 32) + 1, (1 << 32) + 2))

    @unittest.skipUnless(len(streams.real_paths()) >= 7, "real streams are not there")
    def test_there_and_back(self):
        """What was published, as far as a stream tells, put where a download would be: the bytes are the known ones."""
        data = {name: lzma.open(path).read() for name, path in streams.real_paths().items()}

        def numbers(name, code="I"):
            return struct.unpack(f"<{len(data[name]) // struct.calcsize(code)}{code}", data[name])

        with tempfile.TemporaryDirectory() as folder:
            for name, items in (("kosarak", numbers("kosarak100k")), ("retail", numbers("retail"))):
                lines = [items[i:i + 10] for i in range(0, len(items), 10)]
                text = "".join(" ".join(map(str, line)) + " \n" for line in lines)
                Path(folder, name + ".dat.gz").write_bytes(fetch.gzip.compress(text.encode(), 1))
            text = "".join(f"{item >> 32} {item & 0xffffffff} 1254192988\n" for item in numbers("mathoverflow", "Q"))
            Path(folder, "sx-mathoverflow.txt.gz").write_bytes(fetch.gzip.compress(text.encode(), 1))
            Path(folder, "trace-oltp.trc.bin.gz").write_bytes(fetch.gzip.compress(fetch.big_endian(data["oltp"]), 1))
            Path(folder, "trace-mt-db-20160419-busy.trc.bin.bz2").write_bytes(b"damaged")
            Path(folder, "2600-0.txt").write_bytes(data["war_and_peace"].replace(b"\n", b" "))
            Path(folder, "postgres").mkdir()  # no clone: it can not be had
            done = subprocess.run([ROOT / "scripts" / "fetch-streams", folder], capture_output=True, text=True)
            self.assertEqual(done.stdout.count(": fetched\n"), 5, done.stdout)
            self.assertEqual(done.stdout.count(": not fetched"), 2, done.stdout)
            self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
