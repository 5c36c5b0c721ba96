"""The common job by one command: count, and what it shares with top and query: how answers are printed; build --append;
sketches that know what their items are.

SPDX-License-Identifier: MIT
"""
import collections, csv, io, json, os, random, struct, subprocess, sys, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import PROGRAM, Case, unshown, words

ODD = [b"a\tb", b"c\nd", b"e\\f", b"g\rh", b"\x1b[2J", b"\x7f", b"x,y", b'"q"', b"\xff\xfe", "é".encode(), b"\xc2\x9b", b""]


class Messages(Case):
    def test_names_of_files_do_nothing_to_a_terminal(self):
        name, shown = "a\x1b[2J\n\x7f\\é\x9b", r"a\x1b[2J\n\x7f" "\\é" r"\xc2\x9b"
        self.write(name, "x\n")
        for command in (["info", name], ["top", name], ["build", "-o", name, name], ["build", "-o", "x", "-f", "tsv", name],
                        ["build", "-o", "x", "--column", "y", name], ["query", "x", name], ["build", "--" + name],
                        ["merge", "-o", name + "/x", name]):
            done = subprocess.run([PROGRAM, *command], cwd=self.folder, capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertNotRegex(done.stderr.replace("\n", ""), "[\x00-\x1f\x7f-\x9f]")
            self.assertTrue(shown in done.stderr or command[1] == "x", (command, done.stderr))

    def test_and_no_byte_that_is_not_text(self):
        done = subprocess.run([PROGRAM, "info", b"a\xff\x9b"], cwd=self.folder, capture_output=True)
        self.assertIn(b"cannot read a\\xff\\x9b: No such", done.stderr)


class Count(Case):
    def rows(self, *arguments, data=b"", **more):
        lines = self.run_program(*arguments, data=data, **more).split(b"\n")
        self.assertEqual(lines.pop(), b"")
        return [line.split(b"\t") for line in lines]

    def test_like_a_counter(self):
        stream = words(30000)
        self.write("in.txt", b"\n".join(stream))
        truth = collections.Counter(stream)
        for arguments, n in ((["count"], 20), (["count", "-k", "7"], 7), (["count", "-k", "1000000"], len(truth))):
            rows = self.rows(*arguments, "in.txt")
            self.assertEqual(len(rows), n)
            counts = sorted(truth.values(), reverse=True)
            for (item, *answer, share, exact), count in zip(rows, counts):
                self.assertEqual([int(number) for number in answer], [count] * 4)
                self.assertEqual((truth[item], exact), (count, b"true"))
                self.assertAlmostEqual(float(share), count / 30000, 6)
        self.assertEqual(self.files(), ["in.txt"])
        self.assertEqual(self.rows("count"), [])  # of nothing

    def test_any_input(self):
        wanted = self.rows("count", data=b"x\ny\nx\n")
        self.write("in.csv", b"n,m\n1,x\n2,y\n3,x\n")
        self.assertEqual(self.rows("count", "--column", "m", "in.csv"), wanted)
        self.assertEqual(self.rows("count", "-f", "uniq", data=b"      2 x\n      1 y\n"), wanted)
        self.assertEqual(self.rows("count", "-f", "tsv", data=b"x\t3\ny\t1\nx\t-1\n"), wanted)
        self.write("in.u32", struct.pack("<3I", 7, 9, 7))
        self.assertEqual([row[:2] for row in self.rows("count", "in.u32")], [[b"7", b"2"], [b"9", b"1"]])
        self.fails("count", "-f", "tsv", data=b"x\n", says="stdin:1: no tab")
        self.fails("count", "none", says="cannot read none: No such file")

    def test_wrong_usage(self):
        for options, says in [(["--above", "x"], "'x' is neither a share such as 0.1% nor a whole number"),
                              (["--above", "101%"], "neither a share"), (["--above", "%"], "neither a share"),
                              (["--above", "-1"], "neither a share"), (["--above", "5x"], "neither a share"), (["--csv", "--json"], "which of them"),
                              (["--budget", "4K"], "from 8K to 64G"), (["-k", "0"], "not a whole number")]:
            self.run_program("count", *options, code=2, says=says)
            if options[0] != "--budget":
                self.run_program("top", *options, "a", code=2, says=says)

    def test_above(self):
        data = b"".join(b"%d\t%d\n" % (i, 1000 - i) for i in range(1000))
        total = sum(1000 - i for i in range(1000))
        for above, limit in (("990", 990), ("0.1%", total / 1000), ("0", 0), ("1e2", 100)):
            rows = self.rows("count", "-f", "tsv", "--above", above, data=data)
            self.assertEqual([int(row[1]) for row in rows], [n for n in range(1000, 0, -1) if n > limit])
            self.assertEqual({row[7] for row in rows}, {b"certainly"})
        self.assertEqual(len(self.rows("count", "-f", "tsv", "--above", "0", "-k", "3", data=data)), 3)
        self.assertEqual(self.rows("count", "--above", "5%"), [])
        stream = words(30000) + [b"%d" % i for i in range(30000)]
        random.Random(2).shuffle(stream)
        truth = collections.Counter(stream)
        self.build("a", b"\n".join(stream), "--top=1K", "--budget", "8K")  # far too small
        found = {}
        for limit in (10, 20, 50, 100, 200):
            for item, estimate, lower, upper, likely, _, exact, above in self.rows("top", "--above", limit, "a", says="could be above"):
                self.assertGreater(int(upper), limit)
                self.assertEqual(above, b"possibly" if int(lower) <= limit else b"certainly" if exact == b"true" else b"probably")
                self.assertTrue(above != b"certainly" or truth[item] > limit)
                found.setdefault(above, set()).add(item)
        self.assertLessEqual({b"possibly", b"probably"}, set(found))
        row = json.loads(self.run_program("top", "--json", "--above", "1%", "-k", "1", "a", says="could be above"))
        self.assertEqual(list(row), ["item", "estimate", "lower", "upper", "likely", "share", "exact", "above"])

    def test_above_shares_and_words(self):
        """0.7 % of 1000 is 7, which is not above itself; a share has its sign, and a count is whole."""
        data = b"seven\n" * 7 + b"".join(b"x%d\n" % i for i in range(993))
        self.assertEqual(self.rows("count", "--above", "0.7%", data=data), [])
        self.assertEqual(len(self.rows("count", "--above", "0.69%", data=data)), 1)
        for word in ("0.5", "0x10", "1.5K%", "-1", "", "nan"):
            self.run_program("count", "--above", word, data=data, code=2, says="neither a share such as 0.1% nor a whole number")

    def test_incomplete(self):
        """What is not listed is said, in a pipe too."""
        data = b"".join(b"%d\n" % i for i in range(30000))
        for options, says in ((["--above", "0"], "could be above"), (["-k", "30000"], "more were counted")):
            done = subprocess.run([PROGRAM, "count", "-b", "16K", *options], input=data, capture_output=True)
            self.assertEqual(done.returncode, 0)
            self.assertLess(done.stdout.count(b"\n"), 30000)
            self.assertIn(says, done.stderr.decode())
        done = subprocess.run([PROGRAM, "count", "-k", "30000"], input=data[:5000], capture_output=True)
        self.assertEqual(done.stderr, b"")
        for size, says in ((238, b""), (239, b"2 of the items have more than 238 bytes")):
            done = subprocess.run([PROGRAM, "count"], input=(b"x" * size + b"\n") * 2 + b"y\n", capture_output=True)
            self.assertEqual(done.stdout.count(b"\n"), 2 if size == 238 else 1)
            self.assertIn(says, done.stderr)
            self.assertEqual(bool(done.stderr), bool(says))

    def test_odd_items(self):
        lines = b"".join(b'n,"%s"\n' % item.replace(b'"', b'""') for item in ODD)
        column = ["--column", "2", "--no-header"]
        rows = self.rows("count", *column, data=lines)
        self.assertEqual({unshown(row[0]) for row in rows}, set(ODD))
        self.assertEqual({row[0] for row in rows}, {b"a\\tb", b"c\\nd", b"e\\\\f", b"g\\rh", b"\\x1b[2J", b"\\x7f", *ODD[6:]})
        self.build("a", lines, "--top", *column)
        self.assertEqual({row[0] for row in self.rows("top", "a")}, {row[0] for row in rows})
        self.assertEqual([row[0] for row in self.rows("query", "a", *ODD)][:6], [row[0] for row in self.rows("query", "a", *ODD[:6])])
        self.assertEqual(self.run_program("query", "a", b"c\nd", b"e\\f"), b"c\\nd\t1\t1\t1\t1\ne\\\\f\t1\t1\t1\t1\n")
        for command in (["count", *column], ["top", "a"], ["query", "a", *ODD]):
            made = self.run_program(*command, "--csv", "--header", data=lines).decode("latin-1")
            header, *table = csv.reader(io.StringIO(made, newline=""))
            self.assertEqual(header[:5], ["item", "estimate", "lower", "upper", "likely"])
            self.assertEqual({row[0].encode("latin-1") for row in table}, set(ODD))
            objects = [json.loads(line) for line in self.run_program(*command, "--json", data=lines).splitlines()]
            self.assertEqual({o["item"].encode() if "item" in o else bytes.fromhex(o["item_hex"]) for o in objects}, set(ODD))
        self.assertEqual(self.rows("count", "--header", data=b"x\n"),
                         [[b"item", b"estimate", b"lower", b"upper", b"likely", b"share", b"exact"], [b"x", b"1", b"1", b"1", b"1", b"1", b"true"]])
        self.assertEqual(self.run_program("query", "--header", "a"), b"item\testimate\tlower\tupper\tlikely\n")


class OnTerminal(Case):
    def test_aligned(self):
        self.write("in", b"apple\n" * 12345 + b"\x1b[2Jpear\n\xff\n" + "é\u009b\n".encode())
        for more in ([], ["-f", "lines"]):
            code, shown = self.on_terminal(["count", "in", *more])
            self.assertEqual(code, 0)
            lines = shown.split("\r\n")
            self.assertEqual(lines[0], "count  at least  at most  likely     share  item")
            self.assertEqual(lines[1], "12345     12345    12345   12345     100 %  apple")
            self.assertEqual({line.split("  ")[-1] for line in lines[2:5]}, {"\\x1b[2Jpear", "\\xff", "é\\xc2\\x9b"})
            self.assertEqual(lines[5:], ["", "12348 items counted, 4 distinct; every count is exact", ""])
        self.run_program("build", "--top", "-o", "a", "in")
        self.assertEqual(self.on_terminal(["top", "a"])[1], shown)
        for form in ("--csv", "--json"):
            for command in (["count", form, "in"], ["query", form, "a", "\x1b[2Jpear", "\u202e\u2069", "\x9b", "\x7f"]):
                code, shown = self.on_terminal(command)
                self.assertEqual(code, 0)
                self.assertNotRegex(shown.replace("\r\n", ""), "[\\x00-\\x1f\\x7f-\\x9f\u202a-\u202e\u2066-\u2069]")
        code, shown = self.on_terminal(["count", "--csv", "in"])
        self.assertIn("\\x1b[2Jpear,1,1,1,1,", shown)
        code, shown = self.on_terminal(["count", "--above", "50%", "in"])
        self.assertRegex(shown, r"\A.* above  item\r\n.* certainly  apple\r\n\r\n.*exact\r\nno other item can be above\r\n\Z")
        code, shown = self.on_terminal(["count", "--header", "in"])  # as for a program
        self.assertIn("apple\t12345\t", shown)
        self.assertEqual(self.on_terminal(["query", "a", "apple"])[1], "apple\t12345\t12345\t12345\t12345\r\n")


class Append(Case):
    def test_like_one_build(self):
        stream = words(20000)
        parts = [b"\n".join(stream[i::3]) + b"\n" for i in range(3)]
        for options in ([], ["--top"], ["--model", "paper"], ["--seed", "7", "--budget", "64K"]):
            wanted = self.build("all", b"".join(parts), *options)
            for i, part in enumerate(parts):
                given = options if i != 1 else [o for o in options if o in ("--model", "paper")]
                made = self.build("a", part, "--append", *given)  # what it was built with may be said again
            self.assertEqual(made, wanted)
            os.remove(self.folder / "a")

    def test_refused(self):
        good = self.build("a", "x\n", "--budget", "64K", "--top=8K", "--seed", "3")
        for options in (["--seed", "0"], ["--budget", "128K"], ["--top=16K"], ["--blocks", "7"]):
            self.fails("build", "--append", "-o", "a", *options, data="y\n", says=rf"a was built with another {options[0].split('=')[0]}")
        self.fails("build", "--append", "-o", "a", "-m", "paper", data="y\n", says="made with the model 'compact': leave --model out")
        self.fails("build", "--append", "-o", "a", "-f", "u64", data=bytes(8), says="a has text and - has integers: they do not go")
        self.fails("build", "--append", "-o", "a", "-f", "tsv", data="y\n", says="stdin:1: no tab")
        self.fails("build", "--append", "-o", "a", "a", says="a is the input, and would be replaced")
        self.assertEqual(self.read("a"), good)
        self.fails("build", "--append", "-o", self.write("text", "not a sketch"), data="y\n", says="text is not a sketch")
        self.fails("build", "--append", "-o", self.write("cut", good[:-1]), data="y\n", says="cut: ")
        self.run_program("build", "--append", "-o", "-", code=2, says="--append needs a file")
        self.assertEqual(self.files(), ["a", "cut", "text"])


class Kinds(Case):
    def test_integers(self):
        self.build("k", struct.pack("<5Q", 6, 6, 6, 2**40, 2**64 - 1), "-f", "u64", "--top")
        self.assertEqual(self.query("k", 6, 2**40, 2**64 - 1, 7), {b"6": 3, b"1099511627776": 1, b"18446744073709551615": 1, b"7": 0})
        self.assertEqual(self.query("k", data=b"6\n7\r\n06\n"), {b"6": 3, b"7": 0})
        for word in ("apple", "-1", "", "6 ", "18446744073709551616", "6.0"):
            self.fails("query", "k", "--", word, says=f"'{word}' is not a whole number of 64 bits, as the items of k are")
        out = self.run_program("query", "k", data=b"6\napple\n7\n", code=1, says=r"\Astdin:2: not a whole number")
        self.assertEqual(out, b"6\t3\t3\t3\t3\n")
        self.assertIn(b"6\t3\t3\t3\t3\t", self.run_program("top", "k"))

    def test_text(self):
        self.build("t", "6\n6\n")
        self.assertEqual(self.query("t", 6), {b"6": 2})
        for options, data in (["-f", "u64"], bytes(8)), (["-f", "u32"], bytes(4)):
            self.fails("query", *options, "t", data=data, says="the items of t are text, not integers")
        self.build("eight", b"12345678\n", "--top")
        self.assertIn(b"12345678\t1\t", self.run_program("top", "eight"))

    def test_mixed(self):
        text, numbers, none = self.build("t", "6\n"), self.build("k", bytes(8), "-f", "u64"), self.build("n", "")
        self.fails("merge", "-o", "x", "t", "k", says="t has text and k has integers: they do not go into one sketch")
        self.fails("merge", "-o", "x", "k", "t", says="k has integers and t has text")
        for order in (["t", "n"], ["n", "t"]):
            self.run_program("merge", "-o", "x", *order)
            self.assertEqual(self.read("x"), text)
        told = {name: json.loads(self.run_program("info", "--json", name))["items"] for name in "tkn"}
        self.assertEqual(told, dict(t="bytes", k="integers", n="none"))
        for name, kind in dict(t="text", k="integers").items():
            self.assertRegex(self.run_program("info", name).decode(), rf"(?m)^items +{kind}$")
        self.assertNotIn(b"\nitems ", self.run_program("info", "n"))


if __name__ == "__main__":
    unittest.main()
