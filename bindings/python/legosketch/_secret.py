"""Secret seeds: 16 bytes, which are 32 hex digits in a file and in the environment, by the rules of the command
(cli/secret.c). Nothing here shows one, also not an error: what is wrong may be all but a digit of a secret.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import os
import re
import secrets

from ._saving import write_file

_NAME = "LEGOSKETCH_SEED"
_SIZE, _HALF = 16, 8
_MOST = 4096  # bytes of a file, with room for spaces, and far less than one that is something else has


def secret_seed(path: str | os.PathLike[str]) -> bytes:
    """The secret seed in a file, 32 hex digits, as the command's --seed-file has it. If there is no such file it is
    made, with a random one, for nobody else to read. Keep it: without it nobody reads what is made with it.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "seed")
    >>> s = Sketch("300K", secret=secret_seed(path))
    >>> s.seed, len(s.fingerprint)
    (None, 16)
    >>> Sketch.from_bytes(s.to_bytes(), secret=secret_seed(path)) == s
    True
    """
    try:
        return _read(path)
    except FileNotFoundError:
        made = _random()
    try:
        write_file(path, made.hex().encode() + b"\n", new_mode=0o600)
    except FileExistsError:  # another process was faster
        return _read(path)
    return made


def reading(secret: str | bytes | None) -> bytes | None:
    """The secret seed to read with: the one that is given, or in the environment; None if there is none."""
    if secret is not None:
        return _bytes(secret)
    named = os.environ.get(_NAME)
    return None if named is None else _digits(_NAME, named)


def making(seed: int | None, secret: str | bytes | None) -> bytes | None:
    """The same to make a sketch with, which a public seed prevents."""
    if seed is None:
        return reading(secret)
    if secret is not None:
        raise TypeError("a seed is public or secret: give seed or secret, not both")
    return None


def missing(fingerprint: str | None, given: bool) -> str:
    """What is said where bytes do not load with the seed that is there."""
    return (
        f"made with a secret seed, whose fingerprint is {fingerprint}{', and another was given' if given else ''}: "
        f"give it as secret=..., or in {_NAME} in the environment, where unpickling looks for it, too"
    )


def _read(path: str | os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:
        return _digits(os.fsdecode(path), file.read(_MOST).decode("latin-1"))


def _random() -> bytes:
    seed = secrets.token_bytes(_SIZE)
    return seed if any(seed[_HALF:]) else _random()


def _digits(where: str, text: str) -> bytes:
    text = text.strip(" \t\n\v\f\r")
    if re.fullmatch("[0-9a-fA-F]{32}", text) is None:
        raise ValueError(f"{where}: a secret seed is 32 hex digits, such as 'openssl rand -hex 16' prints")
    return _checked(where, bytes.fromhex(text))


def _bytes(secret: str | bytes) -> bytes:
    if isinstance(secret, str):
        return _digits("secret", secret)
    if not isinstance(secret, (bytes, bytearray)):
        raise TypeError(f"a secret seed is 16 bytes or a str of 32 hex digits, not {type(secret).__name__}")
    if len(secret) != _SIZE:
        raise ValueError(f"secret: a secret seed has 16 bytes, not {len(secret)}")
    return _checked("secret", bytes(secret))


def _checked(where: str, seed: bytes) -> bytes:
    if not any(seed[_HALF:]):
        raise ValueError(f"{where}: no secret seed ends in 16 zeros")
    return seed
