"""Secret seeds: a file or the environment has them, sketches show only their fingerprint, and nothing reads those without.

SPDX-License-Identifier: MIT
"""
import json, os, stat, subprocess, sys, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import PROGRAM, Case

DIGITS = "000102030405060708090a0b0c0d0e0f"
STREAM = "a\nb\na\n"


class Secret(Case):
    def setUp(self):
        super().setUp()
        self.write("in", STREAM)

    def with_seed(self, *arguments, seed=DIGITS, **more):
        return self.run_program(*arguments, environment={"LEGOSKETCH_SEED": seed}, **more)

    def test_a_seed_that_is_not_there_is_made(self):
        self.run_program("build", "-o", "a", "--seed-file", "key", "in", says="wrote a secret seed to key: keep it")
        self.assertRegex(self.read("key"), rb"\A[0-9a-f]{32}\n\Z")
        self.assertEqual(stat.S_IMODE((self.folder / "key").stat().st_mode), 0o600)
        self.run_program("build", "-o", "b", "--seed-file", "key", "in")  # the same, without a word
        self.assertEqual(self.read("a"), self.read("b"))
        self.assertEqual(self.files(), ["a", "b", "in", "key"])
        self.run_program("build", "-o", "c", "--seed-file", "other", "in", says="wrote")
        self.assertNotEqual(self.read("key"), self.read("other"))

    def test_many_who_make_one_agree(self):
        running = [subprocess.Popen([PROGRAM, "build", "-q", "-o", f"s{i}", "--seed-file", "key", "in"], cwd=self.folder,
                                    stderr=subprocess.PIPE) for i in range(12)]
        made = [b"wrote" in process.communicate(timeout=60)[1] for process in running]
        self.assertEqual([process.returncode for process in running], [0] * 12)
        self.assertEqual(sum(made), 1)
        self.assertEqual(len({self.read(f"s{i}") for i in range(12)}), 1)

    def test_every_command_asks_for_it(self):
        self.write("key", DIGITS.upper())  # without a line's end
        made = self.build("a", STREAM, "--seed-file", "key", "--budget", "64K", "--top")
        self.assertEqual(made, self.with_seed("build", "-o", "-", "--budget", "64K", "--top", "in"))
        self.assertNotIn(bytes.fromhex(DIGITS), made)
        print_ = json.loads(self.with_seed("info", "--json", "a"))["secret_seed"]
        self.assertRegex(print_, r"\A[0-9a-f]{16}\Z")
        self.assertIn(f"secret, fingerprint {print_}", self.with_seed("info", "a").decode())
        for command in (["info", "a"], ["query", "a", "a"], ["top", "a"], ["merge", "-o", "x", "a"], ["merge", "-o", "x", "-"],
                        ["fold", "-o", "x", "--budget", "64K", "a"], ["build", "--append", "-o", "a", "in"]):
            with self.subTest(command=command):
                self.run_program(*command, code=1, data=made, says=f"with a secret seed, whose fingerprint is {print_}: give it")
                self.with_seed(*command, code=1, data=made, seed=DIGITS.replace("5", "6"), says=print_)
                self.assertEqual(self.read("a"), made)
                given = self.run_program(*command, "--seed-file", "key", data=made)
                self.write("a", made)
                self.assertEqual(given, self.with_seed(*command, data=made))
                self.write("a", made)
        self.assertEqual(self.with_seed("query", "a", "a", "b"), b"a\t2\t2\t2\t2\nb\t1\t1\t1\t1\n")
        self.assertTrue(self.run_program("count", "--seed-file", "key", "in").startswith(b"a\t2\t2\t2\t"))

    def test_public_and_secret_do_not_mix(self):
        self.write("key", DIGITS)
        self.build("public", STREAM, "--budget", "64K")
        self.with_seed("build", "-o", "secret", "--budget", "64K", "in")
        self.with_seed("merge", "-o", "x", "public", "secret", code=1, says="another seed; build them with the same --seed, or --seed-file")
        self.with_seed("query", "public", "a")  # a seed that is not needed does no harm
        self.with_seed("build", "-o", "seven", "--seed", "7", "in")
        self.assertEqual(self.with_seed("query", "seven", "a"), self.run_program("query", "seven", "a"))
        self.run_program("build", "-o", "x", "--seed", "7", "--seed-file", "key", "in", code=2, says="a seed is public or secret")
        self.run_program("build", "-o", "public", "--append", "--seed-file", "key", "in", code=1, says="built with another --seed-file")
        self.assertNotIn("x", self.files())

    def test_what_is_no_seed(self):
        good = self.build("public", STREAM)
        self.with_seed("build", "-o", "a", "in")
        for wrong in ("", "00", DIGITS[:-1], DIGITS + "0", DIGITS[:-1] + "g", DIGITS.replace("0a", "a "), DIGITS[:16] + "0" * 16):
            self.write("key", wrong)
            what = "no secret seed ends in 16 zeros" if len(wrong) == 32 and wrong[-2:] == "00" else "is 32 hex digits"
            self.run_program("build", "-o", "x", "--seed-file", "key", "in", code=1, says=f"key: .*{what}")
            self.with_seed("info", "a", code=1, seed=wrong, says=f"LEGOSKETCH_SEED: .*{what}")
            self.with_seed("info", "public", seed=wrong)  # which needs none
        for path, what in (("nowhere/key", "cannot write"), (".", "Is a directory"), ("in", "32 hex digits")):
            self.run_program("build", "-o", "x", "--seed-file", path, "in", code=1, says=what)
        self.run_program("build", "-o", "key", "--seed-file", "key", "in", code=1, says="key is needed")
        self.run_program("build", "-o", "new", "--seed-file", "new", "in", code=1, says="new is needed")
        self.run_program("build", "-o", "public", "--append", "--seed-file", "typo", "in", code=1, says="typo")
        self.assertEqual((self.read("public"), self.files()), (good, ["a", "in", "key", "new", "public"]))


if __name__ == "__main__":
    unittest.main()
