"""Files that are whole or not there, whatever happens while they are written.

SPDX-License-Identifier: MIT
"""

import fcntl
import os
import signal
import stat
import subprocess
import sys
import time

import pytest

from legosketch import LegoError, Sketch, _saving

# Saves in a loop until it is killed; without files that have no name, as on other file systems, if told so.
WRITER = """
import os, sys
from legosketch import Sketch
if sys.argv[2] == "named":
    del os.O_TMPFILE
s = Sketch("1M", model="paper")
print("ready", flush=True)
while True:
    s.save(sys.argv[1])
"""


def files(folder):
    return sorted(os.listdir(folder))


@pytest.fixture
def sketch():
    return Sketch("4K")


@pytest.fixture(params=["nameless", "named"])
def way(request, monkeypatch):
    """Files without a name until they are whole, and those of other file systems."""
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    return request.param


def test_replaces_through_links_and_keeps_the_mode(sketch, way, tmp_path):
    (tmp_path / "old").write_bytes(b"old")
    os.chmod(tmp_path / "old", 0o604)
    (tmp_path / "link").symlink_to("old")
    (tmp_path / "dangling").symlink_to("new")
    for name in "link", "dangling":
        sketch.save(tmp_path / name)
        assert (tmp_path / name).is_symlink() and Sketch.load(tmp_path / name) == sketch
    assert stat.S_IMODE(os.stat(tmp_path / "old").st_mode) == 0o604
    assert files(tmp_path) == ["dangling", "link", "new", "old"]


def test_a_new_file_has_the_mode_of_any_other(sketch, way, tmp_path):
    before = os.umask(0o027)
    try:
        sketch.save(tmp_path / "a")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(tmp_path / "a").st_mode) == 0o640


def test_places_that_can_not_be_written(sketch, way, tmp_path):
    (tmp_path / "folder").mkdir()
    for path, error in ("none/a", FileNotFoundError), ("folder", IsADirectoryError):
        with pytest.raises(error) as failed:
            sketch.save(tmp_path / path)
        assert failed.value.filename == str(tmp_path / path)  # the one that the caller knows
    with pytest.raises(FileNotFoundError):
        Sketch.load(tmp_path / "nothing")
    assert files(tmp_path) == ["folder"] and files(tmp_path / "folder") == []


def test_what_is_no_file_is_written_to(sketch, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    sketch.save(tmp_path / "pipe")
    assert os.read(reader, 1 << 16) == sketch.to_bytes()
    os.close(reader)
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)


def test_a_failure_changes_nothing(sketch, way, tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for target in path, tmp_path / "new":
        with pytest.raises(OSError, match="No space") as failed:
            sketch.save(target)
        assert failed.value.filename == str(target)
    assert files(tmp_path) == ["a"] and path.read_bytes() == b"old"


def test_a_folder_that_cannot_be_synced_is_told_apart(sketch, way, tmp_path, monkeypatch):
    fsync = os.fsync

    def of_files(file):
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(5, "Input/output error")
        fsync(file)

    monkeypatch.setattr(os, "fsync", of_files)
    with pytest.raises(OSError, match="the file is in place, but its folder cannot be synced: Input/output error"):
        sketch.save(tmp_path / "a")
    assert Sketch.load(tmp_path / "a") == sketch


def test_leftovers_are_swept(sketch, way, tmp_path):
    for name in ".legosketch-abcdef", ".legosketch-locked", ".legosketch-abcdefg", ".legosketch-", "other":
        (tmp_path / name).write_bytes(b"part")
    (tmp_path / ".legosketch-folder").mkdir()
    (tmp_path / ".legosketch-linked").symlink_to("other")
    with open(tmp_path / ".legosketch-locked") as held:  # by somebody who writes
        fcntl.flock(held, fcntl.LOCK_EX)
        sketch.save(tmp_path / "a")
    left = {".legosketch-", ".legosketch-abcdefg", ".legosketch-folder", ".legosketch-linked", ".legosketch-locked"}
    assert set(files(tmp_path)) == left | {"a", "other"}
    sketch.save(tmp_path / "a")
    assert ".legosketch-locked" not in files(tmp_path)


def test_a_file_that_is_swept_before_it_is_locked_is_made_again(sketch, tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    lock, swept = _saving._lock, []

    def lock_later(file, flags=0):
        if not swept:
            swept.append(True)
            os.unlink(next(tmp_path.iterdir()))
        return lock(file, flags)

    monkeypatch.setattr(_saving, "_lock", lock_later)
    sketch.save(tmp_path / "a")
    assert files(tmp_path) == ["a"] and Sketch.load(tmp_path / "a") == sketch


@pytest.mark.parametrize("ways", ["nameless", "named"])
def test_kills_leave_nothing_behind(sketch, ways, tmp_path):
    path = tmp_path / "a"
    for i in range(8):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, path, ways], stdout=subprocess.PIPE)
        assert writer.stdout.readline() == b"ready\n"
        time.sleep(0.01 * i)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        if path.exists():
            assert Sketch.load(path).model == "paper"
    sketch.save(path)
    assert files(tmp_path) == ["a"] and Sketch.load(path) == sketch


def test_load_reads_no_more_than_a_file_says_it_has(sketch, tmp_path):
    """Sparse files of a terabyte: nothing of them, or of one that begins like a sketch as much as that has."""
    (tmp_path / "zeros").write_bytes(b"")
    (tmp_path / "longer").write_bytes(sketch.to_bytes())
    for name, says in ("zeros", "not"), ("longer", "longer than it says"):
        os.truncate(tmp_path / name, 1 << 40)
        with pytest.raises(LegoError, match=says):
            Sketch.load(tmp_path / name)
