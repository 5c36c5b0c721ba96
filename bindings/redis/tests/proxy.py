"""Between a client and a server: passes everything on, but for one command when it is told to."""

from __future__ import annotations

import socket
import threading

COMMAND = b"LEGO.INCRBY"


class Proxy:
    """The fault happens once, to the first COMMAND after `skip` others, and then everything passes again.

    request     the connection breaks before the server gets the command
    answer      it breaks before the client gets the answer
    silence     nothing breaks, but no answer comes
    """

    def __init__(self, port: int) -> None:
        self.to = port
        self.fault: str | None = None
        self.skip = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)  # wakes the thread, which a close would not
        self._listening.close()

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.to))
            state: dict[str, str] = {}
            for pump in (self._requests, self._answers):
                threading.Thread(target=self._pump, args=(pump, client, server, state), daemon=True).start()

    def _pump(self, pump, client: socket.socket, server: socket.socket, state: dict[str, str]) -> None:
        try:
            pump(client, server, state)
        except OSError:
            pass
        for end in (client, server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _requests(self, client: socket.socket, server: socket.socket, state: dict[str, str]) -> None:
        while data := client.recv(1 << 20):
            if self.fault is not None and COMMAND in data:
                if self.skip == 0:
                    state["fault"], self.fault = self.fault, None
                    if state["fault"] == "request":
                        return
                self.skip -= 1
            server.sendall(data)

    def _answers(self, client: socket.socket, server: socket.socket, state: dict[str, str]) -> None:
        while data := server.recv(1 << 20):
            if state.get("fault") == "answer":
                return
            if state.get("fault") != "silence":
                client.sendall(data)
