"""Start TensorBoard on a folder of traces, and read what its pages offer, or read recorded pages.

TensorBoard and its plugin for profiles are optional packages. Students without them see pages that were recorded.
"""

import gzip
import http.client
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlencode

from harness.errors import MachineError
from harness.machine.environment import ABSENT, Environment, version_of
from harness.profiles.snakeviz import LOOPBACK, START_S, ProfileServer, serving
from harness.rendering.tables import Row, Table

INSTALL: Final = "python -m pip install 'fairclock[tensorboard]'"

RECORD: Final = "pages.json"
"""The name of the file with the numbers of the recorded pages. The pictures are in the same folder."""

_POLL_S: Final = 0.2
_PLUGIN: Final = "/data/plugin/pytorch_profiler"
_GZIP: Final = b"\x1f\x8b"


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
    options = ("--logdir", str(folder), "--host", LOOPBACK, "--port", "0", "--load_fast", "false")
    try:
        with serving("tensorboard.main", *options) as server:
            return _read(server, board, plugin)
    except MachineError:
        return TensorBoard("needs a TensorBoard that starts on this machine", board, plugin)
    except (OSError, ValueError, http.client.HTTPException):
        return TensorBoard("needs a TensorBoard that answers on this machine", board, plugin)


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
    """Return the data that the plugin sends for one of its pages, or None if it has no such page."""
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

    `board` and `plugin` are the versions of `tensorboard` and `torch-tb-profiler`. The plugin is deprecated, so its
    pages no longer change, and there is one record.
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
