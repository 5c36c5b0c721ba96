"""Writing a file whole or not at all, by the rule of the command (cli/output.c), so that a kill leaves nothing behind.

The file is written without a name, where the file system has that, synced, and gets its name in one step. On other file
systems, and for an instant if it replaces another, it is called .legosketch-XXXXXX, and whoever writes to that folder
next removes those of its own user that no living process has locked.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Callable

_PREFIX = ".legosketch-"


def write_file(path: str | os.PathLike[str], data: bytes, *, new_mode: int | None = None) -> None:
    """Replaces what is there, through links, and keeps its mode; what is no file, such as a pipe, is written to. With
    new_mode, that of a new file, it replaces nothing: FileExistsError."""
    name = os.fsdecode(path)
    target = os.path.realpath(name)
    folder = os.path.dirname(target)
    try:
        if os.path.islink(target):  # a link leads in circles, or could not be read
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        mode = _mode_of(name)
        if new_mode is None and mode is not None and not stat.S_ISREG(mode):
            with open(name, "wb") as file:
                file.write(data)
            return
        _replace(folder, target, data, mode if new_mode is None else new_mode, new_mode is None)
    except OSError as error:
        error.filename, error.filename2 = name, None  # the one that the caller knows
        raise
    with contextlib.suppress(OSError):  # one may write there, but not read
        _sweep(folder)
    _sync_folder(folder, name)


def _mode_of(name: str) -> int | None:
    try:
        return os.stat(name).st_mode
    except FileNotFoundError:  # of a new file the umask tells
        return None


def _replace(folder: str, target: str, data: bytes, mode: int | None, replaces: bool) -> None:
    file, temporary = _open_new(folder, 0o666 if mode is None else stat.S_IMODE(mode))
    try:
        if mode is not None:
            os.fchmod(file, stat.S_IMODE(mode))
        with open(file, "wb", closefd=False) as stream:
            stream.write(data)
        os.fsync(file)
        if not temporary:
            try:
                _link(file, target)
                return
            except FileExistsError:
                if not replaces:
                    raise
                temporary = _named(folder, lambda path: _link(file, path))
        if replaces:
            os.replace(temporary, target)
            temporary = ""
        else:
            os.link(temporary, target)
    finally:
        if temporary:  # it is still locked, so that nobody has swept it
            os.unlink(temporary)
        with contextlib.suppress(OSError):  # all of it is synced, or the error is known
            os.close(file)


def _open_new(folder: str, mode: int) -> tuple[int, str]:
    """A locked file, new and empty, and its temporary name, if it has one."""
    try:
        file = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, mode)
        if os.path.exists(f"/proc/self/fd/{file}"):
            _lock(file)
            return file, ""
        os.close(file)
    except (AttributeError, OSError):  # another system, or file system
        pass
    while True:
        opened: list[int] = []
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        temporary = _named(folder, lambda path: opened.append(os.open(path, flags, mode)))
        _lock(opened[0])
        if _is_there(opened[0]):
            return opened[0], temporary
        os.close(opened[0])  # it was swept before it was locked


def _is_there(file: int) -> bool:
    try:
        return os.fstat(file).st_nlink > 0
    except OSError:  # nobody knows better
        return True


def _link(file: int, path: str) -> None:
    os.link(f"/proc/self/fd/{file}", path, src_dir_fd=file)  # which makes it follow the link that this is


def _named(folder: str, make: Callable[[str], None]) -> str:
    while True:
        path = os.path.join(folder, _PREFIX + secrets.token_hex(3))
        try:
            make(path)
            return path
        except FileExistsError:
            continue


def _lock(file: int, flags: int = 0) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | flags)
        return True
    except OSError:  # a file system without locks has no sweeping either
        return False


def _sweep(folder: str) -> None:
    for name in os.listdir(folder):
        if name.startswith(_PREFIX) and len(name) == len(_PREFIX) + 6:
            with contextlib.suppress(OSError):  # it cannot be opened, or another one swept
                _sweep_file(os.path.join(folder, name))


def _sweep_file(path: str) -> None:
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(file)
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and _lock(file, fcntl.LOCK_NB):
            os.unlink(path)
    finally:
        os.close(file)


def _sync_folder(folder: str, name: str) -> None:
    try:
        file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(file)  # the new name too
        finally:
            with contextlib.suppress(OSError):
                os.close(file)
    except PermissionError:  # one may write there, but not read
        return
    except OSError as error:
        error.strerror = f"the file is in place, but its folder cannot be synced: {error.strerror}"
        error.filename = name
        raise
