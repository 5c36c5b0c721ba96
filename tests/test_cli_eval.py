"""gen and eval of the command: streams as the paper defines them, errors against exact counts and published figures.

SPDX-License-Identifier: MIT
"""
import collections, json, lzma, operator, os, random, struct, sys, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import FIELDS, ROOT, Case, words

sys.path.insert(0, str(ROOT / "scripts"))
import streams

STREAMS = streams.real_paths()
METHODS = ["lego", "rule", "lego-paper", "rule-paper", "d-lego", "d-lego-paper", "d-lego-quarter", "cms", "cs", "cs-clipped", "lcs", "d-cms",
           "d-cms-quarter", "cu", "cmm", "tower-cm", "tower-cu", "salsa-cu", "elastic", "heavy-keeper", "space-saving", "misra-gries",
           "fingerprint", "cqf", "ideal-top", "ms", "one", "exact"]
IN_ORDER = ["d-lego", "d-lego-paper", "d-lego-quarter", "d-cms", "d-cms-quarter", "cu", "tower-cu", "salsa-cu", "elastic",
            "heavy-keeper", "space-saving", "misra-gries", "fingerprint"]


class Gen(Case):
    def counts(self, distinct, alpha):
        return [int(((distinct + 1) / j)**alpha + 0.5) for j in range(2, distinct + 2)]

    def test_table(self):
        for alpha in ("0.5", "0.7", "0.9", "1.1", "1.3", "1.5"):
            table = self.run_program("gen", "zipf", "--alpha", alpha, "--format", "tsv")
            rows = [line.split(b"\t") for line in table.splitlines()]
            self.assertEqual([int(item) for item, _ in rows], list(range(1, 100001)))
            self.assertEqual([int(count) for _, count in rows], self.counts(100000, float(alpha)))

    def test_streams(self):
        options = ["gen", "zipf", "--distinct", "2000", "--alpha", "1.2"]
        lines = self.run_program(*options).split()
        stream = [int(item) for item in lines]
        self.assertEqual(sorted(collections.Counter(stream).items()), list(enumerate(self.counts(2000, 1.2), 1)))
        self.assertNotEqual(stream, sorted(stream))
        self.assertEqual(lines, self.run_program(*options, "--seed", "0", "--format", "lines").split())
        other = self.run_program(*options, "--seed", "1").split()
        self.assertNotEqual(lines, other)
        self.assertEqual(sorted(lines), sorted(other))
        self.assertEqual(self.run_program(*options, "--format", "u32"), struct.pack(f"<{len(stream)}I", *stream))
        self.assertEqual(self.run_program(*options, "--format", "u64"), struct.pack(f"<{len(stream)}Q", *stream))

    def test_order(self):
        """The shuffle as lab/order.c has it: Fisher-Yates by the last steps of splitmix64, whose first output it starts from."""
        def mix(z):
            z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
            z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
            return z ^ z >> 31

        for seed in (0, 12345):
            state = mix((seed + 0x9E3779B97F4A7C15) % 2**64)
            wanted = [rank for rank, count in enumerate(self.counts(300, 0.8), 1) for _ in range(count)]
            for i in range(len(wanted) - 1, 0, -1):
                j = mix((state + 0x9E3779B97F4A7C15) % 2**64) * (i + 1) >> 64
                state += 1
                wanted[i], wanted[j] = wanted[j], wanted[i]
            made = self.run_program("gen", "zipf", "-n", "300", "-a", "0.8", "--seed", seed).split()
            self.assertEqual([int(item) for item in made], wanted)

    def test_too_much(self):
        self.fails("gen", "zipf", "-n", "100000", "-a", "30", says="leave 63 bits")


def crowd():
    """More distinct items than a sketch of a few kilobytes can list."""
    return words(60000) + [b"%d" % (i * i % 20011) for i in range(60000)]


class Eval(Case):
    def rows(self, *arguments, **more):
        lines = self.run_program("eval", "-q", "--json", *arguments, **more).splitlines()
        return [json.loads(line) for line in lines]

    def test_fields(self):
        stream = crowd()
        rows = self.rows("--budget", "4K,1.5M", data=b"\n".join(stream))
        methods = ["lego", "rule", "lego-paper", "cms", "one", "exact"]
        self.assertEqual([(row["method"], row["budget"]) for row in rows],
                         [(method, size) for size in (4096, 1572864) for method in methods])
        counts = collections.Counter(stream).values()
        for row in rows:
            self.assertEqual(list(row), FIELDS)
            self.assertEqual((row["n"], row["N"]), (len(counts), len(stream)))
            self.assertEqual(row["model"], {"lego": "compact", "rule": "compact", "lego-paper": "paper"}.get(row["method"]))
            if row["method"] in ("lego", "rule", "lego-paper", "cms"):
                self.assertTrue(0 < row["bytes"] <= row["budget"], row)
            if row["method"] in ("lego-paper", "cms") or row["method"] in ("lego", "rule") and row["budget"] == 4096:
                self.assertGreater(row["bytes"], 0.87 * row["budget"])
            if row["method"] == "one":
                self.assertEqual(row["bytes"], 0)
                self.assertAlmostEqual(row["aae"], sum(count - 1 for count in counts) / len(counts), 9)
                self.assertAlmostEqual(row["are"], sum((count - 1) / count for count in counts) / len(counts), 9)
            if row["method"] == "exact":
                self.assertEqual((row["aae"], row["are"]), (0, 0))
                self.assertGreater(row["bytes"], sum(map(len, set(stream))))
        self.assertGreater(rows[1]["aae"], 0)

    def test_errors_are_those_of_the_sketch(self):
        stream = crowd()
        counts = collections.Counter(stream)
        errors = {}
        for seed in (5, 6):
            self.build("a", b"\n".join(stream), "--budget", "4K", "--seed", seed)
            answers = self.query("a", data=b"\n".join(counts))
            errors[seed] = (sum(abs(answers[item] - count) for item, count in counts.items()) / len(counts),
                            sum(abs(answers[item] - count) / count for item, count in counts.items()) / len(counts))
            row, = self.rows("--methods", "rule", "--budget", "4K", "--seed", seed, data=b"\n".join(stream))
            self.assertAlmostEqual(row["aae"], errors[seed][0], 9)
            self.assertAlmostEqual(row["are"], errors[seed][1], 9)
        self.assertNotEqual(errors[5], errors[6])
        row, = self.rows("--methods", "rule", "--budget", "4K", "--seed", 5, "--seeds", 2, data=b"\n".join(stream))
        self.assertAlmostEqual(row["aae"], (errors[5][0] + errors[6][0]) / 2, 9)
        self.assertAlmostEqual(row["are"], (errors[5][1] + errors[6][1]) / 2, 9)

    def test_lego_is_the_sketch(self):
        """It answers what a sketch does that has counted the stream in its order, as `query` asks it."""
        stream = crowd()
        counts = collections.Counter(stream)
        for budget in ("4K", "64K"):
            self.build("a", b"\n".join(stream), "--budget", budget)
            lines = self.run_program("query", "--json", "a", data=b"\n".join(counts)).splitlines()
            off = [abs(json.loads(line)["estimate"] - count) for line, count in zip(lines, counts.values(), strict=True)]
            row, = self.rows("--methods", "lego", "--budget", budget, data=b"\n".join(stream))
            self.assertAlmostEqual(row["aae"], sum(off) / len(off), 9)
            self.assertAlmostEqual(row["are"], sum(map(operator.truediv, off, counts.values())) / len(off), 9)
        self.run_program("eval", "--relative", "1", code=2, says="no option '--relative'")

    def test_formats_agree(self):
        stream = [int(random.Random(seed).paretovariate(0.8)) % 2**31 for seed in range(20000)]
        keys = self.rows("--budget", "10K", "-f", "u32", data=struct.pack("<20000I", *stream))
        self.assertEqual(keys, self.rows("--budget", "10K", "-f", "u64", data=struct.pack("<20000Q", *stream)))
        self.write("a.txt.xz", lzma.compress(b"".join(b"%d\n" % item for item in stream)))
        table = b"".join(b"%d\t%d\n" % pair for pair in collections.Counter(stream).items())
        lines = self.rows("--budget", "10K", "a.txt.xz")
        self.assertEqual(lines, self.rows("--budget", "10K", "-f", "tsv", data=table))
        self.assertEqual([row["n"] for row in lines], [row["n"] for row in keys])

    def test_deletions(self):
        """An item whose count is negative is measured, relative to how far it is from 0; one whose count is 0 is not."""
        rows = self.rows("--methods", "one,exact,rule", "-f", "tsv", data=b"a\t5\nb\t3\na\t-4\nb\t-3\nc\t-4\n")
        for row, errors in zip(rows, [(2.5, 0.625), (0, 0), (0, 0)], strict=True):
            self.assertEqual((row["n"], row["N"], row["aae"], row["are"]), (2, -3, *errors))
        for row in self.rows(data=b""):
            self.assertEqual((row["n"], row["N"], row["aae"], row["are"]), (0, 0, 0, 0))

    def test_every_method(self):
        stream = words(60000)
        counts = collections.Counter(stream)
        rows = self.rows("--methods", ",".join(METHODS), "--budget", "16K,1M", data=b"\n".join(stream))
        self.assertEqual([row["method"] for row in rows], METHODS * 2)
        for row in rows:
            if row["method"] != "exact":
                self.assertLessEqual(row["bytes"], row["budget"], row)
            # cmm takes off what might be there, and ms answers what it has learnt to
            if row["budget"] == 1 << 20 and row["method"] not in ("one", "cmm", "ms"):
                self.assertLess(row["are"], 0.05, row)

    def test_order(self):
        """Methods that depend on the order get the stream as it comes, and from a table the same shuffle each time."""
        stream = crowd()
        table = b"".join(b"%s\t%d\n" % pair for pair in sorted(collections.Counter(stream).items()))
        tight = ["--methods", "fingerprint", "--budget", "2K"]  # in 8K there is room for all, whoever comes first
        methods = ["--methods", ",".join(IN_ORDER[:-1] + ["cms", "tower-cm"]), "--budget", "8K"]
        came, ordered, shuffled, again = (
            {row["method"]: (row["aae"], row["n"], row["N"])
             for row in self.rows(*methods, *more, data=data) + self.rows(*tight, *more, data=data)}
            for data, more in ((b"\n".join(stream), []), (b"\n".join(sorted(stream)), []), (table, ["-f", "tsv"]),
                               (table, ["-f", "tsv"])))
        self.assertEqual(shuffled, again)
        for method in IN_ORDER:
            self.assertEqual(came[method][1:], ordered[method][1:])
            self.assertNotEqual(came[method], ordered[method], method)
        for method in "cu", "tower-cu", "salsa-cu":
            self.assertLess(abs(came[method][0] / shuffled[method][0] - 1), 0.25, method)
        for method in "cms", "tower-cm":
            self.assertEqual([came[method]] * 2, [ordered[method], shuffled[method]])

    def test_no_deletions(self):
        for method in set(IN_ORDER) - {"d-lego"} | {"tower-cm"}:
            self.fails("eval", "-q", "--methods", "one," + method, "-f", "tsv", data="a\t5\na\t-4\n",
                       says=f"the input has negative counts, and {method} cannot delete")
        for row in self.rows("--methods", "cms,cs,lcs,cmm,lego,d-lego", "-f", "tsv", data="a\t5\na\t-4\n"):
            self.assertLess(row["aae"], 0.001)

    def test_table(self):
        text = self.run_program("eval", "-q", "--budget", "300K", data=b"\n".join(words(1000))).decode()
        self.assertRegex(text, r"\AN = 1000 items counted, \d+ distinct")
        header, *rows = text.split("\n\n")[1].splitlines()
        self.assertEqual(header.split(), ["method", "model", "budget", "bytes", "AAE", "ARE"])
        self.assertEqual([row.split()[0] for row in rows], ["lego", "rule", "lego-paper", "cms", "one", "exact"])
        self.assertEqual({len(row) for row in rows}, {len(header)})

    def test_does_not_fit(self):
        """A table that is fitted to the stream and has no room for it says so, and the others are measured."""
        data = b"".join(b"%d\n" % i for i in range(5000))
        options = ["-q", "--methods", "cqf,one", "--budget", "1K,20K"]
        rows = [line.split() for line in self.run_program("eval", *options, data=data).decode().splitlines()[3:]]
        self.assertEqual(rows[0], ["cqf", "-", "1K", "-", "-", "-"])
        self.assertEqual([row[0] for row in rows], ["cqf", "one"] * 2)
        self.assertLess(float(rows[2][4]), 0.01)
        full, one, fits, _ = self.rows(*options[1:], data=data)
        self.assertEqual(full, {"method": "cqf", "model": None, "budget": 1024, "N": 5000, "error": "the stream does not fit"})
        self.assertEqual((one["n"], fits["n"]), (5000, 5000))

    def test_too_small(self):
        self.fails("eval", "-q", "--methods", "lego", "--budget", "1K", data="a\n", says="lego at 1K: the budget")

    def check_close(self, row, wanted):
        for name, value in zip(("aae", "are"), wanted):
            self.assertLess(abs(row[name] - value), 0.05 * value, (row, wanted))

    @unittest.skipUnless({"mathoverflow", "war_and_peace"} <= set(STREAMS), "real streams are not there")
    def test_real_streams(self):
        peers = json.loads((streams.REFERENCE / "real_peers.json").read_text())
        for name, form in (("mathoverflow", "u64"), ("war_and_peace", "lines")):
            known = peers[name]
            sizes = list(known["budgets"])
            rows = self.rows("-f", form, "--methods", "cms,one", "--seeds", "5",
                             "--budget", ",".join(size[:-1] for size in sizes), STREAMS[name])
            for size, cms, one in zip(sizes, rows[::2], rows[1::2], strict=True):
                self.assertEqual((cms["n"], cms["N"]), (known["n"], known["N"]))
                self.check_close(cms, known["budgets"][size]["cms"])
                self.assertEqual([round(one[key], 4) for key in ("aae", "are")], known["always_1"])

    @unittest.skipUnless({"mathoverflow", "war_and_peace"} <= set(STREAMS), "real streams are not there")
    def test_other_implementations(self):
        """They shuffled the stream, and so does eval if it gets counts. scripts/compare-baselines has all seven streams."""
        methods = ["cs-clipped", "cu", "tower-cm", "tower-cu", "salsa-cu", "elastic"]
        known = json.loads((streams.REFERENCE / "real_peers.json").read_text())["mathoverflow"]["budgets"]
        data = lzma.decompress(STREAMS["mathoverflow"].read_bytes())
        table = b"".join(b"%d\t%d\n" % pair for pair in collections.Counter(struct.unpack(f"<{len(data) // 8}Q", data)).items())
        rows = self.rows("-f", "tsv", "--methods", ",".join(methods), "--seeds", "3",
                         "--budget", ",".join(size[:-1] for size in known), data=table)
        for at, row in enumerate(rows):
            theirs = list(known.values())[at // len(methods)][row["method"].replace("-", "_").replace("clipped", "clipped1")]
            self.check_close(row, theirs)

    def test_published_figures(self):
        published = json.loads((streams.REFERENCE / "synthetic.json").read_text())
        for alpha in ("0.5", "0.9"):
            table = self.run_program("gen", "zipf", "--alpha", alpha, "--format", "tsv")
            rows = self.rows("-f", "tsv", "--methods", "cms,cs,lcs,d-cms", "--seeds", "3", "--budget", "300K,600K", data=table)
            for at, row in enumerate(rows):
                name = row["method"].replace("-", "_")
                self.check_close(row, [published[alpha][f"{name}_{metric}"][at // 4] for metric in ("AAE", "ARE")])


if __name__ == "__main__":
    unittest.main()
