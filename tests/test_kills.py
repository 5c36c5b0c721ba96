"""Kills and faults: each command that writes, killed at each of its system calls, and with each of them failing in turn.

Afterwards each file is as it was or as it is to be, byte for byte, and the next run goes on from there. tests/tracer.c
kills and makes calls fail, tests/no_memory.c refuses memory.

With KILLS=10000 every system call has its turn, and then other inputs, until there were so many kills (`make kills`).

SPDX-License-Identifier: MIT
"""
import collections, errno, gzip, json, os, random, re, signal, stat, subprocess, sys, tempfile, unittest
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import ENVIRONMENT, PROGRAM, ROOT

WANTED = int(os.environ.get("KILLS", 0))
BUILD = Path(PROGRAM).parent
TRACER = os.environ.get("TRACER", str(BUILD / "tracer"))
NO_MEMORY_LIBRARY = os.environ.get("NO_MEMORY_LIBRARY", str(BUILD / "libno_memory.so"))
KILLED, NO_TRACING = 128 + signal.SIGKILL, 99
NAMED = ["-n"]  # files have names, as on file systems without O_TMPFILE

# System calls that are made to fail, their numbers on x86-64, and with what. Those that cannot fail are not among them,
# nor those without which the C library itself ends the program (futex).
FAULTS = {
    "read": (0, "EIO EINTR"), "write": (1, "ENOSPC EIO EINTR"), "close": (3, "EIO"), "lseek": (8, "EIO"),
    "mmap": (9, "ENOMEM"), "mprotect": (10, "ENOMEM"), "munmap": (11, "ENOMEM"), "ioctl": (16, "EIO"),
    "access": (21, "EIO"), "madvise": (28, "ENOMEM"), "dup": (32, "EMFILE"), "flock": (73, "ENOLCK EINTR"),
    "fsync": (74, "EIO ENOSPC"), "ftruncate": (77, "EIO"), "rename": (82, "EIO ENOSPC"), "mkdir": (83, "ENOSPC"),
    "link": (86, "EIO"), "unlink": (87, "EIO"), "readlink": (89, "EIO"), "fchmod": (91, "EIO"),
    "getdents64": (217, "EIO"), "openat": (257, "EIO EMFILE ENOSPC"), "newfstatat": (262, "EIO"), "unlinkat": (263, "EIO"),
    "linkat": (265, "EIO ENOSPC EPERM"), "pipe2": (293, "EMFILE"), "clone3": (435, "EAGAIN"),
}
READ, WRITE, RENAME, FCNTL, SCHED_YIELD = 0, 1, 82, 72, 24
NEVER_LEFT_OUT = ("fsync", "rename", "linkat", "fchmod", "mkdir")  # by which files are replaced

kills = collections.Counter()


# ---- files -----------------------------------------------------------------------------------------------------------

def lay(folder, files):
    """Makes these files, as snapshot() has them."""
    for name, (mode, data) in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if isinstance(data, str):
            path.symlink_to(data)
        else:
            path.write_bytes(data)
            path.chmod(mode)


def snapshot(folder):
    """name -> mode and bytes, or where a link leads."""
    files = {}
    for place, _, names in os.walk(folder):
        for path in (Path(place, name) for name in names):
            link = path.is_symlink()
            files[str(path.relative_to(folder))] = (0 if link else stat.S_IMODE(path.stat().st_mode),
                                                    os.readlink(path) if link else path.read_bytes())
    return files


def timeless(name, mode, data):
    """The same where results of the lab and logs of training do not tell when, where and how fast."""
    if name.startswith("results/"):
        return mode, {key: value for key, value in json.loads(data).items() if key not in ("date", "seconds", "machine", "command")}
    if name.endswith(".log"):
        lines = [json.loads(line) for line in data.splitlines()]
        return mode, [{**line, "tasks_per_second": 0} for line in lines if "step" in line]
    return mode, data


def is_leftover(name):
    return re.fullmatch(r"\.legosketch-[0-9a-f]{6}", os.path.basename(name)) is not None


def differing(files, *others):
    """The names of files that are like none of the others', of which temporary ones do not count."""
    names = {name for some in (files, *others) for name in some if not is_leftover(name)}
    here, *there = ({name: timeless(name, *content) for name, content in some.items() if name in names} for some in (files, *others))
    return sorted(name for name in names if all(here.get(name) != other.get(name) for other in there))


class Folder(tempfile.TemporaryDirectory):
    """A folder with files, in which commands run."""

    def __init__(self, files={}):
        super().__init__(prefix="kills-")
        self.path = Path(self.name)
        lay(self.path, files)

    def __enter__(self):
        return self

    def run(self, command, tracing=(), environment={}):
        traced = [TRACER, *map(str, tracing), "--"] if tracing else []
        return subprocess.run([*traced, *command], cwd=self.path, capture_output=True, errors="backslashreplace",
                              env={**ENVIRONMENT, "PATH": f"{self.path}:{os.environ['PATH']}", **environment},
                              stdin=subprocess.DEVNULL, timeout=120)

    def files(self):
        return snapshot(self.path)


class Scene:
    """A command, and what it makes of files. Its system calls count from the first of a number on; before that it is
    loaded."""

    def __init__(self, files, command, first=FCNTL):
        self.before, self.command, self.first = files, command, ["-f", first]
        with Folder(files) as folder:
            done = folder.run(self.command)
            assert done.returncode == 0, done.stderr
            self.said, self.after = done.stdout, folder.files()

    def calls(self, *tracing):
        """The numbers of its system calls."""
        with Folder(self.before) as folder, tempfile.NamedTemporaryFile("r") as found:
            folder.run(self.command, [*self.first, *tracing, "-c", found.name])
            return [int(line) for line in found]

    def allocations(self):
        with Folder(self.before) as folder, tempfile.NamedTemporaryFile("r") as found:
            folder.run(self.command, environment={"LD_PRELOAD": NO_MEMORY_LIBRARY, "NO_MEMORY_COUNT": found.name})
            return int(found.read())


# ---- what is done ----------------------------------------------------------------------------------------------------

def make_inputs(draw):
    """Streams, tables and sketches of them."""
    items = [b"item%d" % int(draw.paretovariate(0.7)) for _ in range(draw.randrange(2000, 5000))]
    table = b"a,b\n" + b"".join(b"%d,%s\n" % pair for pair in enumerate(items))
    files = {name: (0o644, data) for name, data in (
        ("in", b"".join(b"%d\n" % draw.randrange(99) for _ in range(draw.randrange(50, 150)))),
        ("more", b"\n".join(items) + b"\n"), ("table.csv.gz", gzip.compress(table, mtime=0)), ("there/kept", b""))}
    with Folder(files) as folder:
        for name, command in (("a", "build -q --budget 16K -o a more"), ("b", "build -q --budget 16K -o b in"),
                              ("top", "build -q --budget 16K --top -o top more"),
                              ("lab", "lab bound -q -n 100 --alphas 0.7 --seeds 1 -t 1 -o results")):
            done = folder.run([PROGRAM, *command.split()])
            assert done.returncode == 0, (name, done.stderr)
        # as much of gnuplot as a page needs
        (folder.path / "gnuplot").write_bytes(b"#!/bin/sh\necho '<svg></svg>'\n")
        (folder.path / "gnuplot").chmod(0o755)
        return folder.files()


# Commands that write: each of them where `out` is not there and where it is.
WRITERS = {
    "build": "build -q -o out in",
    "build --top": "build -q --top --budget 64K -t 2 -o out more",
    "build of a table": "build -q --column b --budget 8K -o out table.csv.gz",
    "build through a link": "build -q -o link in",
    "append": "build -q --append -o out in",
    "merge": "merge -o out a b",
    "fold": "fold -b 8K -o out a",
    "report": "report -q -o out results",
}
# ... and those whose output is one of their inputs, or goes where they will.
REPLACERS = {
    "merge into one of them": "merge -o a a b",
    "fold of a top": "fold -b 8K -o top top",
    "lab": "lab bound -q -n 100 --alphas 0.7 --seeds 1 -t 1 -o results",
    "lab, in a new folder": "lab bound -q -n 100 --alphas 0.7 --seeds 1 -t 1 -o results/new",
}
PRINTERS = {
    "query": "query a item1 item2", "top": "top top", "info": "info --json a", "count": "count -q --column b table.csv.gz",
    "eval": "eval -q --budget 8K --methods lego,one in", "gen": "gen zipf -q -n 50",
    "suggest": "suggest -q -n 1000 -e 1%", "merge to a pipe": "merge -o - a b",
}
# The Python package writes by the same rule, in code of its own.
SAVE = f"""
import os, sys
sys.path.insert(0, {str(ROOT / "bindings" / "python" / "legosketch")!r})
import _saving
os.sched_yield()
try:
    _saving.write_file("link", b"saved" * 5000)
except OSError as error:
    sys.exit("legosketch: " + str(error))
"""


def make_scenes(draw):
    """name -> scene"""
    files = {**make_inputs(draw), "link": (0, "there/out")}
    replaced = {**files, "out": (0o640, files["b"][1]), "there/out": (0o604, files["b"][1])}
    save = ["/usr/bin/python3", "-I", "-S", "-B", "-c", SAVE]
    scenes = {name: Scene(files, [PROGRAM, *command.split()]) for name, command in {**WRITERS, **REPLACERS}.items()}
    scenes.update({name + ", replacing": Scene(replaced, [PROGRAM, *command.split()]) for name, command in WRITERS.items()})
    return {**scenes, "save of Python": Scene(files, save, SCHED_YIELD),
            "save of Python, replacing": Scene(replaced, save, SCHED_YIELD)}


def chosen(count, turn, stride):
    """Which of so many have their turn: in the short form one of a few, and others in another scene."""
    return [k for k in range(1, count + 1) if WANTED or (k + turn) % stride == 0]


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if subprocess.run([TRACER, "/bin/true"]).returncode == NO_TRACING:
            raise unittest.SkipTest("a program may not be traced here")

    def check_leftovers(self, folder):
        """The next run that writes there removes what a kill has left; the number of files that it has."""
        left = [Path(name) for name in folder.files() if is_leftover(name)]
        for path in left:
            done = folder.run([PROGRAM, "build", "-q", "-o", path.parent / "swept", folder.path / "in"])
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertFalse(any(map(is_leftover, folder.files())))
        self.assertLessEqual(len(left), 1)
        return len(left)


class Kills(Case):
    def kill(self, scene, tracing, calls):
        """Whether it was killed; else it came to its end before that call."""
        with Folder(scene.before) as folder:
            done = folder.run(scene.command, [*scene.first, *tracing])
            now = folder.files()
            if done.returncode != KILLED:
                self.assertEqual((done.returncode, differing(now, scene.after)), (0, []), done.stderr)
                return
            kills["done"] += 1
            self.assertEqual(differing(now, scene.before, scene.after), [])
            left = self.check_leftovers(folder)
            kills["left a file"] += left
            # one that had no name has one of ours for no longer than from its link to its renaming
            self.assertTrue("-n" in tracing or not left or RENAME in calls, calls)

    def kill_everywhere(self, scenes):
        for turn, (name, scene) in enumerate(scenes.items()):
            for named in ([], NAMED):
                calls = scene.calls(*named)
                for k in chosen(len(calls), turn, 6):
                    around = calls[max(0, k - 5):k + 4]  # threads make a call or two more, or less
                    with self.subTest(name, named=named, k=k, calls=around):
                        self.kill(scene, ["-k", k, *named], around)
                for k in chosen(calls.count(WRITE), 0, 1):
                    with self.subTest(name, named=named, half_of_write=k):
                        self.kill(scene, ["-o", WRITE, "-w", k, *named], ())

    def test_everywhere(self):
        draw = random.Random(1)
        self.kill_everywhere(make_scenes(draw))
        while kills["done"] < WANTED:
            self.kill_everywhere(make_scenes(draw))


class Faults(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.writers = make_scenes(random.Random(1))
        files = cls.writers["build"].before
        printers = {name: Scene(files, [PROGRAM, *command.split()]) for name, command in PRINTERS.items()}
        cls.scenes = {**cls.writers, **printers}

    def judge(self, scene, done, folder):
        """It says that it failed and has changed nothing, or has not failed."""
        now = folder.files()
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertFalse(any(map(is_leftover, now)))
        if done.returncode == 0:
            self.assertEqual((differing(now, scene.after), done.stdout), ([], scene.said))
        else:
            self.assertRegex(done.stderr, r"(?m)^legosketch: .|^\S+:\d+: .")
            written = re.search("is in place|standard output", done.stderr)
            self.assertEqual(differing(now, scene.after if written else scene.before), [], done.stderr)

    def fault(self, scene, *tracing):
        """Its exit status."""
        with Folder(scene.before) as folder:
            done = folder.run(scene.command, [*scene.first, *tracing])
            self.judge(scene, done, folder)
            return done.returncode

    def test_system_calls(self):
        for turn, (name, scene) in enumerate(self.scenes.items()):
            for named in ([], NAMED):
                calls = collections.Counter(scene.calls(*named))
                for call, (number, errors) in FAULTS.items():
                    for k in chosen(calls[number], turn, 1 if call in NEVER_LEFT_OUT else 8):
                        for error in errors.split():
                            with self.subTest(name, named=named, call=call, k=k, of=calls[number], error=error):
                                how = [number, "-k", k, "-e", getattr(errno, error), *named]
                                status = self.fault(scene, "-o", *how)
                                self.assertTrue(status == 1 or call != "fsync")  # the bytes are right, and may be lost

    def test_append_does_not_guess(self):
        """A sketch that cannot be looked for was taken for one that is not there, and replaced."""
        scene = self.scenes["append, replacing"]
        for k in range(1, 4):
            self.fault(scene, "-o", FAULTS["access"][0], "-k", k, "-e", errno.EIO)

    def test_a_full_disk(self):
        """From one write on all fail."""
        for name, scene in self.writers.items():
            for named in ([], NAMED):
                for k in range(1, scene.calls(*named).count(WRITE) + 1):
                    with self.subTest(name, named=named, k=k):
                        self.fault(scene, "-o", WRITE, "-k", k, "-p", "-e", errno.ENOSPC, *named)

    def test_half_of_a_call(self):
        """What is read or written in pieces is the same in the end."""
        for turn, (name, scene) in enumerate(self.scenes.items()):
            calls = scene.calls()
            for number in (READ, WRITE):
                for k in chosen(calls.count(number), turn, 2):
                    with self.subTest(name, number=number, k=k), Folder(scene.before) as folder:
                        done = folder.run(scene.command, [*scene.first, "-o", number, "-s", k])
                        self.assertEqual((done.returncode, done.stderr), (0, ""))
                        self.judge(scene, done, folder)

    def test_a_report_without_memory(self):
        """It crashed, or ended without a word."""
        scene = self.scenes["report"]
        count = scene.allocations()
        for k in (*range(1, 5), *range(count - 15, count + 1)):
            with self.subTest(allocation=k, of=count), Folder(scene.before) as folder:
                done = folder.run(scene.command, environment={"LD_PRELOAD": NO_MEMORY_LIBRARY, "NO_MEMORY": f"{k}"})
                self.judge(scene, done, folder)

    def test_memory(self):
        for turn, (name, scene) in enumerate(self.scenes.items()):
            if scene.first != ["-f", FCNTL]:
                continue  # Python has an allocator of its own
            count = scene.allocations()
            for k in chosen(count, turn, 1 + count // 10):
                for which in (f"{k}", f"{k}+"):
                    with self.subTest(name, allocation=which, of=count), Folder(scene.before) as folder:
                        done = folder.run(scene.command, environment={"LD_PRELOAD": NO_MEMORY_LIBRARY, "NO_MEMORY": which})
                        self.judge(scene, done, folder)


class Training(Case):
    """Killed and started again until it is done, a run has the files of one that nobody killed."""
    COMMAND = "train --preset ms-ours --tasks 3 --batch 1 --scale-max 100 --every 1 -q -t {} -o m -l m.log {}"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        files = {"in": (0o644, b"a\n")}
        cls.scenes = {}
        for name, more, options in (("new", {}, ("1", "")), ("replacing", {"m": (0o640, b"old")}, ("2", "-c c"))):
            cls.scenes[name] = Scene({**files, **more}, [PROGRAM, *cls.COMMAND.format(*options).split()])

    def run_on(self, scene, folder, tracing=()):
        """Begins, or goes on from the checkpoint if there is one."""
        there = any((folder.path / name).exists() for name in ("c", "m.checkpoint"))
        return folder.run([*scene.command, *(["--resume"] if there else [])], tracing)

    def check(self, scene, folder, done):
        """Whether it was killed."""
        if done.returncode == KILLED:
            kills["done"] += 1
            now = folder.files().get("m")
            self.assertIn(now, (scene.before.get("m"), scene.after["m"]))
            kills["left a file"] += sum(map(is_leftover, folder.files()))
        else:
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(differing(folder.files(), scene.after), [])
            self.assertFalse(any(map(is_leftover, folder.files())))
        return done.returncode == KILLED

    def test_everywhere(self):
        for turn, (name, scene) in enumerate(self.scenes.items()):
            for named in ([], NAMED):
                for k in chosen(len(scene.calls(*named)), turn, 24):
                    with self.subTest(name, named=named, k=k), Folder(scene.before) as folder:
                        if self.check(scene, folder, self.run_on(scene, folder, [*scene.first, "-k", k, *named])):
                            self.check(scene, folder, self.run_on(scene, folder))

    def test_again_and_again(self):
        draw = random.Random(1)
        for number in range(WANTED // 100 or 4):
            scene = self.scenes[draw.choice(["new", "replacing"])]
            with self.subTest(number), Folder(scene.before) as folder:
                most = len(scene.calls())
                while self.check(scene, folder, self.run_on(scene, folder, [*scene.first, "-k", draw.randrange(1, most)])):
                    pass

    def test_faults(self):
        for turn, (name, scene) in enumerate(self.scenes.items()):
            for named in ([], NAMED):
                calls = collections.Counter(scene.calls(*named))
                for call, (number, errors) in FAULTS.items():
                    for k in chosen(calls[number], turn, 12):
                        for error in errors.split():
                            with self.subTest(name, named=named, call=call, k=k, of=calls[number], error=error), \
                                    Folder(scene.before) as folder:
                                self.fault(scene, folder, ["-o", number, "-k", k, "-e", getattr(errno, error), *named])

    def test_the_last_checkpoint(self):
        """One that was asked for and cannot be written was no failure if the model could be."""
        scene = self.scenes["replacing"]
        for k in range(1, 1 + scene.calls().count(RENAME)):
            with self.subTest(k=k), Folder(scene.before) as folder:
                self.fault(scene, folder, ["-o", RENAME, "-k", k, "-e", errno.EIO])

    def fault(self, scene, folder, tracing):
        done = self.run_on(scene, folder, [*scene.first, *tracing])
        now = folder.files()
        self.assertFalse(any(map(is_leftover, now)))
        if done.returncode == 0:
            self.assertEqual(differing(now, scene.after), [], done.stderr)
            return
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^legosketch: .")
        self.assertIn(now.get("m"), (scene.before.get("m"), scene.after["m"]))
        if "m.log is not whole" in done.stderr:
            self.assertEqual([name for name in differing(now, scene.after) if not name.endswith(".log")], [])
        else:
            self.check(scene, folder, self.run_on(scene, folder))


def tearDownModule():
    print(f"{kills['done']} kills; {kills['left a file']} left a file, which the next run removed", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
