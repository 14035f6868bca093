"""Recordings of memray, the memory of tensors, resident memory, and scripts under memory_profiler and mprof."""

import math
import mmap
import threading
import time
from pathlib import Path
from typing import Final

import pytest
import torch

from harness.errors import UsageError
from harness.memory import resident
from harness.memory.allocations import lacking_memray, of_function, record_allocations
from harness.memory.lines import MIB, line_table
from harness.memory.resident import memory_samples, parse_samples, peak_of, timeline
from harness.memory.tensors import TensorMemory, changes_in, tensor_memory

needs_memray = pytest.mark.skipif(bool(lacking_memray()), reason=lacking_memray())
MUCH = 20_000_000
kept: list[bytearray] = []


def short_peak() -> None:
    bytearray(MUCH)
    bytearray(MUCH // 2)


def keep() -> None:
    kept.append(bytearray(MUCH))


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


TENSOR = 4 * 1_000_000


def comes_and_goes() -> None:
    (torch.ones(1_000_000) + 1).sum()


def test_the_peak_contains_tensors_that_are_freed_again() -> None:
    found = tensor_memory(comes_and_goes)
    assert 2 * TENSOR <= found.peak_bytes < 2.1 * TENSOR
    assert found.kept_bytes == 0
    nothing = tensor_memory(lambda: None)
    assert (nothing.peak_bytes, nothing.kept_bytes) == (0, 0)


def test_changes_are_added_up_in_order_of_time() -> None:
    def event(at: float, n_bytes: int, device: int = 0) -> dict[str, object]:
        return {"name": "[memory]", "ts": at, "args": {"Bytes": n_bytes, "Device Type": device}}

    events = [event(3, -8), event(1, 8), event(2, 4), event(2.5, 99, device=1), {"name": "aten::add", "ts": 0}]
    assert changes_in(events) == (8, 4, -8)
    assert TensorMemory((8, 4, -8)).curve == (8, 12, 4)
    assert TensorMemory((8, 4, -8)).peak_bytes == 12


MAPPED = 64 * MIB


def taken() -> mmap.mmap:
    """Return new memory that was written to, because malloc may return pages that are resident already."""
    memory = mmap.mmap(-1, MAPPED, flags=mmap.MAP_PRIVATE)
    for _ in range(MAPPED // MIB):
        memory.write(b"x" * MIB)
    return memory


def maps_and_unmaps() -> None:
    taken().close()


@pytest.mark.parametrize("marked", [True, False])
def test_a_peak_that_is_freed_again_is_measured(marked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not marked:
        monkeypatch.setattr(resident, "_resets_peak", lambda: False)
    elif not resident._resets_peak():
        pytest.skip("this system keeps no mark that can be lowered")
    maps_and_unmaps()  # an earlier peak does not count
    assert peak_of(lambda: None).added_bytes < MAPPED / 4
    held = peak_of(maps_and_unmaps)
    assert held.exact == marked
    assert held.kept_bytes < MAPPED / 4
    if marked:  # samples from time to time may miss it
        assert 0.9 * MAPPED < held.added_bytes < 1.5 * MAPPED
    held = peak_of(taken)
    assert 0.9 * MAPPED < held.kept_bytes <= held.added_bytes, "the result exists until the last measurement"


def test_samples_show_memory_that_lasts_longer_than_the_interval_and_an_exception_passes_through() -> None:
    def lasts() -> None:
        memory = taken()
        time.sleep(0.1)
        memory.close()

    looks = memory_samples(lasts, interval_s=0.005)
    assert len(looks) > 2
    assert max(looks) - looks[0] > 0.9 * MAPPED
    assert looks[-1] - looks[0] < MAPPED / 4
    before, after = memory_samples(maps_and_unmaps, interval_s=60)
    assert abs(after - before) < MAPPED / 4
    for interval_s in (0, -1, math.nan):
        with pytest.raises(ValueError, match="above 0 s"):
            memory_samples(lambda: None, interval_s)
    running = threading.active_count()
    with pytest.raises(ZeroDivisionError):
        memory_samples(lambda: 1 / 0, interval_s=60)
    assert threading.active_count() == running


PROFILED = """
@profile
def work():
    held = bytearray(b"x") * (40 << 20)
    del held

work()
"""


GROWS: Final = "held.append(bytearray(b'x') * (8 << 20))"
KINDS: Final = f"""# coding: latin-1
import asyncio, functools, os, threading, traceback
from memory_profiler import profile as marked
held = ['ü']

@marked(precision=4)
def prints():
    print("    99   99.000 MiB   99.000 MiB           1   invented")
    os.write(1, b"\\xff" * 3_000_000)
    try: 1 / 0
    except ZeroDivisionError: traceback.print_exc()
    {GROWS}
@profile
def generator():
    {GROWS}
    yield 1
@profile
async def waits():
    await asyncio.sleep(0)
@profile
async def coroutine():
    await waits()
    {GROWS}
class Made:
    @profile
    @functools.cached_property
    def value(self):
        {GROWS}
@profile
def below():
    prints()
    {GROWS}
below(); list(generator()); asyncio.run(coroutine()); Made().value
threading.Thread(target=profile(lambda: {GROWS})).start()
raise SystemExit
"""


def test_a_line_has_its_growth_in_every_kind_of_function(tmp_path: Path) -> None:
    file = tmp_path / "a script+ü.py"
    file.write_bytes(KINDS.replace("\n", "\r\n").encode("latin-1"))
    for script in (file, KINDS):
        lines = line_table(script)
        grown = [each for each in lines if GROWS in each.text and "lambda" not in each.text]
        assert [each.more_bytes for each in grown] == pytest.approx([8 * MIB] * 5, rel=0.2)
        large = [each.text.strip() for each in lines if (each.more_bytes or 0) > 20 * MIB]
        assert all(text.startswith("@") or "lambda" in text for text in large), "only a first line has all memory"
        assert "invented" not in {each.text for each in lines}


@pytest.mark.parametrize(
    ("script", "cause"),
    {
        "1 / 0": "ZeroDivisionError",
        "pass": "@profile",
        "@profile\ndef work(): pass": "call it",
        "import os; os._exit(0)": "exit status 0",
        "import os; os.kill(os.getpid(), 9)": "signal 9",
        "raise SystemExit('bad\\nend')": "sys.exit",
        "while True: pass": "longer than 1 s",
        "profile(sorted)": "written in Python",
        "x = '\ud800'": "SyntaxError",
    }.items(),
)
def test_a_script_without_a_table_is_one_sentence_with_the_cause(script: str, cause: str) -> None:
    with pytest.raises(UsageError, match=cause) as error:
        line_table(script, timeout_s=1 if "while" in script else 60)
    assert "\n" not in str(error.value)


@pytest.mark.long
def test_a_real_script_is_measured_over_time() -> None:
    curve = timeline(PROFILED.replace("    del", "    import time; time.sleep(0.2)\n    del"), title="-a < $b^$")
    assert curve.peak_bytes - curve.samples[0][1] > 36 * MIB
    assert min(bytes_ for _, bytes_ in curve.samples) > 0
    with pytest.raises(UsageError, match="no sample"):
        parse_samples("CMDLINE python\nMEM 0.000000 1.0\n")
    with pytest.raises(UsageError, match="ZeroDivisionError"):
        timeline("1 / 0", title="t")
    assert "<title>-a &lt; $b^$</title>\n<desc>" in curve.svg
