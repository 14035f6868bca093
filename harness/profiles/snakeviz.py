"""SnakeViz, started for real: a server on a free port of this machine, and its page, fetched or kept as one file.

The server is bound to the loopback address, so that nobody else can ask it for files. It ends when the block ends that
it was started for, and by itself when the process that started it is gone, however that came about.
"""

import base64
import contextlib
import http.client
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own

from harness.errors import MachineError

LOOPBACK: Final = "127.0.0.1"
START_S: Final = 30.0
"""How long the server may take to begin."""

_CHILD: Final = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
from snakeviz.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""SnakeViz, which ends when its standard input does: that is held open by whoever started it, and by nobody else."""

WORKER_LIBRARIES: Final = ("immutable", "lodash")
"""What the page's worker asks a public host for, and SnakeViz itself where that cannot be reached."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running SnakeViz: its process, and the address of the page of one profile."""

    pid: int
    url: str

    def fetch(self, path: str) -> bytes | None:
        """Return a file of the server, None where it has none."""
        place = urlsplit(self.url)
        connection = http.client.HTTPConnection(place.hostname or LOOPBACK, place.port, timeout=START_S)
        with contextlib.closing(connection):
            connection.request("GET", path)
            response = connection.getresponse()
            body = response.read()
        return body if response.status == http.client.OK else None

    def page(self) -> str:
        """Return the page as it is served. Raises `MachineError` where there is none."""
        body = self.fetch(urlsplit(self.url).path)
        if body is None:
            raise MachineError("SnakeViz cannot show this profile; was it written by another version of Python?")
        return body.decode()

    def standalone(self) -> str:
        """Return the page with all that it loads in it: it needs no server, no network, and asks nobody."""
        page = re.sub(r'<link href="(/static/[^"]+)"[^>]*>', self._style, self.page())
        page = re.sub(r"""<script src=["'](/static/[^"']+)["']></script>""", self._script, page)
        libraries = "\n".join(self._text(f"/static/vendor/{name}.min.js") for name in WORKER_LIBRARIES)
        inside = f"self.importScripts = function () {{}};\n{_within_html(libraries)}\n"
        mark = 'type="javascript/worker">'
        return page.replace(mark, f"{mark}\n{inside}", 1)

    def listens_on(self) -> tuple[str, ...]:
        """Return the addresses that the server listens on; none where the system does not tell."""
        process = psutil.Process(self.pid)
        asked = getattr(process, "net_connections", None) or process.connections  # the older name, before psutil 6
        try:
            return tuple(sorted({one.laddr.ip for one in asked("inet") if one.status == psutil.CONN_LISTEN}))
        except psutil.Error:
            return ()

    def runs(self) -> bool:
        """Whether the server is still there."""
        return bool(psutil.pid_exists(self.pid))

    def _text(self, path: str) -> str:
        return (self.fetch(path) or b"").decode()

    def _script(self, match: re.Match[str]) -> str:
        return f"<script>\n{_within_html(self._text(match[1]))}\n</script>"

    def _style(self, match: re.Match[str]) -> str:
        folder = match[1].rpartition("/")[0].removesuffix("/vendor")

        def picture(url: re.Match[str]) -> str:
            data = self.fetch(f"{folder}/images/{url[1]}")
            return f"url(data:image/png;base64,{base64.b64encode(data).decode()})" if data else "none"

        styles = re.sub(r'url\("\.\./images/([^"]+)"\)', picture, self._text(match[1]))
        return f"<style>\n{styles}\n</style>"


@contextlib.contextmanager
def served(profile: Path) -> Iterator[Server]:
    """Start SnakeViz on a saved profile, without a browser, and end it with the block.

    Raises `MachineError` when it does not start.
    """
    options = ["--server", "--hostname", LOOPBACK, "--port", str(free_port()), str(profile)]
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", _CHILD, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )
    try:
        yield Server(process.pid, _address(process))
    finally:
        process.kill()
        process.communicate()


def free_port() -> int:
    """Return a port of the loopback address that nobody uses. Should somebody come first, SnakeViz takes another."""
    with socket.socket() as listening:
        listening.bind((LOOPBACK, 0))
        port: int = listening.getsockname()[1]
    return port


def _address(process: subprocess.Popen[str]) -> str:
    """Wait for the address that SnakeViz prints once it listens."""
    assert process.stdout is not None
    patience = threading.Timer(START_S, process.kill)
    patience.start()
    try:
        for line in process.stdout:
            if line.startswith("http://"):
                return line.strip()
    finally:
        patience.cancel()
    raise MachineError("SnakeViz did not start on this file; see what `python -m snakeviz FILE` says to it.")


def _within_html(script: str) -> str:
    """Return a script that no tag in one of its texts ends early."""
    return script.replace("</script", r"<\/script")
