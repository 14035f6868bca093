"""Run SnakeViz or TensorBoard on the loopback address of this machine, and read its pages, or read recorded pages."""

import base64
import contextlib
import gzip
import http.client
import json
import re
import shlex
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlencode, urlsplit

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package

from harness.errors import MachineError, UsageError
from harness.machine.environment import ABSENT, Environment, version_of
from harness.profiles.stats import rows
from harness.rendering.tables import Row, Table
from harness.rendering.texts import shown

INSTALL: Final = "python -m pip install 'fairclock[tensorboard]'"

RECORD: Final = "pages.json"  # the numbers of the recorded pages; the pictures are in the same folder
_POLL_S: Final = 0.2
_PLUGIN: Final = "/data/plugin/pytorch_profiler"
_GZIP: Final = b"\x1f\x8b"

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
    file = Path(profile).expanduser().absolute()
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


@dataclass(frozen=True, slots=True)
class TensorBoard:
    """The answers of a TensorBoard server. If the server could not run, `reason` states why.

    `plugin` is the version of `torch-tb-profiler`. `page_bytes` is the size of the first page. `runs` are the folders
    of traces that the plugin has loaded, `workers` the names of their traces, and `views` the plugin's views of them.
    """

    reason: str = ""
    version: str = ""
    plugin: str = ""
    page_bytes: int = 0
    runs: tuple[str, ...] = ()
    workers: tuple[str, ...] = ()
    views: tuple[str, ...] = ()


def look_at(folder: Path | str, *, start: bool = True) -> TensorBoard:
    """Start TensorBoard on a folder of traces, read its pages, and stop it. With `start=False`, start nothing."""
    board, plugin = version_of("tensorboard"), version_of("torch-tb-profiler")
    if ABSENT in {board, plugin}:
        missing = "TensorBoard" if board == ABSENT else "TensorBoard's plugin torch-tb-profiler"
        return TensorBoard(f"needs {missing}. Run: {INSTALL}", board, plugin)
    if not start:
        return TensorBoard("a short run does not start TensorBoard", board, plugin)
    options = (
        "--logdir",
        str(Path(folder).expanduser().absolute()),
        "--host",
        LOOPBACK,
        "--port",
        "0",
        "--load_fast",
        "false",
    )
    try:
        with serving("tensorboard.main", *options) as server:
            return _read(server, board, plugin)
    except (MachineError, OSError, EOFError, ValueError):
        return TensorBoard("needs a TensorBoard that starts and answers on this machine", board, plugin)


def _read(server: ProfileServer, board: str, plugin: str) -> TensorBoard:
    page, ends_s = server.fetch("/") or b"", time.monotonic() + START_S
    while (found := _ask(server, "/runs") or {}).get("loading", False) and time.monotonic() < ends_s:
        time.sleep(_POLL_S)
    runs = tuple(map(str, found.get("runs", ())))
    workers, views = list[str](), dict[str, None]()
    for run in runs:
        shown = _as_list(_ask(server, "/views", run=run), "views")
        views |= dict.fromkeys(shown)
        for view in shown[:1]:
            workers += _as_list(_ask(server, "/workers", run=run, view=view), "workers")
    return TensorBoard("", board, plugin, len(page), runs, tuple(workers), tuple(views))


def _ask(server: ProfileServer, path: str, **options: str) -> Any:
    query = f"?{urlencode(options)}" if options else ""
    body = server.fetch(f"{_PLUGIN}{path}{query}") or b"null"
    return json.loads(gzip.decompress(body) if body.startswith(_GZIP) else body)


def _as_list(answer: Any, key: str) -> list[str]:
    found = answer.get(key, ()) if isinstance(answer, dict) else answer or ()  # older plugins send a list
    return [str(each) for each in found]


@dataclass(frozen=True, slots=True)
class BoardView:
    """One recorded view. `rows` are the first rows of its table, below `heads`, and `title` explains the table.

    `picture` is the name of the file with the page's picture, or "" if the plugin did not offer this view. `note`
    explains words of the page, or why the plugin did not offer the view.
    """

    name: str
    title: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    picture: str
    note: str

    def table(self) -> Table:
        """Return the rows as a table."""
        return Table.of(f"{self.name}: {self.title}", dict.fromkeys(self.heads), self.rows)


@dataclass(frozen=True, slots=True)
class BoardPages:
    """Recorded pages. `date` is the day of the record, and `environment` its machine and software.

    `board` and `plugin` are the versions of `tensorboard` and `torch-tb-profiler`.
    """

    date: str
    environment: Environment
    board: str
    plugin: str
    views: tuple[BoardView, ...]

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return the pages whose numbers and pictures are in a folder."""
        found = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        views = tuple(
            BoardView(**{**view, "heads": tuple(view["heads"]), "rows": tuple(map(tuple, view["rows"]))})
            for view in found["views"]
        )
        machine = Environment.from_dict(found["environment"])
        return cls(found["date"], machine, found["board"], found["plugin"], views)
