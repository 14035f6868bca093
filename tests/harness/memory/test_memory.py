"""The memory of tensors, resident memory, and scripts under memory_profiler."""

import mmap
from pathlib import Path
from typing import Final

import pytest
import torch

from harness.errors import UsageError
from harness.memory import resident
from harness.memory.lines import MIB, line_table
from harness.memory.resident import peak_of
from harness.memory.tensors import TensorMemory, changes_in, tensor_memory

TENSOR = 4 * 1_000_000


def comes_and_goes() -> None:
    (torch.ones(1_000_000) + 1).sum()


def test_the_peak_contains_tensors_that_are_freed_again() -> None:
    found = tensor_memory(comes_and_goes)
    assert 2 * TENSOR <= found.peak_bytes < 2.1 * TENSOR
    assert found.kept_bytes == 0


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


GROWS: Final = "held.append(bytearray(b'x') * (8 << 20))"
KINDS: Final = f"""# coding: latin-1
import asyncio, threading
held = ['ü']

@profile
def prints():
    print("    99   99.000 MiB   99.000 MiB           1   invented")
    {GROWS}
@profile
def generator():
    {GROWS}
    yield 1
@profile
async def coroutine():
    await asyncio.sleep(0)
    {GROWS}
@profile
def below():
    prints()
    {GROWS}
below(); list(generator()); asyncio.run(coroutine())
threading.Thread(target=profile(lambda: {GROWS})).start()
raise SystemExit
"""


def test_a_line_has_its_growth_in_every_kind_of_function(tmp_path: Path) -> None:
    file = tmp_path / "a script+ü.py"
    file.write_bytes(KINDS.replace("\n", "\r\n").encode("latin-1"))
    lines = line_table(file)
    grown = [each for each in lines if GROWS in each.text and "lambda" not in each.text]
    assert [each.more_bytes for each in grown] == pytest.approx([8 * MIB] * 4, rel=0.2)
    large = [each.text.strip() for each in lines if (each.more_bytes or 0) > 20 * MIB]
    assert all(text.startswith("@") or "lambda" in text for text in large), "only a first line has all memory"
    assert "invented" not in {each.text for each in lines}


@pytest.mark.parametrize(
    ("script", "cause"),
    {
        "1 / 0": "ZeroDivisionError",
        "pass": "@profile",
        "@profile\ndef work(): pass": "call it",
        "import os; os.kill(os.getpid(), 9)": "signal 9",
        "while True: pass": "longer than 1 s",
    }.items(),
)
def test_a_script_without_a_table_is_one_sentence_with_the_cause(script: str, cause: str) -> None:
    with pytest.raises(UsageError, match=cause) as error:
        line_table(script, timeout_s=1 if "while" in script else 60)
    assert "\n" not in str(error.value)
