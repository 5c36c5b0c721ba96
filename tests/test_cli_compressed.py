"""Compressed input of the command: gzip, xz, zstd and bzip2, whole, joined, cut and damaged, by its content alone.

SPDX-License-Identifier: MIT
"""
import bz2, gzip, json, lzma, os, random, shutil, struct, subprocess, sys, unittest, zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import ENVIRONMENT, PROGRAM, SANITIZED, Case, words

FAILING_MALLOC = r"""
#include <errno.h>
#include <stdlib.h>
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static long left;
__attribute__((constructor)) static void begin(void) { left = atol(getenv("FAIL")); }
static int fails(void) { return left > 0 && --left == 0 ? (errno = ENOMEM) : 0; }
void *malloc(size_t size) { return fails() ? 0 : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return fails() ? 0 : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return fails() ? 0 : __libc_realloc(old, size); }
"""


class Compressed(Case):
    HEADERS = {"gz": 10, "xz": 6, "zst": 6, "bz2": 10}  # bytes at the beginning that no checksum covers, or that tell what it is
    SIGNS = {"gz": 3, "xz": 6, "zst": 4, "bz2": 10}  # those that tell
    NAMES = {"gz": "gzip", "xz": "xz", "zst": "zstd", "bz2": "bzip2"}

    def setUp(self):
        super().setUp()
        self.lines = b"\n".join(words(50000)) + b"\n"
        self.few = b"\n".join(words(1000)) + b"\n"
        zstd = shutil.which("zstd")
        self.packers = {"gz": lambda data: gzip.compress(data, mtime=0),
                        "xz": lambda data: lzma.compress(data, preset=0), "bz2": bz2.compress}
        if zstd:
            self.packers["zst"] = lambda data: subprocess.check_output([zstd, "-qc"], input=data)
        else:
            print("the zstd tool is not there, so .zst is not tested", file=sys.stderr)

    def check(self, suffix, packed, data):
        """That it is read as these bytes."""
        self.assertEqual(self.build("made", b"", self.write(f"a.{suffix}", packed)), self.build("plain", data))

    def refused(self, suffix, packed, says, **more):
        name = self.write(f"bad.{suffix}", packed)
        self.fails("build", "-o", "none", name, says=rf"\Alegosketch: cannot read {name}: {says}[^\n]*\n\Z", **more)
        self.assertNotIn("none", self.files())

    def test_whole_files(self):
        for suffix, pack in self.packers.items():
            self.check(suffix, pack(self.lines), self.lines)
            self.check(suffix, pack(b""), b"")
            self.check(suffix, pack(b"\n" * (20 << 20)), b"\n" * (20 << 20))  # much from few bytes

    def test_whatever_its_name(self):
        wanted = self.build("plain", self.lines)
        for pack in self.packers.values():
            self.assertEqual(self.build("made", pack(self.lines)), wanted)
            for name in ("a", "a.txt", "a.xz", "a.gz", "a.txt.BZ2"):
                self.assertEqual(self.build("made", b"", self.write(name, pack(self.lines))), wanted)
        packed = b"".join(pack(self.few) for pack in self.packers.values())
        self.fails("build", "-o", "none", data=packed, says="after its end comes something that is not gzip data")

    def test_members(self):
        half = self.lines.index(b"\n", len(self.lines) // 2) + 7  # in the middle of an item
        for suffix, pack in self.packers.items():
            first, second, none = pack(self.lines[:half]), pack(self.lines[half:]), pack(b"")
            self.check(suffix, first + second, self.lines)
            self.check(suffix, none + first + none + none + second + none, self.lines)
            self.check(suffix, b"".join(pack(b"%d\n" % i) for i in range(50)), b"".join(b"%d\n" % i for i in range(50)))
            name = self.write(f"a.{suffix}", pack(self.few) * 5000)  # beginnings fall across the blocks that are read
            self.run_program("build", "-o", "many", name)
            self.assertEqual(json.loads(self.run_program("info", "--json", "many"))["total"], 5000000)
        xz = self.packers["xz"]
        for zeros in (4, 8, 1 << 18):  # the padding that xz allows
            self.check("xz", xz(b"a\n") + bytes(zeros) + xz(b"b\n") + bytes(zeros), b"a\nb\n")
        if "zst" in self.packers:
            zst = self.packers["zst"]
            skipped = [struct.pack("<2I", 0x184D2A50 + i, 1000) + bytes(1000) for i in (0, 15)]
            self.check("zst", skipped[0] + zst(b"a\n") + skipped[1] + zst(b"b\n") + skipped[1], b"a\nb\n")

    def test_pipes(self):
        for suffix, pack in self.packers.items():
            os.mkfifo(self.folder / f"pipe.{suffix}")
            packed = pack(self.few) * 2
            feeder = os.fork()
            if feeder == 0:
                with open(self.folder / f"pipe.{suffix}", "wb", buffering=0) as pipe:
                    for byte in packed:  # every read gives little
                        pipe.write(bytes([byte]))
                os._exit(0)
            self.assertEqual(self.build("made", b"", f"pipe.{suffix}"), self.build("plain", self.few * 2))
            os.waitpid(feeder, 0)

    def test_cut(self):
        draw = random.Random(3)
        for suffix, pack in self.packers.items():
            few, packed = pack(self.few), pack(self.lines)
            sign = self.SIGNS[suffix]
            for size in range(sign):
                self.refused(suffix, few[:size], rf"it is named \.{suffix}, but is not compressed, or was cut")
            for size in {*range(sign, 30), len(few) // 2, *range(len(few) - 30, len(few)), *draw.sample(range(len(few)), 20)}:
                self.refused(suffix, few[:size], "it ends too early")
            for size in (len(packed) // 2, len(packed) - 1):
                self.refused(suffix, packed[:size], "it ends too early")
                self.refused(suffix, few + packed[:size], "it ends too early")
            for size in (1, 2, 5, len(few) - 1):  # in the second member
                self.refused(suffix, few + few[:size], "it ends too early")
            self.refused(suffix, pack(b"")[:-1], "it (ends too early|is named .*, or was cut)")

    def test_flipped_bits(self):
        """Refused, or of no effect, as where a bit only fills up a byte."""
        draw = random.Random(4)
        for suffix, pack in self.packers.items():
            packed = pack(self.few)
            wanted = self.build("wanted", self.few)
            begin, end = 8 * self.HEADERS[suffix], 8 * len(packed)
            tail = range(end - 8 * {"gz": 8, "xz": 12, "zst": 4, "bz2": 0}[suffix], end)  # checksum and length, if there is one
            missed = 0
            for bit in [*draw.sample(range(begin, tail.start), 100), *tail]:
                flipped = bytearray(packed)
                flipped[bit // 8] ^= 1 << bit % 8
                name = self.write(f"bad.{suffix}", bytes(flipped))
                done = subprocess.run([PROGRAM, "build", "-o", "made", name], cwd=self.folder, capture_output=True)
                if done.returncode == 0:
                    self.assertEqual(self.read("made"), wanted, bit)
                    self.assertNotIn(bit, tail)
                    missed += 1
                else:
                    self.assertEqual(done.returncode, 1)
                    self.assertRegex(done.stderr, rf"\Alegosketch: cannot read {name}: it (is|ends)[^\n]*\n\Z".encode())
            self.assertLess(missed, 5)
            if suffix != "bz2":  # whose checksum need not end with a byte
                self.refused(suffix, packed[:-1] + bytes([packed[-1] ^ 1]), "it is damaged")
            half = len(packed) // 2
            self.refused(suffix, packed[:half] + b"~" * 8 + packed[half + 8:], "it is damaged")
            self.refused(suffix, packed + packed[:half] + b"~" * 8 + packed[half + 8:], "it is damaged")

    def test_checksums(self):
        """The content is whole and only the sum is wrong, or the other way round."""
        for suffix, at in (("gz", -8), ("gz", -4), ("zst", -4)):
            if suffix in self.packers:
                packed = bytearray(self.packers[suffix](self.few))
                packed[at] ^= 0x10
                self.refused(suffix, bytes(packed), "it is damaged")
        text = random.Random(5).randbytes(3000)  # does not shrink, so it lies in the file as it is
        for suffix, pack in self.packers.items():
            if suffix == "bz2":  # which has no such bytes
                continue
            packed = pack(text)
            self.assertIn(text[1000:1100], packed)
            self.refused(suffix, packed.replace(text[1000:1100], text[1000:1099] + bytes([text[1099] ^ 1])),
                         "it is damaged")

    def test_what_follows(self):
        for suffix, pack in self.packers.items():
            packed = pack(self.few)
            for rest in (b"x", b"\n", b"garbage", self.lines, packed[1:], b"\0", bytes(3), bytes(5), bytes(4) + b"x"):
                self.refused(suffix, packed + rest, f"it is damaged: .* not {self.NAMES[suffix]} data")
            if suffix != "xz":
                self.refused(suffix, packed + bytes(512), "it is damaged: .* not")

    def test_wrong_names(self):
        """What is named as compressed and is not may be an error page; it is not counted."""
        for suffix in self.packers:
            for data in (self.lines, b"x", b"\n", b"", bytes(4), bytes(1000), b"BZh9 is no text of bzip2\n"):
                self.refused(suffix, data, rf"it is named \.{suffix}, but is not compressed, or was cut")
            os.mkdir(self.folder / f"folder.{suffix}")
            self.fails("build", "-o", "none", f"folder.{suffix}", says=f"cannot read folder.{suffix}: Is a directory")
            hidden = self.write(f".{suffix}", self.few)  # that is all of its name, and no suffix
            self.assertEqual(self.build("made", b"", hidden), self.build("plain", self.few))

    def test_text_that_begins_like_it(self):
        for data in (b"B", b"BZh", b"BZh9", b"BZh9\n", b"BZhx1AY&SY\n", b"P*M\n", b"P*", b"\x1f\n", b"\x1f\x8b"):
            self.build("made", data)
            self.assertEqual(self.query("made", data.rstrip(b"\n")), {data.rstrip(b"\n"): 1})

    def test_large_windows(self):
        packed = bytearray(lzma.compress(b"a\n", preset=0))
        self.assertEqual(packed[13:16], b"\0\x21\1")
        packed[16] = 40  # a dictionary of 4 GiB
        packed[20:24] = struct.pack("<I", zlib.crc32(packed[12:20]))
        self.refused("xz", bytes(packed), "to decompress it takes more than 1 GiB")
        self.refused("zst", b"\x28\xb5\x2f\xfd\0" + bytes([21 << 3]) + b"\1\0\0", "to decompress it takes more")
        self.check("zst", b"\x28\xb5\x2f\xfd\0" + bytes([20 << 3]) + b"\1\0\0", b"")

    @unittest.skipIf(SANITIZED, "sanitizers have an allocator of their own")
    def test_no_memory(self):
        library = self.folder / "failing.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-w", "-xc", "-", "-o", library], input=FAILING_MALLOC.encode(),
                       check=True)
        for suffix, pack in self.packers.items():
            name = self.write(f"a.{suffix}", pack(self.lines) + pack(self.few))
            wanted = self.build("plain", self.lines + self.few)
            told = set()
            for at in range(1, 200):
                done = subprocess.run([PROGRAM, "build", "-o", "made", name], cwd=self.folder, capture_output=True,
                                      env=ENVIRONMENT | {"LD_PRELOAD": str(library), "FAIL": str(at)})
                if done.returncode == 0:
                    self.assertEqual((self.read("made"), done.stderr), (wanted, b""))
                    os.remove(self.folder / "made")
                    if at > 50:
                        break
                else:
                    self.assertEqual(done.returncode, 1, (at, done.stderr))
                    self.assertRegex(done.stderr, rb"\Alegosketch: [^\n]*(out of|Cannot allocate) memory\n\Z")
                    told.add(done.stderr)
                    self.assertNotIn("made", self.files())
            self.assertIn(b"legosketch: cannot read %s: Cannot allocate memory\n" % name.encode(), told)


if __name__ == "__main__":
    unittest.main()
