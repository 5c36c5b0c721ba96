"""A redis-server with our module on a port of its own, in a folder of its own, which never outlives the tests."""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import redis

MODULE = os.environ["LEGOSKETCH_MODULE"]
PRELOAD = os.environ.get("SERVER_PRELOAD")  # libasan.so, to run a module with sanitizers
_libc = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    """A test run that is killed leaves no server: it gets SIGKILL from the system."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _free_port() -> int:
    """Below 32768, from where the system takes ports for clients; a cluster's bus has the port 10000 above."""
    while True:
        port = random.randrange(10000, 22000)
        with socket.socket() as one, socket.socket() as other:
            try:
                one.bind(("127.0.0.1", port))
                other.bind(("127.0.0.1", port + 10000))
            except OSError:
                continue
            return port


class Server:
    """with Server("appendonly yes") as server: server("LEGO.INFO", "key")

    module: the arguments of our module; None: it is not loaded."""

    def __init__(self, *options: str, module: str | None = "") -> None:
        self.folder = tempfile.mkdtemp(prefix="legosketch-redis-")
        self.options = options if module is None else (f"loadmodule {MODULE} {module}", *options)
        self.port = _free_port()
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self) -> None:
        settings = [f"port {self.port}", "bind 127.0.0.1", f"dir {self.folder}", 'save ""']
        settings += ["enable-debug-command local", "enable-module-command local", "logfile log", *self.options]
        with open(f"{self.folder}/redis.conf", "w") as file:
            file.write("\n".join(settings) + "\n")
        environment = dict(os.environ, **({"LD_PRELOAD": PRELOAD} if PRELOAD else {}))
        self.process = subprocess.Popen(
            ["redis-server", f"{self.folder}/redis.conf"], preexec_fn=_die_with_parent, env=environment
        )
        self.client = self.connect()
        until = time.monotonic() + 60
        while True:
            try:
                self.client.ping()
                return
            except (redis.exceptions.ConnectionError, redis.exceptions.BusyLoadingError):
                if self.process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"redis-server did not start:\n{self.log()}") from None
                time.sleep(0.02)

    def connect(self, **options) -> redis.Redis:
        return redis.Redis(port=self.port, **{"socket_timeout": 60, "protocol": 2, **options})

    def __call__(self, *words):
        return self.client.execute_command(*words)

    def pipeline(self, commands) -> list:
        """All of them at once; an error is an answer like others."""
        pipeline = self.client.pipeline(transaction=False)
        for words in commands:
            pipeline.execute_command(*words)
        return pipeline.execute(raise_on_error=False)

    def log(self) -> str:
        try:
            with open(f"{self.folder}/log", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def stop(self) -> None:
        """As an administrator does: it saves if it is set up to."""
        self.process.terminate()
        self.process.wait(60)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(60)

    def close(self) -> None:
        if getattr(self, "process", None) is not None and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_) -> None:
        self.close()


def wait_for(condition, seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)
