"""Nothing that is passed crashes the interpreter: it is counted, or an exception.

SPDX-License-Identifier: MIT
"""

import ctypes
import random
import sys

import pytest

from legosketch import LegoError, Sketch


@pytest.mark.parametrize("options", [{}, {"top": True}, {"model": "paper"}])
def test_damaged_bytes(options):
    s = Sketch("8K", **options)
    s.update(range(3000))
    good = s.to_bytes()
    rng = random.Random(1)
    for size in list(range(130)) + [len(good) - 1]:
        with pytest.raises(LegoError):
            Sketch.from_bytes(good[:size])
    for _ in range(500):
        bad = bytearray(good)
        for _ in range(rng.randint(1, 5)):
            bad[rng.randrange(len(bad))] ^= rng.randint(1, 255)
        if bad != good:
            with pytest.raises(LegoError):
                Sketch.from_bytes(bad)
    for wrong in (None, 5, "text", [1]):
        with pytest.raises(TypeError):
            Sketch.from_bytes(wrong)
    for _ in range(100):
        with pytest.raises(LegoError):
            Sketch("64K", model=rng.randbytes(rng.randrange(5000)))


def test_iterables_that_fail():
    def fails():
        yield "counted"
        raise RuntimeError("enough")

    for use in (Sketch("8K").update, Sketch("8K").estimate_many, lambda k: Sketch("8K").add_many(k, [1])):
        with pytest.raises(RuntimeError, match="enough"):
            use(fails())
    for bad in (["a", 1j], [["a"]], [object()]):
        with pytest.raises(TypeError):
            Sketch("8K").update(bad)
    endless = []
    endless.append(endless)
    with pytest.raises(TypeError):
        Sketch("8K").update(endless)


def test_items_that_use_the_sketch_meanwhile():
    s = Sketch("8K", top=True)
    keys = []

    class Busy:
        def __index__(self):
            s.add("inner")
            s.merge(s)
            s.update(["x"])
            s.clear()
            s.top()
            s.to_bytes()
            keys.clear()
            return 7

    keys.extend([Busy(), 1, Busy(), 2])
    s.update(keys)
    assert s.total == 1 and s.estimate(7) == 1  # the list was empty after the first
    keys.extend([Busy(), 1, Busy(), 2])
    s.clear()
    s.add_many(keys, [1, 2, 3, 4])  # taken as it was when the call began
    assert s.total == 10 and s.estimate(7) == 4
    s.add(Busy())
    assert s.estimate(7) == 1

    def gives():
        for i in range(10):
            s.update([100])
            yield i

    s.clear()
    s.update(gives())
    assert s.estimate(100) == 10 and s.total == 20


def test_classes_that_lie():
    class Index:
        def __index__(self):
            return "no integer"

    class Raises:
        def __getattr__(self, name):
            raise RuntimeError(name)

    class Text(str):
        def encode(self, *_):
            return None

        def __len__(self):
            return 10**9

    class Number(int):
        def __index__(self):
            return 99

    class Bytes(bytes):
        def __len__(self):
            return 10**9

    s = Sketch("8K")
    for wrong in (Index(), Raises()):
        for use in (s.add, s.estimate, lambda i: s.update([i]), s.update, s.estimate_many):
            with pytest.raises((TypeError, RuntimeError)):
                use(wrong)
    s.update([Text("a"), Number(5), Bytes(b"b")])
    assert s.estimate("a") == s.estimate(5) == s.estimate(b"b") == 1

    class Pairs(dict):
        def __init__(self, pairs):
            self.pairs = pairs

        def items(self):
            return self.pairs

    for pairs in ([1], [("a",)], [("a", 1, 2)], [["a", 1]], ["ab"], [("a", "b")], [("a", 1.5)], 5, None, [(1j, 1)]):
        with pytest.raises(TypeError):
            s.update(Pairs(pairs))
    with pytest.raises(OverflowError):
        s.update({"a": 2**63})
    released = memoryview(b"abc")
    released.release()
    with pytest.raises(ValueError):
        s.add(released)
    with pytest.raises(BufferError):
        s.add(memoryview(b"abcdef")[::2])


def test_arrow_that_lies():
    class Column:
        def __init__(self, result):
            self.result = result

    class Array(Column):
        def __arrow_c_array__(self, requested=None):
            return self.result

    class Stream(Column):
        def __arrow_c_stream__(self, requested=None):
            return self.result

    s = Sketch("8K")
    for kind in (Array, Stream):
        for result in (None, 5, (), (1, 2), (None, None, None), "ab", s):
            with pytest.raises((TypeError, ValueError)):
                s.add_many(kind(result))
    pa = pytest.importorskip("pyarrow")
    column = pa.array(["a", "b"])
    schema, array = column.__arrow_c_array__()
    for result in ((array, schema), (schema, schema), schema):
        with pytest.raises((TypeError, ValueError)):
            s.add_many(Array(result))
    s.add_many(Array((schema, array)))
    with pytest.raises(ValueError, match="released"):
        s.add_many(Array((schema, array)))
    stream = pa.chunked_array([column]).__arrow_c_stream__()
    s.add_many(Stream(stream))
    with pytest.raises(ValueError, match="released"):
        s.add_many(Stream(stream))
    assert s.total == 4

    def fails():
        yield pa.record_batch({"a": ["x"]})
        raise RuntimeError("no more of it")

    for use in (s.update, s.estimate_many):
        with pytest.raises(ValueError, match="no more of it"):
            use(pa.RecordBatchReader.from_batches(pa.schema({"a": pa.string()}), fails()))


def test_arrow_arrays_that_can_not_be():
    pa = pytest.importorskip("pyarrow")
    np = pytest.importorskip("numpy")
    s = Sketch("8K")

    # pyarrow looks at what an array is made of, so that is changed afterwards, in the memory that both have
    text = pa.py_buffer(b"abcdef")
    for kind, width in ((pa.string(), "i4"), (pa.large_binary(), "i8")):
        for wrong in ([0, 5, 3, 2], [-1, 2, 3, 4], [3, 2, 1, 0], [0, 1, 2, -5]):
            for valid in (None, pa.py_buffer(bytes([0b101]))):
                offsets = np.array([0, 1, 2, 3], width)
                array = pa.Array.from_buffers(kind, 3, [valid, pa.py_buffer(offsets), text])
                offsets[:] = wrong
                with pytest.raises(ValueError, match="offsets"):
                    s.add_many(array)
    assert s.total == 0
    for index in (5, -1, 100):
        array = pa.DictionaryArray.from_arrays(pa.array([0, index], pa.int8()), pa.array(["a", "b"]), safe=False)
        with pytest.raises(ValueError, match="outside its dictionary"):
            s.add_many(array)
    long = pa.array(["longer than fits into a view", "another one that does not"], pa.string_view())
    views = np.frombuffer(long.buffers()[1], "i4").copy()
    for place, value in ((0, -1), (0, 10**6), (2, 7), (2, -1), (3, 10**6), (3, -4)):
        bad = views.copy()
        bad[place] = value
        array = pa.Array.from_buffers(pa.string_view(), 2, [None, pa.py_buffer(bad)] + long.buffers()[2:])
        with pytest.raises(ValueError, match="view"):
            s.add_many(array)


def test_arrow_children_that_can_not_be():
    pa = pytest.importorskip("pyarrow")
    np = pytest.importorskip("numpy")
    s = Sketch("8K")
    for kind, width in ((pa.list_(pa.int64()), "i4"), (pa.large_list(pa.int64()), "i8")):
        for wrong in ([0, 2, 4, 9], [0, 2, 1, 3], [-1, 1, 2, 3], [0, 1, 2, 2**31 - 1], [5, 5, 5, 6]):
            offsets = np.array([0, 1, 2, 3], width)
            array = pa.Array.from_buffers(kind, 3, [None, pa.py_buffer(offsets)], children=[pa.array([1, 2, 3])])
            offsets[:] = wrong
            with pytest.raises(ValueError):
                s.add_many(array)

    class Longer:
        """An array that says that it has a row more than its children have."""

        def __init__(self, array):
            self.array = array

        def __arrow_c_array__(self, requested=None):
            schema, array = self.array.__arrow_c_array__()
            pointer = ctypes.pythonapi.PyCapsule_GetPointer
            pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
            ctypes.c_int64.from_address(pointer(array, b"arrow_array")).value += 1
            return schema, array

    class Table(Longer):
        columns = ["a"]

    for lies in (Longer(pa.array([{"a": 1}])), Longer(pa.array([[1, 2]], pa.list_(pa.int64(), 2))),
                 Table(pa.array([{"a": 1}]))):  # fmt: skip
        with pytest.raises(ValueError, match="outside|too short"):
            s.add_many(lies)
    assert s.total == 0


def test_buffers_that_lie():
    if sys.version_info < (3, 12):
        pytest.skip("classes in Python have buffers from 3.12 on")

    class Lies:
        def __buffer__(self, flags):
            raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        Sketch("8K").add_many(Lies())


def test_nothing_leaks():
    resource = pytest.importorskip("resource")
    keys = [str(i) for i in range(1000)]

    def round():
        s = Sketch("256K", top=True)
        s.update(keys)
        s.estimate_many(keys)
        s.top(100)
        t = Sketch.from_bytes(s.to_bytes())
        t += s
        assert t != s
        for bad in (keys + [1j], [float(i) + 0.5 for i in range(100)] + [[]], [(i, str(i)) for i in range(100)] + [{}]):
            try:
                s.update(bad)
            except TypeError:
                pass

    for _ in range(20):
        round()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(300):
        round()
    # 300 lost sketches would be 75 MB, 300 lost lists of estimates 24 MB; the unit here is 1 KB
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 10 * 1024


Pointer, Number = ctypes.c_void_p, ctypes.c_int64
Release = ctypes.CFUNCTYPE(None, Pointer)


class Schema(ctypes.Structure):
    _fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", Number),
                ("n_children", Number), ("children", Pointer), ("dictionary", Pointer), ("release", Release),
                ("private", Pointer)]  # fmt: skip


class Array(ctypes.Structure):
    _fields_ = [("length", Number), ("null_count", Number), ("offset", Number), ("n_buffers", Number),
                ("n_children", Number), ("buffers", Pointer), ("children", Pointer), ("dictionary", Pointer),
                ("release", Release), ("private", Pointer)]  # fmt: skip


class Column:
    """An Arrow column of numbers that Python releases, which fails."""

    def __init__(self, kind=b"l", length=2):
        self.numbers = (Number * 2)(5, 6)
        self.buffers = (Pointer * 2)(None, ctypes.addressof(self.numbers))
        self.released = []
        release = Release(self.release)
        self.schema = Schema(format=kind, release=release)
        self.array = Array(length=length, n_buffers=2, buffers=ctypes.addressof(self.buffers), release=release)

    def release(self, what):
        self.released.append(what)
        raise RuntimeError("the release fails")

    def __arrow_c_array__(self, requested_schema=None):
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [Pointer, ctypes.c_char_p, Pointer]
        return (make(ctypes.addressof(self.schema), b"arrow_schema", None),
                make(ctypes.addressof(self.array), b"arrow_array", None))  # fmt: skip


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_release_that_raises_hides_nothing():
    good = Column()
    s = Sketch("8K")
    s.add_many(good)
    assert (s.total, s.estimate(5), len(good.released)) == (2, 1, 2)
    for given, error, says in ({"length": -1}, ValueError, "impossible length"), ({"kind": b"?"}, TypeError, "Arrow"):
        for use in s.add_many, s.estimate_many, s.bounds_many:
            wrong = Column(**given)
            with pytest.raises(error, match=says):
                use(wrong)
            assert len(wrong.released) == 2
    with pytest.raises((TypeError, ValueError), match="count"):
        s.add_many(Column(), ["a", "b"])
    assert s.total == 2


class Plain(Column):
    def release(self, what):
        self.released.append(what)


def test_arrow_columns_without_an_end_or_a_child():
    s = Sketch("8K")
    endless, childless, hollow, bare = Plain(b"i"), Plain(b"+s"), Plain(b"+s"), Plain(b"+s")
    endless.schema.dictionary = ctypes.addressof(endless.schema)  # its own dictionary
    childless.schema.n_children = hollow.schema.n_children = bare.schema.n_children = bare.array.n_children = 1
    nothing, child = (Pointer * 1)(None), Schema(format=b"l")
    hollow.schema.children = ctypes.addressof(nothing)
    one = (Pointer * 1)(ctypes.addressof(child))
    bare.schema.children, bare.array.children = ctypes.addressof(one), ctypes.addressof(nothing)
    for column, error in (endless, RecursionError), (childless, ValueError), (hollow, ValueError), (bare, ValueError):
        with pytest.raises(error, match="Arrow"):
            s.add_many(column)
        assert len(column.released) == 2
    assert s.total == 0
