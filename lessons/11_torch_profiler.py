"""Lesson 11: find the PyTorch operators that take a program's time, and the functions that call them."""

from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler

from harness.charts import plots
from harness.charts.pictures import bar_chart_svg
from harness.profiles.flames import fold_up, placed, read_stacks
from harness.profiles.kineto import Trace, keep_stacks, operators, read_trace
from harness.rendering import units
from harness.storage.user_files import from_home, state_folder
from lessons.engine.api import Drawing, Figures, Interval, Lacking, Rows, largest, load
from lessons.engine.command import main
from lessons.engine.published import GUIDE_MASK_GB, GUIDE_MASK_S, PROFILED_TIMES
from lessons.probes import torch_tables
from lessons.probes.profilers import cpu_s
from lessons.probes.small_resnet import Training
from lessons.probes.torch_profiles import TensorBoard, look_at, named_modules

# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
Profiled = tuple[profile, str, str]
"""A profile with two tables that torch printed."""


def the_top_row(steps: int = 8, images: int = 16) -> Profiled:
    training = Training(images)
    with profile(activities=[ProfilerActivity.CPU]) as found:
        for _ in range(steps):
            training.step()
    averages = found.key_averages()
    parts = averages.table(top_level_events_only=True)
    by_total = averages.table(
        sort_by="cpu_time_total",
        row_limit=8,
        max_name_column_width=32,
    )
    return found, parts, by_total


def the_top_row_figures(profiled: Profiled) -> Figures:
    found, parts, by_total = profiled
    rows = operators(found.key_averages())
    conv2d, top = torch_tables.named(rows, "aten::conv2d"), max(rows, key=lambda each: each.total_s)
    bars = [(each.name, each.own_s) for each in rows[:6]]
    svg = bar_chart_svg(bars, title="aten", unit=units.seconds)
    return {
        "parts": torch_tables.columns(parts, "Name", "CPU total", "# of Calls"),
        "by_total": torch_tables.columns(by_total, "Name", "Self CPU", "CPU total", "# of Calls"),
        "by_own": Drawing(plots.bars(bars, width=30, unit=units.seconds), svg),
        "own_share": Interval.exact(conv2d.own_s / conv2d.total_s),
        "top": top.name,
        "top_share": top.own_s / top.total_s,
    }


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
def which_convolution(steps: int = 6, images: int = 16) -> Any:
    training = Training(images)
    with profile(
        activities=[ProfilerActivity.CPU],
        record_shapes=True,
        with_flops=True,
    ) as found:
        for _ in range(steps):
            training.step()
    return found


def which_convolution_figures(found: profile) -> Figures:
    apart = [each for each in operators(found.key_averages(group_by_input_shape=True)) if each.name == "aten::conv2d"]
    ranked = sorted(apart, key=lambda each: -each.total_s)
    rates = [each.flops / each.total_s for each in ranked]
    cells = [
        (each.shapes.replace(", ", ","), each.total_s / each.calls, each.flops / each.calls / 1e6, rate / 1e9)
        for each, rate in zip(ranked, rates, strict=True)
    ]
    return {"shapes": Rows(cells), "apart": max(rates) / min(rates)}


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
def by_nonzero(mask: Tensor) -> int:
    return len(mask.nonzero())


def by_sum(mask: Tensor) -> int:
    return int(mask.sum())


class Exceeds(nn.Module):
    def __init__(self, count: Callable[[Tensor], int]) -> None:
        super().__init__()
        self.scores, self.count = nn.Linear(128, 10), count

    def forward(self, x: Tensor, field: Tensor) -> int:
        with record_function("scores"):
            limit = self.scores(x).mean().sigmoid()
        with record_function("mask"):
            return self.count(field > limit)


Masked = tuple[Any, list[float]]
"""The rows of a profile by stack, and the ratios of the times of two modules."""


def who_asked(turns: int = 9, numbers: int = 4_000_000) -> Masked:
    slow, fast = Exceeds(by_nonzero), Exceeds(by_sum)
    inputs = torch.rand(64, 128), torch.rand(numbers)
    slow(*inputs)
    with profile(
        activities=[ProfilerActivity.CPU],
        profile_memory=True,
        with_stack=True,
        experimental_config=keep_stacks(),
    ) as found:
        slow(*inputs)
    runs = range(turns)
    gains = [cpu_s(slow, *inputs) / cpu_s(fast, *inputs) for _ in runs]
    return found.key_averages(group_by_stack_n=4), gains


def who_asked_figures(masked: Masked) -> Figures:
    by_stack, gains = masked
    rows = operators(by_stack)
    table = by_stack.table(sort_by="self_cpu_memory_usage", row_limit=3)
    aten = [each for each in rows if each.name.startswith("aten::")]
    nonzero = torch_tables.named(rows, "aten::nonzero")
    return {
        "by_memory": torch_tables.columns(table, "Name", "Self CPU", "Self CPU Mem"),
        "stack": "\n".join(("aten::nonzero", *map(torch_tables.called_from, nonzero.stack))),
        "part": {"aten::addmm": "a", "aten::gt": "b", "aten::nonzero": "c"}.get(aten[0].name, "d"),
        "named": any(frame.endswith(": by_nonzero") for frame in nonzero.stack),
        "gain": Interval.median(gains),
        "guide_own_s": GUIDE_MASK_S[0],
        "guide_s": GUIDE_MASK_S[1],
        "guide_gb": GUIDE_MASK_GB,
    }


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
Stacked = tuple[profile, list[tuple[tuple[str, ...], float]]]
"""A profile, and its stacks: for each stack, the functions and the own time in microseconds."""


def a_flame_graph(steps: int = 3, images: int = 16) -> Stacked:
    training = Training(images)
    with profile(
        activities=[ProfilerActivity.CPU],
        with_stack=True,
        experimental_config=keep_stacks(),
    ) as found:
        for _ in range(steps):
            training.step()
    with TemporaryDirectory() as folder:
        file = Path(folder, "stacks.txt")
        found.export_stacks(str(file), "self_cpu_time_total")
        text = file.read_text(encoding="utf-8")
    return found, read_stacks(text)


def a_flame_graph_figures(stacked: Stacked) -> Figures:
    found, stacks = stacked
    rows, tree = operators(found.key_averages()), fold_up(stacks)
    backward_s = torch_tables.named(rows, "backward").total_s
    above_s = max((each.frame.total for each in placed(tree) if "backward" in each.frame.name), default=0.0) / 1e6
    lost_s = sum(each.own_s for each in rows) - tree.total / 1e6
    return {
        "flames": torch_tables.flames(stacks),
        "place": place_of_backward(backward_s, above_s, lost_s),
        "above": above_s / backward_s,
    }


def place_of_backward(backward_s: float, above_s: float, lost_s: float) -> str | None:
    """Return the letter of the functions to which more than half of the backward pass belongs, or None.

    `backward_s` is the time of the backward pass. `above_s` is the part above the function `backward`. `lost_s` is all
    own time that no stack contains. At most this time of the backward pass belongs to no function.
    """
    half_s = backward_s / 2
    if above_s > half_s:
        return None  # `backward` waits for the threads of the backward pass, so other programs can lengthen this part
    return "b" if backward_s - above_s - lost_s > half_s else None


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
Exported = tuple[Trace, int | None]
"""A trace, and the number of events that name a module in a second trace (None: this torch lacks the option)."""


def the_trace(images: int = 16) -> Exported:
    training = Training(images)
    with profile(activities=[ProfilerActivity.CPU]) as found:
        training.step()
    file = state_folder() / "11_torch_profiler" / "train.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    found.export_chrome_trace(str(file))
    return read_trace(file), named_modules(training.step)


def the_trace_figures(exported: Exported) -> Figures:
    trace, modules = exported
    first = next(each for each in trace.events if each.name == "aten::conv2d")
    lacking = Lacking("needs the option `with_modules`, which this torch no longer has")
    return {
        "first": torch_tables.as_tree(trace.within(first)),
        "events": len(trace.events),
        "modules": lacking if modules is None else modules,
        "file": from_home(state_folder() / "11_torch_profiler" / "train.json"),
    }


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
Scheduled = tuple[list[str], list[str], list[Trace], int]
"""The action of the schedule in each step, the names of the files, their traces, and a number of events."""


def not_all_of_it(images: int = 16) -> Scheduled:
    training = Training(images)
    cpu = [ProfilerActivity.CPU]
    plan = schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2)
    with TemporaryDirectory() as folder:
        write = tensorboard_trace_handler(folder, worker_name="rank0")
        with profile(
            activities=cpu, schedule=plan, on_trace_ready=write
        ) as found:  # fmt: skip
            for _ in range(11):
                training.step()
                found.step()
        files = sorted(Path(folder).iterdir())
        traces = [read_trace(file) for file in files]
    by_hand = profile(activities=cpu)
    by_hand.start()
    training.step()
    by_hand.stop()
    events = len(by_hand.events())
    actions = [plan(step).name for step in range(11)]
    return actions, [file.name for file in files], traces, events


def not_all_of_it_figures(scheduled: Scheduled) -> Figures:
    actions, names, traces, by_hand = scheduled
    recorded = [steps_in(trace) for trace in traces]
    steps = [step for each in recorded for step in each]
    letters = {(1, 2, 3, 4): "a", (3, 4, 7, 8): "b", (2, 3, 4, 6, 7, 8): "c", (2, 3, 6, 7): "d"}
    return {
        "actions": Rows(
            [
                (step, action, "".join(str(n) for n, each in enumerate(recorded, start=1) if step in each))
                for step, action in enumerate(actions)
            ]
        ),
        "recorded": letters.get(tuple(steps)),
        "files": len(names),
        "by_hand": by_hand,
    }


def steps_in(trace: Trace) -> list[int]:
    """Return the numbers of the training steps that a trace contains, in ascending order."""
    marks = (each.name.partition("#") for each in trace.events)
    return sorted({int(number) for name, _, number in marks if name == "ProfilerStep" and number.isdigit()})


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
def many_small(operations: int) -> None:
    x = torch.ones(8)
    for _ in range(operations):
        x = torch.add(x, 1.0)


def few_large(products: int) -> None:
    x = torch.ones(512, 512)
    for _ in range(products):
        x = torch.mm(x, x)


def profiled(work: Callable[..., object], *given: int) -> float:
    with profile(activities=[ProfilerActivity.CPU]):
        return cpu_s(work, *given)


Costs = list[list[tuple[float, float]]]
"""For each repetition and each program: the CPU time without and with the profiler, in seconds."""


def what_asking_changes(turns: int = 9, operations: int = 1500) -> Costs:
    step, found = Training(16).step, []
    for _ in range(turns):
        calls = (many_small, operations), (step,), (few_large, 2)
        found.append([(cpu_s(*call), profiled(*call)) for call in calls])
    return found


def what_asking_changes_figures(turns: Costs) -> Figures:
    programs = list(zip(*turns, strict=True))
    plain_s = [median(without_s for without_s, _ in program) for program in programs]
    ratios = [Interval.median(with_s / without_s for without_s, with_s in program) for program in programs]
    return {
        "times": Rows([(seconds, ratio.middle) for seconds, ratio in zip(plain_s, ratios, strict=True)]),
        "slowest": largest(dict(zip("abc", ratios, strict=True))),
        "small": ratios[0],
        "published_low": PROFILED_TIMES[0],
        "published_high": PROFILED_TIMES[1],
    }


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────
def in_tensorboard(images: int = 16, tensorboard: int = 1) -> TensorBoard:
    training = Training(images)
    with TemporaryDirectory() as folder:
        write = tensorboard_trace_handler(folder, worker_name="rank0")
        cpu = [ProfilerActivity.CPU]
        with profile(activities=cpu, on_trace_ready=write):
            training.step()
        return look_at(folder, start=bool(tensorboard))


REPLACEMENTS = (
    "record_function, Perfetto",
    "key_averages().table()",
    "ProfilerActivity.CUDA",
    "Perfetto",
    "profile_memory, pytorch.org/memory_viz",
    "with_stack, export_stacks",
    "Holistic Trace Analysis",
)
"""What replaces the views of TensorBoard's plugin: overview, operator, kernel, trace, memory, module, distributed."""


def in_tensorboard_figures(board: TensorBoard) -> Figures:
    views: int | Lacking = len(board.views) if "rank0" in board.workers else 0
    return {
        "replacements": Rows([(each,) for each in REPLACEMENTS]),
        "views": Lacking(board.reason) if board.reason else views,
        "photo": "operator.png",
    }


lesson = load(__name__)

if __name__ == "__main__":
    main(lesson)
