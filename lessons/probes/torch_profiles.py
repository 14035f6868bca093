"""Modules in a trace of torch's profiler, and the pages that TensorBoard makes of traces."""

import gzip
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import urlencode

from torch.profiler import ProfilerActivity, profile

from harness.errors import MachineError
from harness.machine.environment import ABSENT, version_of
from harness.profiles.servers import serving

PLUGIN_PACKAGES = ("tensorboard", "torch-tb-profiler")


def named_modules(call: Callable[[], object]) -> int | None:
    """Profile a call with `with_modules=True`, and return how many events of the trace name a module.

    Return None if this torch lacks the option. torch 2.15 warns about it.
    """
    with warnings.catch_warnings(), TemporaryDirectory(prefix="fairclock-trace-") as folder:
        warnings.simplefilter("ignore")
        file = Path(folder, "trace.json")
        try:
            with profile(activities=[ProfilerActivity.CPU], with_modules=True) as found:
                call()
        except TypeError:
            return None
        found.export_chrome_trace(str(file))
        return file.read_text(encoding="utf-8").count("Module Hierarchy")


class TensorBoard(NamedTuple):
    """The answers of a TensorBoard server, or the `reason` why it could not run.

    `workers` are the names of the traces that the plugin has loaded, and `views` the plugin's views of these traces.
    """

    reason: str = ""
    workers: tuple[str, ...] = ()
    views: tuple[str, ...] = ()


def look_at(folder: str, *, start: bool) -> TensorBoard:
    """Start a TensorBoard server on a folder of traces, and return its answers. With `start=False`, start none."""
    if ABSENT in map(version_of, PLUGIN_PACKAGES):
        return TensorBoard("needs TensorBoard with its plugin. Run: python -m pip install 'fairclock[tensorboard]'")
    if not start:
        return TensorBoard("a short run does not start TensorBoard")
    options = ("--logdir", folder, "--host", "127.0.0.1", "--port", "0", "--load_fast", "false")
    try:
        with serving("tensorboard.main", *options) as server:

            def ask(path: str, **query: str) -> Any:
                body = server.fetch(f"/data/plugin/pytorch_profiler/{path}?{urlencode(query)}") or b"{}"
                return json.loads(gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body)

            ends_s = time.monotonic() + 60
            while (found := ask("runs")).get("loading") and time.monotonic() < ends_s:
                time.sleep(0.2)
            run = found["runs"][0]
            views = ask("views", run=run)  # a list, or in newer versions of the plugin an object with a list
            views = views["views"] if isinstance(views, dict) else views
            return TensorBoard("", tuple(ask("workers", run=run, view=views[0])), tuple(views))
    except (MachineError, OSError, EOFError, ValueError, LookupError, TypeError):
        return TensorBoard("needs a TensorBoard that starts and answers on this machine")
