"""Grids on a fake clock, torch's fuzzers, and saved results."""

import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.utils.benchmark import CallgrindStats, FunctionCounts, Measurement
from torch.utils.benchmark.utils.common import TaskSpec
from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import FunctionCount

from harness.errors import UsageError
from harness.machine.environment import Environment
from harness.torch_benchmark import fuzz
from harness.torch_benchmark.grid import Grid, grid
from harness.torch_benchmark.result_store import SavedResult, env_names, load, save, table, with_environment


class Machine:
    """A fake clock that moves with work and a little with each reading."""

    now_s = 0.0

    def clock(self) -> float:
        self.now_s += 1e-9
        return self.now_s

    def worker(self, start_s: float, each_s: float) -> Callable[[int], None]:
        def work(size: int) -> None:
            self.now_s += start_s + each_s * size

        return work


def measured(*threads: int) -> Grid:
    machine = Machine()
    functions = {"light": machine.worker(1e-3, 1e-3), "heavy": machine.worker(20e-3, 2e-4)}
    return grid(functions, lambda n: (n,), (1, 10, 100), threads=threads, label="work", timer=machine.clock, seed=1)


def test_every_cell_is_measured_with_its_own_function_size_and_threads() -> None:
    found = measured(1, 2)
    assert (found.names, found.sizes, found.threads) == (("light", "heavy"), (1, 10, 100), (1, 2))
    assert len(found.cells) == 12
    assert math.isclose(found.median_s("light", 10, 2), 11e-3, rel_tol=1e-3)
    assert math.isclose(found.median_s("heavy", 100), 40e-3, rel_tol=1e-3)
    assert [found.fastest(size) for size in found.sizes] == ["light", "light", "heavy"]
    assert [ratio > 1 for ratio in found.ratios("heavy", "light")] == [True, True, False]


DENSE = (fuzz.UnaryOpFuzzer, fuzz.BinaryOpFuzzer, fuzz.SpectralOpFuzzer)
FUZZERS = (*DENSE, fuzz.UnaryOpSparseFuzzer, fuzz.BinaryOpSparseFuzzer)
COIN = "from torch.utils.benchmark import FuzzedParameter; FuzzedParameter('coin', distribution={1: 0.5, 2: 0.5})"


def drawn(fuzzer: fuzz.Fuzzer, count: int = 3) -> list[fuzz.Sample]:
    bounded = fuzz.limited(fuzzer, max_elements=1 << 18, max_allocation_bytes=1 << 26)
    return list(fuzz.take(bounded, count))


@pytest.mark.long
def test_repaired_says_whether_this_torch_refuses_correct_distributions() -> None:
    """Compare `REPAIRED` with the behaviour of torch without this module."""
    bare = subprocess.run([sys.executable, "-c", COIN], capture_output=True, text=True, check=False)
    assert ("Distribution is not normalized" in bare.stderr) == fuzz.REPAIRED
    if torch.__version__.startswith("2.13."):
        assert fuzz.REPAIRED
    fuzz.FuzzedParameter("coin", distribution={1: 0.25, 2: 0.75})
    with pytest.raises(AssertionError, match="not normalized"):
        fuzz.FuzzedParameter("coin", distribution={1: 0.5, 2: 0.6})


def test_every_operator_fuzzer_draws_within_bounds_and_the_same_seed_draws_the_same() -> None:
    for fuzzer in FUZZERS:
        one, same, other = (drawn(fuzzer(seed=seed)) for seed in (3, 3, 4))
        assert [sample.label for sample in one] == [sample.label for sample in same]
        assert [sample.label for sample in one] != [sample.label for sample in other]
        for sample, again in zip(one, same, strict=True):
            for key, tensor in sample.tensors.items():
                assert tensor.numel() <= 1 << 18
                assert torch.equal(tensor.to_dense(), again.tensors[key].to_dense())


def test_a_label_has_shape_and_layout() -> None:
    for tensor, text in [
        (torch.zeros(()), "scalar"),
        (torch.zeros(40, 1, 8), "40×1×8"),
        (torch.zeros(16, 40)[::4].t(), "40×4, transposed, steps of 4"),
        (torch.zeros(2, 3, 4).permute(2, 0, 1), "4×2×3, permuted (1, 2, 0)"),
        (torch.zeros(8).expand(40, 8), "40×8, expanded"),
        (torch.zeros(3, 4).to_sparse(), "3×4 sparse, 0 values, coalesced"),
    ]:
        assert fuzz.label(tensor) == text
    x, y = torch.zeros(2, 3), torch.zeros(3, 2).t()
    assert fuzz.Sample({"x": x, "y": y}, {}).label == "x 2×3; y 2×3, transposed"


HERE = Environment.capture(ask_cuda=False)
THERE = replace(HERE, settings=(("OMP_NUM_THREADS", "1"),))


def timing(env: str | None = None, times_s: tuple[float, ...] = (0.1, 0.3, 0.2 + 1e-17)) -> Measurement:
    task = TaskSpec("f(x)", "x = 1", label="work", sub_label="small", description="f", env=env, num_threads=2)
    return Measurement(7, list(times_s), task, {"run": 3})


def counting(instructions: int = 100) -> CallgrindStats:
    def counts(inclusive: bool) -> FunctionCounts:
        rows = (FunctionCount(instructions, "a.c:f [lib.so]"), FunctionCount(-3, "b.c:größe"))
        return FunctionCounts(rows, inclusive, truncate_rows=False)

    return CallgrindStats(
        TaskSpec("f(x)", "x = 1"), 100, True, counts(True), counts(False), counts(True), counts(False), "raw\nout\n"
    )


def test_saved_results_are_loaded_sample_for_sample(tmp_path: Path) -> None:
    kept = with_environment([timing(), timing("B", (1e-300, 5e-324)), counting()], HERE)
    path = tmp_path / "kept.jsonl"
    save(kept, path)
    back = load(path)
    assert back == kept
    assert back[0].result == timing()
    assert back[0].environment == HERE
    counts = back[2].result
    assert isinstance(counts, CallgrindStats)
    assert counts.delta(counting()).sum() == 0
    assert counting() != counts  # torch 2.13: if this fails, delete `SavedResult.__eq__`
    different = with_environment([timing("B"), replace(timing(), metadata=None)], HERE)
    assert back[0] not in (*different, SavedResult(timing(), THERE))
    assert back[2] != SavedResult(counting(101), HERE)


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if "|" in line][1:]


def test_results_of_two_environments_are_never_merged_even_with_equal_names_and_replicates_share_a_row() -> None:
    for first, second, names in [
        ("A", "B", {"A", "B"}),
        (None, None, {HERE.fingerprint(), THERE.fingerprint()}),
        ("A", "A", {f"A {HERE.fingerprint()}", f"A {THERE.fingerprint()}"}),
        (None, "B", {HERE.fingerprint(), "B"}),  # torch's Compare alone raises a TypeError here
    ]:
        saved = [*with_environment([timing(first)], HERE), *with_environment([timing(second)], THERE)]
        assert set(env_names(saved).values()) == names
        shown = rows(str(table(saved)))
        assert len(shown) == 2
        assert all(any(f"({name})" in row for row in shown) for name in names)
    assert len(rows(str(table(with_environment([timing("A"), timing("A")], HERE))))) == 1


def test_a_file_that_cannot_be_read_or_written_is_refused_and_left_alone(tmp_path: Path) -> None:
    kept, odd = (with_environment([replace(timing(), metadata=each)], HERE) for each in (None, {"a": object()}))
    path = tmp_path / "kept.jsonl"
    save(kept, path)
    with pytest.raises(UsageError, match="cannot be written"):
        save(odd, path)
    assert load(path) == kept
    for content in (b"{}", b"not json", b'{"kind": "opinion"}', b"[]", b'{"kind": "measurement"}', b"\xff\xfe"):
        save(kept, path)
        path.write_bytes(path.read_bytes() + content + b"\n")
        with pytest.raises(UsageError, match=r"kept\.jsonl, line 2, "):
            load(path)
