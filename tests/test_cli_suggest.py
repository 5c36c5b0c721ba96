"""How good a budget is and what would be: what build and info say, and suggest.

SPDX-License-Identifier: MIT
"""
import collections, json, math, os, random, sys, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import Case


def skewed(n, seed=1):
    """A stream of about n distinct items, some of which come often."""
    draw = random.Random(seed)
    return [b"%d" % int(n * draw.random() ** 3) for _ in range(4 * n)]


class Overload(Case):
    def test_good_budgets(self):
        for options in ([], ["--budget", "64K"], ["--model", "paper"], ["--top"]):
            data = b"\n".join(skewed(5000))
            made = json.loads(self.run_program("build", "-o", "a", "--json", *options, data=data))
            self.assertIsNone(made["good_budget"])
            self.assertEqual(made, self.info("a"))
            self.assertAlmostEqual(made["bytes_per_distinct"], made["bytes"] / made["distinct"])
            self.assertNotIn(b"takes a budget", self.run_program("info", "a"))
        self.assertIsNone(json.loads(self.run_program("build", "-o", "a", "--json"))["bytes_per_distinct"])  # of nothing

    def test_bad_budgets(self):
        stream = skewed(20000)
        self.write("in", b"\n".join(stream))
        distinct = len(set(stream))
        for budget in ("8K", "16K"):
            made = json.loads(self.run_program("build", "-o", "a", "--json", "--budget", budget, "in"))
            self.assertGreater(made["expected_are"], 0.1)
            self.assertTrue(distinct < made["good_budget"] < 5 * distinct, made)
            text = self.run_program("info", "a").decode()
            self.assertRegex(text, r"(?m)^ +an error below 1 % of a count takes a budget of about \d+K$")
            better = json.loads(self.run_program("build", "-o", "b", "--json", "--budget", int(made["good_budget"]), "in"))
            self.assertLess(better["expected_are"], 0.02)
            code, shown = self.on_terminal(["build", "-o", "b", "--budget", budget, "in"])
            self.assertRegex(shown, r"\Alegosketch: 80000 items counted, about \d+(?: \+- [\d.]+)? distinct, in \d+ bytes, 0\.\d+ a distinct item; "
                                    r"expected error .*\r\nlegosketch: an error below 1 % of a count takes a budget of about \d+K\r\n\Z")
            self.assertEqual(self.on_terminal(["build", "-q", "-o", "b", "--budget", budget, "in"]), (0, ""))
        kept = json.loads(self.run_program("build", "-o", "a", "--json", "--budget", "16K", "--top=8K", "in"))
        self.assertGreaterEqual(kept["good_budget"], made["good_budget"] + 4096)  # with what the top takes

    def test_far_too_small(self):
        """However little room there is, the number of items and the error are told, and with them a budget."""
        for items, budget in ((25000, "8K"), (100000, "16K")):
            stream = skewed(items)
            truth = collections.Counter(stream)
            self.build("a", b"\n".join(stream), "--budget", budget)
            told = self.info("a")
            self.assertLess(abs(told["distinct"] / len(truth) - 1), 4 * 1.3 / math.sqrt(4 * told["blocks"]))
            answers = self.answers("a", data=b"\n".join(truth))
            error = sum(abs(answers[item][0] - count) / count for item, count in truth.items()) / len(truth)
            self.assertGreater(error, 0.1)
            self.assertTrue(0.7 < told["expected_are"] / error < 1.4, (told["expected_are"], error))
            self.assertTrue(len(truth) / 2 < told["good_budget"] < 10 * len(truth), told)
            self.assertRegex(self.run_program("info", "a").decode(), r"(?m)^ +an error below 1 % of a count takes a budget of about [\d.]+[KM]$")

    def test_nothing_but_ones(self):
        """They are answered by 1, so hardly a byte for each is enough, and nothing is advised."""
        self.build("a", b"\n".join(b"%d" % i for i in range(100000)), "--budget", "4K")
        told = self.info("a")
        self.assertLess(told["expected_are"], 0.1)
        self.assertIsNone(told["good_budget"])
        self.assertNotIn(b"takes a budget", self.run_program("info", "a"))

    def test_deletions(self):
        lines = b"".join(b"%d\t%d\n" % (i, 1 - i % 3) for i in range(100000))
        self.build("a", lines, "-f", "tsv", "--budget", "16K")
        self.assertIsNone(self.info("a")["good_budget"])  # nothing tells

    def test_wrong_usage(self):
        self.run_program("build", "--json", "-o", "-", code=2, says="both cannot be standard output")


class Suggest(Case):
    def rows(self, *arguments, **more):
        return [json.loads(line) for line in self.run_program("suggest", "--json", *arguments, **more).splitlines()]

    def test_table(self):
        rows = self.rows("--distinct", "8K")
        self.assertEqual([row["error"] for row in rows], [0.5, 0.1, 0.01, 0.001, 0])
        budgets = [row["budget"] for row in rows]
        self.assertEqual(budgets, sorted(budgets))
        for row in rows:
            self.assertEqual(list(row), ["error", "budget", "bytes_per_distinct", "expected_error"])
            self.assertLessEqual(row["expected_error"], row["error"])
            self.assertAlmostEqual(row["bytes_per_distinct"], row["budget"] / 8000)
        for error in ("0.1%", "0.1 %", ".001"):
            self.assertEqual(self.rows("--distinct", "8K", "--error", error), [rows[3]])
        for distinct in ("8k", "8000", "0.008M", "8e3"):
            self.assertEqual(self.rows("-n", distinct, "-e", "exact"), [rows[4]])
        lines = self.run_program("suggest", "-n", "8K", "-e", "exact", "--header").decode().splitlines()
        self.assertEqual(lines[0].split("\t"), list(rows[0]))
        self.assertEqual(int(lines[1].split("\t")[1]), rows[4]["budget"])

    def test_skew(self):
        def budget(skew, error="exact"):
            return self.rows("--distinct", "8K", "--error", error, "--skew", skew)[0]["budget"]
        self.assertEqual([budget(word) for word in ("low", "middle", "high")], [budget(skew) for skew in ("0.5", "1", "1.5")])
        self.assertLess(budget("low", "0.1%"), budget("high", "0.1%"))

    def test_samples(self):
        stream = skewed(6000)
        self.write("in", b"\n".join(stream))
        rows = self.rows("in")
        self.assertEqual(self.rows("-", "-e", "exact", data=b"\n".join(stream)), rows[4:])
        table = b"".join(b"%s\t%d\n" % pair for pair in collections.Counter(stream).items())
        self.assertEqual(self.rows(self.write("in.tsv", table), "-e", "exact"), rows[4:])
        for row in rows[1:3]:  # what is suggested does it
            told = json.loads(self.run_program("eval", "-q", "--json", "--methods", "lego", "--seeds", "3", "-b", row["budget"], "in"))
            self.assertLess(told["are"], 2 * row["error"])
        more, = self.rows("--distinct", "10M", "in", "-e", "1%")
        self.assertAlmostEqual(more["bytes_per_distinct"] / rows[2]["bytes_per_distinct"], 1, 1)
        self.assertEqual(self.rows(self.write("t.csv", b"n,m\n1,x\n2,y\n"), "--column", "m", "-e", "1%")[0]["budget"], 4096)

    def test_terminal(self):
        code, shown = self.on_terminal(["suggest", "--distinct", "8K"])
        lines = shown.split("\r\n")
        self.assertEqual((code, lines[0]), (0, "error  budget  bytes a distinct item  expected"))
        self.assertRegex(lines[3], r"^  1 % +\d+K +\d\.\d+ +0\.\d+ %$")
        self.assertRegex(lines[5], r"^exact +\d+K +\d+\.\d+ +0 %$")
        self.assertEqual(lines[6:], ["", "for 8000 distinct items; a budget is a ceiling, and a sketch takes what its content asks for", ""])

    def test_wrong(self):
        self.write("in", b"x\ny\n")
        for arguments, says in [([], "for how many distinct items"), (["--distinct", "0"], "for how many distinct items"),
                                (["--distinct", "10Q"], "'10Q' is not a number such as 10M"),
                                (["--distinct", "-1"], "'-1' is not a number such as"), (["--distinct", "10MB"], "not a number such"),
                                (["--distinct", "1M", "--error", "101%"], "'101%' is not a share from 0 to 100%"),
                                (["--distinct", "1M", "--error", "1.5"], "not a share"), (["--distinct", "1M", "--error", "none"], "not a share"),
                                (["--distinct", "1M", "--skew", "steep"], "'steep' is not low, middle, high or a number"),
                                (["--distinct", "1M", "--skew", "3.1"], "'3.1' is not low"),
                                (["--skew", "low", "in"], "--skew is for where there is no sample"),
                                (["--csv", "--json", "in"], "which of them")]:
            self.run_program("suggest", *arguments, code=2, says=says)
        for arguments, says in [(["none"], "cannot read none: No such file"), (["/dev/null"], "the sample has no items"),
                                (["--distinct", "1", "in"], "the sample alone has 2 distinct items"),
                                (["--distinct", "100G", "-e", "1%"], "for an error of 1 % it takes more than the 64G"),
                                ([self.write("bad.tsv", b"x\t-1\n")], "the sample has negative counts"),
                                ([self.write("cut.tsv", b"x\n")], "cut.tsv:1: no tab")]:
            self.fails("suggest", *arguments, says=says)
        self.build("a.sketch", b"x\n")
        self.fails("suggest", "a.sketch", says="a.sketch is a sketch")


if __name__ == "__main__":
    unittest.main()
