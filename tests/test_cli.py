"""The command legosketch, tested as its users meet it: through arguments, files, pipes and exit codes.

Takes the program from $LEGOSKETCH (default build/legosketch) and makes its data on the fly. Where real streams
are (scripts/streams.py), figures of eval are also checked against those known for them.

SPDX-License-Identifier: MIT
"""
import collections, json, os, random, re, resource, select, struct, subprocess, tempfile, time, unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = str(Path(os.environ.get("LEGOSKETCH", ROOT / "build" / "legosketch")).resolve())
COMMANDS = ["count", "build", "query", "top", "merge", "fold", "info", "suggest", "gen", "eval", "demo", "train", "lab", "report"]
FIELDS = ["method", "model", "budget", "bytes", "n", "N", "aae", "are"]
SANITIZED = b"__asan_init" in Path(PROGRAM).read_bytes() or b"__tsan_init" in Path(PROGRAM).read_bytes()
ENVIRONMENT = {key: value for key, value in os.environ.items() 
               if key not in ("NO_COLOR", "POSIXLY_CORRECT", "LEGOSKETCH_SEED")}


def as_bytes(value):
    return value if isinstance(value, bytes) else str(value).encode()


def unshown(item):
    """The bytes of an item that is shown."""
    letters = {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"\\": b"\\"}
    return re.sub(rb"\\(x..|.)", lambda found: letters.get(found[1]) or bytes.fromhex(found[1][1:].decode()), item)


class Case(unittest.TestCase):
    """A folder of its own for each test, and the program run in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_program(self, *arguments, data=b"", code=0, says=None, environment={}, **more):
        """Returns what it prints; says is a pattern that standard error must match, None that it must be empty."""
        if "stdin" not in more:
            more["input"] = as_bytes(data)
        done = subprocess.run([PROGRAM, *map(as_bytes, arguments)], cwd=self.folder, env={**ENVIRONMENT, **environment},
                              stdout=more.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE, timeout=120, **more)
        message = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, code, f"{arguments}: {message}")
        if says is None:
            self.assertEqual(message, "", arguments)
        else:
            self.assertRegex(message, says)
        return done.stdout

    def fails(self, *arguments, says, **more):
        self.run_program(*arguments, code=1, says=says, **more)

    def read(self, name):
        return (self.folder / name).read_bytes()

    def build(self, name, data, *arguments, **more):
        """Builds a sketch from standard input and returns its bytes."""
        self.run_program("build", "-o", name, *arguments, data=data, **more)
        return self.read(name)

    def answers(self, name, *items, **more):
        """item -> (estimate, lower, upper, likely)"""
        lines = self.run_program("query", *more.pop("options", []), name, *items, **more).split(b"\n")
        self.assertEqual(lines.pop(), b"")
        answers = {}
        for item, estimate, *bounds in (line.split(b"\t") for line in lines):
            lower, upper, likely = map(int, bounds)
            self.assertTrue(lower <= float(estimate) <= likely <= upper, (item, estimate, bounds))
            self.assertNotRegex(estimate, rb"\.0*$")
            answers[unshown(item)] = float(estimate), lower, upper, likely
        return answers

    def query(self, name, *items, **more):
        """item -> its upper bound, which is its count in a sketch that is nearly empty"""
        return {item: upper for item, (_, _, upper, _) in self.answers(name, *items, **more).items()}

    def info(self, *arguments):
        return json.loads(self.run_program("info", "--json", *arguments))

    def check_bounds(self, name, truth):
        """upper is never below the count, likely not for 99 % of the items, lower not above it for 99 %."""
        answers = self.answers(name, data=b"\n".join(truth) + b"\n")
        self.assertEqual(set(answers), set(truth))
        bounds = [(truth[item], *answer) for item, answer in answers.items()]
        self.assertEqual([row for row in bounds if row[3] < row[0]], [])
        self.assertLessEqual(sum(likely < count for count, _, _, _, likely in bounds), 0.01 * len(bounds))
        self.assertLessEqual(sum(lower > count for count, _, lower, _, _ in bounds), 0.01 * len(bounds))

    def on_terminal(self, arguments, environment={}, feed=None):
        """Runs it with standard output and error on a terminal; returns the exit status and what it showed."""
        pid, terminal = os.forkpty()
        if pid == 0:
            os.chdir(self.folder)
            os.environ.pop("NO_COLOR", None)
            os.environ.update({"TERM": "xterm", "LC_ALL": "C"}, **environment)
            if feed is not None:
                os.dup2(feed, 0)
            os.execv(PROGRAM, [PROGRAM, *arguments])
        shown = b""
        while True:
            try:
                block = os.read(terminal, 65536)
            except OSError:  # the other end is gone
                break
            if not block:
                break
            shown += block
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()

    def write(self, name, data):
        (self.folder / name).write_bytes(as_bytes(data))
        return name

    def files(self):
        return sorted(os.listdir(self.folder))


def words(count, seed=1):
    """A skewed stream of words of several lengths."""
    draw = random.Random(seed)
    return [b"word%d" % int(draw.paretovariate(0.7)) * draw.choice((1, 1, 3)) for _ in range(count)]


def limit(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


class Usage(Case):
    def test_version_and_help(self):
        self.assertRegex(self.run_program("--version"), rb"^legosketch \d+\.\d+\.\d+\n$")
        text = self.run_program("--help").decode()
        self.assertEqual(text, self.run_program("help").decode())
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} +\w+")
            text_of = self.run_program(command, "--help").decode()
            self.assertEqual(text_of, self.run_program("help", command).decode())
            self.assertEqual(text_of, self.run_program(command, "-h").decode())
            self.assertRegex(text_of, rf"(?s)^Usage: legosketch {command} .*\nOptions:\n.*\nExamples:\n  legosketch")
            self.assertLessEqual(max(map(len, text_of.split("\n"))), 84)

    def test_wrong_usage(self):
        self.run_program(code=2, says="Usage: legosketch COMMAND")
        self.run_program("biuld", code=2, says="no command 'biuld'; did you mean 'build'")
        self.run_program("xyzzy", code=2, says="no command 'xyzzy'; 'legosketch --help'")
        self.run_program("help", "qurey", code=2, says="did you mean 'query'")
        self.write("a.sketch", self.build("made", "a\n"))
        for arguments, says in [
            (["build"], "-o FILE is missing"),
            (["build", "--bugdet", "3K"], "no option '--bugdet'; did you mean '--budget'"),
            (["build", "-xq"], "no option '-x'"),
            (["build", "-o"], "option '-o' needs a value"),
            (["build", "--quiet=1"], "'--quiet' takes no value"),
            (["build", "-o", "x", "--budget", "3Q"], "'3Q' is not a size"),
            (["build", "-o", "x", "--budget", "1."], "'1.' is not a size"),
            (["build", "-o", "x", "--budget", "0"], "from 4K to 64G"),
            (["build", "-o", "x", "--top=1x"], "'1x' is not a size"),
            (["build", "-o", "x", "--columns", "64"], "--columns needs --blocks"),
            (["build", "-o", "x", "--budget", "65G"], "from 4K to 64G"),
            (["build", "-o", "x", "--threads", "0"], "'0' is not a whole number"),
            (["build", "-o", "x", "--seed", "-1"], "'-1' is not a whole number"),
            (["build", "-o", "x", "--seed", "18446744073709551616"], "is not a whole number"),
            (["build", "-o", "x", "--format", "xml"], r"'xml' is not one of these words: lines\|tsv\|csv\|uniq\|u32\|u64"),
            (["build", "-o", "x", "--on-error", "panic"], "stop\\|skip"),
            (["query"], "none is named"),
            (["query", "-"], "cannot both come from standard input"),
            (["query", "--csv", "--json", "a.sketch", "1"], "--csv and --json: which of them"),
            (["query", "--absent", "1", "a.sketch"], "--absent is from 0 to below 1"),
            (["query", "--absent", "-0.1", "a.sketch"], "'-0.1' is not a number that is not negative"),
            (["query", "--absent", "nan", "a.sketch"], "'nan' is not a number that is not negative"),
            (["merge", "a.sketch"], "-o FILE is missing"),
            (["merge", "-o", "x"], "none is named"),
            (["fold", "a.sketch"], "-o FILE is missing"),
            (["fold", "-o", "x", "a.sketch"], "give --budget SIZE or --blocks K"),
            (["fold", "-o", "x", "--budget", "8K", "--blocks", "2", "a.sketch"], "give --budget SIZE or --blocks K"),
            (["fold", "-o", "x", "--blocks", "0", "a.sketch"], "'0' is not a whole number from 1"),
            (["fold", "-o", "x", "--blocks", "1", "a.sketch", "made"], "2 are named"),
            (["info"], "none is named"),
            (["gen"], "There is one: zipf"),
            (["gen", "uniform"], "no stream 'uniform'"),
            (["gen", "zipf", "--alpha", "-1"], "'-1' is not a number that is not negative"),
            (["eval", "--methods", "lego,cmsx"], "'cmsx' is not a method"),
            (["eval", "--budget", "300K,,1M"], "'' is not a size"),
            (["demo", "now"], "takes no argument"),
        ]:
            with self.subTest(arguments=arguments):
                self.run_program(*arguments, code=2, says=says)
        self.assertEqual(self.files(), ["a.sketch", "made"])

    def test_sizes(self):
        for text, plain in [("300K", 307200), ("8k", 8192), ("8KB", 8192), ("8KiB", 8192), ("1.5M", 1572864),
                            ("0.1M", 104857), ("4096B", 4096)]:
            self.assertEqual(self.build("a", "x\n", "--budget", text), self.build("b", "x\n", "--budget", plain), text)
            self.assertLessEqual(json.loads(self.run_program("info", "--json", "a"))["bytes"], plain)


class Documents(Case):
    """Help comes from the option tables; what is written by hand has to agree with it."""

    def options(self, command):
        text = self.run_program(command, "--help").decode()
        found = re.findall(r"(?m)^  (?:-(\w), |    )--([a-z-]+)", text)
        self.assertIn(("h", "help"), found)
        return {f"--{name}" for _, name in found} | {f"-{letter}" for letter, _ in found if letter}

    def test_manual_page(self):
        page = (ROOT / "docs" / "legosketch.1").read_text().replace("\\-", "-")
        self.assertIn(f'"{self.run_program("--version").decode().strip()}"', page)
        sections = dict(re.findall(r"(?ms)^\.SS (\w+)(?: zipf)?\n(.*?)(?=^\.S[SH] )", page))
        for command in COMMANDS:
            shared = re.search(r"Options of (Input)?( and of )?(Rows)?, above", sections[command])
            text = sections[command] + "".join(sections[name] for name in shared.groups() if name in sections) if shared else sections[command]
            tagged = "\n".join(re.findall(r"(?m)^\.TP\n(.*)", text))
            found = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", tagged))
            self.assertEqual(found, self.options(command) - {"-h", "--help"}, command)

    def test_bash_completion(self):
        script = (f'source "{ROOT}/completions/legosketch.bash"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                  '_legosketch; printf "%s\\n" "${COMPREPLY[@]}"')

        def complete(*line):
            done = subprocess.run(["bash", "-c", script, "bash", "legosketch", *line], capture_output=True, text=True,
                                  cwd=self.folder)
            self.assertEqual(done.stderr, "")
            return set(done.stdout.split())
        self.assertEqual(complete(""), {*COMMANDS, "help", "--help", "--version"})
        for command in COMMANDS:
            self.assertEqual(complete(command, "-"), self.options(command), command)
        self.assertEqual(complete("gen", "--format", ""), {"lines", "tsv", "u32", "u64"})
        self.assertEqual(complete("build", "--format", ""), {"lines", "tsv", "csv", "uniq", "u32", "u64"})
        self.write("a.sketch", "")
        self.assertEqual(complete("info", "a"), {"a.sketch"})
        self.assertEqual(complete("build", "-a", "a"), {"a.sketch"})  # it is --append there, which takes no value
        self.assertEqual(complete("train", "-r", "--"), complete("train", "--"))
        self.assertEqual(complete("gen", "-a", ""), set())

    def test_zsh_completion(self):
        text = (ROOT / "completions" / "_legosketch").read_text()
        functions = dict(re.findall(r"(?ms)^_legosketch_(\w+)\(\) \{\n(.*?)^\}", text))
        shared = dict(re.findall(r"(?ms)^    (\w+)=\((.*?)\)$", functions["common"]))
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^        '{command}:\w+")
            body = functions[command] + " ".join(shared[name] for name in re.findall(r"\$(\w+)", functions[command]))
            found = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*(?=[\[,}=])", body))
            self.assertEqual(found, self.options(command), command)


class Formats(Case):
    def test_lines(self):
        stream = words(50000)
        counts = collections.Counter(stream)
        self.build("a", b"\n".join(stream) + b"\n", "--budget", "1M")
        answers = self.query("a", *list(counts)[:200], b"absent")
        for item, upper in answers.items():
            self.assertGreaterEqual(upper, counts[item])
        right = sum(counts[item] == upper for item, upper in answers.items())
        self.assertGreater(right, 190)
        self.assertEqual(json.loads(self.run_program("info", "--json", "a"))["total"], len(stream))

    def test_every_way_in_gives_the_same_bytes(self):
        stream = words(300000)  # 3 MB, so lines span blocks
        lines = b"\n".join(stream) + b"\n"
        wanted = self.build("a", lines, "--budget", "100K")
        counts = collections.Counter(stream)
        table = b"".join(b"%s\t%d\n" % pair for pair in counts.items())
        self.write("whole.txt", lines)
        self.write("1.txt", lines[:1000000].rsplit(b"\n", 1)[0])  # the last line of a file needs no line feed
        self.write("2.txt", lines[len(lines[:1000000].rsplit(b"\n", 1)[0]) + 1:])
        for arguments, data in [
            (["whole.txt"], b""), (["-"], lines), (["1.txt", "2.txt"], b""), (["1.txt", "-"], self.read("2.txt")),
            (["--format", "tsv"], table), (["--threads", "4", "whole.txt"], b""), (["--seed", "0", "-b102400"], lines),
        ]:
            with self.subTest(arguments=arguments):
                arguments = arguments if "-b102400" in arguments else ["--budget", "100K", *arguments]
                self.assertEqual(self.build("b", data, *arguments), wanted)
        self.assertEqual(self.run_program("build", "-o", "-", "--budget", "100K", data=lines), wanted)
        self.assertNotEqual(self.build("b", lines, "--budget", "100K", "--seed", "1"), wanted)

    def test_items_of_any_bytes(self):
        draw = random.Random(3)
        sizes = [0, 1, 31, 32, 33, 63, 64, 65, 1000] + list(range(12)) * 4  # short lines have a way of their own
        items = [draw.randbytes(draw.choice(sizes)).replace(b"\n", b"-") for _ in range(2000)]
        stream = draw.choices(items, k=1000000)  # over 16 MB, so of several batches and many blocks
        counts = collections.Counter(stream)
        keep = ["--keep-cr", "--keep-nul"]
        wanted = self.build("a", b"".join(b"%s\t%d\n" % pair for pair in counts.items()), "--format", "tsv", *keep)
        self.write("in", b"\n".join(stream) + b"\n")
        self.assertEqual(self.build("b", b"", *keep, "in"), wanted)
        self.assertEqual(self.build("b", self.read("in"), *keep), wanted)
        keys = [draw.randrange(2**32) for _ in range(3000)] * 300
        narrow = self.build("a", struct.pack(f"<{len(keys)}I", *keys), "--format", "u32")
        self.assertEqual(narrow, self.build("b", struct.pack(f"<{len(keys)}Q", *keys), "--format", "u64"))

    def test_odd_items(self):
        self.build("a", b"\n\nx\ty\n\0\xff\0\nlast", "--budget", "64K", "--keep-nul")
        self.assertEqual(self.query("a", "", b"x\ty", "last", "x"), {b"": 2, b"x\ty": 1, b"last": 1, b"x": 0})
        self.assertEqual(self.query("a", data=b"\0\xff\0\n\nlast", options=["--keep-nul"]),
                         {b"\0\xff\0": 1, b"": 2, b"last": 1})
        self.assertEqual(self.query("a", "--", "-x"), {b"-x": 0})

    def test_tsv(self):
        self.build("a", b"apple\t3\npear\t-2\na\tb\t+7\n\t4\napple\t1000000000000\n", "--format", "tsv")
        self.assertEqual(self.query("a", "apple", "pear", "a\tb", ""),
                         {b"apple": 1000000000003, b"pear": -2, b"a\tb": 7, b"": 4})
        self.assertEqual(json.loads(self.run_program("info", "--json", "a"))["total"], 1000000000012)
        undone = self.build("b", b"apple\t3\npear\t5\napple\t-3\npear\t-5", "--format", "tsv", "--budget", "8K")
        self.assertEqual(undone, self.build("c", b"", "--budget", "8K"))

    def test_keys(self):
        keys = [0, 1, 1, 77, 2**32 - 1] * 3
        narrow = self.build("a", struct.pack("<15I", *keys), "--format", "u32")
        self.assertEqual(narrow, self.build("b", struct.pack("<15Q", *keys), "--format", "u64"))
        self.assertEqual(self.query("a", 0, 1, 5, 2**32 - 1), {b"0": 3, b"1": 6, b"5": 0, b"4294967295": 3})
        self.assertEqual(self.query("a", data=b"0\n1\r\n5\n4294967295"), {b"0": 3, b"1": 6, b"5": 0, b"4294967295": 3})
        self.assertEqual(self.query("a", data=struct.pack("<2Q", 77, 2**40), options=["-f", "u64"]),
                         {b"77": 3, b"1099511627776": 0})
        self.assertEqual(self.query("a", data=struct.pack("<2I", 77, 3), options=["-f", "u32"]), {b"77": 3, b"3": 0})

    def test_json_answers(self):
        self.build("a", b'apple\n"\\\xc3\xa9\n\xff\n')
        data = b'apple\n"\\\xc3\xa9\n\xff\n\xed\xa0\x80\n'
        rows = [json.loads(line) for line in self.run_program("query", "--json", "a", data=data).splitlines()]
        self.assertEqual([list(row.items())[0] for row in rows],
                         [("item", "apple"), ("item", '"\\é'), ("item_hex", "ff"), ("item_hex", "eda080")])
        for row, count in zip(rows, (1, 1, 1, 0), strict=True):
            self.assertEqual(list(row)[1:], ["estimate", "lower", "upper", "likely"])
            self.assertEqual(row["upper"], count)
        self.build("b", struct.pack("<Q", 2**64 - 1), "-f", "u64")
        line, = self.run_program("query", "--json", "b", 2**64 - 1).splitlines()
        self.assertIn(b'"item":18446744073709551615,', line)

    def test_how_a_question_is_meant(self):
        """An item that is not listed is answered by one number, at least 1, or by 0 where it may never have come."""
        self.build("a", "apple\npear\napple\n")
        for options in (["--absent", "0.5"], ["--absent=.9"], []):
            self.assertEqual(self.query("a", "apple", "plum", options=options), {b"apple": 2, b"plum": 0})
            self.assertEqual(self.query("a", data=b"apple\nplum", options=options), {b"apple": 2, b"plum": 0})
        truth = {b"%d" % i: 1 + 2000 // (i + 1) for i in range(10000)}
        self.build("b", b"\n".join(b"%s\t%d" % pair for pair in truth.items()), "--format", "tsv", "--budget", "6K")
        asked = b"\n".join([*truth, *(b"%d" % i for i in range(20000, 23000))]) + b"\n"
        plain, at_0, below, above, high = (self.answers("b", data=asked, options=way.split())
                                           for way in ("", "--absent 0", "--absent 0.24", "--absent 0.25", "--absent 0.9"))
        self.assertEqual(plain, at_0)
        self.assertEqual(plain, below)
        self.assertEqual(above, high)
        unlisted = [item for item in plain if above[item] != plain[item]]
        self.assertEqual({above[item][0] for item in unlisted}, {0})
        value, = {plain[item][0] for item in unlisted}  # the same for all of them
        self.assertGreaterEqual(value, 1)
        strangers = [item for item in plain if item not in truth]
        self.assertGreater(sum(above[item][0] == 0 for item in strangers), 0.9 * len(strangers))
        self.assertGreaterEqual(min(plain[item][0] for item in truth), 1)  # these have come
        for i in range(20):  # and these most often: they are listed
            self.assertEqual(plain[b"%d" % i], above[b"%d" % i])
            self.assertLess(abs(plain[b"%d" % i][0] / truth[b"%d" % i] - 1), 0.05)
        self.check_bounds("b", truth)
        self.build("c", "apple\n", "--model", "paper")
        self.fails("query", "--absent", "0.5", "c", "apple", data="", says="c was built with the paper's model, which has one way")
        self.assertIn(b"apple", self.query("c", "apple", options=["--absent", "0"]))
        self.run_program("query", "--relative", "1", "a", "apple", code=2, says="no option '--relative'")

    def test_answers_come_at_once(self):
        self.build("a", "apple\n")
        with subprocess.Popen([PROGRAM, "query", "a"], cwd=self.folder, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as asked:
            for item, answer in [(b"apple\n", b"apple\t1\t1\t1\t1\n"), (b"pear\n", b"pear\t0\t0\t0\t0\n")]:
                asked.stdin.write(item)
                asked.stdin.flush()
                ready, _, _ = select.select([asked.stdout], [], [], 60)
                self.assertTrue(ready, "no answer before the end of the input")
                self.assertEqual(os.read(asked.stdout.fileno(), 100), answer)
            asked.stdin.close()
            self.assertEqual(asked.wait(60), 0)


class Malformed(Case):
    BAD = [(2, "no tab", b"bad"), (4, "nothing after the last tab", b"z\t"), (5, "not a whole number", b"w\t1x"),
           (6, "not a whole number", b"w\t 1"), (7, "does not fit into 64 bits", b"v\t9223372036854775808"),
           (8, "does not fit into 64 bits", b"v\t-9223372036854775809"), (9, "not a whole number", b"u\t5\r "),
           (10, "sign without digits", b"s\t-"), (11, "a sum could leave 64 bits", b"q\t9223372036854775807")]

    def test_tsv(self):
        good = {1: b"x\t3", 3: b"y\t-2", 12: b"x\t4"}
        bad = {line: text for line, _, text in self.BAD}
        rows = [(good | bad)[line] for line in range(1, 13)]
        name = self.write("in.tsv", b"\n".join(rows))
        self.fails("build", "-o", "out", "-f", "tsv", name, says=r"\Ain.tsv:2: no tab[^\n]*\n\Z")
        self.assertEqual(self.files(), ["in.tsv"])
        every = "".join(rf"in\.tsv:{line}: [^\n]*{what}[^\n]*\n" for line, what, _ in self.BAD)
        made = self.build("out", b"", "-f", "tsv", "--on-error", "skip", name,
                          says=rf"\A{every}legosketch: skipped 9 malformed lines\n\Z")
        self.assertEqual(made, self.build("clean", b"\n".join(good.values()), "-f", "tsv"))
        for line, what, text in self.BAD:
            with self.subTest(text=text):
                self.fails("build", "-o", "x", "-f", "tsv", data=b"a\t1\n" + text + b"\n", says=rf"\Astdin:2: .*{what}")
                self.assertNotIn("x", self.files())

    def test_messages_keep_their_order(self):
        """A batch has 2^20 lines. What only the sketch can refuse is said before what is wrong in the next one."""
        rows = [b"x\t1"] * 3200000
        rows[9], rows[99], rows[1100000], rows[2400000] = b"y\t9223372036854775807", b"bad", b"bad", b"y\t" + b"9" * 18
        name = self.write("in.tsv", b"\n".join(rows))
        says = [r"in\.tsv:100: no tab", r"in\.tsv:10: [^\n]*a sum", r"in\.tsv:1100001: no tab"]
        made = self.build("out", b"", "-f", "tsv", "--on-error", "skip", name,
                          says=r"\A" + "".join(rf"{line}[^\n]*\n" for line in says) + r"[^\n]*skipped 3 [^\n]*\n\Z")
        good = [row for row in rows if row != b"bad" and row != rows[9]]
        self.assertEqual(made, self.build("clean", b"\n".join(good), "-f", "tsv"))
        rows[99] = b"x\t1"
        self.write("in.tsv", b"\n".join(rows))
        self.fails("build", "-o", "x", "-f", "tsv", name, says=r"\Ain\.tsv:10: [^\n]*a sum[^\n]*\n\Z")
        self.assertNotIn("x", self.files())

    def test_eval_does_the_same(self):
        data = b"x\t3\nbad\ny\t9223372036854775807\nx\t1\n"
        self.fails("eval", "-f", "tsv", data=data, says=r"\Astdin:2: no tab")
        out = self.run_program("eval", "--json", "--methods", "exact", "-f", "tsv", "--on-error", "skip", data=data,
                               says=r"\Astdin:2: .*\nstdin:3: .*64 bits\nlegosketch: skipped 2 malformed lines\n\Z")
        self.assertEqual((json.loads(out)["n"], json.loads(out)["N"]), (1, 4))

    def test_many_are_counted(self):
        data = b"".join(b"%d\t%s\n" % (i, b"" if i % 2 else b"1") for i in range(10000))
        named = "".join(rf"stdin:{line}: nothing after [^\n]*\n" for line in range(2, 22, 2))
        self.build("a", data, "-f", "tsv", "--on-error", "skip",
                   says=rf"\A{named}legosketch: skipped 5000 malformed lines\n\Z")

    def test_records(self):
        for width, name in ((4, "u32"), (8, "u64")):
            data = bytes(width * 100000)
            for rest in range(1, width):
                self.fails("build", "-o", "x", "-f", name, data=data + b"\1" * rest,
                           says=r"\Astdin:100001: .*middle of a record")
            self.assertNotIn("x", self.files())
            skipped = self.build("a", data + b"\1", "-f", name, "--on-error", "skip", says="skipped 1 malformed line\n")
            self.assertEqual(skipped, self.build("b", data, "-f", name))

    def test_long_lines(self):
        most = b"x" * (16 << 20)
        kept = self.build("a", b"first\n" + most + b"\nlast\n")
        self.assertEqual(self.build("b", b"last\n" + most + b"\nfirst\n"), kept)
        self.fails("build", "-o", "c", data=b"first\n" + most + b"x\nlast", says=r"\Astdin:2: .*longer than 16 MiB")
        skipped = self.build("d", b"first\n" + 3 * most + b"\nlast\n", "--on-error", "skip",
                             says=r"\Astdin:2: .*\n.*skipped 1 ")
        self.assertEqual(skipped, self.build("e", b"first\nlast\n"))


class Terminal(Case):
    def test_demo(self):
        options = ["demo", "--distinct", "20000", "--budget", "64K"]
        text = self.run_program(*options).decode()
        self.assertNotIn("\033", text)
        self.assertTrue(text.isascii())
        for part in ("How often did item x occur", "Count-Min", "always 1", "middle", "rare", "absent", "####"):
            self.assertIn(part, text)
        answer = re.search(r"(?m)^  1 +[a-z]+ +(\d+) +(\d+) +(\d+) to (\d+) ", text)
        truth, estimate, lower, upper = map(int, answer.groups())
        self.assertEqual(truth, 10001)  # 20001 / 2, rounded
        self.assertTrue(truth <= upper and lower <= estimate <= upper)
        code, colored = self.on_terminal(options)
        self.assertEqual(code, 0)
        self.assertIn("\033[1m", colored)
        self.assertEqual(self.on_terminal(options, {"NO_COLOR": "1"})[1].count("\033"), 0)

    def test_no_sketch_on_a_terminal(self):
        code, shown = self.on_terminal(["build", "-o", "-", "/dev/null"])
        self.assertEqual(code, 1)
        self.assertIn("a terminal, which cannot show a sketch", shown)

    def test_progress(self):
        for quiet in ([], ["--quiet"]):
            reader, writer = os.pipe()
            feeder = os.fork()
            if feeder == 0:
                os.close(reader)
                for _ in range(24):
                    os.write(writer, b"apple\n" * 1000)
                    time.sleep(0.1)
                os._exit(0)
            os.close(writer)
            code, shown = self.on_terminal(["build", "-o", "out", *quiet], feed=reader)
            os.close(reader)
            os.waitpid(feeder, 0)
            self.assertEqual(code, 0)
            self.assertEqual(self.query("out", "apple"), {b"apple": 24000})
            if quiet:
                self.assertEqual(shown, "")
            else:
                self.assertRegex(shown, r"\r\033\[Kbuild  [0-9.]+ k items  [0-9.]+ k/s")
                self.assertRegex(shown, r"\r\033\[Klegosketch: 24000 items counted, 1 distinct, in (\d+) bytes, "
                                        r"\1 a distinct item; every count is exact\r\n\Z")
        self.write("in", b"apple\n" * 1000)
        code, shown = self.on_terminal(["build", "-o", "out", "in"])
        self.assertNotIn("\033", shown)  # nothing to wait for


if __name__ == "__main__":
    unittest.main()
