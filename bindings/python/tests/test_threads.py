"""One sketch, several threads: nothing is lost, nobody waits for ever.

SPDX-License-Identifier: MIT
"""

import sys
import threading
import time
from array import array

from legosketch import Sketch


def run(*functions):
    errors = []

    def guarded(function):
        try:
            function()
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(f,), daemon=True) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive(), "a thread still waits"
    assert not errors, errors


def test_writers_and_readers():
    for budget, top in (("512K", False), ("64K", False), ("64K", True)):
        s = Sketch(budget, top=top)
        keys = array("q", range(20000))
        words = [str(i) for i in range(5000)]

        def numbers():
            for _ in range(10):
                s.add_many(keys)

        def texts():
            for _ in range(10):
                s.update(words)

        def singles():
            for i in range(20000):
                s.add(i)

        def reads():
            for i in range(300):
                s.estimate_many(words[:100])
                lower, upper, likely = s.bounds("7")
                assert 0 <= lower <= likely <= upper
                s.copy(), s.total, s.to_bytes()
                if top:
                    s.top(5)

        run(numbers, numbers, texts, texts, singles, reads, reads)
        assert s.total == 20 * 20000 + 20 * 5000 + 20000
        assert min(s.bounds_many(keys)[1]) >= 21 and min(s.bounds_many(words)[1]) >= 20
        if budget == "512K":  # where order does not matter
            assert s.keeping == 0
            expected = Sketch(budget)
            for _ in range(20):
                expected.add_many(keys)
                expected.update(words)
            expected.add_many(keys)
            assert s == expected


def test_two_that_merge_each_other():
    a, b, empty = Sketch("16K"), Sketch("16K"), Sketch("16K")
    a.add("x")
    b.add("x")

    def merges(into, other):
        def loop():
            for _ in range(200):
                into.merge(empty)
                (other - into).merge(other)
                into == other

        return loop

    def both(into, other):
        def loop():
            for _ in range(15):
                into.merge(other)

        return loop

    run(merges(a, b), merges(b, a), merges(a, a))
    assert a == b and a.total == 1
    run(both(a, b), both(b, a))  # each adds at least once what the other has, which only grows
    assert min(a.total, b.total) >= 16 and max(a.total, b.total) <= 2**30


def test_many_that_merge_each_other():
    all_of_them = [Sketch("16K") for _ in range(4)]
    for s in all_of_them:
        s.add("x")

    def merges(into):
        def loop():
            for _ in range(100):
                others = [s for s in all_of_them if s is not into]
                into.merge_many(others + others, [1, 1, 1, -1, -1, -1])
                into.merge(others[0] - others[0])

        return loop

    run(*map(merges, all_of_them))
    assert all(s.total == 1 and s == all_of_them[0] for s in all_of_them)


def test_others_run_during_a_batch():
    s = Sketch("64K")
    keys = array("q", range(1000)) * 4000
    beats = [0]
    stop = threading.Event()

    def beat():
        while not stop.is_set():
            beats[0] += 1
            time.sleep(0.0001)

    thread = threading.Thread(target=beat, daemon=True)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # a thread runs only where another lets it
    try:
        thread.start()
        for batch in (lambda: s.add_many(keys), lambda: s.estimate_many(keys[:500000])):
            before = beats[0]
            batch()
            assert beats[0] > before
    finally:
        sys.setswitchinterval(interval)
        stop.set()
    thread.join()
