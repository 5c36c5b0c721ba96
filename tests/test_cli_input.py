"""What the command takes for input, and as what: by the first bytes and by names; nothing is counted as what it is not.

SPDX-License-Identifier: MIT
"""
import bz2, csv, gzip, io, json, lzma, os, random, struct, subprocess, sys, time, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import PROGRAM, ROOT, Case, words


class Same(Case):
    """An output that is an input would be lost."""

    def test_input_is_kept(self):
        data = b"apple\npear\n"
        self.write("in", data)
        os.link(self.folder / "in", self.folder / "hard")
        os.symlink("in", self.folder / "soft")
        os.mkdir(self.folder / "d")
        says = "the input, and would be replaced by the output"
        for output, inputs in [("in", ["in"]), ("in", ["hard"]), ("soft", ["in"]), ("d/../in", ["in"]),
                               ("hard", ["d/../soft"]), ("in", ["/dev/null", "in"])]:
            self.fails("build", "-o", output, *inputs, says=f"{inputs[-1]} is {says}")
        with open(self.folder / "in", "rb") as stdin:
            self.fails("build", "-o", "in", stdin=stdin, says=f"stdin is {says}")
        with open(self.folder / "in", "ab") as stdout:
            self.fails("build", "-o", "-", "in", stdout=stdout, says=f"in is {says}")
            self.fails("eval", "in", stdout=stdout, says=f"in is {says}")
        self.assertEqual(self.read("in"), data)
        with open("/dev/null", "r+b") as null:  # which nobody can lose
            self.run_program("build", "-o", "/dev/null", stdin=null, stdout=null)

    def test_model_and_results_are_kept(self):
        model = (ROOT / "tests" / "golden" / "random.lego").read_bytes()
        self.write("m.lego", model)
        self.build("a", "x\n", "--model", "m.lego")
        for command in (["build"], ["merge", "a"], ["fold", "--blocks", "1", "a"]):
            self.fails(*command, "-m", "m.lego", "-o", "m.lego", says="m.lego is needed, and would be replaced")
        self.assertEqual(self.read("m.lego"), model)
        self.run_program("lab", "bound", "-q", "-n", "1000", "--seeds", "1", "--methods", "one", "-o", "results")
        before = self.read("results/bound.json")
        self.fails("report", "-q", "-o", "results/bound.json", "results", says="results/bound.json is needed")
        self.assertEqual(self.read("results/bound.json"), before)
        os.symlink("out.lego", self.folder / "log")
        self.write("out.lego", "")
        self.fails("train", "-p", "quick", "-o", "out.lego", "--log", "log", says="log is needed")


class Looks(Case):
    def test_sketches_and_models(self):
        sketch = self.build("a.sketch", "apple\n")
        self.write("a.txt", sketch)
        self.write("m", (ROOT / "models" / "paper.lego").read_bytes())
        for command in (["build", "-o", "x"], ["build", "-o", "x", "-f", "u64"], ["build", "-o", "x", "-f", "tsv"],
                        ["build", "-o", "x", "--keep-nul"], ["eval"]):
            for name in ("a.sketch", "a.txt"):
                self.fails(*command, name, says=f"{name} is a sketch: 'legosketch merge' .*'legosketch query'")
            self.fails(*command, data=sketch, says="stdin is a sketch")
            self.fails(*command, "m", says="m is a model: --model takes it")
        self.assertNotIn("x", self.files())

    def test_other_files(self):
        for data, says in [("apple\n".encode("utf-16"), "UTF-16: .*iconv"), (b"PK\3\4" + bytes(30), "zip archive"),
                           (b"PAR1" + bytes(30), "Parquet"), (b"name" + bytes(253) + b"ustar" + bytes(250), "tar archive"),
                           ("apple\n".encode("utf-32"), "UTF-32: .*iconv"), (b"7z\xbc\xaf\x27\x1c and no NUL\n", "7z archive"),
                           (b"\x04\x22\x4d\x18\n", "lz4"), (b"%PDF-1.7\n\0", "PDF")]:
            self.fails("build", "-o", "x", data=data, says=f"stdin is .*{says}")
        self.assertEqual(self.files(), [])
        for data in (b"PAR1\n", b"LEGOSKCH\n", b"x" * 257 + b"ustar\n"):  # which are lines like others
            self.build("a", data)
            self.assertEqual(self.query("a", data[:-1]), {data[:-1]: 1})

    def test_raw_keys_are_no_lines(self):
        draw = random.Random(1)
        keys = [int(draw.paretovariate(0.7)) for _ in range(1000)]
        narrow, wide = struct.pack("<1000I", *(k % 2**24 for k in keys)), struct.pack("<1000Q", *(k % 2**32 for k in keys))
        noise = bytes(draw.randrange(256) for _ in range(5000))
        for data, says in [(wide, "-f u64 looks right"), (narrow, "-f u32 looks right"), (noise, "-f u32 or -f u64 if"),
                           ("apple\npear\n".encode("utf-16-le"), "UTF-16"), ("apple\npear\n".encode("utf-16-be"), "UTF-16")]:
            for options in ([], ["-f", "lines"], ["-f", "tsv"], ["-f", "uniq"], ["--column", "1"]):
                self.fails("build", "-o", "x", *options, data=data, says=rf"stdin has NUL bytes.*{says}.*--keep-nul")
        self.fails("query", self.write("a", self.build("b", "x\n")), data=wide, says="has NUL bytes")
        self.assertNotIn("x", self.files())
        self.build("kept", b"a\0b\n\0\na\0b\n", "--keep-nul")
        self.assertEqual(self.query("kept", data=b"a\0b\n\0\n", options=["--keep-nul"]), {b"a\0b": 2, b"\0": 1})

    def test_lines_are_no_raw_keys(self):
        for name in ("u32", "u64"):
            self.fails("build", "-o", "x", "-f", name, data=b"1234567\n7654321\n", says="is lines of text, not raw keys")
            self.fails("build", "-o", "x", self.write(f"a.{name}", b"1234567\n"), says=f"a.{name} is lines of text")
            self.build("packed", b"AAPLMSFT" * 3, "-f", name)  # keys may be letters

    def test_mark_of_utf8(self):
        for data, options in [(b"apple\n", []), (b"apple\t1\n", ["-f", "tsv"]), (b"id,x\n1,apple\n", ["--column", "x"])]:
            self.build("a", b"\xef\xbb\xbf" + data, *options)
            self.assertEqual(self.query("a", "apple"), {b"apple": 1})
            with subprocess.Popen([PROGRAM, "build", "-o", "b", *options], cwd=self.folder, stdin=subprocess.PIPE) as running:
                for byte in b"\xef\xbb\xbf":  # in pieces
                    running.stdin.write(bytes([byte]))
                    running.stdin.flush()
                    time.sleep(0.05)
                running.stdin.write(data)
            self.assertEqual(self.read("b"), self.read("a"))
        for part in (b"\xef", b"\xef\xbb", b"\xef\xbbx"):  # of a mark is none
            self.build("a", part)
            self.assertEqual(self.query("a", part), {part: 1})

    def test_line_ends(self):
        wanted = self.build("a", b"apple\npear\n\nb\rc\n\r")  # a CR that is not before a LF is one like any byte
        self.assertEqual(self.build("b", b"apple\r\npear\r\n\r\nb\rc\r\n\r"), wanted)
        self.assertEqual(self.query("a", data=b"apple\r\n\r\nb\rc\r\n\r"), {b"apple": 1, b"": 1, b"b\rc": 1, b"\r": 1})
        self.build("kept", b"apple\r\npear\n", "--keep-cr")
        self.assertEqual(self.query("kept", "apple", "apple\r", "pear"), {b"apple": 0, b"apple\r": 1, b"pear": 1})
        self.assertEqual(self.query("kept", data=b"apple\r\n", options=["--keep-cr"]), {b"apple\r": 1})
        self.assertEqual(self.build("c", b"apple\t2\r\npear\t-1\r\n", "-f", "tsv"),
                         self.build("d", b"apple\t2\npear\t-1\n", "-f", "tsv"))
        self.fails("build", "-o", "x", "-f", "tsv", "--keep-cr", data=b"apple\t2\r\n", says="not a whole number")


class Names(Case):
    def test_formats_follow_from_names(self):
        keys = [7, 7, 9]
        files = {"u32": struct.pack("<3I", *keys), "u64": struct.pack("<3Q", *keys), "tsv": b"7\t2\n9\t1\n",
                 "txt": b"7\n7\n9\n", "csv": b"n\n7\n7\n9\n"}
        for ending, data in files.items():
            more = ["--column", "n"] if ending == "csv" else []
            wanted = self.build("a", data, *more, "-f", "lines" if ending == "txt" else ending)
            for name in (f"in.{ending}", f"in.{ending.upper()}", f"x.gz.{ending}"):
                self.assertEqual(self.build("b", b"", *more, self.write(name, data)), wanted, name)
            for suffix, pack in (("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)):
                name = self.write(f"in.{ending}.{suffix}", pack(data))
                self.assertEqual(self.build("b", b"", *more, name), wanted, name)
        self.assertEqual(self.build("b", b"", "-f", "lines", self.write("lines.tsv", files["txt"])),
                         self.build("a", files["txt"]))

    def test_tables_named_tsv(self):
        self.write("t.tsv", b"id\tcity\n1\tRome\n")
        self.fails("build", "-o", "x", "t.tsv", says=r"\At.tsv:1: the count is not .*\nlegosketch: by its name t.tsv has an item.*"
                                                     r"--column counts a column of a table, -f lines whole lines\n\Z")
        self.fails("build", "-o", "x", "-f", "tsv", "t.tsv", says=r"\At.tsv:1: the count is not [^\n]*\n\Z")  # as it was told

    def test_mixed(self):
        self.write("a.txt", b"x\ny\n")
        self.write("b.tsv", b"x\t3\n")
        self.write("c.csv", b"n,m\n1,x\n")
        self.write("d.u64", bytes(16))
        self.run_program("build", "-o", "out", "a.txt", "b.tsv")
        self.assertEqual(self.query("out", "x", "y"), {b"x": 4, b"y": 1})
        self.run_program("build", "-o", "out", "--column", "m", "c.csv")
        self.fails("build", "-o", "none", "a.txt", "d.u64", says="a.txt has text and d.u64 has integers: they do not go")
        self.fails("build", "-o", "none", "d.u64", "-", data=b"x\n", says="d.u64 has integers and - has text")
        self.assertNotIn("none", self.files())

    def test_uniq(self):
        stream = sorted(words(2000)) + [b"  two  spaces", b"5 five"]
        counted = subprocess.run(["uniq", "-c"], input=b"\n".join(stream) + b"\n", capture_output=True).stdout
        self.assertEqual(self.build("a", counted, "-f", "uniq"), self.build("b", b"\n".join(stream)))
        for line, says in [(b"apple", "no count before"), (b"  12", "no space between"), (b"", "no count before"),
                           (b" 1234567890123456789 x", "more than 18 digits"), (b" -3 x", "no count before"),
                           (b"3\tx", "no space between")]:
            self.fails("build", "-o", "x", "-f", "uniq", data=b"      1 a\n" + line + b"\n", says=rf"\Astdin:2: .*{says}")
        self.assertNotIn("x", self.files())


class Tables(Case):
    def column(self, data, *options, items):
        self.build("a", data, *options)
        self.assertEqual(self.query("a", data=b"".join(i + b"\n" for i in items)), {i: items.count(i) for i in items})
        self.assertEqual(json.loads(self.run_program("info", "--json", "a"))["total"], len(items))

    def test_columns(self):
        table = b"id,city,note\r\n1,Rome,a\r\n2,\"New York, NY\",\"says \"\"hi\"\"\"\r\n\r\n3,Rome,\"b\r\nc\"\r\n"
        cities = [b"Rome", b"New York, NY", b"Rome"]
        self.column(table, "--column", "city", items=cities)
        self.column(table, "-f", "csv", "--column", "2", items=cities)
        self.column(table.rstrip(), "--column", "city", items=cities)
        self.column(table.replace(b"\r\n1", b"\n1"), "--column", "id", items=[b"1", b"2", b"3"])
        self.column(table, "--column", "2", "--no-header", items=[b"city", *cities])
        self.column(table.replace(b",", b";"), "--column", "city", "--delimiter", ";", items=[b"Rome", b"New York; NY", b"Rome"])
        tabs = table.replace(b",", b"\t")
        for options in (["--delimiter", "\\t"], ["--delimiter", "\t"], ["-f", "tsv"]):
            self.column(tabs, "--column", "city", *options, items=[b"Rome", b"New York\t NY", b"Rome"])
        self.run_program("build", "-o", "b", "--column", "city", self.write("t.tsv", tabs))
        self.assertEqual(self.read("b"), self.read("a"))
        self.column(b"2,1\nx,y\n", "--column", "2", items=[b"x"])  # a name comes before a number
        self.column(b"a\n5\" disk\n\"\"\n", "--column", "a", items=[b"5\" disk", b""])

    def test_like_another_parser(self):
        draw = random.Random(5)
        rows = [["".join(draw.choices("ab ,\"\n\r\té", k=draw.randrange(8))) for _ in range(3)] for _ in range(20000)]
        rows = [row for row in rows if any(row)]
        for dialect in ({}, {"lineterminator": "\n", "quoting": csv.QUOTE_ALL}, {"delimiter": ";"}):
            out = io.StringIO(newline="")
            writer = csv.writer(out, **dialect)
            writer.writerow(["first", "x y", "last"])
            writer.writerows(rows)
            for at, name in enumerate(["first", "x y", "last"]):
                self.build("a", out.getvalue().encode(), "--column", name, "--delimiter", dialect.get("delimiter", ","))
                told = json.loads(self.run_program("info", "--json", "a"))
                self.assertEqual((told["total"], told["distinct"]), (len(rows), len({row[at] for row in rows})))

    def test_what_is_wrong(self):
        good = b"id,city\n1,Rome\n"
        cases = [(good + b"2\n", "city", "stdin:3: there is no column 2: the record has 1"),
                 (good + b"2,\"Par\"is\n", "city", "stdin:3: something follows the quote that ends a field"),
                 (good + b"2,\"Par\"\rx\n", "city", "stdin:3: something follows the quote"),
                 (good + b"2,\"a\nb\"\n3,\"Paris\n\n", "city", "stdin:5: a quote begins a field here and none ends it"),
                 (good, "town", "stdin:1: there is no column 'town', but 1 id, 2 city"),
                 (good, "3", "stdin:1: there is no column '3', but 1 id, 2 city"),
                 (b"city,city\n", "city", "stdin:1: columns 1 and 2 are both named 'city'"),
                 (b"id;city\n", "city", "stdin:1: there is no column 'city', but 1 id;city; --delimiter"),
                 (b"a\x1b[2J,b\n", "c", r"but 1 a\\x1b\[2J, 2 b\n"),
                 (b"\"id,city\n", "city", "stdin:1: a quote begins a field here"),
                 (b"\"id\"x,city\n", "city", "stdin:1: something follows the quote"),
                 (b"", "city", "stdin:1: there is no header"),
                 (b",".join(b"name%d" % i for i in range(1000)) + b"\n", "x", r", \.\.\.\n")]
        for data, column, says in cases:
            with self.subTest(data=data[:50], column=column):
                self.fails("build", "-o", "x", "--column", column, data=data, says=says)
        self.assertNotIn("x", self.files())
        self.fails("build", "-o", "x", self.write("t.csv", good), says="t.csv:1: say which column to count, with --column: 1 id, 2 city")
        bad = b"id,city\n1,Rome\n2\n3,\"x\"y\n4,Oslo\n5,\"Paris\n6,Bonn\n"
        self.build("a", bad, "--column", "city", "--on-error", "skip",
                   says=r"\Astdin:3: .*\nstdin:4: .*\nstdin:6: .*\nlegosketch: skipped 3 malformed lines\n\Z")
        self.assertEqual(self.query("a", "Rome", "Oslo", "Bonn"), {b"Rome": 1, b"Oslo": 1, b"Bonn": 0})
        self.fails("build", "-o", "x", "--column", "b", data=b"a,b\n1,\"" + b"y" * (17 << 20) + b"\"\n",
                   says="stdin:2: a field is longer than 16 MiB")

    def test_wrong_usage(self):
        for options, says in [(["--delimiter", ";"], "--column says which"), (["--no-header"], "--column says which"),
                              (["--column", "city", "--no-header"], "goes by its number"),
                              (["--column", "0"], "first column has the number 1"),
                              (["--column", "1", "-f", "u64"], "--column is for"),
                              (["--column", "1", "-f", "uniq"], "--column is for"),
                              (["--column", "1", "--delimiter", ""], "--delimiter is one byte"),
                              (["--column", "1", "--delimiter", ";;"], "--delimiter is one byte"),
                              (["--column", "1", "--delimiter", '"'], "--delimiter is one byte")]:
            for command in (["build", "-o", "x"], ["eval"], ["lab", "real"]):
                self.run_program(*command, *options, "in", code=2, says=says)
        self.fails("build", "-o", "x", "--column", "1", self.write("a.u64", bytes(8)), says="a.u64 has raw keys by its name, and no columns")


if __name__ == "__main__":
    unittest.main()
