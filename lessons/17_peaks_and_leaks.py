"""Lesson 17: find short peaks of memory, memory that is never freed, and the memory of a training step.

The lesson uses at most about 250 MiB at a time. The steps with memray are skipped if it is not installed.
"""

import gc
import math
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from statistics import median
from typing import Any

import torch
from memory_profiler import memory_usage
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint_sequential

from harness.charts import plots
from harness.memory.allocations import Recording, lacking_memray, of_function, record_allocations
from harness.memory.resident import traced_peak
from harness.memory.tensors import TensorMemory, tensor_memory
from harness.rendering import units
from lessons.engine.api import Figures, Interval, Lacking, Rows, load, smallest
from lessons.engine.command import main
from lessons.probes.cuda_memory import CudaMemory, read_record, write_record

LARGE_BYTES = 4 * 10_000_000
"""The size of a large tensor in this lesson, 38.1 MiB.

glibc's `free` returns each block of more than 32 MiB to the system (mallopt(3), M_MMAP_THRESHOLD)."""

LEAKED_BYTES = 4 * 2_000_000
"""The size of a tensor in the steps about leaks."""


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
def make_texts(number: int) -> list[str]:
    return [str(each) * 20 for each in range(number)]


def program(peaks: int) -> list[float]:
    texts = make_texts(50_000)
    lengths_s = []
    for _ in range(peaks):
        time.sleep(0.03)
        began_s = time.perf_counter()
        torch.ones(10_000_000)
        lengths_s.append(time.perf_counter() - began_s)
    del texts
    return lengths_s


def between_two_samples(peaks: int = 20) -> tuple[list[float], list[float], int]:
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(program, peaks)
        samples = memory_usage(-1, interval=0.1, timeout=0.04 * peaks)
        lengths_s = running.result()
    return samples, lengths_s, traced_peak(lambda: program(1))


def between_two_samples_figures(found: tuple[list[float], list[float], int]) -> Figures:
    samples_mib, lengths_s, traced_bytes = found
    low, peaks, length_s = min(samples_mib), len(lengths_s), median(lengths_s)
    seen = sum(mib - low > LARGE_BYTES / 2**21 for mib in samples_mib)
    # If other programs make the peaks long, more samples find one.
    long = length_s > 0.025
    return {
        "samples": len(samples_mib),
        "curve": f"{low:.0f} MiB {plots.sparkline(samples_mib)} {max(samples_mib):.0f} MiB",
        "of_twenty": Interval.exact(seen * 20 / peaks).void_if(long),
        "seen_share": Interval.exact(seen / peaks).void_if(long),
        "length_s": length_s,
        "traced": traced_bytes / LARGE_BYTES,
    }


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
def each_allocation(peaks: int = 20) -> Recording | None:
    if lacking_memray():
        return None
    return record_allocations(lambda: program(peaks))


def each_allocation_figures(found: Recording | None) -> Figures | Lacking:
    if found is None:
        return Lacking(lacking_memray())
    blocks, held = found.at_peak[:4], of_function(found.at_peak, "program")
    return {
        "blocks": Rows([(next(iter(each.stack), "?"), each.allocator, each.times, each.n_bytes) for each in blocks]),
        "held_part": held / found.peak_bytes,
        "held": held / LARGE_BYTES,
    }


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
def joined(blocks: list[Tensor]) -> Tensor:
    whole = torch.empty(0)
    for block in blocks:
        whole = torch.cat([whole, block])
    return whole


def filled(blocks: list[Tensor]) -> Tensor:
    whole = torch.empty(sum(len(block) for block in blocks))
    start = 0
    for block in blocks:
        whole[start : start + len(block)] = block
        start += len(block)
    return whole


def temporary_allocations(length: int = 10_000) -> dict[str, Recording] | None:
    if lacking_memray():
        return None
    blocks = [torch.ones(length) for _ in range(100)]
    return {
        "joined": record_allocations(lambda: joined(blocks)),
        "filled": record_allocations(lambda: filled(blocks)),
    }


def temporary_allocations_figures(found: dict[str, Recording] | None) -> Figures | Lacking:
    if found is None:
        return Lacking(lacking_memray())
    whole = 4 * 10_000 * 100
    temporary = {name: sum(block.n_bytes for block in each.temporary) for name, each in found.items()}
    return {
        "ways": Rows([(name, each.all_bytes, temporary[name], each.peak_bytes) for name, each in found.items()]),
        "size": whole,
        "all": found["joined"].all_bytes / whole,
        "peak": found["joined"].peak_bytes / whole,
    }


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
class Batch:
    def __init__(self) -> None:
        self.numbers = torch.ones(2_000_000)
        self.mean = lambda: self.numbers.mean()  # noqa: PLW0108


class PlainBatch:
    def __init__(self) -> None:
        self.numbers = torch.ones(2_000_000)

    def mean(self) -> Tensor:
        return self.numbers.mean()


def means(kind: type[Any], batches: int) -> float:
    return sum(float(kind().mean()) for _ in range(batches))


def leak_through_cycles() -> tuple[list[TensorMemory], Recording | None]:
    gc.disable()
    leaking = tensor_memory(lambda: means(Batch, 8))
    freed = tensor_memory(gc.collect)
    plain = tensor_memory(lambda: means(PlainBatch, 8))
    recorded = None
    if not lacking_memray():
        recorded = record_allocations(lambda: means(Batch, 8))
    gc.enable()
    gc.collect()
    return [leaking, freed, plain], recorded


def leak_through_cycles_figures(found: tuple[list[TensorMemory], Recording | None]) -> Figures:
    (leaking, freed, plain), recorded = found
    named: float | Lacking = Lacking(lacking_memray() or "memray")
    if recorded:
        all_kept = sum(block.n_bytes for block in recorded.kept)
        named = of_function(recorded.kept, "__init__") / (all_kept or math.nan)
    kept = [leaking.kept_bytes, leaking.kept_bytes + freed.kept_bytes, plain.kept_bytes]
    return {
        "kept": Rows([(each,) for each in kept]),
        "tensors": leaking.kept_bytes / LEAKED_BYTES,
        "named": named,
    }


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
def double(x: Tensor) -> Tensor:
    return x * 2


def six_calls(function: Callable[[Tensor], Tensor]) -> None:
    x = torch.ones(2_000_000)
    for _ in range(6):
        function(x.clone())


def leak_through_a_cache() -> tuple[TensorMemory, TensorMemory, int]:
    cached = lru_cache(maxsize=None)(double)
    bounded = lru_cache(maxsize=2)(double)
    unbounded = tensor_memory(lambda: six_calls(cached))
    few = tensor_memory(lambda: six_calls(bounded))
    return unbounded, few, cached.cache_info().hits


def leak_through_a_cache_figures(found: tuple[TensorMemory, TensorMemory, int]) -> Figures:
    unbounded, few, hits = found
    return {
        "caches": Rows([(unbounded.kept_bytes,), (few.kept_bytes,)]),
        "size": LEAKED_BYTES,
        "unbounded": unbounded.kept_bytes / LEAKED_BYTES,
        "bounded": few.kept_bytes / LEAKED_BYTES,
        "hits": hits,
    }


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
def network() -> nn.Sequential:
    layers = [(nn.Linear(64, 64), nn.Tanh()) for _ in range(16)]
    return nn.Sequential(*(nn.Sequential(*layer) for layer in layers))


def train_step(model: Callable[[Tensor], Tensor], x: Tensor) -> None:
    model(x).square().mean().backward()


def peak_of_a_step(rows: int = 8192) -> tuple[int, TensorMemory, TensorMemory]:
    model, x = network(), torch.ones(rows, 64)
    training = tensor_memory(lambda: train_step(model, x))
    with torch.no_grad():
        inference = tensor_memory(lambda: model(x))
    return x.nbytes, training, inference


def peak_of_a_step_figures(found: tuple[int, TensorMemory, TensorMemory]) -> Figures:
    output_bytes, training, inference = found
    return {
        "training_curve": curve_line(training.curve),
        "inference_curve": curve_line(inference.curve),
        "training": training.peak_bytes / output_bytes,
        "inference": inference.peak_bytes / output_bytes,
    }


def curve_line(curve: tuple[int, ...]) -> str:
    """Return a curve of memory over time as one line of at most 60 columns, with its largest value."""
    step = -(-len(curve) // 60) or 1
    high = [max(curve[at : at + step]) for at in range(0, len(curve), step)]
    return f"{plots.sparkline(high)} {units.size(max(curve, default=0))}"


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
def in_segments(model: nn.Sequential, segments: int) -> Callable[[Tensor], Tensor]:
    if not segments:
        return model
    run: Callable[..., Tensor] = checkpoint_sequential
    return lambda x: run(model, segments, x, use_reentrant=False)


def calls_of_layers(model: nn.Sequential) -> list[nn.Module]:
    calls: list[nn.Module] = []
    for layer in model:
        layer.register_forward_hook(lambda one, *_: calls.append(one))
    return calls


def checkpointing(rows: int = 8192) -> dict[int, tuple[TensorMemory, int]]:
    x, found = torch.ones(rows, 64), {}
    for segments in (0, 2, 4, 16):
        model = network()
        calls = calls_of_layers(model)
        forward = in_segments(model, segments)
        memory = tensor_memory(partial(train_step, forward, x))
        found[segments] = memory, len(calls)
    return found


def checkpointing_figures(found: dict[int, tuple[TensorMemory, int]]) -> Figures:
    peaks = {segments: memory.peak_bytes for segments, (memory, _) in found.items()}
    letters = {"a": peaks[2], "b": peaks[4], "c": peaks[16]}
    return {
        "segments": Rows([(memory.peak_bytes, calls) for memory, calls in found.values()]),
        "lowest": smallest({letter: Interval.exact(peak) for letter, peak in letters.items()}),
        "four": peaks[4] / peaks[0],
        "more": peaks[16] / peaks[4],
        "more_calls": found[4][1] / found[0][1],
    }


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────
def a_snapshot() -> CudaMemory | None:
    return read_record()


def a_snapshot_figures(found: CudaMemory | None) -> Figures | Lacking:
    if found is None:
        return Lacking(
            "a record of a GPU's memory. On a machine with a GPU, run python -m lessons.17_peaks_and_leaks --record"
        )
    tensors = found.bytes_after_each("alloc", "free_completed")
    segments = found.bytes_after_each("segment_alloc", "segment_free")
    events = Counter(name for name, _ in found.changes)
    return {
        "made_by": found.made_by,
        "tensors": curve_line(tensors),
        "segments": curve_line(segments),
        "few": events["segment_alloc"] / max(events["alloc"], 1),
        "stays": segments[-1] / max(*segments, 1),
    }


lesson = load(__name__, recorder=write_record)

if __name__ == "__main__":
    main(lesson)
