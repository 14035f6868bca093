"""Lesson 11: find the PyTorch operators that take a program's time, and the functions that call them."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import torch
from torch import Tensor, nn
from torch._C._profiler import _ExperimentalConfig
from torch.profiler import ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler

from harness.charts import plots
from harness.charts.pictures import bar_chart_svg
from harness.profiles.flames import fold_up, own_cost_by_name, placed, read_stacks
from harness.profiles.kineto import Trace, keep_stacks, operators, read_trace
from harness.rendering import units
from harness.storage.user_files import from_home, state_folder
from lessons.engine.api import Drawing, Figures, Interval, Lacking, Rows, largest, load
from lessons.engine.command import main
from lessons.engine.published import GUIDE_MASK_GB, GUIDE_MASK_S, PROFILED_TIMES
from lessons.probes import torch_tables
from lessons.probes.profilers import cpu_s
from lessons.probes.small_resnet import Training
from lessons.probes.torch_profiles import NamedModules, TensorBoard, look_at, named_modules

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
    whole_s = sum(each.cpu_time_total for each in found.events() if each.cpu_parent is None) / 1e6
    conv2d, top = torch_tables.named(rows, "aten::conv2d"), max(rows, key=lambda each: each.total_s)
    bars = [(each.name, each.own_s) for each in rows[:6]]
    svg = bar_chart_svg(bars, title="aten", unit=units.seconds)
    return {
        "parts": torch_tables.columns(parts, "Name", "CPU total", "# of Calls"),
        "by_total": torch_tables.columns(by_total, "Name", "Self CPU", "CPU total", "# of Calls"),
        "by_own": Drawing(plots.bars(bars, width=30, unit=units.seconds), svg),
        "own_share": Interval.exact(conv2d.own_s / conv2d.total_s),
        "own": sum(each.own_s for each in rows) / whole_s,
        "total": sum(each.total_s for each in rows) / whole_s,
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
    together = torch_tables.named(operators(found.key_averages()), "aten::conv2d")
    apart = [each for each in operators(found.key_averages(group_by_input_shape=True)) if each.name == "aten::conv2d"]
    ranked = sorted(apart, key=lambda each: -each.total_s)
    rates = [each.flops / each.total_s for each in ranked]
    by_hand = sum(each.calls * torch_tables.flops_by_hand(each.shapes) for each in ranked)
    return {
        "shapes": Rows(
            [
                (
                    each.shapes.replace(", ", ","),
                    each.calls,
                    each.total_s / each.calls,
                    each.flops / each.calls / 1e6,
                    rate / 1e9,
                )
                for each, rate in zip(ranked, rates, strict=True)
            ]
        ),
        "rows": len(ranked),
        "sum": sum(each.total_s for each in ranked) / together.total_s,
        "to_formula": together.flops / by_hand,
        "apart": max(rates) / min(rates),
    }


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


Masked = tuple[Any, int, list[float]]
"""The rows of a profile by stack, the numbers of the mask, and the ratios of the times of two modules."""


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
    return found.key_averages(group_by_stack_n=4), numbers, gains


def who_asked_figures(masked: Masked) -> Figures:
    by_stack, mask_bytes, gains = masked
    rows = operators(by_stack)
    table = by_stack.table(sort_by="self_cpu_memory_usage", row_limit=3)
    aten = [each for each in rows if each.name.startswith("aten::")]
    nonzero = torch_tables.named(rows, "aten::nonzero")
    own_s, whole_s = GUIDE_MASK_S
    return {
        "by_memory": torch_tables.columns(table, "Name", "Self CPU", "Self CPU Mem"),
        "stack": "\n".join(("aten::nonzero", *map(torch_tables.called_from, nonzero.stack))),
        "part": {"aten::addmm": "a", "aten::gt": "b", "aten::nonzero": "c"}.get(aten[0].name, "d"),
        "nonzero_share": nonzero.own_s / sum(each.own_s for each in aten),
        "memory": nonzero.own_bytes / mask_bytes,
        "named": any(frame.endswith(": by_nonzero") for frame in nonzero.stack),
        "gain": Interval.median(gains),
        "guide_own_s": own_s,
        "guide_s": whole_s,
        "guide_gb": GUIDE_MASK_GB,
    }


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
Stacked = tuple[list[str], profile]
"""Two texts that `export_stacks` wrote, and the profile of the second text."""


def a_flame_graph(steps: int = 3, images: int = 16) -> Stacked:
    training = Training(images)
    texts = []
    for config in (None, keep_stacks()):
        with profile(
            activities=[ProfilerActivity.CPU],
            with_stack=True,
            experimental_config=config,
        ) as found:
            for _ in range(steps):
                training.step()
        with TemporaryDirectory() as folder:
            file = Path(folder, "stacks.txt")
            found.export_stacks(str(file), "self_cpu_time_total")
            texts.append(file.read_text(encoding="utf-8"))
    return texts, found


def a_flame_graph_figures(stacked: Stacked) -> Figures:
    (unasked, exported), found = stacked
    rows, stacks = operators(found.key_averages()), read_stacks(exported)
    tree = fold_up(stacks)
    backward_s = torch_tables.named(rows, "backward").total_s
    above_s = max((each.frame.total for each in placed(tree) if "backward" in each.frame.name), default=0.0) / 1e6
    lost_s = sum(each.own_s for each in rows) - tree.total / 1e6
    return {
        "flames": torch_tables.flames(stacks),
        "unasked": len(unasked),
        "place": place_of_backward(backward_s, above_s, lost_s),
        "above": above_s / backward_s,
        "largest": next(iter(own_cost_by_name(tree)), "?"),
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
Exported = tuple[Trace, profile, NamedModules]
"""A trace, its profile, and the modules in a second trace."""


def the_trace(images: int = 16) -> Exported:
    training = Training(images)
    with profile(activities=[ProfilerActivity.CPU]) as found:
        training.step()
    file = state_folder() / "11_torch_profiler" / "train.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    found.export_chrome_trace(str(file))
    return read_trace(file), found, named_modules(training.step)


def the_trace_figures(exported: Exported) -> Figures:
    trace, found, modules = exported
    calls = [each for each in trace.events if each.name == "aten::conv2d"]
    conv2d = torch_tables.named(operators(found.key_averages()), "aten::conv2d")
    lacking = Lacking("needs the option `with_modules`, which this torch no longer has")
    return {
        "first": torch_tables.as_tree(trace.within(calls[0])),
        "events": len(trace.events),
        "arrows": trace.arrows,
        "sum": sum(each.duration_us for each in calls) / 1e6 / conv2d.total_s,
        "modules": lacking if modules.events is None else modules.events,
        "file": from_home(state_folder() / "11_torch_profiler" / "train.json"),
        "deprecated": bool(modules.warning),
        "torch": torch.__version__.partition("+")[0],
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
    planned = [step for step, action in enumerate(actions) if action.startswith("RECORD")]
    letters = {(1, 2, 3, 4): "a", (3, 4, 7, 8): "b", (2, 3, 4, 6, 7, 8): "c", (2, 3, 6, 7): "d"}
    return {
        "actions": Rows(
            [
                (step, action, "".join(str(n) for n, each in enumerate(recorded, start=1) if step in each))
                for step, action in enumerate(actions)
            ]
        ),
        "recorded": letters.get(tuple(steps)),
        "as_planned": steps == planned,
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


def profiled(work: Callable[..., object], *given: int, **options: Any) -> float:
    with profile(activities=[ProfilerActivity.CPU], **options):
        return cpu_s(work, *given)


Costs = list[list[tuple[float, float, float]]]
"""For each repetition and each program: the CPU time without and with the profiler, and with stacks, in seconds."""


def what_asking_changes(turns: int = 9, operations: int = 1500) -> Costs:
    step = Training(16).step
    stacks: dict[str, Any] = {"with_stack": True}
    stacks["experimental_config"] = keep_stacks()
    found: Costs = []
    for _ in range(turns):
        found.append([])
        for call in ((many_small, operations), (step,), (few_large, 2)):
            plain_s, usual_s = cpu_s(*call), profiled(*call)
            stacked_s = profiled(*call, record_shapes=True, **stacks)
            found[-1].append((plain_s, usual_s, stacked_s))
    return found


def what_asking_changes_figures(turns: Costs) -> Figures:
    programs = list(zip(*turns, strict=True))
    usual, stacked = (
        [Interval.median(times[at] / times[0] for times in program) for program in programs] for at in (1, 2)
    )
    return {
        "times": Rows(
            [
                (median(times[0] for times in program), one.middle, other.middle)
                for program, one, other in zip(programs, usual, stacked, strict=True)
            ]
        ),
        "turns": len(turns),
        "slowest": largest(dict(zip("abc", usual, strict=True))),
        "small": usual[0],
        "with_stacks": Interval.median(times[2] / times[1] for times in programs[0]),
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


# ── 9 ──────────────────────────────────────────────────────────────────────────────────────────
def every_thread() -> _ExperimentalConfig | None:
    try:
        return _ExperimentalConfig(profile_all_threads=True)
    except TypeError:
        return None


def products(number: int) -> None:
    x = torch.ones(64, 64)
    for _ in range(number):
        torch.mm(x, x)


Threads = tuple[dict[int, int], dict[int, int]]
"""The products by thread in a default profile, and in a profile of all threads."""


def two_threads(here: int = 5, second: int = 10) -> Threads:
    found = []
    for config in (None, every_thread()):
        cpu = [ProfilerActivity.CPU]
        with profile(activities=cpu, experimental_config=config) as each:
            helper = Thread(target=products, args=(second,))
            helper.start()
            products(here)
            helper.join()
        calls = [one for one in each.events() if one.name == "aten::mm"]
        found.append(dict(Counter(one.thread for one in calls)))
    return found[0], found[1]


def two_threads_figures(found: Threads) -> Figures:
    default, every = found
    lacking = Lacking("needs the setting `profile_all_threads`, which this torch does not have")
    return {
        "by_default": {5: "a", 10: "b", 15: "c"}.get(sum(default.values())),
        "only_one": sorted(default.values()) == [5],
        "both": lacking if every_thread() is None else sorted(every.values()) == [5, 10],
    }


lesson = load(__name__)

if __name__ == "__main__":
    main(lesson)
