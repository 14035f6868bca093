"""Recordings of memray: the peak, temporary memory, and memory that is kept."""

import importlib.util

import pytest
import torch

from harness.errors import UsageError
from harness.memory import allocations
from harness.memory.allocations import lacking_memray, live_stages, of_function, record_allocations

needs_memray = pytest.mark.skipif(bool(lacking_memray()), reason=lacking_memray())
MUCH = 20_000_000
kept: list[bytearray] = []


def short_peak() -> None:
    bytearray(MUCH)
    bytearray(MUCH // 2)


def keep() -> None:
    kept.append(bytearray(MUCH))


def test_a_missing_memray_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert lacking_memray() == "memray is missing: python -m pip install 'fairclock[profilers]'"


@needs_memray
def test_a_short_peak_is_recorded_with_its_function() -> None:
    found = record_allocations(short_peak)
    assert MUCH <= of_function(found.at_peak, "short_peak") < 1.01 * MUCH
    assert MUCH <= found.peak_bytes < 1.1 * MUCH
    assert 1.5 * MUCH <= found.all_bytes < 1.6 * MUCH
    assert of_function(found.temporary, "short_peak") >= 1.5 * MUCH
    assert of_function(found.kept, "short_peak") == 0
    assert found.allocations >= 2


@needs_memray
def test_memory_that_is_still_used_after_the_call_is_kept_and_an_exception_ends_the_recording() -> None:
    with pytest.raises(ZeroDivisionError):
        record_allocations(lambda: 1 // 0)
    found = record_allocations(keep)
    kept.clear()
    assert of_function(found.kept, "keep") >= MUCH
    assert found.kept[0].stack[0].startswith("keep:")
    assert record_allocations(lambda: bytearray(MUCH)).kept[0].n_bytes >= MUCH  # the result of the call


@needs_memray
def test_each_block_of_pythons_allocator_is_recorded_on_request() -> None:
    few, many = (
        record_allocations(lambda: [f"{n} x" for n in range(5000)], python_allocator=on) for on in (False, True)
    )
    assert few.allocations < 500
    assert many.allocations >= 5000


@needs_memray
def test_native_frames_name_functions_of_c() -> None:
    block = record_allocations(lambda: torch.ones(MUCH), native=True).at_peak[0]
    assert block.stack[0].startswith("c10::")
    assert sum("::" in frame for frame in block.stack) >= 3


class OfAPythonWithoutSymbols:
    """A record of memray whose native frames memray could not merge with those of Python."""

    def stack_trace(self) -> list[tuple[str, str, int]]:
        return [("make", "program.py", 3), ("<module>", "program.py", 5)]

    hybrid_stack_trace = stack_trace

    def native_stack_trace(self) -> list[tuple[str, str, int]]:
        nameless = ("<unknown>", "<unknown>", 0)
        return [("c10::alloc_cpu(unsigned long)", "<unknown>", 0), nameless, ("PyEval_EvalCode", "<unknown>", 0)]


def test_native_frames_are_named_in_a_python_without_symbols() -> None:
    names = [name for name, _, _ in allocations.native_stack(OfAPythonWithoutSymbols())]
    assert names == ["c10::alloc_cpu(unsigned long)", "make", "<module>"]


SCRIPT = """
def load():
    return bytearray(20_000_000)

data = load()
pause("loaded")
del data
pause("freed")
"""


@needs_memray
def test_each_stage_has_the_memory_that_is_in_use_then() -> None:
    loaded, freed = live_stages(SCRIPT, ["load", "other"])
    assert (loaded.name, freed.name) == ("loaded", "freed")
    assert 20_000_000 <= loaded.n_bytes["load"] < 20_100_000
    assert freed.n_bytes == {"load": 0, "other": 0}


@needs_memray
def test_a_script_that_fails_or_takes_too_long_is_an_error() -> None:
    with pytest.raises(UsageError, match="script failed"):
        live_stages("pause('begun')\n1 / 0\n", [])
    with pytest.raises(UsageError, match=r"ended before|longer than 3 s"):
        live_stages("import time\ntime.sleep(300)\n", [], timeout_s=3)
