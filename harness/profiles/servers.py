"""Run SnakeViz, or another server of profiles, on the loopback address of this machine, and read its pages."""

import base64
import contextlib
import http.client
import re
import shlex
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

from harness.errors import MachineError, UsageError
from harness.machine.environment import ABSENT, version_of
from harness.profiles.stats import expanded, rows
from harness.rendering.texts import shown

LOOPBACK: Final = "127.0.0.1"  # other machines cannot read files from a server on this address
START_S: Final = 60.0  # time limit in seconds for the start of a server

# The server process ends when its standard input is closed. So it also ends if the process that started it is killed.
_CHILD: Final = """
import os, runpy, sys, threading
threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""

# Libraries that the page's web worker loads from a public host.
_WORKER_LIBRARIES: Final = ("immutable", "lodash")


@dataclass(frozen=True, slots=True)
class ProfileServer:
    """A running server: its process id, and the address of its page. In SnakeViz, this page shows the profile."""

    pid: int
    url: str

    def fetch(self, path: str) -> bytes | None:
        """Return the content of the server's file `path`, or None if the server has no such file.

        Raise `MachineError` if the server has ended or does not answer.
        """
        place = urlsplit(self.url)
        connection = http.client.HTTPConnection(place.hostname or LOOPBACK, place.port, timeout=START_S)
        try:
            with contextlib.closing(connection):
                connection.request("GET", path)
                response = connection.getresponse()
                body = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise MachineError(f"The server at {self.url} does not answer ({error}). Start it again.") from None
        return body if response.status == http.client.OK else None

    def page(self) -> str:
        """Return the page of the profile as HTML. Raise `MachineError` if SnakeViz cannot show the profile."""
        body = self.fetch(urlsplit(self.url).path)
        if body is None:
            raise MachineError("SnakeViz cannot show this profile. Profile again with cProfile, not with profile.")
        return body.decode()

    def standalone(self) -> str:
        """Return the page as HTML that contains all files it needs, so that it works without server and network."""
        page = re.sub(r'<link href="(/static/[^"]+)"[^>]*>', self._style, self.page())
        page = re.sub(r"""<script src=["'](/static/[^"']+)["']></script>""", self._script, page)
        libraries = "\n".join(self._text(f"/static/vendor/{name}.min.js") for name in _WORKER_LIBRARIES)
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
def serving(module: str, *options: str) -> Iterator[ProfileServer]:
    """Run `python -m MODULE OPTIONS`, a server that prints its address, for the time of a `with` block.

    Raise `MachineError` if the server ends, or prints no address in `START_S` seconds.
    """
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", _CHILD, module, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="backslashreplace",
    )
    deadline = threading.Timer(START_S, process.kill)
    deadline.start()
    assert process.stdout is not None
    try:
        address = next(filter(None, (re.search(r"http://\S+", line) for line in process.stdout)), None)
        if address is None:
            command = shown(shlex.join(["python", "-m", module, *options]), lines=False)
            raise MachineError(f"{module} does not start. To see the reason, run: {command}")
        deadline.cancel()
        threading.Thread(target=process.stdout.read, daemon=True).start()  # a full pipe would stop the server
        yield ProfileServer(process.pid, address[0])
    finally:
        deadline.cancel()
        for each in family(process.pid):
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def family(pid: int) -> list[psutil.Process]:
    """Return a process and the processes that it has started, or [] if it no longer exists."""
    try:
        own = psutil.Process(pid)
        return [own, *own.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def served(profile: Path) -> contextlib.AbstractContextManager[ProfileServer]:
    """Run a SnakeViz server for a saved profile during a `with` block.

    Raise `UsageError` if the file is not a profile with a function, and `MachineError` if SnakeViz does not start.
    """
    file = expanded(profile).absolute()
    if not rows(file):
        raise UsageError(f"The profile {shown(str(file), lines=False)} has no function: profile code that calls one.")
    if version_of("snakeviz") == ABSENT:
        raise MachineError("SnakeViz is missing. Run: python -m pip install snakeviz")
    return serving("snakeviz", "--server", "--hostname", LOOPBACK, "--port", str(free_port()), str(file))


def free_port() -> int:
    """Return the number of a port of this machine that is free now."""
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        return int(free.getsockname()[1])


def _within_html(script: str) -> str:
    return script.replace("</script", r"<\/script")
