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


if __name__ == "__main__":
    if not shutil.which("valgrind"):
        print("skipped: there is no valgrind")
        sys.exit(77)
    unittest.main()
