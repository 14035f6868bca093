"""The recorded pages: the numbers that a server sends become tables, and the file is read as it was written."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import pytest

from harness.errors import UsageError
from harness.machine.environment import Environment
from harness.profiles.snakeviz import Server
from harness.profiles.tensorboard_pages import NO_KERNELS, NUMBERS, VIEWS, BoardPages, BoardView, read_view

SENT: dict[str, Any] = {
    "/views": [view for view in VIEWS if view != "Kernel"],
    "/workers": ["rank0"],
    "/spans": ["1"],
    "/overview": {
        "performance": [
            {
                "name": "Average Step Time",
                "value": 20,
                "extra": 100,
                "children": [{"name": "A", "value": 5, "extra": 25}],
            }
        ]
    },
    "/operation/table": {
        "data": [
            {"name": "b", "calls": 2, "host_self_duration": 3, "host_total_duration": 9},
            {"name": "a", "calls": 1, "host_self_duration": 7, "host_total_duration": 8},
            *({"name": "z", "calls": 1, "host_self_duration": 0, "host_total_duration": 0} for _ in range(9)),
        ]
    },
    "/trace": {"traceEvents": [{"ph": "X", "cat": "cpu_op"}, {"ph": "X", "cat": "cpu_op"}, {"ph": "M"}]},
    "/memory": {
        "metadata": {"default_device": "CPU"},
        "columns": [
            {"name": each}
            for each in ("Operator Name", "Calls", "Size", "Self Size Increase (KB)", "Self Allocation Count")
        ],
        "rows": {"CPU": [["small", 1, 0, 5.0, 6], ["large", 2, 0, 50.0, 7]]},
    },
    "/memory_curve": {"metadata": {"default_device": "CPU", "peaks": {"CPU": "Peak: 9MB"}}},
    "/module": {
        "data": [
            {
                "name": "Top",
                "occurences": 2,
                "operators": 0,
                "host_duration": 9.4,
                "self_host_duration": 1.6,
                "children": [
                    {
                        "name": "Inner",
                        "occurences": 4,
                        "operators": 3,
                        "host_duration": 5.0,
                        "self_host_duration": 5.0,
                    }
                ],
            }
        ]
    },
    "/distributed/overlap": {"metadata": {"legends": ["Computation", "Other"]}, "data": {"all": {"rank0": [1, 2]}}},
    "/distributed/waittime": {"metadata": {"legends": ["Synchronizing Time"]}, "data": {"all": {"rank0": [3]}}},
}


class FakeServer:
    """A server that sends `SENT`, and compresses some of it as the plugin does."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def fetch(self, path: str) -> bytes | None:
        parts = urlsplit(path)
        assert parse_qs(parts.query)["run"] == ["my run"]
        name = parts.path.removeprefix("/data/plugin/pytorch_profiler")
        body = json.dumps(SENT[name]).encode()
        return gzip.compress(body) if name in {"/trace", "/memory", "/module"} else body


def view(name: str) -> BoardView:
    return read_view(cast("Server", FakeServer()), name, "my run")


def test_the_numbers_of_a_view_become_rows() -> None:
    expected: dict[str, tuple[object, ...]] = {
        "Overview": (("Average Step Time", 20, 100), ("A", 5, 25)),
        "Trace": (("cpu_op", 2),),
        "Memory": (("large", 2, 7, 50.0), ("small", 1, 6, 5.0)),
        "Module": (("Top", 2, 0, 9, 2), ("  Inner", 4, 3, 5, 5)),
        "Distributed": (("rank0", 1, 2, 3),),
    }
    for name, rows in expected.items():
        found = view(name)
        assert found.rows == rows
        assert found.table().title.startswith(f"{name}: ")
        assert [column.name for column in found.table().columns] == list(found.heads)
    assert view("Memory").title.endswith("Peak: 9MB")
    assert view("Distributed").heads == ("worker", "computation", "other", "synchronizing")
    assert view("Kernel") == BoardView("Kernel", note=NO_KERNELS)
    operators = view("Operator").rows  # only those with the largest own times
    assert operators[:2] == (("a", 1, 7, 8), ("b", 2, 3, 9))
    assert len(operators) == 6


def pages() -> BoardPages:
    views = tuple(replace(view(name), picture="" if name == "Kernel" else f"{name}.png") for name in VIEWS)
    return BoardPages("2026-01-02", Environment.capture(), "2.0", "0.4", views)


def test_written_pages_are_read_back(tmp_path: Path) -> None:
    whole = pages()
    assert whole.save(tmp_path) == tmp_path / NUMBERS
    assert BoardPages.load(tmp_path) == whole


def test_incomplete_or_missing_pages_are_an_error_that_names_the_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="FileNotFoundError"):
        BoardPages.load(tmp_path)
    for text in ("", "[]", "{}", '{"views": [{"rows": [], "heads": [], "other": 1}]}'):
        (tmp_path / NUMBERS).write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=f"{tmp_path} cannot be read .* Install fairclock again"):
            BoardPages.load(tmp_path)
