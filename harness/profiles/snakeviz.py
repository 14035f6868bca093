"""Run a SnakeViz server on a free port of this machine, and fetch its page or save it as one file.

The server listens only on the loopback address, so that other machines cannot read files from it. The server ends at
the end of the `with` block, and also if the process that started it is killed.
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

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package

from harness.errors import MachineError

LOOPBACK: Final = "127.0.0.1"
START_S: Final = 30.0
"""Time limit for the start of the server, in seconds."""

# The server process ends when its standard input is closed. So it also ends if the process that started it is killed.
_CHILD: Final = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
from snakeviz.cli import main
sys.exit(main(sys.argv[1:]))
"""

WORKER_LIBRARIES: Final = ("immutable", "lodash")
"""Libraries that the page's web worker loads from a public host, or from the SnakeViz server if this host cannot be
reached."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running SnakeViz server: its process id, and the address of the page that shows the profile."""

    pid: int
    url: str

    def fetch(self, path: str) -> bytes | None:
        """Return the content of the server's file `path`, or None if the server has no such file."""
        place = urlsplit(self.url)
        connection = http.client.HTTPConnection(place.hostname or LOOPBACK, place.port, timeout=START_S)
        with contextlib.closing(connection):
            connection.request("GET", path)
            response = connection.getresponse()
            body = response.read()
        return body if response.status == http.client.OK else None

    def page(self) -> str:
        """Return the page of the profile as HTML. Raise `MachineError` if SnakeViz cannot show the profile."""
        body = self.fetch(urlsplit(self.url).path)
        if body is None:
            raise MachineError("SnakeViz cannot show this profile. Profile again with this version of Python.")
        return body.decode()

    def standalone(self) -> str:
        """Return the page as HTML that contains all files it needs, so that it works without server and network."""
        page = re.sub(r'<link href="(/static/[^"]+)"[^>]*>', self._style, self.page())
        page = re.sub(r"""<script src=["'](/static/[^"']+)["']></script>""", self._script, page)
        libraries = "\n".join(self._text(f"/static/vendor/{name}.min.js") for name in WORKER_LIBRARIES)
        inside = f"self.importScripts = function () {{}};\n{_within_html(libraries)}\n"
        mark = 'type="javascript/worker">'
        return page.replace(mark, f"{mark}\n{inside}", 1)

    def listens_on(self) -> tuple[str, ...]:
        """Return the network addresses on which the server listens, or () if the system does not report them."""
        process = psutil.Process(self.pid)
        connections = getattr(process, "net_connections", None) or process.connections  # psutil before version 6
        try:
            return tuple(sorted({one.laddr.ip for one in connections("inet") if one.status == psutil.CONN_LISTEN}))
        except psutil.Error:
            return ()

    def runs(self) -> bool:
        """Return whether the process of the server is still running."""
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
    """Start a SnakeViz server for a saved profile, without a browser. The end of the `with` block stops the server.

    Raise `MachineError` if SnakeViz does not start.
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
    """Return a port of the loopback address that is free now. If it is no longer free, SnakeViz uses another port."""
    with socket.socket() as listening:
        listening.bind((LOOPBACK, 0))
        port: int = listening.getsockname()[1]
    return port


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    deadline = threading.Timer(START_S, process.kill)
    deadline.start()
    try:
        for line in process.stdout:
            if line.startswith("http://"):
                return line.strip()
    finally:
        deadline.cancel()
    raise MachineError("SnakeViz did not start with this file. Run `python -m snakeviz FILE` to see why.")


def _within_html(script: str) -> str:
    return script.replace("</script", r"<\/script")
