"""Start TensorBoard on a folder of traces, and read what its pages offer. TensorBoard is an optional package.

The server listens only on the loopback address. It ends with the call, and also if the calling process is killed.
"""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

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
        return TensorBoard(f"{missing}: {INSTALL}", board, plugin)
    if not start:
        return TensorBoard("a short run does not start TensorBoard", board, plugin)
    options = ["--logdir", str(folder), "--host", LOOPBACK, "--port", "0", "--load_fast", "false"]
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", _CHILD, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
    )
    deadline = threading.Timer(START_S, _end, [process])
    deadline.start()
    try:
        url = _address(process)
        if not url:
            return TensorBoard("a TensorBoard that starts on this machine", board, plugin)
        return _read(Server(process.pid, url), board, plugin)
    except (OSError, ValueError, http.client.HTTPException):
        return TensorBoard("a TensorBoard that answers on this machine", board, plugin)
    finally:
        deadline.cancel()
        _end(process)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


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
    ends_s = time.monotonic() + START_S
    while (found := _json(server, "/runs")).get("loading", False) and time.monotonic() < ends_s:
        time.sleep(_POLL_S)
    runs = tuple(map(str, found.get("runs", ())))
    workers, views = list[str](), list[str]()
    for run in runs:
        shown = [str(view) for view in _json(server, f"/views?run={quote(run)}").get("views", ())]
        views += [view for view in shown if view not in views]
        for view in shown[:1]:
            names = _json(server, f"/workers?run={quote(run)}&view={quote(view)}").get("workers", ())
            workers += map(str, names)
    return TensorBoard("", board, plugin, len(page), runs, tuple(workers), tuple(views))


def _json(server: Server, path: str) -> dict[str, Any]:
    answer: Any = json.loads(server.fetch(_PLUGIN + path) or b"{}")
    return answer if isinstance(answer, dict) else {"views": answer, "workers": answer}  # older plugins send a list
