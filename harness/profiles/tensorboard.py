"""Start TensorBoard on a folder of traces, and read what its pages offer. TensorBoard is an optional package.

The server listens only on the loopback address. It ends with the call, and also if the calling process is killed.
"""

import contextlib
import gzip
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from harness.errors import MachineError
from harness.profiles.snakeviz import LOOPBACK, Server

INSTALL: Final = "python -m pip install 'fairclock[tensorboard]'"
START_S: Final = 60.0
"""Time limit for the start of the server and for loading the traces, in seconds."""

_POLL_S: Final = 0.2
_CHILD: Final = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
from tensorboard.main import run_main
sys.argv[0] = "tensorboard"
run_main()
"""
"""The program of the server process. It runs TensorBoard, and ends when its standard input is closed."""

_PLUGIN: Final = "/data/plugin/pytorch_profiler"
_GZIP: Final = b"\x1f\x8b"


class NotStartedError(MachineError):
    """TensorBoard has ended before it printed its address."""

    def __init__(self) -> None:
        super().__init__("TensorBoard does not start. To see the reason, run: python -m tensorboard.main --logdir .")


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
    board, plugin = installed("tensorboard"), installed("torch-tb-profiler")
    if not board or not plugin:
        missing = "TensorBoard" if not board else "TensorBoard's plugin torch-tb-profiler"
        return TensorBoard(f"needs {missing}. Run: {INSTALL}", board, plugin)
    if not start:
        return TensorBoard("a short run does not start TensorBoard", board, plugin)
    try:
        with serving(folder) as server:
            return _read(server, board, plugin)
    except NotStartedError:
        return TensorBoard("needs a TensorBoard that starts on this machine", board, plugin)
    except (OSError, ValueError, http.client.HTTPException):
        return TensorBoard("needs a TensorBoard that answers on this machine", board, plugin)


@contextlib.contextmanager
def serving(folder: Path | str, *, limit_s: float = START_S) -> Iterator[Server]:
    """Start TensorBoard on a folder of traces for the time of a `with` block, for at most `limit_s` seconds.

    Raise `NotStartedError` if TensorBoard ends before it prints its address.
    """
    options = ["--logdir", str(folder), "--host", LOOPBACK, "--port", "0", "--load_fast", "false"]
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", _CHILD, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
    )
    deadline = threading.Timer(limit_s, _end, [process])
    deadline.start()
    reader = threading.Thread(target=_discard_output, args=[process])
    try:
        url = _address(process)
        if not url:
            raise NotStartedError
        reader.start()
        yield Server(process.pid, url)
    finally:
        deadline.cancel()
        _end(process)
        process.wait()
        if reader.ident is not None:
            reader.join()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def _discard_output(process: subprocess.Popen[str]) -> None:
    """Read the server's messages until it ends. A full pipe would stop the server."""
    assert process.stdout is not None
    for _ in process.stdout:
        pass


def _end(process: subprocess.Popen[str]) -> None:
    """End the server and the processes that it started to read traces."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def installed(package: str) -> str:
    """Return the version of an installed package, or "" if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _address(process: subprocess.Popen[str]) -> str:
    """Wait until TensorBoard prints its address, and return it. Return "" if the process ends before."""
    assert process.stdout is not None
    for line in process.stdout:
        address = next((word for word in line.split() if word.startswith("http://")), "")
        if address:
            return address
    return ""


def _read(server: Server, board: str, plugin: str) -> TensorBoard:
    page = server.fetch("/") or b""
    runs = loaded_runs(server)
    workers, views = list[str](), list[str]()
    for run in runs:
        shown = views_of(server, run)
        views += [view for view in shown if view not in views]
        for view in shown[:1]:
            workers += workers_of(server, run, view)
    return TensorBoard("", board, plugin, len(page), runs, tuple(workers), tuple(views))


def loaded_runs(server: Server) -> tuple[str, ...]:
    """Wait until the plugin has loaded the folders of traces, and return their names."""
    ends_s = time.monotonic() + START_S
    while (found := ask(server, "/runs") or {}).get("loading", False) and time.monotonic() < ends_s:
        time.sleep(_POLL_S)
    return tuple(map(str, found.get("runs", ())))


def views_of(server: Server, run: str) -> list[str]:
    """Return the names of the views that the plugin offers for a folder of traces."""
    return _as_list(ask(server, "/views", run=run), "views")


def workers_of(server: Server, run: str, view: str) -> list[str]:
    """Return the names of the workers, the processes whose traces a view of a folder of traces shows."""
    return _as_list(ask(server, "/workers", run=run, view=view), "workers")


def ask(server: Server, path: str, **options: str) -> Any:
    """Return the data that the plugin sends for one of its pages, or None if it has no such page."""
    query = f"?{urlencode(options)}" if options else ""
    body = server.fetch(f"{_PLUGIN}{path}{query}") or b"null"
    return json.loads(gzip.decompress(body) if body.startswith(_GZIP) else body)


def _as_list(answer: Any, key: str) -> list[str]:
    found = answer.get(key, ()) if isinstance(answer, dict) else answer or ()  # older plugins send a list
    return [str(each) for each in found]
