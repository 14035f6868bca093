"""Callgrind's counts of dictionary lookups: found by function name, or by an experiment if Python has no such names."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import FunctionCount, FunctionCounts

from harness.callgrind import lookups, tools
from harness.callgrind.lookups import denoise, is_nameless, searches
from harness.callgrind.script import count_script
from harness.storage import disk_cache

SEARCH = "???:0x0000000000530910 [/usr/bin/python3.13]"
OTHER = "???:0x00000000005240a0 [/usr/bin/python3.13]"
EVAL = "???:_PyEval_EvalFrameDefault [/usr/bin/python3.13]"
NAMED = "Objects/dictobject.c:unicodekeys_lookup_unicode [/usr/lib/libpython3.11.so.1.0]"


def counts(**spent: int) -> FunctionCounts:
    """Return made-up counts of the functions named at the top of this file."""
    rows = [FunctionCount(count, globals()[name]) for name, count in spent.items()]
    return FunctionCounts(tuple(rows), False)


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Replace the experiment by one that finds SEARCH, and return a list with one entry per run."""
    runs: list[None] = []

    def nameless() -> frozenset[str]:
        runs.append(None)
        return frozenset({"???:0x0000000000530910"})

    monkeypatch.setattr(lookups, "nameless", nameless)
    return runs


def test_a_lookup_is_found_by_its_name_or_else_by_its_address(found: list[None]) -> None:
    assert searches(counts(NAMED=5, OTHER=7)).sum() == 5
    torch = (FunctionCount(3, "???:at::empty [/lib/libtorch.so]"), FunctionCount(2, "???:0x12 [/x]"))
    assert searches(FunctionCounts(torch, False)).sum() == 0
    assert not found  # no experiment
    assert searches(counts(SEARCH=5, OTHER=7, EVAL=9)).sum() == 5
    assert denoise(counts(SEARCH=5, OTHER=7, EVAL=9)).sum() == 16
    assert found


def test_the_experiment_compares_lookups_of_the_first_and_the_last_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count(sources: list[str]) -> list[SimpleNamespace]:
        """Run the scripts without valgrind. Return a count of one instruction per step of a lookup."""
        names: list[dict[str, Any]] = [{} for _ in sources]
        for source, defined in zip(sources, names, strict=True):
            exec(source, defined)  # noqa: S102 - a script of this house
        steps = [1 + list(defined["numbers"]).index(defined["key"]) for defined in names]
        looks = lookups.LOOKS
        return [
            SimpleNamespace(exclusive=counts(SEARCH=looks * each, OTHER=looks - each, EVAL=9 * looks * each))
            for each in steps
        ]

    monkeypatch.setenv(disk_cache.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setattr(lookups, "count_scripts", count)
    monkeypatch.setattr(tools, "lacking", str)
    lookups.nameless.cache_clear()
    found = lookups.nameless()
    lookups.nameless.cache_clear()
    assert found == {"???:0x0000000000530910"}


@pytest.mark.valgrind
def test_the_experiment_finds_the_nameless_lookup_of_this_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(disk_cache.FOLDER_VARIABLE, str(tmp_path))
    lookups.nameless.cache_clear()
    of_a_script = count_script(
        "table = {str(n): n for n in range(1000)}; [table[key] for key in list(table)]"
    ).exclusive
    found = searches(of_a_script)
    lookups.nameless.cache_clear()
    assert 0 < found.sum() < of_a_script.sum() / 3
    assert denoise(of_a_script).sum() == of_a_script.sum() - found.sum()
    named = any(not is_nameless(function) for _, function in found)
    assert named or list((tmp_path / "lookups").iterdir()), f"not found in {sys.executable}"
