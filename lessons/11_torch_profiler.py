"""Lesson 11: find the PyTorch operators that take a program's time, and the functions that call them.

The steps appear on the screen in the order of this file. Some sentences of an explanation depend on the measurements on
this machine. All operators use one thread. Only the step about threads profiles two threads.
"""

import json
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from threading import Thread
from typing import NamedTuple

import torch
import torch._inductor  # imported here because the first profile would import it, which takes time in the first step
from torch import Tensor, nn
from torch._C._profiler import _ExperimentalConfig
from torch.autograd.profiler_util import EventList
from torch.profiler import (
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)
from torch.utils.data import DataLoader, Dataset, get_worker_info

from harness.charts import plots
from harness.machine.clocks import BackgroundLoad, watch_background_load
from harness.machine.environment import version_of
from harness.profiles.flames import (
    flame_graph,
    flame_graph_svg,
    fold_up,
    own_cost_by_name,
    placed,
    read_stacks,
    without_frames,
)
from harness.profiles.kineto import (
    Event,
    Operator,
    Trace,
    keep_stacks,
    operators,
    read_trace,
)
from harness.rendering import units
from harness.rendering.tables import Table
from harness.storage.user_files import state_folder
from lessons.engine import Choice, Guess, Interval, Lesson, Page, largest
from lessons.engine.command import main
from lessons.engine.published import GUIDE_MASK_GB, GUIDE_MASK_S, PROFILED_TIMES
from lessons.engine.words import followed, yes_no
from lessons.probes.torch_profiles import NamedModules, TensorBoard, look_at, named_modules

lesson = Lesson(
    __file__,
    objective="You can profile a PyTorch program, and find the function that calls the most expensive operator.",
)

PART = units.percent
"""The format of a share."""

TORCH = torch.__version__.partition("+")[0]
"""The release of the installed torch."""


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Block(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.past = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.body(x) + self.past(x))


@lesson.given
def small_resnet() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        Block(16, 16, 1),
        Block(16, 32, 2),
        Block(32, 64, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, 4),
    )


@lesson.given
class Training:
    def __init__(self, images: int) -> None:
        torch.manual_seed(11)
        torch.set_num_threads(1)
        colours = torch.randn(4, 3, 1, 1)
        self.kinds = torch.randint(4, (images,))
        self.x = torch.randn(images, 3, 32, 32) + colours[self.kinds]
        self.network = small_resnet()
        weights = self.network.parameters()
        self.optimizer = torch.optim.SGD(weights, lr=0.05, momentum=0.9)
        self.losses = [self.step(), self.step()]

    def step(self) -> float:
        with record_function("forward"):
            scores = self.network(self.x)
            loss = nn.functional.cross_entropy(scores, self.kinds)
        with record_function("backward"):
            self.optimizer.zero_grad()
            loss.backward()
        with record_function("update"):
            self.optimizer.step()
        return loss.item()


@lesson.given
class Profiled(NamedTuple):
    losses: list[float]
    rows: tuple[Operator, ...]
    printed: str
    whole_s: float
    nap_s: float


@lesson.step(
    "The top row",
    predict=Choice(
        "The total time of the operator `aten::conv2d` includes the time of the operators that it calls. Which share "
        "of its total time is its own time?",
        {"a": "less than a quarter", "b": "a quarter to three quarters", "c": "three quarters or more"},
        limits=(0.25, 0.75),
    ),
    expected="a",
    wrong_reasoning="Students think that the top row does the work. But `aten::conv2d` only passes the call on to "
    "other operators.",
    fast={"steps": 4, "images": 8},
)
def the_top_row(steps: int = 8, images: int = 16) -> Profiled:
    """`torch.profiler.profile` records the beginning and the end of each operator in its `with` block.

    A small ResNet learns to classify images of four colours. `record_function` gives a part of the program a name.
    `key_averages` adds up the events with the same name, and the argument `sort_by` sorts its `table`. `activities`
    lists the devices to record, in this step the CPU. On a GPU, CUDA also records kernels.
    """
    training = Training(images)
    with profile(activities=[ProfilerActivity.CPU]) as found:
        losses = [training.step() for _ in range(steps)]
    averages = found.key_averages()
    top = [each for each in found.events() if each.cpu_parent is None]
    cpu = [ProfilerActivity.CPU]
    with profile(activities=cpu) as idle, record_function("nap"):
        time.sleep(0.05)
    return Profiled(
        training.losses + losses,
        operators(averages),
        averages.table(
            sort_by="cpu_time_total",
            row_limit=8,
            max_name_column_width=32,
        ),
        sum(each.cpu_time_total for each in top) / 1e6,
        max(each.total_s for each in operators(idle.key_averages())),
    )


LEARNED = the_top_row.claim(
    "it-learned", "the network learns: its last loss is less than 80 % of its first loss", at_most=0.8, unit=PART
)
OWN_ADDS_UP = the_top_row.claim(
    "own-adds-up",
    "the own times of all operators add up to 99 % to 101 % of the profiled time",
    at_least=0.99,
    at_most=1.01,
    unit=PART,
)
TOTAL_DOES_NOT = the_top_row.claim(
    "total-does-not",
    "the total times of all operators add up to more than twice the profiled time",
    at_least=2,
    unit=units.ratio,
)
TOP_DOES_LITTLE = the_top_row.claim(
    "top-does-little",
    "in the row with the largest total time, less than half of this time is own time",
    at_most=0.5,
    unit=PART,
)
CONV2D_PASSES_ON = the_top_row.claim(
    "conv2d-passes-on",
    "less than a fifth of the total time of `aten::conv2d` is own time",
    at_most=0.2,
    unit=PART,
)
WALL_CLOCK = the_top_row.claim(
    "wall-clock",
    "for a part of the program that only sleeps for 50 ms, `CPU total` is at least 45 ms",
    at_least=0.045,
    unit=units.seconds,
)


@the_top_row.explain
def _(page: Page, found: Profiled) -> None:
    shown = columns(found.printed, "Name", "Self CPU", "CPU total", "# of Calls")
    page.output(shown, caption="The rows with the largest total times, with some of the table's columns")
    bars = [(each.name, each.own_s) for each in found.rows[:8]]
    page.output(plots.bars(bars, width=30, unit=units.seconds), caption="The same profile, sorted by own time")
    conv2d = named(found.rows, "aten::conv2d")
    share = conv2d.own_s / conv2d.total_s
    page.reveal(Interval.exact(share), f"The own time is {PART(share)} of the total time.")
    page.settle(LEARNED, found.losses[-1] / found.losses[0])
    page.settle(OWN_ADDS_UP, sum(each.own_s for each in found.rows) / found.whole_s)
    page.settle(TOTAL_DOES_NOT, sum(each.total_s for each in found.rows) / found.whole_s)
    top = max(found.rows, key=lambda each: each.total_s)
    page.settle(TOP_DOES_LITTLE, top.own_s / top.total_s, remark=top.name)
    page.settle(CONV2D_PASSES_ON, share)
    page.settle(WALL_CLOCK, found.nap_s)
    page.say(
        "`Self CPU` is the operator's own time. `CPU total` also includes the time of the operators that it calls.",
        f"The row with the largest total time is `{top.name}`.",
        TOP_DOES_LITTLE.words(
            held="Most of this row's total time is spent in the operators inside it.",
            refuted="Most of this row's total time is its own time, and not spent in operators inside it.",
            unclear="This run does not show how much of this row's total time is its own time.",
        ),
        "The own time shows which operator does the work. The row of an operator contains all its calls, and does not",
        "show which lines of code made these calls.",
    )
    activities = ", ".join(sorted(each.name for each in supported_activities()))
    page.say(
        WALL_CLOCK.words(
            held="`CPU` means that the code ran on the CPU. The times are wall-clock times, so they include a sleep.",
            refuted="On this machine these times do not include a sleep, so they are CPU times.",
            unclear="This run does not show whether these times include a sleep.",
        ),
        f"The installed PyTorch can record these activities: {activities}.",
    )


def named(rows: tuple[Operator, ...], name: str) -> Operator:
    """Return the row with the name `name`. If there are several, return the row with the largest own time."""
    return next(each for each in rows if each.name == name)


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Sorted(NamedTuple):
    tables: dict[str, str]
    documented: list[str]
    rows: tuple[Operator, ...]
    others: BackgroundLoad


@lesson.step(
    "The sort keys",
    predict=Choice.ranges(
        "Sorted by the key `count`, the first row is the operator with the most calls. Which share of all own time "
        "does this operator take?",
        (0.1, 0.4),
        PART,
    ),
    expected="a",
    wrong_reasoning="Students think that the operator with the most calls takes the most time. But frequent operators "
    "are often very short.",
    fast={"steps": 2, "images": 8},
)
def the_sort_keys(steps: int = 4, images: int = 16) -> Sorted:
    """The argument `sort_by` of `table` is the name of a measured value. The row with the largest value comes first.

    We sort one profile by four keys. `cpu_time` is the mean total time per call. In step 4, the profiler also records
    memory. Then the keys `self_cpu_memory_usage` and `cpu_memory_usage` sort by memory.
    """
    keys = ("self_cpu_time_total", "cpu_time_total", "cpu_time", "count")
    training = Training(images)
    with (
        profile(
            activities=[ProfilerActivity.CPU],
        ) as found,
        watch_background_load() as others,
    ):
        for _ in range(steps):
            training.step()
    averages = found.key_averages()
    text = str(EventList.table.__doc__)
    return Sorted(
        {key: averages.table(sort_by=key, row_limit=1) for key in keys},
        [key for key in keys if f"``{key}``" in text],
        operators(averages),
        others,
    )


KEYS_DISAGREE = the_sort_keys.claim(
    "keys-disagree",
    "the four sort keys do not all put the same row first",
    at_least=2,
    unit=followed("different rows"),
)
CALLS_ARE_NOT_TIME = the_sort_keys.claim(
    "calls-are-not-time",
    "the operator with the most calls takes less than a quarter of all own time",
    at_most=0.25,
    unit=PART,
)


@the_sort_keys.explain
def _(page: Page, found: Sorted) -> None:
    first = {key: first_row(table, SORT_COLUMNS[key]) for key, table in found.tables.items()}
    heads = {"sort key": None, "sorted column": None, "first row": None, "its value": None}
    rows = [(key, SORT_COLUMNS[key], name, value) for key, (name, value) in first.items()]
    page.table(Table.of("The first row of one table, by sort key", heads, rows))
    most = max(found.rows, key=lambda each: each.calls)
    share = most.own_s / sum(each.own_s for each in found.rows)
    page.reveal(
        Interval.exact(share), f"`{most.name}` has {units.some(most.calls, 'call')} and {PART(share)} of the time."
    )
    page.settle(KEYS_DISAGREE, len({name for name, _ in first.values()}))
    page.settle(CALLS_ARE_NOT_TIME, share, remark=most.name, disturbed=found.others.is_high)
    page.say(
        "To find the operator that does the most work, sort by own time. To find the part of the program that takes",
        "the most time, sort by total time. Without `sort_by`, the rows are in the order of their first calls.",
        undocumented_keys([key for key in found.tables if key not in found.documented]),
        "According to this text, a key with `cuda` instead of `cpu` sorts by the time or memory of a GPU.",
    )


SORT_COLUMNS = {
    "self_cpu_time_total": "Self CPU",
    "cpu_time_total": "CPU total",
    "cpu_time": "CPU time avg",
    "count": "# of Calls",
}
"""The column of the table that each sort key sorts."""


def columns(printed: str, *names: str) -> str:
    """Return only the named columns of a table that PyTorch printed. All columns are too wide for a terminal.

    Of a stack, only the first line is kept.
    """
    lines = printed.splitlines()
    rule = next(line for line in lines if line.startswith("---"))
    spans = [match.span() for match in re.finditer("-+", rule)]
    # Shorter lines are outside the table, and lines without text are rules.
    wide = [line for line in lines if len(line) >= len(rule.rstrip()) and line.strip("-= ")]
    rows = [[line[low:high].strip() for low, high in spans] for line in wide]
    places = [rows[0].index(name) for name in names]
    kept = [[row[place] for place in places] for row in rows if row[0]]
    widths = [max(map(len, column)) for column in zip(*kept, strict=True)]
    aligned = ([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in kept)
    return "\n".join("  ".join(cells).rstrip() for cells in aligned)


def first_row(printed: str, column: str) -> tuple[str, str]:
    """Return the name in the first row of a table that PyTorch printed, and the text in one of its columns."""
    name, value = (columns(printed, each).splitlines()[1].strip() for each in ("Name", column))
    return name, value


def undocumented_keys(keys: list[str]) -> str:
    """Return a sentence about the sort keys that torch's help for `table` does not list."""
    if not keys:
        return "The help text of `table` lists these keys."
    names = ", ".join(f"`{key}`" for key in keys)
    return f"The help text of `table` does not list all keys that work. It leaves out {names}."


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Shapes(NamedTuple):
    together: Operator
    apart: tuple[Operator, ...]


@lesson.step(
    "Which convolution?",
    predict=Guess(
        "The network has ten convolutions of nine different shapes. For each shape, we measure how many operations per "
        "second a convolution computes. What is the largest result divided by the smallest?",
        "times",
    ),
    expected="about 20 times",
    wrong_reasoning="Students think that the time follows the number of operations. But small channels and images use "
    "the processor less well.",
    fast={"steps": 1, "images": 4},
)
def which_convolution(steps: int = 6, images: int = 16) -> Shapes:
    """With `record_shapes`, `key_averages(group_by_input_shape=True)` has a row for each operator and input shape.

    With `with_flops`, the profiler also computes the number of operations (FLOPs) of matrix products and convolutions
    from these shapes. The number of operations divided by the time is the rate of a shape. You can compare the rates of
    different shapes.
    """
    training = Training(images)
    cpu = [ProfilerActivity.CPU]
    with profile(
        activities=cpu,
        record_shapes=True,
        with_flops=True,
    ) as found:
        for _ in range(steps):
            training.step()
    together = operators(found.key_averages())
    apart = operators(found.key_averages(group_by_input_shape=True))
    name = "aten::conv2d"
    shapes = tuple(each for each in apart if each.name == name)
    total = next(each for each in together if each.name == name)
    return Shapes(total, shapes)


ONE_ROW_IS_MANY = which_convolution.claim(
    "one-row-is-many",
    "grouped by shapes, the one row of `aten::conv2d` becomes more than five rows",
    at_least=6,
    unit=followed("rows"),
)
SHAPES_ADD_UP = which_convolution.claim(
    "shapes-add-up",
    "the times by shape add up to the time in the one row of `aten::conv2d`, within 0.1 %",
    at_least=0.999,
    at_most=1.001,
    unit=PART,
)
FLOPS_BY_HAND = which_convolution.claim(
    "flops-by-hand",
    "the number of FLOPs from the profiler equals the number from our own formula, within 0.1 %",
    at_least=0.999,
    at_most=1.001,
    unit=units.ratio,
)
WORK_IS_NOT_TIME = which_convolution.claim(
    "work-is-not-time",
    "the fastest convolution computes more than 1.5 times as many operations per second as the slowest convolution",
    at_least=1.5,
    unit=units.ratio,
)


@which_convolution.explain
def _(page: Page, found: Shapes) -> None:
    ranked = sorted(found.apart, key=lambda each: -each.total_s)
    rates = [each.flops / each.total_s for each in ranked]
    rows = [
        (each.shapes, each.calls, each.total_s / each.calls, each.flops / each.calls / 1e6, rate / 1e9)
        for each, rate in zip(ranked, rates, strict=True)
    ]
    heads = {
        "images × weights": None,
        "calls": None,
        "per call": units.seconds,
        "MFLOP per call": None,
        "GFLOP/s": None,
    }
    page.table(Table.of("`aten::conv2d`, by the shapes of its inputs", heads, rows))
    apart = max(rates) / min(rates)
    fastest, slowest = (units.number(rate / 1e9) for rate in (max(rates), min(rates)))
    page.reveal(apart, f"The fastest convolution computes {fastest} GFLOP/s, and the slowest {slowest} GFLOP/s.")
    page.settle(ONE_ROW_IS_MANY, len(ranked))
    page.settle(SHAPES_ADD_UP, sum(each.total_s for each in ranked) / found.together.total_s)
    by_hand = sum(each.calls * flops_by_hand(each.shapes) for each in ranked)
    page.settle(FLOPS_BY_HAND, found.together.flops / by_hand, remark="as many as from the formula")
    page.settle(WORK_IS_NOT_TIME, apart)
    page.say(
        "Without shapes, a row of the table adds up all calls with the same name. These calls can be very different.",
        "The number of operations alone does not determine the time. A call with few operations per byte may wait for",
        "memory. In a small call, the fixed cost of the call matters. If a convolution computes few operations per",
        "second for one shape, a change of its code may make it faster for this shape. These are wall-clock times, so",
        "other programs can change the rates.",
        "In task (c) of the exercise, a table by shapes shows you the expensive calls.",
    )


def flops_by_hand(shapes: str) -> float:
    """Return the number of operations of a convolution of this network: twice the number of its multiplications.

    `shapes` are the shapes of its images and weights. In this network, the convolutions that double the number of
    channels have a stride of two.
    """
    (images, channels, height, width), (outputs, _, rows, cols) = (
        [int(n) for n in re.findall(r"\d+", each)] for each in shapes.split("×")[:2]
    )
    stride = 2 if outputs == 2 * channels else 1
    return 2 * images * (height // stride) * (width // stride) * outputs * channels * rows * cols


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Exceeds(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scores = nn.Linear(128, 10)

    def count(self, mask: Tensor) -> int:
        return len(mask.nonzero())

    def forward(self, x: Tensor, field: Tensor) -> int:
        with record_function("scores"):
            limit = self.scores(x).mean().sigmoid()
        with record_function("mask"):
            return self.count(field > limit)


@lesson.given
class ExceedsBySum(Exceeds):
    def count(self, mask: Tensor) -> int:
        return int(mask.sum())


@lesson.given
def gain(plain: Exceeds, better: Exceeds, *inputs: Tensor) -> float:
    seconds = []
    for module in (plain, better):
        began_s = time.process_time()
        module(*inputs)
        seconds.append(time.process_time() - began_s)
    return seconds[0] / seconds[1]


@lesson.given
def share(module: Exceeds, *inputs: Tensor) -> float:
    with profile(activities=[ProfilerActivity.CPU]) as found:
        module(*inputs)
    rows = operators(found.key_averages())
    own = {each.name: each.own_s for each in rows if "::" in each.name}
    return own["aten::nonzero"] / sum(own.values())


@lesson.given
class Masked(NamedTuple):
    labels: str
    rows: tuple[Operator, ...]
    printed: str
    mask_bytes: int
    counts: list[int]
    shares: list[float]
    gains: list[float]


@lesson.step(
    "Which function called it?",
    predict=Choice(
        "A module runs a linear layer on 64 rows. It compares each number in a large tensor with a limit, and counts "
        "the numbers above the limit. Which part takes the longest time?",
        {"a": "the layer", "b": "the comparison", "c": "finding the numbers above the limit", "d": "another part"},
    ),
    expected="c",
    wrong_reasoning="Students choose the linear layer, because layers do most of the work in a network. But `nonzero` "
    "must collect the position of each number that it finds.",
    fast={"turns": 3, "numbers": 500_000},
)
def who_asked(turns: int = 9, numbers: int = 4_000_000) -> Masked:
    """`profile_memory` records the memory that operators allocate. `with_stack` records the stack of each call.

    `top_level_events_only` shows only events that are not inside another event. In this profile, these are the names
    from `record_function` and the row `[memory]`. To keep stacks, PyTorch 2.13 needs
    `_ExperimentalConfig(verbose=True)`. `keep_stacks()` returns this object.
    """
    torch.manual_seed(11)
    plain, better = Exceeds(), ExceedsBySum()
    better.load_state_dict(plain.state_dict())
    x, field = torch.rand(64, 128), torch.rand(numbers)
    cpu = [ProfilerActivity.CPU]
    counts = [plain(x, field), better(x, field)]
    with profile(activities=cpu, profile_memory=True) as labelled:
        plain(x, field)
    with profile(
        activities=cpu,
        profile_memory=True,
        with_stack=True,
        experimental_config=keep_stacks(),
    ) as found:
        plain(x, field)
    by_stack = found.key_averages(group_by_stack_n=4)
    shares = [share(plain, x, field) for _ in range(turns)]
    gains = [gain(plain, better, x, field) for _ in range(turns)]
    return Masked(
        labelled.key_averages().table(top_level_events_only=True),
        operators(by_stack),
        by_stack.table(sort_by="self_cpu_memory_usage", row_limit=3),
        numbers,
        counts,
        shares,
        gains,
    )


NONZERO_DOMINATES = who_asked.claim(
    "nonzero-dominates", "`aten::nonzero` takes more than half of the operators' own time", at_least=0.5, unit=PART
)
NONZERO_TAKES_MEMORY = who_asked.claim(
    "nonzero-takes-memory",
    "`aten::nonzero` allocates more than 3 times the memory of the mask",
    at_least=3,
    unit=units.ratio,
)
STACK_NAMES_LINE = who_asked.claim(
    "stack-names-the-line",
    "the stack of `aten::nonzero` contains its caller, the function `count`",
    equals=True,
    unit=yes_no,
)
SAME_COUNT = who_asked.claim(
    "same-count", "the sum of the mask equals the number of positions from `nonzero`", equals=0, unit=followed("apart")
)
SUM_IS_FASTER = who_asked.claim(
    "sum-is-faster",
    "without the profiler, the module with `nonzero` takes at least 4/3 times as long as the module with a sum",
    at_least=4 / 3,
    unit=units.ratio,
)


@who_asked.explain
def _(page: Page, found: Masked) -> None:
    page.output(columns(found.labels, "Name", "CPU total", "CPU Mem"), caption="Top-level events only")
    caption = "The rows that allocate the most memory themselves"
    page.output(columns(found.printed, "Name", "Self CPU", "Self CPU Mem"), caption=caption)
    operators_ = [each for each in found.rows if each.name.startswith("aten::")]
    nonzero, first = named(found.rows, "aten::nonzero"), operators_[0]
    lines = ("aten::nonzero", *map(called_from, nonzero.stack))
    page.output("\n".join(lines), caption="The stack of `aten::nonzero`")
    letters = {"aten::addmm": "a", "aten::gt": "b", "aten::nonzero": "c"}
    part = PART(first.own_s / sum(each.own_s for each in operators_))
    page.reveal(letters.get(first.name, "d"), f"`{first.name}` takes {part} of the operators' own time.")
    page.settle(NONZERO_DOMINATES, Interval.median(found.shares))
    page.settle(NONZERO_TAKES_MEMORY, nonzero.own_bytes / found.mask_bytes)
    page.settle(STACK_NAMES_LINE, any(frame.endswith(": count") for frame in nonzero.stack))
    page.settle(SAME_COUNT, found.counts[1] - found.counts[0])
    page.settle(SUM_IS_FASTER, Interval.median(found.gains))
    page.say(
        "`nonzero` writes the position of each true value as an integer of 8 bytes. The module needs only the number",
        "of true values, and a sum computes this number without the positions. The table shows the expensive operator,",
        "and the stack shows the function that called the operator.",
        line_of_a_frame(nonzero.stack),
        "(The row `[memory]` counts memory that was freed outside of all labels.)",
    )
    own_s, whole_of_guide_s = GUIDE_MASK_S
    page.say(
        "A public guide to this profiler contains a similar module. In the guide, `aten::nonzero` takes",
        f"{units.seconds(own_s, 4)} of {units.seconds(whole_of_guide_s, 4)}, and allocates {GUIDE_MASK_GB} GB. In this",
        f"run it takes {PART(median(found.shares))} of the operators' time, and allocates",
        f"{units.size(nonzero.own_bytes)}.",
    )


def line_of_a_frame(stack: Sequence[str]) -> str:
    """Return a sentence about the numbers in frames, or "" if the frame of `count` has another line than its first."""
    first = Exceeds.count.__code__.co_firstlineno
    if not any(frame.endswith(f"({first}): count") for frame in stack):
        return ""
    return "The number in a frame is the line at which the function begins, not the line of the call."


def called_from(frame: str) -> str:
    """Return an indented line that describes a frame of a stack, without memory addresses."""
    return f"  ← {re.sub(r' of .* at 0x[0-9a-f]+', '', frame)}"


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Stacks(NamedTuple):
    unasked: str
    exported: str
    rows: tuple[Operator, ...]
    others: BackgroundLoad


@lesson.step(
    "A flame graph",
    predict=Choice(
        "`loss.backward()` starts the backward pass. In the recorded stacks, to which functions does most of the time "
        "of the backward pass belong?",
        {"a": "to `backward`", "b": "to functions of the forward pass", "c": "to no function"},
    ),
    expected="b",
    wrong_reasoning="Students think that the time belongs to `backward`, because the program calls it. But the "
    "profiler gives an operator of the backward pass the stack of its forward operator.",
    fast={"steps": 1, "images": 4},
)
def a_flame_graph(steps: int = 3, images: int = 16) -> Stacks:
    """`export_stacks` writes a line for each event, with the functions in its stack and its own time in microseconds.

    A flame graph is a picture of these stacks. Each function is a box above the box of its caller. The width of the box
    is the time of all stacks that contain the function at this place. The modules of a network have boxes too. The
    boxes are sorted by name, not by time.

    C++ code calls the operators of the backward pass. For each of them, the profiler knows the matching operator of the
    forward pass, which a Python function called.
    """
    training = Training(images)
    folder = state_folder() / "11_torch_profiler"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "stacks.txt"
    texts = []
    for config in (None, keep_stacks()):
        with (
            profile(
                activities=[ProfilerActivity.CPU],
                with_stack=True,
                experimental_config=config,
            ) as found,
            watch_background_load() as others,
        ):
            for _ in range(steps):
                training.step()
        found.export_stacks(str(file), "self_cpu_time_total")
        texts.append(file.read_text(encoding="utf-8"))
    rows = operators(found.key_averages())
    return Stacks(texts[0], texts[1], rows, others)


EMPTY_UNASKED = a_flame_graph.claim(
    "empty-unasked",
    "without `keep_stacks()`, `export_stacks` writes an empty file",
    equals=0,
    unit=followed("characters"),
)
STACKS_FOLD = a_flame_graph.claim(
    "stacks-fold",
    "the number of lines that `export_stacks` writes is more than 1.5 times the number of different stacks",
    at_least=1.5,
    unit=units.ratio,
)
HARDLY_ANY_LOST = a_flame_graph.claim(
    "hardly-any-lost",
    "the stacks in the file contain more than 80 % of all own time",
    at_least=0.8,
    unit=PART,
)
MODULES_ARE_FRAMES = a_flame_graph.claim(
    "modules-are-frames",
    "each of the ten convolutions has its own frame in the stacks",
    equals=10,
    unit=followed("frames"),
)
BACKWARD_IS_FORWARD = a_flame_graph.claim(
    "backward-is-forward",
    "the frames above `backward` contain less than half of the backward pass's time",
    at_most=0.5,
    unit=PART,
)


@a_flame_graph.explain
def _(page: Page, found: Stacks) -> None:
    stacks = read_stacks(found.exported)
    tree = fold_up(stacks)
    kept = show_flames(page, stacks)
    backward_s = named(found.rows, "backward").total_s
    above_s = max((each.frame.total for each in placed(tree) if "backward" in each.frame.name), default=0.0) / 1e6
    different = {frames for frames, _ in stacks}
    convolutions = {frame for frames in different for frame in frames if frame.startswith("nn.Module: Conv2d")}
    page.settle(EMPTY_UNASKED, len(found.unasked))
    page.settle(STACKS_FOLD, len(stacks) / max(len(different), 1))
    whole_s = sum(each.own_s for each in found.rows)
    page.settle(HARDLY_ANY_LOST, tree.total / (1e6 * whole_s))
    page.settle(MODULES_ARE_FRAMES, len(convolutions))
    part = PART(above_s / backward_s)
    place = place_of_backward(backward_s, above_s, lost_s=whole_s - tree.total / 1e6)
    # `backward` waits for the threads of the backward pass, so other programs can lengthen the part above it.
    page.settle(BACKWARD_IS_FORWARD, above_s / backward_s, disturbed=found.others.is_high)
    page.reveal(
        None if place == "a" and found.others.is_high else place,
        f"The frames above `backward` contain {part} of the backward pass's time.",
    )
    page.say(
        BACKWARD_IS_FORWARD.words(
            held="torch adds the time of a backward operator to the stack of the matching forward operator. A wide"
            " frame of the forward pass therefore contains the time of both passes, and the frame `backward` contains"
            " too little time.",
            refuted="In this run, most of this time is above the function that started the backward pass.",
            unclear="This run does not show to which functions the time of the backward pass belongs.",
        ),
        f"The frame with the most own time is `{next(iter(own_cost_by_name(tree)), 'none')}`.",
        "The own time of a `record_function` label belongs to the function with its `with` statement.",
    )
    page.say(
        EMPTY_UNASKED.words(
            held="Without `keep_stacks()` the file was empty, and torch printed no warning. Check that the file is not"
            " empty before you use it.",
            refuted="Without `keep_stacks()` the file also contains stacks, so this PyTorch no longer needs it.",
            unclear="This run does not show whether `keep_stacks()` is necessary.",
        ),
        "The file contains times in whole microseconds, rounded down. It omits times below one microsecond, and events",
        "without a stack.",
        f"Open {kept} in a browser, and move the mouse over a box to read its name and time.",
    )


def place_of_backward(backward_s: float, above_s: float, lost_s: float) -> str | None:
    """Return the letter of the functions to which more than half of the backward pass belongs, or None.

    `backward_s` is the time of the backward pass. `above_s` is the part above the function `backward`. `lost_s` is all
    own time that no stack contains. At most this time of the backward pass belongs to no function.
    """
    half_s = backward_s / 2
    if above_s > half_s:
        return "a"
    return "b" if backward_s - above_s - lost_s > half_s else None


def show_flames(page: Page, stacks: list[tuple[tuple[str, ...], float]]) -> Path:
    """Print the flame graph of the training steps if there are stacks, and return the path of its SVG file."""
    picture = fold_up(since(without_frames(stacks, PLUMBING), ": step"), name="step")
    title = "A few steps of training: time by stack"
    svg = flame_graph_svg(picture, title=title, unit=microseconds) if picture.total else ""
    if svg:
        page.drawing(flame_graph(picture, 76), svg, name="flames", caption=title)
    kept = state_folder() / "11_torch_profiler" / "flames.svg"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(svg, encoding="utf-8")
    return kept


PLUMBING = r"module\.py\(\d+\): _(wrapped_)?call_impl$|/profiler\.py\("
"""The pattern of frames that the picture omits: frames between two modules, and frames of the profiler."""


def since(stacks: list[tuple[tuple[str, ...], float]], ending: str) -> list[tuple[tuple[str, ...], float]]:
    """Return the frames of each stack after its first frame that ends in `ending`.

    Omit stacks that have no such frame.
    """
    found = []
    for frames, cost in stacks:
        place = next((n for n, frame in enumerate(frames) if frame.endswith(ending)), None)
        if place is not None:
            found.append((frames[place + 1 :], cost))
    return found


def microseconds(value: float) -> str:
    """Return a number of microseconds as text with a suitable unit."""
    return units.seconds(value / 1e6)


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Exported(NamedTuple):
    trace: Trace
    conv2d: Operator
    modules: NamedModules


@lesson.step(
    "The trace",
    predict=Choice.ranges(
        "The profiler writes the events of one training step to a file. How many events does the file contain?",
        (100, 5_000),
        units.count,
    ),
    expected="b",
    wrong_reasoning="Students think of the few lines in the program. But one training step runs many operators, and "
    "each of them is an event.",
    fast={"images": 2},
)
def the_trace(images: int = 16) -> Exported:
    """`export_chrome_trace` writes a file with the name, thread, beginning and duration of each event.

    The network has 24 layers. Each layer calls one operator or a few operators, in both passes. Most of these operators
    call others.

    The option `with_modules=True` should add the module to which each operator belongs. `named_modules` profiles a
    second training step with this option, and counts the events in the file that name a module.
    """
    training = Training(images)
    cpu = [ProfilerActivity.CPU]
    with profile(activities=cpu) as found:
        training.step()
    folder = state_folder() / "11_torch_profiler"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "train.json"
    found.export_chrome_trace(str(file))
    rows = operators(found.key_averages())
    return Exported(
        read_trace(file),
        next(each for each in rows if each.name == "aten::conv2d"),
        named_modules(training.step),
    )


FILE_AGREES = the_trace.claim(
    "file-agrees",
    "the times of the `aten::conv2d` events in the file add up to the time in the table, within 1 %",
    at_least=0.99,
    at_most=1.01,
    unit=PART,
)
NO_EVENT_ACROSS = the_trace.claim(
    "no-event-across",
    "no event begins during a different event of its thread and ends after that event",
    equals=0,
    unit=followed("pairs"),
)
ARROWS = the_trace.claim(
    "arrows",
    "in the file, arrows connect operators of the forward pass with operators of the backward pass",
    at_least=1,
    unit=units.count,
)
MODULES_NEED_SCRIPT = the_trace.claim(
    "modules-need-script",
    "with the option `with_modules`, the file contains no name of a module of this network",
    equals=0,
    unit=followed("names"),
)


@the_trace.explain
def _(page: Page, found: Exported) -> None:
    trace, kept = found.trace, state_folder() / "11_torch_profiler" / "train.json"
    calls = [each for each in trace.events if each.name == "aten::conv2d"]
    inside = trace.within(calls[0])
    lines = [f"{'  ' * depth_of(each, inside)}{each.name}  {microseconds(each.duration_us)}" for each in inside]
    page.output("\n".join(lines), caption="The first convolution, and all events during this convolution")
    page.reveal(
        len(trace.events),
        f"The file contains {units.some(len(trace.events), 'event')} and {units.some(trace.arrows, 'arrow')}.",
    )
    page.settle(FILE_AGREES, sum(each.duration_us for each in calls) / 1e6 / found.conv2d.total_s)
    page.settle(NO_EVENT_ACROSS, trace.partial_overlaps())
    page.settle(ARROWS, trace.arrows)
    names, warning = found.modules
    if names is None:
        page.skip(MODULES_NEED_SCRIPT, "needs the option `with_modules`, which this torch no longer has")
    else:
        page.settle(MODULES_NEED_SCRIPT, names)
    page.say(
        "The file does not name the caller of an event. But on one thread, a called operator ends before its caller.",
        "The time of an event therefore contains the times of the events that it called. The own time of an event is",
        "its duration without the durations of the events that it called directly. In task (a) of the exercise, you",
        "compute own times.",
    )
    page.say(
        MODULES_NEED_SCRIPT.words(
            held="According to its documentation, `with_modules` works only for TorchScript models.",
            refuted="In this run the file contains names of modules. The documentation of `with_modules` requires a"
            " TorchScript model.",
            unclear="This run does not show whether `with_modules` adds the names of modules to the file.",
        ),
        "Stacks contain the modules too, as step 5 shows.",
        deprecation_text(warning),
    )
    page.say(
        f"To look at the trace, go to ui.perfetto.dev, choose “Open trace file”, and select {kept}. The keys W and S",
        "zoom, A and D move, and a click on an event shows its arrows. Your browser does not upload the file. Chrome",
        "and Chromium also have an older viewer, at chrome://tracing.",
    )


def deprecation_text(warning: str) -> str:
    """Return a sentence about torch's warning that `with_modules` is deprecated, or "" if there was no warning."""
    if not warning:
        return ""
    return f"The installed torch, {TORCH}, warns that `with_modules` is deprecated. torch 2.13 did not warn."


def depth_of(event: Event, events: tuple[Event, ...]) -> int:
    """Return how many of the earlier events in `events` contain `event` within their time."""
    return sum(
        each.start_us <= event.start_us and event.end_us <= each.end_us and each is not event
        for each in events[: events.index(event)]
    )


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Scheduled(NamedTuple):
    plan: list[str]
    traces: list[Trace]
    names: list[str]
    by_hand: int
    kept: int
    convolutions: list[int]
    board: TensorBoard


@lesson.given
class Handler:
    def __init__(self, folder: str) -> None:
        self.convolutions: list[int] = []
        self.write = tensorboard_trace_handler(
            folder, worker_name="rank0", use_gzip=True
        )  # fmt: skip

    def __call__(self, found: profile) -> None:
        for row in operators(found.key_averages()):
            if row.name == "aten::conv2d":
                self.convolutions.append(row.calls)
        self.write(found)


@lesson.given
def events_by_hand(call: Callable[[], object]) -> int:
    found = profile(activities=[ProfilerActivity.CPU])
    found.start()
    call()
    found.stop()
    return len(found.events())


@lesson.step(
    "Recording some of the steps",
    predict=Choice(
        "Which steps, counted from 0, does `schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2)` record?",
        {"a": "1 to 4", "b": "3 and 4, 7 and 8", "c": "2 to 4, 6 to 8", "d": "2 and 3, 6 and 7"},
    ),
    expected="b",
    wrong_reasoning="Students start the warm-up again, or forget `skip_first`. But the first step is skipped only "
    "once, and then each cycle has a wait, a warm-up and two recorded steps.",
    fast={"images": 2, "tensorboard": 0},
)
def not_all_of_it(images: int = 16, tensorboard: int = 1) -> Scheduled:
    """A trace of a training that takes hours would be too large. `schedule` selects the training steps to record.

    The program calls the profiler's method `step` at the end of each training step. In the `warmup` steps, the profiler
    prepares to record, and keeps no events. At the end of each cycle, the profiler calls `on_trace_ready` with itself
    as argument. Our `Handler` stores a number from the table, and then calls the function from
    `tensorboard_trace_handler`. This function writes a file whose name begins with `worker_name`. The methods `start`
    and `stop` begin and end a profile, as a `with` block does. `look_at` starts TensorBoard on the folder, if it is
    installed, and reads its pages.
    """
    training = Training(images)
    plan = schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2)
    with TemporaryDirectory() as folder:
        handler = Handler(folder)
        with profile(
            activities=[ProfilerActivity.CPU],
            schedule=plan,
            on_trace_ready=handler,
            acc_events=True,
        ) as found:
            for _ in range(11):
                training.step()
                found.step()
        files = sorted(Path(folder).iterdir())
        traces = [read_trace(file) for file in files]
        board = look_at(folder, start=bool(tensorboard))
    return Scheduled(
        [plan(step).name for step in range(11)],
        traces,
        [file.name for file in files],
        events_by_hand(training.step),
        len([1 for each in found.events() if "Step*" in each.name]),
        handler.convolutions,
        board,
    )


AS_PLANNED = not_all_of_it.claim(
    "as-planned", "the traces contain exactly the steps that the schedule selects", equals=True, unit=yes_no
)
A_FILE_A_CYCLE = not_all_of_it.claim(
    "a-file-a-cycle", "the handler writes one file in each of the two cycles", equals=2, unit=followed("files")
)
NAMED_AFTER_WORKER = not_all_of_it.claim(
    "named-after-worker", "each file name begins with `rank0.`, as `worker_name` says", equals=True, unit=yes_no
)
HANDLER_SEES_ALL = not_all_of_it.claim(
    "handler-sees-all",
    "in the second call of our handler, the table contains twice as many convolutions as in the first call",
    equals=2,
    unit=units.ratio,
)
ALL_KEPT = not_all_of_it.claim(
    "all-kept", "with `acc_events`, the profiler keeps the steps of both cycles in memory", unit=followed("steps")
)
BOARD_SHOWS = not_all_of_it.claim(
    "board-shows",
    "TensorBoard's plugin shows the worker `rank0`, with at least three views",
    at_least=3,
    unit=followed("views"),
)
BY_HAND = not_all_of_it.claim(
    "by-hand",
    "a profile between `start` and `stop` contains at least 100 events of a training step",
    at_least=100,
    unit=followed("events"),
)


@not_all_of_it.explain
def _(page: Page, found: Scheduled) -> None:
    recorded = [steps_in(trace) for trace in found.traces]
    rows = [
        (step, action, "".join(f"file {n}" for n, steps in enumerate(recorded, start=1) if step in steps))
        for step, action in enumerate(found.plan)
    ]
    page.table(Table.of("The action of the schedule in each step", {"step": None, "action": None, "file": None}, rows))
    planned = [step for step, action in enumerate(found.plan) if action.startswith("RECORD")]
    all_steps = [step for steps in recorded for step in steps]
    letters = {(1, 2, 3, 4): "a", (3, 4, 7, 8): "b", (2, 3, 4, 6, 7, 8): "c", (2, 3, 6, 7): "d"}
    page.reveal(letters.get(tuple(all_steps)))
    page.settle(AS_PLANNED, all_steps == planned)
    page.settle(A_FILE_A_CYCLE, len(found.names))
    page.settle(NAMED_AFTER_WORKER, all(name.startswith("rank0.") for name in found.names))
    seen = found.convolutions
    page.settle(HANDLER_SEES_ALL, seen[-1] / seen[0] if seen else 0)
    page.settle(ALL_KEPT, found.kept, at_least=len(planned), at_most=len(planned))
    board = found.board
    if board.reason:
        page.skip(BOARD_SHOWS, board.reason)
    else:
        page.settle(BOARD_SHOWS, len(board.views) if "rank0" in board.workers else 0)
    page.settle(BY_HAND, found.by_hand)
    page.say(
        "Without `acc_events`, each cycle discards the events of the previous cycle, and `key_averages` contains only",
        f"the events of the last cycle. The name of the first file is {next(iter(found.names), 'missing')}. Each file",
        "is a compressed trace of the same kind as in step 6. Perfetto can open the compressed file.",
    )
    page.say(
        "A handler of your own can print a table, stop the program, or delete old files.",
        f"Our handler counted these calls of `aten::conv2d`: {' and '.join(map(str, seen)) or 'none'}.",
        "If a program runs in several processes, give each process its own `worker_name`. Otherwise the name contains",
        "the name of the machine and the number of the process.",
    )
    page.table(Table.of("The views of TensorBoard's plugin, and their replacements", PLUGIN_HEADS, PLUGIN))
    if board.reason:
        show_recorded(page)
    page.say(
        board_text(board),
        "PyTorch's documentation calls the plugin (`torch-tb-profiler`) deprecated, and recommends Perfetto. To write",
        "the files, you need neither TensorBoard nor the plugin. To start TensorBoard yourself on a folder of traces,",
        "run `python -m tensorboard.main --logdir FOLDER`, and open the printed address in a browser.",
    )


def board_text(board: TensorBoard) -> str:
    """Return sentences about the TensorBoard server that this run started, or how to install TensorBoard."""
    if board.reason:
        return "The command `python -m pip install 'fairclock[tensorboard]'` installs TensorBoard and its plugin."
    return (
        f"TensorBoard {version_of('tensorboard')} with version {version_of('torch-tb-profiler')} of the plugin sent a"
        f" page of {units.size(board.page_bytes)}. Its workers are {', '.join(board.workers) or 'missing'}. Its views"
        f" are {', '.join(board.views) or 'missing'}."
    )


def show_recorded(page: Page) -> None:
    """Show the recorded pages of TensorBoard's plugin: the first rows of their tables, and their pictures."""
    pages = json.loads((lesson.recorded / "pages.json").read_text(encoding="utf-8"))
    machine = pages["environment"]
    page.say(
        "This run did not start TensorBoard, so these pages are recorded. TensorBoard",
        f"{pages['board']} with version {pages['plugin']} of the plugin showed them on {pages['date']}, with torch",
        f"{machine['torch']} and Python {machine['python']}, on the CPU {machine['cpu']} with",
        f"{units.some(machine['cores'], 'core')}. One process made the traces of all views except “Distributed”. For"
        " this view, two processes trained copies of the network, and exchanged their gradients with gloo. The view"
        " “Module” comes from a second profile, with stacks, which takes longer. Do not compare times of different"
        " views. The times only show what the pages contain, because other programs may have run during the record.",
    )
    for view in pages["views"]:
        if view["rows"]:
            page.table(Table.of(f"{view['name']}: {view['title']}", dict.fromkeys(view["heads"]), view["rows"]))
        if view["note"]:
            page.say(f"{view['name']}: {view['note']}")
        if view["picture"]:
            page.photo(lesson.recorded / view["picture"], caption=f"{view['name']}: a picture of the page")
    trace = lesson.recorded / "trace.json.gz"
    if trace.is_file():
        page.say(f"Perfetto can open the recorded trace behind these pages: {trace}")
    page.say(
        "The plugin draws its charts with a library that it loads from a public host. The record was made without this",
        "host, so the pictures contain other drawings of the same numbers. A line below each drawing marks it.",
    )


def steps_in(trace: Trace) -> list[int]:
    """Return the numbers of the training steps that a trace contains, in ascending order."""
    found = (re.fullmatch(r"ProfilerStep#(\d+)", each.name) for each in trace.events)
    return sorted({int(match[1]) for match in found if match})


PLUGIN_HEADS = {"view": None, "content": None, "replacement": None}
PLUGIN = (
    ("overview", "parts of a step, advice", "record_function and Perfetto"),
    ("operator", "own and total time by operator", "key_averages().table()"),
    ("kernel", "kernels of a GPU, its utilization", "the same table, with CUDA in activities"),
    ("trace", "every event in time", "Perfetto"),
    ("memory", "allocations over time", "profile_memory; on a GPU pytorch.org/memory_viz"),
    ("module", "time by module", "stacks and their flame graph"),
    ("distributed", "waiting for other machines", "Holistic Trace Analysis"),
)


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Pictures(Dataset[tuple[Tensor, Tensor]]):
    def __init__(self, training: Training, folder: str) -> None:
        self.x, self.kinds = training.x, training.kinds
        self.folder = folder

    def __len__(self) -> int:
        return len(self.kinds)

    def __getitem__(self, place: int) -> tuple[Tensor, Tensor]:
        with record_function("load"):
            time.sleep(0.005)
            return self.x[place], self.kinds[place]

    def __getitems__(self, places: list[int]) -> list[tuple[Tensor, Tensor]]:
        worker = get_worker_info()
        if worker is None:
            return [self[place] for place in places]
        name = f"worker{worker.id}"
        write = tensorboard_trace_handler(self.folder, name)
        cpu = [ProfilerActivity.CPU]
        with profile(activities=cpu, on_trace_ready=write):
            return [self[place] for place in places]


@lesson.given
class Run(NamedTuple):
    loads: int
    waits_s: list[float]


@lesson.given
def train(training: Training, loader: DataLoader[tuple[Tensor, Tensor]]) -> Run:
    cpu = [ProfilerActivity.CPU]
    quiet = warnings.catch_warnings(action="ignore")
    with quiet, profile(activities=cpu) as found:
        for x, kinds in loader:
            training.x, training.kinds = x, kinds
            training.step()
    names = [each.name for each in found.events()]
    waits = [
        each for each in found.events() if "DataLoader" in each.name
    ]  # fmt: skip
    waits_s = [each.cpu_time_total / 1e6 for each in waits]
    return Run(names.count("load"), waits_s)


@lesson.given
class Loaded(NamedTuple):
    images: int
    alone: Run
    helped: Run
    files: dict[str, int]


@lesson.step(
    "A DataLoader with workers",
    predict=Choice(
        "A `DataLoader` with `num_workers=2` starts two processes, which load the images. The training runs in a "
        "`with profile` block. How does this profile show the loading?",
        {
            "a": "as one event for each image",
            "b": "only as time in which the training waits for batches",
            "c": "not at all",
        },
    ),
    expected="b",
    wrong_reasoning="Students think that the profiler sees the whole program. But it records only its own process, "
    "and the workers are other processes.",
    fast={"images": 24, "batch": 4},
)
def loading(images: int = 96, batch: int = 16) -> Loaded:
    """Without workers, a `DataLoader` loads a batch when the training needs it. Workers load batches in advance.

    We train the ResNet in batches: first without workers, then with two workers. Our dataset needs 5 ms to load an
    image, and records this under the name `load`. In a worker, it also profiles each batch and writes a trace file.
    Each worker starts as a copy of this process (`fork`), so this code also runs in a notebook.
    """
    training = Training(images)
    with TemporaryDirectory() as folder:
        pictures = Pictures(training, folder)
        alone = train(training, DataLoader(pictures, batch))
        two = DataLoader(
            pictures,
            batch,
            num_workers=2,
            multiprocessing_context="fork",
        )
        helped = train(training, two)
        files = {}
        for file in sorted(Path(folder).iterdir()):
            names = [each.name for each in read_trace(file).events]
            files[file.name] = names.count("load")
    return Loaded(images, alone, helped, files)


SEEN_ALONE = loading.claim(
    "loads-seen", "without workers, the profile contains one event `load` per image", unit=followed("events")
)
UNSEEN_IN_WORKERS = loading.claim(
    "loads-of-workers-unseen",
    "with two workers, the profile of the training contains no event `load`",
    equals=0,
    unit=followed("events"),
)
SEEN_IN_FILES = loading.claim(
    "loads-in-files", "the files of the two workers contain one event `load` per image", unit=followed("events")
)
WAITS_LESS = loading.claim(
    "waits-less",
    "after the first batch, the training without workers waits at least 1.2 times as long for a batch",
    at_least=1.2,
    unit=units.ratio,
)


@loading.explain
def _(page: Page, found: Loaded) -> None:
    alone, helped, files = found.alone, found.helped, found.files
    later = [mean(run.waits_s[1:-1]) for run in (alone, helped)]
    rows = [
        ("none", alone.loads, alone.waits_s[0], later[0]),
        ("two", helped.loads, helped.waits_s[0], later[1]),
    ]
    heads = {
        "workers": None,
        "events `load`": None,
        "wait for the first batch": units.seconds,
        "mean wait for a later batch": units.seconds,
    }
    page.table(Table.of(f"The profile of the training on {found.images} images", heads, rows))
    by_worker = [(name, *batches_of(files, name)) for name in sorted({each.partition(".")[0] for each in files})]
    page.table(
        Table.of("The files that the workers wrote", {"name": None, "files": None, "events `load`": None}, by_worker)
    )
    page.reveal("a" if helped.loads else "b" if helped.waits_s else "c")
    page.settle(SEEN_ALONE, alone.loads, at_least=found.images, at_most=found.images)
    page.settle(UNSEEN_IN_WORKERS, helped.loads)
    page.settle(SEEN_IN_FILES, sum(files.values()), at_least=found.images, at_most=found.images)
    page.settle(WAITS_LESS, later[0] / later[1])
    page.say(
        UNSEEN_IN_WORKERS.words(
            held="A profile contains only events of its own process. The training shows the time that it waits for a"
            " batch, as an event whose name begins with `enumerate(DataLoader)`.",
            refuted="In this run the profile of the training also contains events of the workers.",
            unclear="",
        ),
        "To see why loading is slow, profile inside the worker, or set `num_workers=0` for the profile.",
    )
    page.say(
        WAITS_LESS.words(
            held="The workers load the next batches while the network trains, so the training waits less.",
            refuted="In this run the workers save little time. Other programs may keep the cores busy.",
            unclear="",
        ),
        "The first batch also waits for the start of the workers.",
    )


def batches_of(files: dict[str, int], worker: str) -> tuple[int, int]:
    """Return the number of files that a worker wrote, and the number of events `load` in these files."""
    loads = [count for name, count in files.items() if name.startswith(f"{worker}.")]
    return len(loads), sum(loads)


# ── 9 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def every_thread() -> _ExperimentalConfig | None:
    """Return an `experimental_config` that also records other threads, or None if this torch has no such setting."""
    try:
        return _ExperimentalConfig(profile_all_threads=True)
    except TypeError:
        return None


@lesson.given
def products(number: int) -> None:
    x = torch.ones(64, 64)
    for _ in range(number):
        torch.mm(x, x)


@lesson.given
def by_thread(found: profile) -> dict[int, int]:
    calls = [each for each in found.events() if each.name == "aten::mm"]
    return dict(Counter(each.thread for each in calls))


@lesson.given
class Threads(NamedTuple):
    here: int
    second: int
    default: dict[int, int]
    every: dict[int, int] | None


@lesson.step(
    "Two threads",
    predict=Choice(
        "In a `with profile` block, this thread computes 5 products. A second thread, which starts in the block, "
        "computes 10 products. How many products does the profile contain?",
        {"a": "5", "b": "10", "c": "15"},
    ),
    expected="a",
    wrong_reasoning="Students think that the block records everything that runs in it. But by default, the profiler "
    "records only the thread that started it.",
)
def two_threads(here: int = 5, second: int = 10) -> Threads:
    """Many programs use several Python threads, for example to prepare data while the network trains.

    The profiler asks torch to report the beginning and the end of each operator. By default, torch keeps this request
    in variables of the thread that made it. A new Python thread begins without such requests.

    We profile two threads twice: with the default settings, and with the object that `every_thread()` returns. This
    object is `_ExperimentalConfig(profile_all_threads=True)`.
    """
    found = []
    for config in (None, every_thread()):
        with profile(
            activities=[ProfilerActivity.CPU],
            experimental_config=config,
        ) as profiled:
            helper = Thread(target=products, args=(second,))
            helper.start()
            products(here)
            helper.join()
        found.append(by_thread(profiled))
    known = every_thread() is not None
    return Threads(here, second, found[0], found[1] if known else None)


ONLY_ONE_THREAD = two_threads.claim(
    "only-one-thread",
    "by default, the profile contains only products of the thread that started the profiler",
    equals=True,
    unit=yes_no,
)
ALL_THREADS = two_threads.claim(
    "all-threads",
    "with `profile_all_threads`, the profile contains the products of both threads, each with the number of its thread",
    equals=True,
    unit=yes_no,
)


@two_threads.explain
def _(page: Page, found: Threads) -> None:
    default, every = found.default, found.every
    kinds = {"default": default} | ({} if every is None else {"profile_all_threads": every})
    rows = [(kind, thread, calls) for kind, threads in kinds.items() for thread, calls in sorted(threads.items())]
    heads = {"setting": None, "number of the thread": None, "products": None}
    page.table(Table.of("Events `aten::mm` in the profile", heads, rows))
    letters = {found.here: "a", found.second: "b", found.here + found.second: "c"}
    page.reveal(letters.get(sum(default.values())))
    page.settle(ONLY_ONE_THREAD, sorted(default.values()) == [found.here])
    if every is None:
        page.skip(ALL_THREADS, "needs the setting `profile_all_threads`, which this torch does not have")
    else:
        page.settle(ALL_THREADS, sorted(every.values()) == sorted([found.here, found.second]))
    page.say(
        ONLY_ONE_THREAD.words(
            held="By default, the profiler does not record a second Python thread, and prints no warning about it.",
            refuted="In this run the profile also contains products of the second thread, or misses some products.",
            unclear="",
        ),
        "If an operator seems to be missing in a profile, check which thread calls it.",
    )


# ── 10 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def many_small(operations: int) -> None:
    x = torch.ones(8)
    for _ in range(operations):
        x = torch.add(x, 1.0)


@lesson.given
def few_large(products: int) -> None:
    x = torch.ones(512, 512)
    for _ in range(products):
        x = torch.mm(x, x)


@lesson.given
def plain(work: Callable[[], object]) -> float:
    began_s = time.process_time()
    work()
    return time.process_time() - began_s


@lesson.given
def watched(work: Callable[[], object]) -> float:
    with profile(activities=[ProfilerActivity.CPU]):
        return plain(work)


@lesson.given
def stacked(work: Callable[[], object]) -> float:
    with profile(
        activities=[ProfilerActivity.CPU],
        record_shapes=True,
        with_stack=True,
        experimental_config=keep_stacks(),
    ):
        return plain(work)


@lesson.given
def adding_up(work: Callable[[], object]) -> tuple[float, float]:
    with profile(activities=[ProfilerActivity.CPU]) as found:
        during_s = plain(work)
    return during_s, plain(found.key_averages)


@lesson.given
class Times(NamedTuple):
    plain_s: float
    profiled_s: float
    stacked_s: float


@lesson.given
class Costs(NamedTuple):
    turns: list[dict[str, Times]]
    during_s: float
    afterwards_s: float


@lesson.step(
    "The cost of profiling",
    predict=Choice(
        "For three programs, we divide the time with the profiler by the time without the profiler. For which program "
        "is this ratio the largest?",
        {"a": "many small operators", "b": "a training step", "c": "a few large products"},
    ),
    expected="a",
    wrong_reasoning="Students think that the longest program is slowed the most. But the profiler adds a fixed cost "
    "to each operator, so small operators are slowed the most.",
    fast={"turns": 5, "operations": 300, "images": 2},
)
def what_asking_changes(
    turns: int = 9,
    operations: int = 1500,
    images: int = 16,
) -> Costs:
    """The profiler runs at the beginning and the end of each operator. This takes time for each call of an operator.

    We measure the CPU time of three programs: without the profiler, with the profiler, and with the profiler recording
    shapes and stacks. We also measure `key_averages`, which adds up the events after the `with` block.
    """
    training = Training(images)
    work: dict[str, Callable[[], object]] = {
        "many small": lambda: many_small(operations),
        "training": training.step,
        "few large": lambda: few_large(2),
    }
    ways = (plain, watched, stacked)
    found: list[dict[str, Times]] = [{} for _ in range(turns)]
    for turn in found:
        for kind, call in work.items():
            turn[kind] = Times(*(way(call) for way in ways))
    return Costs(found, *adding_up(lambda: many_small(300)))


SMALL_ARE_SLOWED = what_asking_changes.claim(
    "small-are-slowed",
    "small operators take more than 1.1 times as long with the profiler as without",
    at_least=1.1,
    unit=units.ratio,
)
LARGE_HARDLY = what_asking_changes.claim(
    "large-hardly",
    "large products take less than 1.25 times as long with the profiler as without",
    at_most=1.25,
    unit=units.ratio,
)
STACKS_COST_MORE = what_asking_changes.claim(
    "stacks-cost-more",
    "small operators take longer if the profiler also records shapes and stacks",
    at_least=1,
    unit=units.ratio,
)
PAID_AFTERWARDS = what_asking_changes.claim(
    "paid-afterwards",
    "adding up the events of a profile takes longer than the profiled operators took",
    at_least=1,
    unit=units.ratio,
)


@what_asking_changes.explain
def _(page: Page, found: Costs) -> None:
    turns = found.turns
    typical = {kind: Times(*map(median, zip(*(turn[kind] for turn in turns), strict=True))) for kind in turns[0]}
    rows = [
        (kind, each.plain_s, each.profiled_s / each.plain_s, each.stacked_s / each.plain_s)
        for kind, each in typical.items()
    ]
    heads = {
        "program": None,
        "without": units.seconds,
        "with ÷ without": units.ratio,
        "with shapes and stacks ÷ without": units.ratio,
    }
    title = f"CPU time without and with the profiler, median of {len(turns)} repetitions"
    page.table(Table.of(title, heads, rows))
    slowed = {kind: Interval.median(turn[kind].profiled_s / turn[kind].plain_s for turn in turns) for kind in typical}
    page.reveal(
        largest(dict(zip("abc", slowed.values(), strict=True))),
        f"The largest ratio in the column “with ÷ without” is {units.ratio(max(row[2] for row in rows))}.",
    )
    training = slowed["training"]
    page.settle(SMALL_ARE_SLOWED, slowed["many small"])
    page.settle(LARGE_HARDLY, slowed["few large"])
    small = [turn["many small"] for turn in turns]
    page.settle(STACKS_COST_MORE, Interval.median(each.stacked_s / each.profiled_s for each in small))
    page.settle(PAID_AFTERWARDS, found.afterwards_s / found.during_s)
    low, high = PROFILED_TIMES
    page.say(
        training.compare(at_least=1).words(
            held=f"In this run, a training step took {units.ratio(training.middle)} as long with the profiler as"
            " without.",
            refuted="In this run, a training step took no longer with the profiler than without.",
            unclear="This run does not show that the profiler slows a training step.",
        ),
        f"On another machine, the published measurements of this course found {units.number(low)}× to",
        f"{units.ratio(high)} for other programs.",
        f"Adding up the events of 300 operators took {units.seconds(found.afterwards_s)}. The table does not include",
        "this time.",
    )
    page.say(
        "Do not use a profile to measure how long a part of a program takes, especially with many small operators. Use",
        "the profile to find the expensive part, and measure its time without the profiler.",
    )


lesson.key_points = (
    "Own time shows which operators do the work. Total time shows which calls lead to the work.",
    "A row of the table contains many calls. Group by shapes to separate the calls, and by stacks to find the callers.",
    "Record a few training steps after a warm-up. Then measure your change without the profiler.",
)
lesson.references = (
    "PyTorch, “torch.profiler”: docs.pytorch.org/docs/stable/profiler.html",
    "Perfetto, a viewer of traces: ui.perfetto.dev, perfetto.dev/docs",
    "Gregg: The Flame Graph (Communications of the ACM 2016)",
)

if __name__ == "__main__":
    main(lesson)
