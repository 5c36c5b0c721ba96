"""A hostile client: random commands, most of them nearly right, over all that a client may send to our module.

    cmake -S . -B build/asan -DLEGO_SANITIZE=address,undefined && cmake --build build/asan -j2 --target legosketch_redis
    bindings/redis/tests/run.sh build/asan hostile.py COMMANDS [SEED]

sends so many commands, and says where it is. With a module that was built like that, the whole server runs under the
address sanitizer. Whatever comes, the server lives; what it refuses it refuses by name, with nothing changed; and what
it holds it can save and load."""

from __future__ import annotations

import random
import signal
import sys
import time

import redis
import xxhash
from legosketch import Sketch


def sealed(data):
    """With the checksum that it should have: what is wrong is deeper."""
    data = bytearray(data)
    if len(data) < 96:
        return bytes(data)
    data[-8:] = xxhash.xxh3_64_intdigest(bytes(data[:-8])).to_bytes(8, "little")
    return bytes(data)


def mutated(data, source):
    data = bytearray(data)
    for _ in range(source.choice([1, 1, 1, 2, 5])):
        at = source.randrange(min(source.choice([96, len(data)]), len(data)))
        kind = source.randrange(6)
        if kind == 0:
            data[at] ^= 1 << source.randrange(8)
        elif kind == 1:
            data[at] = source.choice([0, 1, 127, 128, 255])
        elif kind == 2:
            at -= at % 8
            number = source.choice([0, 1, 2**31, 2**32 - 1, 2**36, 2**62, 2**63 - 1, 2**63, 2**64 - 1, len(data)])
            data[at : at + 8] = number.to_bytes(8, "little")
        elif kind == 3:
            del data[at : at + source.choice([1, 8, 64, 1000])]
        elif kind == 4:
            data[at:at] = source.randbytes(source.choice([1, 8, 64, 1000]))
        else:
            data[at : at + 8] = source.randbytes(8)
        if len(data) < 100:
            break
    if source.random() < 0.8 and len(data) >= 24:
        data[16:24] = len(data).to_bytes(8, "little")  # the length, most often right
    return sealed(data) if source.random() < 0.9 else bytes(data)


# ---- what is sent ----------------------------------------------------------------------------------------------------

KEYS = [f"k{i}" for i in range(8)]
NUMBERS = [0, 1, 2, 3, 7, 100, 255, 4095, 4096, 4681, 65535, 10**6, 10**6 + 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**36,
           2**36 + 1, 2**53, 2**61 - 1, 2**61, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64]  # fmt: skip
ODD = [b"", b"\0", b"-", b"+1", b"01", b" 1", b"1 ", b"0x10", b"1e3", b"nan", b"inf", b"-inf", b"1.5", b"-0", b"kb", b"5kb",
       b"64kb", b"1mb", b"65gb", b"99999999999999999999999999", b"secret:", b"secret:0123456789abcdef", b"ITEMS", b"TOP",
       b"WEIGHTS", b"BUDGET", b"WITHBOUNDS", b"\xff" * 20, b"x" * 300, b"%s%n"]  # fmt: skip
SECRETS = [f"{i:032x}" for i in range(1, 6)]


class Commands:
    """An endless source of them, the same for the same seed."""

    def __init__(self, server, seed: int) -> None:
        self.random = random.Random(seed)
        server("LEGO.SECRET", *SECRETS)
        self.fingerprints = [fingerprint for fingerprint, _ in server("LEGO.SECRET")]
        self.samples = [self.sample(model, top, n) for model in ("compact", "paper") for top in (False, True)
                        for n in (0, 5, 300, 3000)]  # fmt: skip
        for fingerprint in self.fingerprints:
            server("LEGO.RESERVE", "made", "BUDGET", 8192, "SEED", b"secret:" + fingerprint)
            server("LEGO.ADD", "made", *range(500))
            self.samples.append(server("LEGO.DUMP", "made"))
            server("DEL", "made")
        large = Sketch(4 << 20)
        large.add_many(list(range(110_000)))
        self.large = large.to_bytes()

    def sample(self, model: str, top: bool, n: int) -> bytes:
        sketch = Sketch(self.random.choice([8192, 20000]), model=model, top=top)
        sketch.add_many([f"item {i % 777}".encode() for i in range(n)])
        return sketch.to_bytes()

    def rare(self, share: float) -> bool:
        return self.random.random() < share

    def key(self):
        return self.random.choice(KEYS)

    def item(self):
        r = self.random
        if self.rare(0.9):
            return f"item {int(r.paretovariate(0.5)) % 5000}"
        return r.choice([r.randbytes(8), r.randbytes(r.choice([0, 1, 238, 239, 300])), *ODD])

    def number(self):
        number = self.random.choice(NUMBERS) + self.random.choice([-1, 0, 0, 0, 1])
        return -number if self.rare(0.3) else number

    def count(self):
        return self.random.randrange(-20, 100) if self.rare(0.95) else self.number()

    def budget(self):
        r = self.random
        return r.choice([4096, 8192, 8192, 20000, 20000, 20000, b"64kb", b"1mb"]) if self.rare(0.95) else self.number()

    def several(self, make, most=8):
        return [make() for _ in range(self.random.choice([1, 1, 2, 3, most]))]

    def maybe(self, *words, share=0.4):
        return list(words) if self.rare(share) else []

    # ---- each command, right but for its numbers ---------------------------------------------------------------------

    def reserve(self):
        size = ["BUDGET", self.budget()]
        if self.rare(0.001):  # which takes a quarter of a second
            size = ["ITEMS", self.random.choice([1, 100, 10**5]), "ERROR", self.random.choice([0, 0.1, 5])]
        seed = 0 if self.rare(0.8) else self.random.choice([1, self.number(), "secret:0000000000000000", self.seed()])
        return [self.key(), *size, *self.maybe("SEED", seed, share=0.9),
                *self.maybe("MODEL", self.random.choice(["compact", "paper", "none"]), share=0.2),
                *self.maybe("TOP", self.random.choice([1, 5, 100, self.number()]))]

    def seed(self):
        return b"secret:" + self.random.choice(self.fingerprints)

    def incrby(self):
        pairs = [word for item in self.several(self.item, 60) for word in (item, self.count())]
        options = self.maybe("ESTIMATES") + self.maybe("NOCREATE")
        return [self.key(), *([*options, "ITEMS"] if options else []), *pairs]

    def add(self):
        return [self.key(), *self.several(self.item, 60)]

    def question(self):
        options = self.maybe("WITHBOUNDS") + self.maybe("ABSENT", self.random.choice([0, 0.5, 0.999, 1, *ODD]))
        return [*options, "ITEMS", *self.several(self.item, 60)]

    def query(self):
        return [self.key(), *(self.question() if self.rare(0.5) else self.several(self.item))]

    def list(self):
        return self.maybe(self.random.choice([1, 5, self.number()])) + self.maybe("WITHCOUNT") + self.maybe("ABOVE", self.count())

    def top(self):
        return [self.key(), *self.list()]

    def merge(self):
        sources = self.several(self.key, 4)
        weight = lambda: self.random.choice([-1, 0, 1, 2, 3, self.number()])  # noqa: E731
        return [self.key(), len(sources), *sources, *self.maybe("WEIGHTS", *(weight() for _ in sources))]

    def union(self):
        keys = self.several(self.key, 4)
        return [len(keys), *keys, *(self.question() if self.rare(0.6) else ["TOP", *self.list()])]

    def fold(self):
        return [self.key(), *(["BUDGET", self.budget()] if self.rare(0.5) else [self.random.choice([1, 2, 5, 30, self.number()])])]

    def load(self):
        data = self.large if self.rare(0.002) else self.random.choice(self.samples)
        if self.rare(0.7):
            data = mutated(data, self.random)
        return [self.key(), data, *self.maybe("TOP", self.random.choice([1, 5, self.number()]), share=0.2)]

    def one(self):
        return [self.key()]

    def secret(self):
        return self.several(lambda: self.random.choice(SECRETS), 3) if self.rare(0.5) else []

    NAMES = {"RESERVE": 3, "INCRBY": 6, "ADD": 4, "QUERY": 4, "TOP": 2, "INTOP": 1, "MERGE": 4, "UNION": 3, "FOLD": 1, "LOAD": 4,
             "INFO": 1, "CARD": 1, "DUMP": 1, "SECRET": 0.2}  # fmt: skip
    ALIKE = {"INTOP": add, "INFO": one, "CARD": one, "DUMP": one}

    def ours(self):
        name = self.random.choices([*self.NAMES], [*self.NAMES.values()])[0]
        return [f"LEGO.{name}", *(self.ALIKE[name](self) if name in self.ALIKE else getattr(self, name.lower())())]

    def theirs(self):
        """The server's own commands, which reach our type."""
        a, b, r = self.key(), self.key(), self.random
        return r.choice([["DEL", a], ["COPY", a, b], ["COPY", a, b, "REPLACE"], ["RENAME", a, b], ["UNLINK", a],
                         ["PEXPIRE", a, r.choice([1, 5, 10**9])], ["SET", a, "text"], ["MEMORY", "USAGE", a], ["TYPE", a],
                         ["DEBUG", "DIGEST-VALUE", a], ["DUMP", a], ["OBJECT", "ENCODING", a], ["EXPIRE", a, 10**6]])

    def damaged(self, words):
        words = list(words)
        at = self.random.randrange(1, len(words) + 1)
        kind = self.random.randrange(4)
        if kind == 0:
            del words[at:]
        elif kind == 1:
            words.insert(at, self.random.choice([*ODD, self.number(), self.item()]))
        elif at < len(words) and kind == 2:
            words[at] = self.random.choice([*ODD, self.number(), self.item()])
        elif at < len(words):
            del words[at]
        return words

    def __next__(self):
        words = self.theirs() if self.rare(0.08) else self.ours()
        return self.damaged(words) if self.rare(0.12) else words


# ---- and what comes back ---------------------------------------------------------------------------------------------


class Fuzzer:
    """Several clients at once, since what is large is done in threads: one waits, and others change its keys."""

    CLIENTS, BATCH = 3, 100
    PATIENCE = 600  # seconds: a large sketch 2^60 times is as many as 120 merges, in a thread that has no core for itself

    def __init__(self, server, seed: int) -> None:
        self.server, self.commands = server, Commands(server, seed)
        self.seed, self.sent, self.refused = seed, 0, 0
        self.clients = [server.connect(socket_timeout=self.PATIENCE).connection_pool.get_connection() for _ in range(self.CLIENTS)]
        self.last: list = []

    def run(self, commands: float = float("inf"), seconds: float = float("inf"), report=lambda fuzzer: None) -> int:
        until = time.monotonic() + seconds
        while self.sent < commands and time.monotonic() < until:
            try:
                self.round()
                if self.sent // (self.CLIENTS * self.BATCH) % 10 == 0:
                    self.refusals_change_nothing()
                    self.what_is_held_loads()
                    report(self)
            except Exception as error:
                if isinstance(error, redis.TimeoutError):
                    self.where_it_hangs()
                said = "\n".join(repr(words)[:1000] for words in self.last)
                raise AssertionError(f"seed {self.seed}, after {self.sent} commands: {error!r}\n{said}\n"
                                     f"{self.server.log()[-10000:]}") from error  # fmt: skip
        return self.sent

    def where_it_hangs(self) -> None:
        """What the server itself can say, if it answers others; else its log has a stack, when it has ended."""
        try:
            with self.server.connect(socket_timeout=5, retry=None) as client:
                print(client.info("clients"), client.execute_command("CLIENT", "LIST"))
        except redis.TimeoutError:
            self.server.process.send_signal(signal.SIGSEGV)
            self.server.process.wait(60)

    def round(self) -> None:
        batches = [[next(self.commands) for _ in range(self.BATCH)] for _ in self.clients]
        self.last = [words for batch in batches for words in batch]
        for client, batch in zip(self.clients, batches):
            client.send_packed_command(client.pack_commands(batch))
        for client, batch in zip(self.clients, batches):
            for words in batch:
                self.check(words, self.answer(client))
        self.sent += len(self.last)

    def answer(self, client):
        try:
            return client.read_response(disable_decoding=True, disconnect_on_error=False)
        except redis.ResponseError as error:
            return error

    def check(self, words, answer) -> None:
        if isinstance(answer, redis.ResponseError):
            self.refused += 1
            assert len(str(answer)) > 8 and "unknown command" not in str(answer), words

    def refusals_change_nothing(self) -> None:
        client = self.clients[0]

        def ask(*words):
            client.send_command(*words)
            return self.answer(client)

        time.sleep(0.01)
        ask("EXISTS", *KEYS)  # those that were to expire soon have done so
        for _ in range(10):
            self.last = [self.commands.ours()]
            before = ask("DEBUG", "DIGEST")
            answer = ask(*self.last[0])
            self.sent += 1
            if isinstance(answer, redis.ResponseError) or "DUMP" in self.last[0][0]:
                after = ask("DEBUG", "DIGEST")
                assert before == after, f"it changed something, though it was refused: {answer}"

    def what_is_held_loads(self) -> None:
        """Of one key, which does not expire any more, as its digest would tell."""
        key = self.commands.key()
        self.last = [["DUMP", key]]
        client = self.server.client
        client.persist(key)
        payload = client.dump(key)
        if payload is not None:
            digest = client.execute_command("DEBUG", "DIGEST-VALUE", key)
            client.restore("restored", 0, payload, replace=True)
            again = client.execute_command("DEBUG", "DIGEST-VALUE", "restored")
            assert again == digest, (digest, again)
        if self.commands.rare(0.02):
            client.flushall()


def main() -> None:
    from server import MODULE, PRELOAD, Server

    commands, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    begun = time.monotonic()

    def report(fuzzer) -> None:
        if fuzzer.sent // 10_000 != report.at:
            report.at = fuzzer.sent // 10_000
            print(f"{fuzzer.sent:,} commands, {fuzzer.refused:,} refused, {time.monotonic() - begun:.0f} s", flush=True)

    report.at = 0
    with Server("maxmemory 300mb") as server:
        print(f"{MODULE}, seed {seed}, {'with ' + PRELOAD if PRELOAD else 'without sanitizers'}", flush=True)
        fuzzer = Fuzzer(server, seed)
        fuzzer.run(commands, report=report)
        assert server.client.ping() and server.process.poll() is None
        print(f"done: {fuzzer.sent:,} commands, {fuzzer.refused:,} refused, {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
