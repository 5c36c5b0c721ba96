#!/usr/bin/python3
"""Keys that were chosen to hurt take at most four times the instructions of keys that come by chance (flood.c): added one
by one, in a call, to a sketch with a top, asked for, and loaded. valgrind counts instructions, not time."""
import os, re, shutil, subprocess, sys, unittest

FLOOD = os.environ["FLOOD"]
TIMES = 4


def instructions(*arguments):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", FLOOD, *map(str, arguments)],
                          stderr=subprocess.PIPE, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def each(what, keys, most):
    """Of one of the last items, or loads: a run of as many, less one of half of them."""
    return (instructions(what, keys, most) - instructions(what, keys, most // 2)) / (most - most // 2)


class Flood(unittest.TestCase):
    def test_chosen_keys(self):
        for what, most in (("add", 8000), ("batch", 8000), ("top", 8000), ("query", 8000), ("load", 20)):
            with self.subTest(what):
                chance, chosen = each(what, "random", most), each(what, "chosen", most)
                print(f"{what}: {chance:.0f} instructions, chosen {chosen:.0f}: {chosen / chance:.2f} times")
                self.assertLess(chosen, TIMES * chance)
                self.assertGreater(chance, 50)  # so that it counts anything at all

    def test_sparse_files(self):
        """Of as many blocks as a file can have for its bytes: four times as many take four times the instructions."""
        few, many = each("sparse", 256, 20), each("sparse", 1024, 20)
        print(f"sparse: {few:.0f} instructions a load, of four times the blocks {many:.0f}: {many / few:.2f} times")
        self.assertLess(many, 4.4 * few)
        self.assertGreater(many, 2 * few)  # so that the blocks are what it counts


if __name__ == "__main__":
    if not shutil.which("valgrind"):
        print("skipped: there is no valgrind")
        sys.exit(77)
    unittest.main()
