"""Record the pages of TensorBoard's plugin for profiles: read their numbers, and take their pictures with Chromium.

The pages need two files from public hosts. npm fetches one of them, the library of the trace viewer. The script of
`chart_drawings` replaces the other one, Google Charts.
"""

import datetime as dt
import gzip
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness.errors import MachineError
from harness.machine.environment import Environment
from harness.machine.programs import install, lacking
from harness.profiles.chart_drawings import SCRIPT
from harness.profiles.snakeviz import Server
from harness.profiles.tensorboard import INSTALL, installed, loaded_runs, serving
from harness.profiles.tensorboard_pages import VIEWS, BoardPages, BoardView, read_view
from harness.rendering.chromium import Page, chromium
from harness.rendering.screenshots import compressed

LIMIT_S: Final = 300.0
"""Time limit for TensorBoard during a record, in seconds."""

TRACE: Final = "trace.json.gz"
"""The name of the file with the trace behind the pages."""

TRACE_LIBRARY: Final = "webcomponents.js@0.7.24"
"""The npm package of the library that the plugin's trace viewer loads."""

TRACE_LIBRARY_URL: Final = "*/webcomponents.min.js"
"""A pattern of the address from which the plugin's trace viewer loads the library. `*` stands for any text."""

WIDTH: Final = 1400
HEIGHT: Final = 1200
"""The size of the browser's window in pixels. A longer page is cut off at its end."""

_POLL_S: Final = 0.5
_STABLE_POLLS: Final = 4
_VIEW_S: Final = 30.0
_TRACE_S: Final = 8.0
"""The time that the trace viewer needs to draw the trace, in seconds. Its page does not show when it is ready."""

# The plugin's page is a frame in TensorBoard's page. `choose` selects a value in one of the lists on the left.
_HELPERS: Final = r"""
(() => {
  const frame = (root) => {
    for (const each of root.querySelectorAll("*")) {
      if (each.tagName === "IFRAME") return each;
      const inside = each.shadowRoot && frame(each.shadowRoot);
      if (inside) return inside;
    }
    return null;
  };
  const later = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  window.plugin = () => { const found = frame(document); return found && found.contentDocument; };
  window.content = () => {
    const page = window.plugin();
    if (!page || !page.body || page.querySelector(".MuiCircularProgress-root")) return "";
    return page.body.innerText;
  };
  window.choose = async (list, value) => {
    const page = window.plugin();
    const lists = [...page.querySelectorAll(".MuiListSubheader-root")].map((each) => each.innerText);
    const button = page.querySelectorAll("[role=button]")[lists.indexOf(list)];
    if (!button) return false;
    if (button.innerText === value) return true;
    button.dispatchEvent(new MouseEvent("mousedown", {bubbles: true, button: 0}));
    await later(500);
    const option = [...page.querySelectorAll("li[role=option]")].find((each) => each.innerText === value);
    if (!option) return false;
    option.click();
    await later(500);
    page.activeElement.blur();
    return true;
  };
})()
"""


def record_pages(
    folder: Path, write_traces: Mapping[str, Callable[[Path], None]], runs: Mapping[str, str]
) -> list[Path]:
    """Record every view into `folder`, and return the written files.

    `write_traces` has one function per folder of traces. It writes the traces into the folder with this name. `runs`
    gives for each view the name of its folder of traces. Raise `MachineError` if a program is missing or fails.
    """
    board, plugin = installed("tensorboard"), installed("torch-tb-profiler")
    if not board or not plugin:
        raise MachineError(f"TensorBoard or its plugin is missing: {INSTALL}")
    for program in ("chromium", "npm"):
        if reason := lacking(program, install(program), program):
            raise MachineError(reason)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        traces = Path(scratch, "traces")
        for run, write in write_traces.items():
            (traces / run).mkdir(parents=True)
            write(traces / run)
        library = _trace_library(Path(scratch, "npm"))
        with serving(traces, limit_s=LIMIT_S) as server:
            loaded_runs(server)
            views = [read_view(server, name, runs[name]) for name in VIEWS]
            offered = [view for view in views if view.heads]
            pictures = _pictures(server, offered, runs, library, Path(scratch))
        folder.mkdir(parents=True, exist_ok=True)
        trace = keep_trace(traces / runs["Trace"], folder)
        for old in folder.glob("*.png"):
            old.unlink()
        kept = {name: compressed(picture, folder) for name, picture in pictures.items()}
    with_pictures = tuple(replace(view, picture=kept[view.name].name if view.name in kept else "") for view in views)
    today = dt.datetime.now(dt.UTC).date().isoformat()
    pages = BoardPages(today, Environment.capture(), board, plugin, with_pictures)
    return [pages.save(folder), trace, *kept.values()]


def keep_trace(traces: Path, folder: Path) -> Path:
    """Write the first trace of a folder into `folder`, compressed and without the path of its file. Return its path."""
    source = min(traces.iterdir())
    data = source.read_bytes()
    trace = json.loads(gzip.decompress(data) if source.suffix == ".gz" else data)
    trace.pop("traceName", None)
    target = folder / TRACE
    target.write_bytes(gzip.compress(json.dumps(trace, separators=(",", ":")).encode(), mtime=0))
    return target


def _trace_library(folder: Path) -> bytes:
    """Fetch the library of the trace viewer with npm, and return its text."""
    command = ["npm", "install", "--silent", "--no-audit", "--prefix", str(folder), TRACE_LIBRARY]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = sorted(folder.rglob("webcomponents.min.js"))
    if done.returncode or not found:
        raise MachineError(f"npm could not fetch {TRACE_LIBRARY}. Connect this machine to the network, and try again.")
    return found[0].read_bytes()


def _pictures(
    server: Server, views: list[BoardView], runs: Mapping[str, str], library: bytes, scratch: Path
) -> dict[str, Path]:
    """Return the path of a picture of each view's page."""
    found = {}
    with chromium(scratch / "browser") as page:
        page.look(WIDTH, height=HEIGHT)
        page.answer(TRACE_LIBRARY_URL, library)
        page.before_each_page(SCRIPT)
        page.go(f"{server.url}#pytorch_profiler")
        page.run(_HELPERS)
        _wait(page)
        for view in views:
            for choice in (("Runs", runs[view.name]), ("Views", view.name)):
                if not page.run(f"choose({json.dumps(choice[0])}, {json.dumps(choice[1])})"):
                    raise MachineError(f"The page of TensorBoard's plugin does not offer {' '.join(choice)}.")
                _wait(page)
            if view.name == "Trace":
                time.sleep(_TRACE_S)
            found[view.name] = scratch / f"{view.name.lower()}.png"
            page.photograph(found[view.name])
    return found


def _wait(page: Page) -> None:
    """Wait until the text of the plugin's page no longer changes."""
    ends_s = time.monotonic() + _VIEW_S
    before, same = "", 0
    while same < _STABLE_POLLS and time.monotonic() < ends_s:
        time.sleep(_POLL_S)
        now = str(page.run("content()"))
        same = same + 1 if now and now == before else 0
        before = now
