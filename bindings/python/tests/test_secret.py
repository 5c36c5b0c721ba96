"""Secret seeds: who has none can not read, and nothing shows one.

SPDX-License-Identifier: MIT
"""

import copy
import os
import pickle
import stat
import subprocess
import sys
import threading

import pytest

import legosketch
from legosketch import LegoError, Sketch, _core, secret_seed

DIGITS = "000102030405060708090a0b0c0d0e0f"
SECRET = bytes(range(16))
OTHER = bytes(range(1, 17))
FINGERPRINT = Sketch("4K", secret=SECRET).fingerprint


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    monkeypatch.delenv("LEGOSKETCH_SEED", raising=False)


def filled(**options):
    s = Sketch("8K", **options)
    s.update(range(3000))
    return s


def test_makes_and_reads(tmp_path):
    s = filled(secret=SECRET)
    assert (s.seed, s.fingerprint) == (None, FINGERPRINT) and len(FINGERPRINT) == 16
    assert s == filled(secret=DIGITS) == filled(secret=f" {DIGITS.upper()}\n") == filled(secret=bytearray(SECRET))
    assert s != filled(secret=OTHER) and s != filled(seed=5) and s.to_bytes() != filled().to_bytes()
    s.save(tmp_path / "a")
    for secret in SECRET, DIGITS:
        assert Sketch.load(tmp_path / "a", secret=secret) == Sketch.from_bytes(s.to_bytes(), secret=secret) == s
    again = Sketch.load(tmp_path / "a", secret=SECRET)
    again.add("more")
    assert again["more"] >= 1 and again.fingerprint == FINGERPRINT


def test_public_ones_stay_what_they_are():
    s = filled(seed=7)
    assert (s.seed, s.fingerprint, Sketch().seed) == (7, None, 0)
    assert Sketch.from_bytes(s.to_bytes(), secret=SECRET) == s  # it needs none


@pytest.mark.parametrize("options", [{}, {"top": True}, {"model": "paper"}])
def test_the_content_is_that_of_any_sketch(options):
    s, t = Sketch("1M", secret=SECRET, **options), Sketch("1M", secret=SECRET, **options)
    s.add_many(["a", "b", "a"])
    t.add_many([str(i) for i in range(100)])
    both = sum([s, t])
    assert both.total == 103 and both["a"] >= 2 and both.fingerprint == FINGERPRINT
    assert list(both.estimate_many(["a", "5"])) == [both["a"], both["5"]]
    if not options.get("top"):
        assert both - t == s
    both.fold(both.blocks // 2)
    assert Sketch.from_bytes(both.to_bytes(), secret=SECRET) == both
    both.clear()
    assert both.fingerprint == FINGERPRINT and both.total == 0


def test_without_it_nothing_is_read(tmp_path):
    s = filled(secret=SECRET)
    s.save(tmp_path / "a")
    for read, where in (lambda **o: Sketch.from_bytes(s.to_bytes(), **o), ""), (lambda **o: Sketch.load(tmp_path / "a", **o), "a: "):
        with pytest.raises(LegoError, match=f"{where}made with a secret seed, .* {FINGERPRINT}: .*secret=.*LEGOSKETCH_SEED") as error:
            read()
        assert error.value.status == _core.LEGO_ERR_SECRET
        with pytest.raises(LegoError, match=f"{FINGERPRINT}, and another was given: "):
            read(secret=OTHER)
    with pytest.raises(LegoError, match="version|checksum|damaged|short|early"):
        Sketch.from_bytes(s.to_bytes()[:-1], secret=SECRET)


def test_seeds_that_differ_do_not_merge():
    s = filled(secret=SECRET)
    for other, shown in (filled(), "0"), (filled(secret=OTHER), filled(secret=OTHER).fingerprint):
        before = s.to_bytes()
        with pytest.raises(LegoError, match=rf"secret \({FINGERPRINT}\) and .*{shown}.* do not merge"):
            s.merge(other)
        assert s.to_bytes() == before


@pytest.mark.parametrize("wrong, error", [
    (DIGITS[:-1], ValueError), (DIGITS + "0", ValueError), ("g" * 32, ValueError), ("", ValueError), (SECRET[:15], ValueError),
    (DIGITS.encode(), ValueError), (SECRET[:8] + bytes(8), ValueError), (DIGITS[:16] + "0" * 16, ValueError),
    ("\u0660" * 32, ValueError), (5, TypeError), ([1] * 16, TypeError),
])
def test_what_is_none_is_refused_and_not_shown(wrong, error, tmp_path, monkeypatch):
    saved = Sketch().to_bytes()
    for use in lambda: Sketch("4K", secret=wrong), lambda: Sketch.from_bytes(saved, secret=wrong):
        with pytest.raises(error, match="secret seed") as refused:
            use()
        assert DIGITS[:16] not in str(refused.value) and repr(wrong) not in str(refused.value)
    if isinstance(wrong, str) and error is ValueError:
        (tmp_path / "seed").write_text(wrong, encoding="utf-8")
        with pytest.raises(ValueError, match="seed: .*secret seed"):
            secret_seed(tmp_path / "seed")
        monkeypatch.setenv("LEGOSKETCH_SEED", wrong)
        for use in Sketch, lambda: Sketch.from_bytes(saved):
            with pytest.raises(ValueError, match="LEGOSKETCH_SEED: .*secret seed"):
                use()
        assert Sketch(seed=0).seed == 0


def test_a_seed_is_public_or_secret():
    with pytest.raises(TypeError, match="public or secret"):
        Sketch(seed=0, secret=SECRET)
    for wrong in (5, b"short", "text"):
        with pytest.raises(TypeError):
            _core.Sketch(4096, 0, None, 0, wrong, 1)


def test_the_environment_makes_and_reads(monkeypatch, tmp_path):
    s, public = filled(secret=SECRET), filled()
    s.save(tmp_path / "a")
    monkeypatch.setenv("LEGOSKETCH_SEED", DIGITS + "\n")
    assert filled() == s == Sketch.load(tmp_path / "a") == Sketch.from_bytes(s.to_bytes()) == pickle.loads(pickle.dumps(s))
    assert filled(seed=0) == public == Sketch.from_bytes(public.to_bytes())  # what is given comes first
    assert filled(secret=OTHER).fingerprint != FINGERPRINT
    with pytest.raises(LegoError, match="another"):
        Sketch.from_bytes(s.to_bytes(), secret=OTHER)


class Own(Sketch):
    pass


def test_copies_have_it_and_pickles_do_not(monkeypatch):
    for kind in Sketch, Own:
        s = kind("32K", secret=SECRET)
        s.add_many(range(3000))
        for other in copy.copy(s), copy.deepcopy(s), s.copy(), s + Sketch("32K", secret=SECRET):
            assert other == s and type(other) is kind
            other.add(1)
            assert other != s
        saved = pickle.dumps(s)
        with pytest.raises(LegoError, match=f"{FINGERPRINT}: .*LEGOSKETCH_SEED"):
            pickle.loads(saved)
        monkeypatch.setenv("LEGOSKETCH_SEED", DIGITS)
        assert pickle.loads(saved) == s and type(pickle.loads(saved)) is kind
        monkeypatch.delenv("LEGOSKETCH_SEED")


def test_nothing_shows_it():
    secret = os.urandom(15) + b"\1"
    s = Sketch("8K", top=True, secret=secret)
    s.update(["a", "b", "a"])
    shown = [repr(s), str(s), s._repr_html_(), s.to_bytes(), pickle.dumps(s), pickle.dumps(s, 0)]
    shown += [repr(getattr(s, name)) for name in dir(s)]
    try:
        Sketch.from_bytes(s.to_bytes(), secret=OTHER)
    except LegoError as error:
        shown.append(repr(error))
    for text in shown:
        for half in (secret[:8], secret[8:]):
            assert half not in (text if isinstance(text, bytes) else text.encode())
            for whole in half.hex(), repr(half)[2:-1], str(int.from_bytes(half, "little")):
                assert whole not in (text.decode("latin-1") if isinstance(text, bytes) else text)


def test_a_seed_file_is_made_once_and_for_nobody_else(tmp_path):
    before = os.umask(0)
    try:
        made = secret_seed(tmp_path / "seed")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(tmp_path / "seed").st_mode) == 0o600
    assert (tmp_path / "seed").read_text() == made.hex() + "\n"
    assert secret_seed(os.fspath(tmp_path / "seed")) == made and len(made) == 16 and any(made[8:])
    assert secret_seed(tmp_path / "another") != made
    (tmp_path / "own").write_text(f"\n  {DIGITS.upper()} \n")
    assert secret_seed(tmp_path / "own") == SECRET
    assert sorted(os.listdir(tmp_path)) == ["another", "own", "seed"]


def test_seed_files_that_can_not_be(tmp_path, monkeypatch):
    for path, error in (tmp_path, IsADirectoryError), (tmp_path / "none" / "seed", FileNotFoundError):
        with pytest.raises(error) as failed:
            secret_seed(path)
        assert failed.value.filename == os.fspath(path) or failed.value.filename == path
    (tmp_path / "huge").write_bytes(b"")
    os.truncate(tmp_path / "huge", 1 << 40)
    with pytest.raises(ValueError, match="32 hex digits"):
        secret_seed(tmp_path / "huge")


@pytest.mark.parametrize("way", ["nameless", "named"])
def test_many_who_make_one_file_have_one_seed(way, tmp_path, monkeypatch):
    if way == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    for turn in range(20):
        path, seeds, start = tmp_path / f"seed {turn}", [], threading.Barrier(8)

        def make():
            start.wait()
            seeds.append(secret_seed(path))

        threads = [threading.Thread(target=make) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert len(seeds) == 8 and len(set(seeds)) == 1
    assert len(os.listdir(tmp_path)) == 20


COMMAND = os.environ.get("LEGOSKETCH")
HELP = subprocess.run([COMMAND, "build", "--help"], capture_output=True, text=True).stdout if COMMAND else ""


@pytest.mark.skipif("--seed-file" not in HELP, reason="LEGOSKETCH names no command that has --seed-file")
def test_the_command_has_the_same(tmp_path):
    def run(*arguments, seed=None):
        environment = {**os.environ, **({} if seed is None else {"LEGOSKETCH_SEED": seed})}
        return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=True, env=environment).stdout

    (tmp_path / "words").write_text("a\nb\na\n")
    run("build", "--seed-file", tmp_path / "seed", "-b", "64K", "-o", tmp_path / "there", tmp_path / "words")
    run("build", "-b", "64K", "-o", tmp_path / "named", tmp_path / "words", seed=DIGITS)
    here, named = Sketch("64K", secret=secret_seed(tmp_path / "seed")), Sketch("64K", secret=SECRET)
    for s, path in (here, "there"), (named, "named"):
        s.update(["a", "b", "a"])
        assert s.to_bytes() == (tmp_path / path).read_bytes()
    secret_seed(tmp_path / "ours")
    Sketch("64K", secret=secret_seed(tmp_path / "ours")).save(tmp_path / "here")
    assert Sketch.load(tmp_path / "here", secret=secret_seed(tmp_path / "ours")).fingerprint in run(
        "info", "--seed-file", tmp_path / "ours", tmp_path / "here")


def test_a_new_process_takes_it_from_the_environment(tmp_path):
    (tmp_path / "a").write_bytes(pickle.dumps(filled(secret=SECRET)))
    script = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).fingerprint)"
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "a"], capture_output=True, text=True,
                          env={**os.environ, "LEGOSKETCH_SEED": DIGITS})
    assert done.stdout.strip() == FINGERPRINT


def test_groups_have_a_public_seed_whatever_the_environment_says(monkeypatch):
    before = [legosketch.group(i, 100) for i in range(10)]
    monkeypatch.setenv("LEGOSKETCH_SEED", DIGITS)
    assert [legosketch.group(i, 100) for i in range(10)] == before
