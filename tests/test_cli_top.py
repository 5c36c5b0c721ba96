"""Sketches that keep their most frequent items: build --top, top, and what the other commands make of them.

SPDX-License-Identifier: MIT
"""
import collections, json, os, random, struct, sys, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import Case, unshown, words


class Top(Case):
    def setUp(self):
        super().setUp()
        self.words = words(20000)
        self.truth = collections.Counter(self.words)
        self.lines = b"\n".join(self.words) + b"\n"

    def top(self, name, *arguments, **more):
        """[(item, estimate, lower, upper, likely)]"""
        lines = self.run_program("top", *arguments, name, **more).split(b"\n")
        self.assertEqual(lines.pop(), b"")
        rows = [(unshown(item), float(estimate), int(lower), int(upper), int(likely))
                for item, estimate, lower, upper, likely, _, _ in (line.split(b"\t") for line in lines)]
        for item, estimate, lower, upper, likely in rows:
            self.assertTrue(lower <= estimate <= likely <= upper, (item, estimate, lower, upper, likely))
        return rows

    def test_list(self):
        self.build("a", self.lines, "--top", "--budget", "100K")
        listed = self.top("a", "-k", "50")
        self.assertEqual(len(listed), 50)
        self.assertEqual([row[1] for row in listed], sorted((row[1] for row in listed), reverse=True))
        for (item, *answer), (_, count) in zip(listed, self.truth.most_common(50)):
            self.assertEqual(answer, [count] * 4)
            self.assertEqual(self.truth[item], count)
        self.assertEqual(len(self.top("a")), 100)
        every = self.top("a", "--items", "4294967295", says="more were counted")
        told = json.loads(self.run_program("info", "--json", "a"))
        self.assertEqual(len(every), told["top_items"])
        self.assertEqual(told["total"], 20000)
        self.assertGreaterEqual(told["top_items"], told["top_exact"])
        self.assertGreater(told["top_exact"], 50)
        self.assertTrue(0 < told["top_bytes"] <= 12800 and 0 < told["top_total"] <= 20000)
        self.assertLessEqual(told["bytes"], 102400)

    def test_json(self):
        self.build("a", "apple\napple\n\xff\n".encode("latin-1"), "--top")
        rows = [json.loads(line) for line in self.run_program("top", "--json", "a").splitlines()]
        self.assertEqual(rows, [dict(item="apple", estimate=2, lower=2, upper=2, likely=2, share=2 / 3, exact=True),
                                dict(item_hex="ff", estimate=1, lower=1, upper=1, likely=1, share=1 / 3, exact=True)])

    def test_numbers(self):
        keys = [7] * 5 + [1 << 40] * 3 + [0] * 2
        self.build("a", struct.pack("<10Q", *keys), "--top", "--format", "u64")
        self.assertEqual([row[0] for row in self.top("a")], [b"7", b"1099511627776", b"0"])
        rows = [json.loads(line) for line in self.run_program("top", "--json", "a").splitlines()]
        self.assertEqual([row["item"] for row in rows], [7, 1 << 40, 0])
        self.build("b", struct.pack("<3I", 7, 7, 9), "--top", "--format", "u32")
        self.assertEqual([row[0] for row in self.top("b")], [b"7", b"9"])

    def test_standard_input(self):
        data = self.build("a", self.lines, "--top=10K")
        self.assertEqual(self.run_program("top", "-", data=data), self.run_program("top", "a"))
        self.assertEqual(self.run_program("query", "-", "word1", data=data), self.run_program("query", "a", "word1"))

    def test_query(self):
        self.build("a", self.lines, "--top=2K", "--budget", "64K")
        answers = self.query("a", data=b"\n".join(self.truth) + b"\n")
        for item, count in self.truth.items():
            self.assertGreaterEqual(answers[item], count)
        self.assertEqual(answers[b"word1"], self.truth[b"word1"])

    def test_order_of_lines_is_all_that_matters(self):
        first = self.build("a", self.lines, "--top")
        self.write("in", self.lines)
        self.assertEqual(self.build("b", b"", "--top", "--threads", "4", "in"), first)
        counted = b"".join(b"%s\t1\n" % word for word in self.words)
        self.assertEqual(self.build("c", counted, "--top", "--format", "tsv"), first)

    def test_deletions(self):
        lines = b"".join(b"%s\t%d\n" % pair for pair in self.truth.items())
        back = b"".join(b"%s\t-%d\n" % pair for pair in self.truth.items())
        self.build("a", lines + back, "--top", "--budget", "20K", "--format", "tsv")
        self.assertEqual(self.top("a"), [])
        self.assertEqual(json.loads(self.run_program("info", "--json", "a"))["total"], 0)
        self.assertEqual(set(self.query("a", *list(self.truth)[:50]).values()), {0})

    def test_merge(self):
        half = self.lines.index(b"\n", len(self.lines) // 2) + 1
        options = ["--top", "--budget", "100K"]
        self.build("a", self.lines[:half], *options)
        self.build("b", self.lines[half:], *options)
        self.run_program("merge", "-o", "sum", "a", "b")
        listed = self.top("sum", "-k", "20")
        self.assertEqual([row[1] for row in listed], [count for _, count in self.truth.most_common(20)])
        crowd = b"".join(b"%d\n" % i for i in range(30000))  # more than either can list
        self.build("a", crowd, *options)
        self.build("large", crowd, "--top=30000", "--budget", "100K")
        self.fails("merge", "-o", "x", "a", "large", says=r"Build one of them again with --budget \d+ --top=\d+\n")
        self.build("seed", self.lines, *options, "--seed", "3")
        self.fails("merge", "-o", "x", "a", "seed", says="another seed")
        self.assertNotIn("x", self.files())

    def test_merge_with_a_plain_one(self):
        half = self.lines.index(b"\n", len(self.lines) // 2) + 1
        self.build("top", self.lines[:half], "--blocks", "1024", "--top=8K")
        self.build("plain", self.lines[half:], "--blocks", "1024")
        self.run_program("merge", "-o", "sum", "plain", "top")
        self.assertEqual(self.read("sum"), self.build("wanted", self.lines, "--blocks", "1024"))
        self.run_program("merge", "-o", "sum", "top", "plain")
        told = json.loads(self.run_program("info", "--json", "sum"))
        self.assertEqual(told["total"], 20000)
        self.assertGreater(told["top_items"], 0)
        for item, _, _, upper, _ in self.top("sum"):
            self.assertTrue(self.truth[item] <= upper, item)

    def test_fold(self):
        self.build("a", self.lines, "--blocks", "1024", "--top=8K")
        self.run_program("fold", "-o", "b", "--blocks", "256", "a")
        self.assertEqual(self.read("b"), self.build("c", self.lines, "--blocks", "256", "--top=8K"))
        self.assertEqual([row[0] for row in self.top("b", "-k", "20")], [row[0] for row in self.top("a", "-k", "20")])
        self.run_program("fold", "-o", "c", "--budget", "40K", "a")
        told = json.loads(self.run_program("info", "--json", "c"))
        self.assertEqual(told["total"], 20000)
        self.assertTrue(0 < told["top_bytes"] < 8192 and told["bytes"] <= told["budget"] <= 40960 and told["budget"] > 16384)

    def test_what_cannot_be(self):
        self.build("plain", self.lines)
        self.build("a", self.lines, "--top")
        self.fails("top", "plain", says="plain is a plain sketch.*build it with --top")
        self.fails("top", "none", says="cannot read none")
        self.fails("top", self.write("text", "text"), says="text is not a sketch")
        self.fails("build", "-o", "x", "--top", "--budget", "4K", says="no sketch of that shape: the most frequent")
        self.fails("build", "-o", "x", "--top=100", says="no sketch of that shape: the most frequent")
        self.run_program("top", code=2, says="none is named")
        self.run_program("top", "-k", "0", "a", code=2, says="'0' is not a whole number")
        self.assertNotIn("x", self.files())

    def test_info(self):
        self.build("a", self.lines, "--top", "--model", "paper")
        text = self.run_program("info", "a").decode()
        self.assertRegex(text, r"\Astream +20000 items counted, about \d+ distinct\nitems +text\n")
        self.assertIn("\nmodel         paper\n", text)
        self.assertRegex(text, r"\ntop +\d+ bytes: \d+ items kept, \d+ of them exact\n +\d+ of the items counted\nanswers +estimates\n"
                               r" +[\d.]+ bytes a distinct item; bricks do not tell what error to expect\n\Z")

    def test_damaged(self):
        good = self.build("a", self.lines, "--top", "--budget", "8K")
        draw = random.Random(7)
        cases = [good[:size] for size in (0, 7, 8, 40, 79, len(good) - 1)] + [good + b"\0"]
        for at in (0, 8, 12, 16, 24, 32, 40, 56, 64, 72, 80, *draw.sample(range(80, len(good)), 20)):
            flipped = bytearray(good)
            flipped[at] ^= 1 << draw.randrange(8)
            cases.append(bytes(flipped))
        for data in cases:
            self.write("bad", data)
            for command in ("top bad", "query bad apple", "info bad", "merge -o x a bad"):
                self.fails(*command.split(), says=r"\Alegosketch: bad")
        self.assertNotIn("x", self.files())


if __name__ == "__main__":
    unittest.main()
