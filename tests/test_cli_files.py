"""What the command does to files: they are whole or not there, whoever kills it, and nothing strange is believed.

SPDX-License-Identifier: MIT
"""
import fcntl, os, resource, shutil, signal, stat, struct, subprocess, sys, tempfile, time, unittest
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import PROGRAM, SANITIZED, Case, limit


class Output(Case):
    def setUp(self):
        super().setUp()
        self.previous = self.build("out", "previous\n", "--budget", "64K")
        os.chmod(self.folder / "out", 0o640)

    def check_untouched(self, *others):
        self.assertEqual(self.read("out"), self.previous)
        self.assertEqual(self.files(), sorted(["out", *others]))

    def test_replaces_and_keeps_mode_and_links(self):
        os.symlink("out", self.folder / "link")
        made = self.build("link", "new\n")
        self.assertTrue((self.folder / "link").is_symlink())
        self.assertEqual(self.read("out"), made)
        self.assertEqual(stat.S_IMODE((self.folder / "out").stat().st_mode), 0o640)
        self.build("fresh", "new\n", preexec_fn=lambda: os.umask(0o027))
        self.assertEqual(stat.S_IMODE((self.folder / "fresh").stat().st_mode), 0o640)
        self.assertEqual(self.files(), ["fresh", "link", "out"])

    def test_a_link_to_nothing_is_written_through(self):
        os.mkdir(self.folder / "d")
        for link, target, file in [("one", "new", "new"), ("two", "d/new", "d/new"), ("d/up", "../three", "three"),
                                   ("far", self.folder / "four", "four"), ("more", "nearer", None), ("nearer", "five", "five")]:
            os.symlink(target, self.folder / link)
            if file is not None:
                made = self.build("more" if link == "nearer" else link, "new\n")
                self.assertTrue((self.folder / link).is_symlink())
                self.assertEqual(self.read(file), made)
        os.symlink("loop", self.folder / "loop")
        os.symlink("none/new", self.folder / "astray")
        self.fails("build", "-o", "loop", data="a\n", says="cannot write loop: Too many levels of symbolic links")
        self.fails("build", "-o", "astray", data="a\n", says="cannot write astray: No such file or directory")

    def test_full_disk(self):
        self.write("in", "a\nb\n")
        for command in (["build", "in"], ["merge", "out", "out"], ["fold", "--budget", "32K", "out"]):
            with self.subTest(command=command):
                self.fails(*command, "-o", "/dev/full", says="cannot write /dev/full: No space left")
                for size in (0, 50):
                    self.fails(*command, "-o", "out", says="cannot write out: File too large",
                                     preexec_fn=limit(resource.RLIMIT_FSIZE, size))
                    self.check_untouched("in")
                with open("/dev/full", "wb") as full:
                    self.fails(*command, "-o", "-", says="cannot write standard output: No space", stdout=full)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))

    def test_full_standard_output(self):
        for command in ("query out a", "info out", "info --json out", "gen zipf", "gen zipf -f tsv",
                        "gen zipf -f u64", "eval -q", "eval -q --json", "--help", "build --help", "--version"):
            with self.subTest(command=command), open("/dev/full", "wb") as full:
                self.fails(*command.split(), stdout=full,
                           says=r"\Alegosketch: cannot write standard output: No space left[^\n]*\n\Z")

    def test_readers_that_leave(self):
        for command in (["query", "out", "a"], ["gen", "zipf", "-n", "1000000"], ["info", "out"]):
            with self.subTest(command=command):
                reader, writer = os.pipe()
                os.close(reader)
                self.run_program(*command, code=1, stdout=writer)
                os.close(writer)
        self.fails("info", "out", says="standard output: Bad file descriptor", preexec_fn=lambda: os.close(1))
        self.run_program("build", "-o", "closed", data="a\n", preexec_fn=lambda: os.close(1))
        self.assertEqual(self.read("closed"), self.build("open", "a\n"))

    def test_places_that_cannot_be_written(self):
        for path, says in (("none/x", "none/x: No such file"), (".", "Is a directory"), ("out/x", "Not a directory")):
            self.fails("build", "-o", path, data="a\n", says=says)
        self.check_untouched()

    def test_killed_while_reading(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            with subprocess.Popen([PROGRAM, "build", "-o", "out"], cwd=self.folder, stdin=subprocess.PIPE) as running:
                running.stdin.write(b"a\n" * 200000)  # more than a pipe holds, so it has begun to read
                running.stdin.flush()
                running.send_signal(number)
                self.assertEqual(running.wait(60), -number)
                running.stdin.close()
            self.check_untouched()

    @staticmethod
    def writes(process):
        """Whether it has a file open that has no name yet."""
        try:
            names = [os.readlink(f"/proc/{process.pid}/fd/{number}") for number in os.listdir(f"/proc/{process.pid}/fd")]
        except OSError:  # one that was closed meanwhile
            return False
        return any(name.endswith("(deleted)") for name in names)

    def test_killed_while_writing(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGHUP):
            for output in ("out", "new"):
                with self.subTest(number=number, output=output):
                    running = subprocess.Popen([PROGRAM, "build", "-o", output, "--budget", "128M", "--model", "paper"],
                                               cwd=self.folder, stdin=subprocess.DEVNULL)
                    while not self.writes(running) and running.poll() is None:
                        pass
                    running.send_signal(number)
                    self.assertEqual(running.wait(60), -number, "the file was there before the signal")
                    self.check_untouched()

    @unittest.skipIf(SANITIZED, "sanitizers need more address space than a limit allows")
    def test_no_memory(self):
        seen = set()
        for size in range(16, 256, 4):
            done = subprocess.run([PROGRAM, "build", "-o", "out", "-f", "tsv", "--budget", "32M", "-m", "paper"],
                                  cwd=self.folder, input=b"a\t1\n", stderr=subprocess.PIPE,
                                  preexec_fn=limit(resource.RLIMIT_AS, size << 20))
            seen.add(done.returncode)
            if done.returncode == 0:
                break
            self.assertRegex(done.stderr.decode(), "out of memory|Cannot allocate|error while loading shared libraries")
            self.check_untouched()
        self.assertLessEqual({0, 1}, seen)  # it failed by itself, and in the end it did not
        shutil.copy(self.folder / "out", self.folder / "kept")
        self.previous = self.read("kept")
        self.fails("build", "-o", "out", "--budget", "8G", "--model", "paper", data="a\n", says="out of memory",
                   preexec_fn=limit(resource.RLIMIT_AS, 1 << 30))
        self.fails("build", "-o", "out", "--budget", "8G", "--format", "u64", data=struct.pack("<3000000Q", *range(3000000)),
                   says="out of memory", preexec_fn=limit(resource.RLIMIT_AS, 96 << 20))  # when it would grow
        self.fails("gen", "zipf", "-n", 10**6, "-a", 1.5, says="does not fit into memory",
                   preexec_fn=limit(resource.RLIMIT_AS, 1 << 30))
        self.check_untouched("kept")


# Loaded before the C library. NO_NAMELESS: there are no files without a name, as on other file systems. NO_SYNC: folders
# cannot be synced.
FAULTS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    unsigned mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, unsigned) : 0;
    va_end(more);
    if ((flags & O_TMPFILE) == O_TMPFILE && getenv("NO_NAMELESS")) return errno = EOPNOTSUPP, -1;
    return ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open"))(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int fsync(int file)
{
    struct stat status;
    if (getenv("NO_SYNC") && fstat(file, &status) == 0 && S_ISDIR(status.st_mode)) return errno = EIO, -1;
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}
"""


@unittest.skipIf(SANITIZED, "sanitizers have to be loaded first themselves")
class Faults(Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.library = str(Path(folder.name, "faults.so"))
        subprocess.run(["cc", "-shared", "-fPIC", "-o", cls.library, "-x", "c", "-", "-ldl"], input=FAULTS.encode(), check=True)

    def faulty(self, fault):
        return {**os.environ, "LD_PRELOAD": self.library, fault: "1"}

    def build_faulty(self, fault, *arguments):
        return subprocess.run([PROGRAM, "build", *arguments], cwd=self.folder, env=self.faulty(fault),
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def test_a_folder_that_cannot_be_synced(self):
        for _ in range(2):  # new, and replaced
            done = self.build_faulty("NO_SYNC", "-o", "out")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "out is in place, but its folder cannot be synced.*: Input/output error")
        self.assertEqual(self.read("out"), self.build("good", ""))

    def test_other_file_systems(self):
        wanted = self.build("good", "")
        self.write("out", "old")
        os.chmod(self.folder / "out", 0o604)
        for name in ("out", "new"):
            self.assertEqual(self.build_faulty("NO_NAMELESS", "-o", name).returncode, 0)
            self.assertEqual(self.read(name), wanted)
        self.assertEqual(stat.S_IMODE((self.folder / "out").stat().st_mode), 0o604)
        self.assertEqual(self.files(), ["good", "new", "out"])

    def test_kills_on_other_file_systems(self):
        """A kill leaves a file there, any other signal does not, and the next run removes it."""
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGKILL):
            running = subprocess.Popen([PROGRAM, "build", "-o", "out", "--budget", "128M", "--model", "paper"], cwd=self.folder,
                                       env=self.faulty("NO_NAMELESS"), stdin=subprocess.DEVNULL)
            before = self.files()
            while self.files() == before and running.poll() is None:
                pass
            running.send_signal(number)
            self.assertEqual(running.wait(60), -number, "the file was there before the signal")
            self.assertEqual(len(self.files()), len(before) + (number == signal.SIGKILL))
        self.build("out", "a\n")
        self.assertEqual(self.files(), ["out"])


class Leftovers(Case):
    def test_only_our_own_are_swept(self):
        kept = [".legosketch-", ".legosketch-abcdefg", ".legosketch-folder", ".legosketch-linked", "out", "x.legosketch-abcdef"]
        for name in (".legosketch-abcdef", ".legosketch-123456", *kept[:2], kept[-1]):
            self.write(name, "part")
        os.mkdir(self.folder / ".legosketch-folder")
        os.symlink("out", self.folder / ".legosketch-linked")
        os.mkfifo(self.folder / ".legosketch-a pipe")
        with open(self.folder / ".legosketch-123456") as held:  # by somebody who writes
            fcntl.flock(held, fcntl.LOCK_EX)
            self.build("out", "a\n")
            self.assertEqual(self.files(), sorted([*kept, ".legosketch-123456", ".legosketch-a pipe"]))
        self.build("out", "a\n")
        self.assertEqual(self.files(), sorted([*kept, ".legosketch-a pipe"]))

    @unittest.skipUnless(os.geteuid() == 0, "only root can be somebody else")
    def test_those_of_others_stay(self):
        self.write(".legosketch-abcdef", "part")
        os.chown(self.folder / ".legosketch-abcdef", 65534, 65534)
        self.build("out", "a\n")
        self.assertEqual(self.files(), [".legosketch-abcdef", "out"])


class Untrusted(Case):
    def test_a_pipe_is_refused_by_its_first_bytes(self):
        for data, says in ((b"x" * 24, b"stdin is not a sketch or a model"), (b"LEGOSKCH\3" + bytes(30), b"stdin: written by another version")):
            with subprocess.Popen([PROGRAM, "info", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:
                running.stdin.write(data)
                running.stdin.flush()  # and stays open
                self.assertEqual(running.wait(60), 1)
                self.assertIn(says, running.stderr.read())
                running.stdin.close()

    @unittest.skipIf(SANITIZED, "sanitizers need more address space than a limit allows")
    def test_holes_cost_nothing(self):
        """Files of a terabyte that is not there: zeros, or what begins like a sketch."""
        self.build("longer", "a\n")
        self.write("zeros", "")
        for name, says in (("zeros", " is not a sketch"), ("longer", ": the file is shorter or longer than it says")):
            os.truncate(self.folder / name, 1 << 40)
            for command in (["info", name], ["info", "-"], ["merge", "-o", "x", name]):
                with open(self.folder / name, "rb") as file:
                    self.fails(*command, stdin=file, says=("stdin" if command[-1] == "-" else name) + says,
                               preexec_fn=limit(resource.RLIMIT_AS, 1 << 28))

    def test_a_file_that_is_cut_while_it_is_read(self):
        whole = self.build("whole", "", "--budget", "64M", "--model", "paper")
        ends = set()
        for i in range(24):
            shutil.copy(self.folder / "whole", self.folder / "cut")
            with subprocess.Popen([PROGRAM, "info", "cut"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as running:
                time.sleep(0.004 * i)
                os.truncate(self.folder / "cut", 100)
                ends.add(running.wait(60))
        self.assertLessEqual(ends, {0, 1})
        self.assertGreater(len(whole), 1 << 25)


if __name__ == "__main__":
    unittest.main()
