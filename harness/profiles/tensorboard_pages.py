"""Recorded pages of TensorBoard's plugin for profiles: each view's numbers as a table, and a picture of its page.

Students without TensorBoard see these pages. `harness/profiles/tensorboard_recorder.py` records them.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Self

from harness.errors import UsageError
from harness.machine.environment import Environment
from harness.profiles.snakeviz import Server
from harness.profiles.tensorboard import ask, views_of, workers_of
from harness.rendering.tables import Cell, Row, Table

NUMBERS: Final = "pages.json"
"""The name of the file with the numbers. The pictures are in the same folder."""

MOST_ROWS: Final = 6
"""The number of rows that are recorded of a long table."""

VIEWS: Final = ("Overview", "Operator", "Kernel", "Trace", "Memory", "Module", "Distributed")
"""The names of the plugin's views, in the plugin's order."""

NO_KERNELS: Final = (
    "The machine of this record has no GPU, so its traces contain no kernels. Without kernels, the plugin does not"
    " offer this view."
)


WORDS: Final = (
    "“Overlapping” is the time in which a process both computes and communicates. “Synchronizing” is the time in which"
    " a process waits for another process."
)


@dataclass(frozen=True, slots=True)
class BoardView:
    """One recorded view. `rows` are the first rows of its table, below `heads`, and `title` explains the table.

    `picture` is the name of the file with the page's picture, or "" if the plugin did not offer this view. `note`
    explains words of the page, or why the plugin did not offer the view.
    """

    name: str
    title: str = ""
    heads: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    picture: str = ""
    note: str = ""

    def table(self) -> Table:
        """Return the rows as a table."""
        return Table.of(f"{self.name}: {self.title}", dict.fromkeys(self.heads), self.rows)


@dataclass(frozen=True, slots=True)
class BoardPages:
    """The recorded pages. `date` is the day of the record, and `environment` its machine and software.

    `board` and `plugin` are the versions of `tensorboard` and `torch-tb-profiler`.
    """

    date: str
    environment: Environment
    board: str
    plugin: str
    views: tuple[BoardView, ...]

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read the pages from a folder. Raise `UsageError` if its file is missing, or if the pages are incomplete."""
        try:
            found = json.loads((folder / NUMBERS).read_text(encoding="utf-8"))
            views = tuple(
                BoardView(**{**view, "heads": tuple(view["heads"]), "rows": tuple(map(tuple, view["rows"]))})
                for view in found["views"]
            )
            machine = Environment.from_dict(found["environment"])
            return cls(found["date"], machine, found["board"], found["plugin"], views)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"The recorded pages in {folder} cannot be read ({error!r}). Install fairclock again."
            ) from error

    def save(self, folder: Path) -> Path:
        """Write the numbers to a folder, and return the path of their file."""
        views = [asdict(view) for view in self.views]
        found = {"date": self.date, "environment": self.environment.to_dict(), "board": self.board}
        text = json.dumps({**found, "plugin": self.plugin, "views": views}, indent=1, ensure_ascii=False)
        path = folder / NUMBERS
        path.write_text(text + "\n", encoding="utf-8")
        return path


def read_view(server: Server, name: str, run: str) -> BoardView:
    """Return a view of one folder of traces, without a picture. `run` is the plugin's name of the folder."""
    if name not in views_of(server, run):
        return BoardView(name, note=NO_KERNELS if name == "Kernel" else "The plugin does not offer this view.")
    worker = (workers_of(server, run, name) or ["All"])[0]
    span = str((ask(server, "/spans", run=run, worker=worker) or [""])[0])

    def data(path: str) -> Any:
        return ask(server, path, run=run, worker=worker, span=span, group_by="Operation")

    title, heads, rows = _READERS[name](data)
    return BoardView(name, title, tuple(heads), tuple(rows), note=WORDS if name == "Distributed" else "")


_Data = Callable[[str], Any]
_Found = tuple[str, Sequence[str], Sequence[Row]]


def _overview(data: _Data) -> _Found:
    whole = data("/overview")["performance"][0]
    rows = [(each["name"], each["value"], each["extra"]) for each in (whole, *whole["children"])]
    return "the parts of a step", ("part", "time (µs)", "share (%)"), rows


def _operator(data: _Data) -> _Found:
    found = data("/operation/table")["data"]
    found.sort(key=lambda each: -each["host_self_duration"])
    keys = ("name", "calls", "host_self_duration", "host_total_duration")
    rows = [tuple(each[key] for key in keys) for each in found[:MOST_ROWS]]
    return "the operators with the largest own times", ("operator", "calls", "own (µs)", "total (µs)"), rows


def _trace(data: _Data) -> _Found:
    events = data("/trace")["traceEvents"]
    kinds = Counter(str(each["cat"]) for each in events if each.get("ph") == "X")
    rows: list[Row] = list(kinds.most_common(MOST_ROWS))
    return "the kinds of the events that the page draws in time", ("kind", "events"), rows


def _memory(data: _Data) -> _Found:
    found = data("/memory")
    heads = [each["name"] for each in found["columns"]]
    places = [
        heads.index(each) for each in ("Operator Name", "Calls", "Self Allocation Count", "Self Size Increase (KB)")
    ]
    rows = sorted(found["rows"][found["metadata"]["default_device"]], key=lambda row: -row[places[-1]])
    curve = data("/memory_curve")["metadata"]
    peak = curve["peaks"][curve["default_device"]]
    return (
        f"the operators whose own calls increase the memory most. {peak}",
        ("operator", "calls", "own allocations", "own increase (KB)"),
        [tuple(row[place] for place in places) for row in rows[:MOST_ROWS]],
    )


def _module(data: _Data) -> _Found:
    found: list[tuple[int, Mapping[str, Any]]] = []
    for top in data("/module")["data"]:
        found += [(0, top), *((1, child) for child in top["children"])]
    rows: list[Row] = [
        (
            "  " * depth + each["name"],
            each["occurences"],
            each["operators"],
            round(each["host_duration"]),
            round(each["self_host_duration"]),
        )
        for depth, each in found
    ]
    return (
        "the modules of the network",
        ("module", "calls", "operators", "total (µs)", "own (µs)"),
        rows[: 2 * MOST_ROWS],
    )


def _distributed(data: _Data) -> _Found:
    overlap, waits = data("/distributed/overlap"), data("/distributed/waittime")
    legends = overlap["metadata"]["legends"] + waits["metadata"]["legends"]
    heads = ["worker", *(each.lower().removesuffix(" time") for each in legends)]
    rows: list[Row] = []
    for worker, parts in overlap["data"]["all"].items():
        cells: list[Cell] = [worker, *parts, *waits["data"]["all"][worker]]
        rows.append(tuple(cells))
    return "the parts of a step of each process, and the parts of its communication, in µs", heads, rows


_READERS: Final[Mapping[str, Callable[[_Data], _Found]]] = {
    "Overview": _overview,
    "Operator": _operator,
    "Trace": _trace,
    "Memory": _memory,
    "Module": _module,
    "Distributed": _distributed,
}
