"""Lesson 11: where the time goes inside the framework, and what the top row of a table does not say.

Read it top to bottom: it is the screen's own order. A small ResNet and a module with a mask are profiled, on one
thread, and looked at from one side after the other.
"""

import math
import re
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import torch
import torch._inductor  # the first profile imports it in any case: here no step has to wait for it
from torch import Tensor, nn
from torch.profiler import (
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

from harness import plots, units
from harness.profiles import (
    Event,
    NamedModules,
    Operator,
    Trace,
    columns,
    flame_graph,
    flame_graph_svg,
    fold_up,
    keep_stacks,
    named_modules,
    operators,
    placed,
    read_stacks,
    read_trace,
    widest,
    without,
)
from harness.state import state_folder
from harness.tables import Table
from lessons.engine import Choice, Guess, Lesson, Page, Standing, middle
from lessons.engine.published import GUIDE_MASK_GB, GUIDE_MASK_S, PROFILED_TIMES
from lessons.engine.words import followed, yes_no

lesson = Lesson(
    __file__,
    title="Inside the framework",
    objective="Afterwards you can profile a PyTorch program, and get from the row at the top to the line that asked.",
    minutes=20,
)

PART = units.percent
"""Shows a part of a whole."""

TORCH = torch.__version__.partition("+")[0]
"""This torch's release."""


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
        "`aten::conv2d` and what it calls have a good part of the time. How much of that is its own?",
        {"a": "nearly all", "b": "about half", "c": "next to nothing"},
    ),
    claims={
        "it-learned": "the loss at the end is less than four fifths of the first",
        "own-adds-up": "own times add up to the whole, to 1 %",
        "total-does-not": "total times add up to more than twice the whole",
        "top-does-little": "of the row with most total time, less than half is its own",
        "conv2d-passes-on": "of the total time of `aten::conv2d`, less than a fifth is its own",
        "wall-clock": "a part of the program that only sleeps has all of that as `CPU total`",
    },
    fast={"steps": 4, "images": 8},
)
def the_top_row(steps: int = 8, images: int = 16) -> Profiled:
    """`torch.profiler.profile` notes each operator's beginning and end while its block runs.

    A small ResNet learns to tell images of four colours apart. `record_function` gives a part of the program a name of
    its own. `key_averages` adds up what has one name; its `table` is sorted by what you ask for. `activities` says what
    to watch: CPU here; CUDA would add the kernels of a GPU.
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


@the_top_row.observe
def explain_top(page: Page, found: Profiled) -> None:
    shown = columns(found.printed, "Name", "Self CPU", "CPU total", "# of Calls")
    page.output(shown, caption="The first rows of the table, by total time, some of its columns")
    bars = [(each.name, each.own_s) for each in found.rows[:8]]
    caption = "The same profile by own time"
    page.output(plots.bars(bars, width=30, unit=units.seconds), caption=caption)
    conv2d = named(found.rows, "aten::conv2d")
    share = conv2d.own_s / conv2d.total_s
    page.reveal("a" if share > 0.75 else "b" if share > 0.25 else "c", f"{PART(share)}.")
    page.claim("it-learned", found.losses[-1] / found.losses[0], high=0.8, unit=PART)
    whole_s = found.whole_s
    page.claim("own-adds-up", sum(each.own_s for each in found.rows) / whole_s, 0.99, 1.01, unit=PART)
    page.claim("total-does-not", sum(each.total_s for each in found.rows) / whole_s, low=2.0, unit=units.ratio)
    top = max(found.rows, key=lambda each: each.total_s)
    settled = page.claim("top-does-little", top.own_s / top.total_s, high=0.5, unit=PART, remark=top.name)
    page.claim("conv2d-passes-on", share, high=0.2, unit=PART)
    wall = page.claim("wall-clock", found.nap_s, low=0.045, unit=units.seconds)
    activities = ", ".join(sorted(each.name for each in supported_activities()))
    page.say(
        "`Self CPU` is an operator's own time, `CPU total` that of what it called as well.",
        f"At the top by total stands `{top.name}`,"
        + (" which mostly calls others:" if settled.standing is Standing.HELD else " which works itself, for once:"),
        "by total time you find the way down. The work is where the own time is. But an operator is still no cause: it",
        "has no line, and one name stands for all of its calls.",
        "`CPU` is where it ran, and no CPU time: the clock is that of the wall, and a sleep is in it."
        if wall.standing is Standing.HELD
        else "A sleep is not in these times: they are time on a CPU.",
        f"This PyTorch can watch: {activities}.",
    )


def named(rows: tuple[Operator, ...], name: str) -> Operator:
    """Return the row of that name: that with most own time, where several have it."""
    return next(each for each in rows if each.name == name)


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "Which convolution?",
    predict=Guess(
        "Ten convolutions of different shapes. How many times the worst's work a second does the best one do?", "times"
    ),
    claims={
        "one-row-is-many": "by shapes, the row of `aten::conv2d` becomes more than five",
        "shapes-add-up": "their times add up to that of the one row",
        "flops-by-hand": "the profiler's FLOPs are those worked out by hand, to 0.1 %",
        "work-is-not-time": "the best shape does more than 1.5 times the worst one's work a second",
    },
    fast={"steps": 1, "images": 4},
)
def which_convolution(
    steps: int = 6,
    images: int = 16,
) -> tuple[Operator, tuple[Operator, ...]]:
    """With `record_shapes`, `key_averages(group_by_input_shape=True)` has a row for each shape of the inputs.

    With `with_flops`, products and convolutions also say how many operations they are, estimated from these shapes.
    That makes a rate of a time, and a rate can be compared.
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
    return next(each for each in together if each.name == name), shapes


@which_convolution.observe
def explain_shapes(page: Page, found: tuple[Operator, tuple[Operator, ...]]) -> None:
    together, shapes = found
    ranked = sorted(shapes, key=lambda each: -each.total_s)
    rates = [each.flops / each.total_s for each in ranked]
    rows = [
        (each.shapes, each.calls, each.total_s / each.calls, each.flops / each.calls / 1e6, rate / 1e9)
        for each, rate in zip(ranked, rates, strict=True)
    ]
    heads = {"images × weights": None, "calls": None, "a call": units.seconds, "MFLOP a call": None, "GFLOP/s": None}
    page.table(Table.of("aten::conv2d, by the shapes of its inputs", heads, rows))
    apart = max(rates) / min(rates)
    page.reveal(apart, f"{units.number(max(rates) / 1e9)} GFLOP/s against {units.number(min(rates) / 1e9)}.")
    page.claim("one-row-is-many", len(shapes), low=6, unit=followed("rows"))
    added = sum(each.total_s for each in shapes) / together.total_s
    page.claim("shapes-add-up", added, 0.999, 1.001, unit=PART)
    by_hand = sum(each.calls * flops_by_hand(each.shapes) for each in shapes)
    page.claim("flops-by-hand", together.flops / by_hand, 0.999, 1.001, unit=units.ratio, remark="as many")
    page.claim("work-is-not-time", apart, low=1.5, unit=units.ratio)
    page.say(
        "A row of the table is a mean over calls that may have nothing in common but their name. And work is not time:",
        "where a shape has few operations for each byte that it moves, or each call, it waits for something else. An",
        "operation count says what has to be done; a low rate, where there may be something to gain.",
    )


def flops_by_hand(shapes: str) -> float:
    """Return twice the multiplications of a convolution of this network, from the shapes of its images and weights.

    Those that take fewer places than they are given have a stride of two: their number of channels doubles.
    """
    (images, channels, height, width), (outputs, _, rows, cols) = (
        [int(n) for n in re.findall(r"\d+", each)] for each in shapes.split("×")[:2]
    )
    stride = 2 if outputs == 2 * channels else 1
    return 2 * images * (height // stride) * (width // stride) * outputs * channels * rows * cols


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────


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
    "Who asked for it?",
    predict=Choice(
        "A linear layer, a comparison with 4 million numbers, and the number of those that exceed. What takes longest?",
        {"a": "the layer", "b": "the comparison", "c": "finding where the mask is true", "d": "something else"},
    ),
    claims={
        "nonzero-dominates": "`aten::nonzero` has more than half of all own time",
        "nonzero-takes-memory": "it allocates more than 3 times what the mask itself takes",
        "stack-names-the-line": "its stack leads to the function that asked for it",
        "same-count": "a sum of the mask is the same number",
        "sum-is-faster": "without the profiler, the module with a sum takes less than three quarters of the time",
    },
    fast={"turns": 3, "numbers": 500_000},
)
def who_asked(turns: int = 9, numbers: int = 4_000_000) -> Masked:
    """`profile_memory` adds what operators allocate; `with_stack` where they were called from.

    `top_level_events_only` shows what nothing else called: your own names, if you gave some.
    `keep_stacks()` is how stacks are had from this PyTorch: `_ExperimentalConfig(verbose=True)`, in one place.
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


@who_asked.observe
def explain_mask(page: Page, found: Masked) -> None:
    page.output(columns(found.labels, "Name", "CPU total", "CPU Mem"), caption="Top-level events only: your own names")
    page.output(columns(found.printed, "Name", "Self CPU", "Self CPU Mem"), caption="By own memory")
    named_ = [each for each in found.rows if each.name.startswith("aten::")]
    nonzero = named(found.rows, "aten::nonzero")
    page.output("\n".join(("aten::nonzero", *map(called_from, nonzero.stack))), caption="Where it was called from")
    whole_s = sum(each.own_s for each in named_)
    letters = {"aten::addmm": "a", "aten::gt": "b", "aten::nonzero": "c"}
    page.reveal(letters.get(named_[0].name, "d"), f"`{named_[0].name}`, {PART(named_[0].own_s / whole_s)}.")
    part = median(found.shares)
    of_all(page, "nonzero-dominates", found.shares, low=0.5, unit=PART)
    page.claim("nonzero-takes-memory", nonzero.own_bytes / found.mask_bytes, low=3, unit=units.ratio)
    asked = any(frame.endswith(": count") for frame in nonzero.stack)
    page.claim("stack-names-the-line", int(asked), 1, 1, unit=yes_no)
    page.claim("same-count", found.counts[1] - found.counts[0], 0, 0, unit=followed("apart"))
    of_all(page, "sum-is-faster", found.gains, low=4 / 3)
    own_s, whole_of_guide_s = GUIDE_MASK_S
    page.say(
        "`nonzero` does its work well: it writes down where each true value is, as whole numbers of 8 bytes. Nobody",
        "needed these: only how many there are was asked. The row at the top is where the time goes; the cause is the",
        "line below it in the stack, that could have asked for less. (`[memory]` was freed outside of any label.)",
    )
    page.say(
        "A public guide to this profiler has a module of the same kind: there, `aten::nonzero` takes",
        f"{units.seconds(own_s, 4)} of {units.seconds(whole_of_guide_s, 4)}, and {GUIDE_MASK_GB} GB.",
        f"Here it is {PART(part)} of the operators' time, and {units.size(nonzero.own_bytes)}.",
    )


def of_all(
    page: Page,
    id_: str,
    values: list[float],
    low: float = -math.inf,
    high: float = math.inf,
    unit: Callable[[float], str] = units.ratio,
) -> None:
    """Settle a claim about the median of several turns, whose interval is the doubt."""
    measured, error = middle(values)
    page.claim(id_, measured, low, high, error=error, unit=unit, shown=unit(median(values)))


def called_from(frame: str) -> str:
    """Return a frame of a stack without addresses, on a line of its own."""
    return f"  ← {re.sub(r' of .* at 0x[0-9a-f]+', '', frame)}"


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
class Stacks(NamedTuple):
    unasked: str
    exported: str
    rows: tuple[Operator, ...]


@lesson.step(
    "A flame graph",
    predict=Choice(
        "The backward pass is started by one line, `loss.backward()`. Whose time will that be, in the stacks?",
        {"a": "that line's", "b": "that of the lines of the forward pass", "c": "it has no line"},
    ),
    claims={
        "empty-unasked": "without `keep_stacks()`, `export_stacks` writes an empty file",
        "stacks-fold": "the file has more than 1.5 times as many lines as there are different stacks",
        "hardly-any-lost": "the stacks have more than four fifths of all own time",
        "modules-are-frames": "each of the ten convolutions is a frame of its own",
        "backward-is-forward": "the frames above `backward` have less than half of the backward pass's time",
    },
    fast={"steps": 1, "images": 4},
)
def a_flame_graph(steps: int = 3, images: int = 16) -> Stacks:
    """`export_stacks` writes each stack on a line, and the microseconds of own time after it.

    A flame graph draws them: a frame is as wide as all that was measured while it was open, and stands on its caller.
    The modules of a network are frames too. From left to right, frames are in order of name, not of time.
    """
    training = Training(images)
    folder = state_folder() / "11_torch_profiler"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "stacks.txt"
    texts = []
    for config in (None, keep_stacks()):
        with profile(
            activities=[ProfilerActivity.CPU],
            with_stack=True,
            experimental_config=config,
        ) as found:
            for _ in range(steps):
                training.step()
        found.export_stacks(str(file), "self_cpu_time_total")
        texts.append(file.read_text(encoding="utf-8"))
    return Stacks(texts[0], texts[1], operators(found.key_averages()))


@a_flame_graph.observe
def explain_flames(page: Page, found: Stacks) -> None:
    stacks = read_stacks(found.exported)
    tree = fold_up(stacks)
    picture = fold_up(since(without(stacks, PLUMBING), ": step"), name="step")
    title = "A few steps of training: time by stack"
    svg = flame_graph_svg(picture, title=title, unit=microseconds) if picture.total else ""
    if svg:
        page.drawing(flame_graph(picture, 76), svg, name="flames", caption=title)
    kept = state_folder() / "11_torch_profiler" / "flames.svg"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(svg, encoding="utf-8")
    backward_s = named(found.rows, "backward").total_s
    above_s = max((each.frame.total for each in placed(tree) if "backward" in each.frame.name), default=0.0) / 1e6
    page.reveal("a" if above_s > backward_s / 2 else "b", f"The frames above it have {PART(above_s / backward_s)}.")
    empty = page.claim("empty-unasked", len(found.unasked), 0, 0, unit=followed("characters"))
    different = {frames for frames, _ in stacks}
    page.claim("stacks-fold", len(stacks) / max(len(different), 1), low=1.5, unit=units.ratio)
    whole_us = 1e6 * sum(each.own_s for each in found.rows)
    page.claim("hardly-any-lost", tree.total / whole_us, low=0.8, unit=PART)
    convolutions = {frame for frames in different for frame in frames if frame.startswith("nn.Module: Conv2d")}
    page.claim("modules-are-frames", len(convolutions), 10, 10, unit=followed("frames"))
    there = page.claim("backward-is-forward", above_s / backward_s, high=0.5, unit=PART)
    most = next(iter(widest(tree)), "nothing")
    page.say(
        "An operator of the backward pass was called by nobody's line: C++ goes back along what the forward pass has",
        "left.",
        "The profiler puts it where its forward operator was called from: a wide frame of the forward pass holds both"
        " ways, and `backward` looks cheap."
        if there.standing is Standing.HELD
        else "Here its time stands above the line that started it.",
        f"Most time of its own has `{most}`. A label's own time stands where `record_function` was entered.",
    )
    page.say(
        "Without `keep_stacks()` the file was empty, and nobody said so: look at a file before you believe a picture."
        if empty.standing is Standing.HELD
        else "Without `keep_stacks()` the file has stacks as well: this PyTorch no longer needs it.",
        "It cuts microseconds off to whole ones, too: what takes less than one is not in it.",
        f"Open {kept} in a browser: a box under the mouse says what it is.",
    )


PLUMBING = r"module\.py\(\d+\): _(wrapped_)?call_impl$|/profiler\.py\("
"""Frames that stand between any two modules, or are the profiler's own; left out of the picture, not of the sums."""


def since(stacks: list[tuple[tuple[str, ...], float]], ending: str) -> list[tuple[tuple[str, ...], float]]:
    """Return what stands on the outermost frame whose name ends so; stacks without it are left out."""
    found = []
    for frames, cost in stacks:
        place = next((n for n, frame in enumerate(frames) if frame.endswith(ending)), None)
        if place is not None:
            found.append((frames[place + 1 :], cost))
    return found


def microseconds(value: float) -> str:
    """Return microseconds as people read them."""
    return units.seconds(value / 1e6)


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
class Exported(NamedTuple):
    trace: Trace
    conv2d: Operator
    modules: NamedModules


@lesson.step(
    "The trace",
    predict=Guess("One step of training is written to a file, event by event. How many are there?", "events"),
    claims={
        "file-agrees": "what the file has of `aten::conv2d` adds up to its row in the table",
        "no-event-across": "no event begins within another one of its thread and ends after it",
        "arrows": "arrows lead from forward operators to those of the backward pass",
        "modules-need-script": "the option `with_modules` names no module of this network",
    },
    fast={"images": 2},
)
def the_trace(images: int = 16) -> Exported:
    """`export_chrome_trace` writes every event: name, thread, beginning and duration. Nothing is added up.

    The option `with_modules=True` promises the module that each operator belongs to. `named_modules` takes a second
    step with it, and counts the events of the file that name a module.
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


@the_trace.observe
def explain_trace(page: Page, found: Exported) -> None:
    trace, kept = found.trace, state_folder() / "11_torch_profiler" / "train.json"
    calls = [each for each in trace.events if each.name == "aten::conv2d"]
    inside = trace.within(calls[0])
    lines = [f"{'  ' * depth_of(each, inside)}{each.name}  {microseconds(each.duration_us)}" for each in inside]
    page.output("\n".join(lines), caption="The first convolution, and all that lies within its time")
    page.reveal(len(trace.events), f"And {units.count(trace.arrows)} arrows.")
    added_s = sum(each.duration_us for each in calls) / 1e6
    page.claim("file-agrees", added_s / found.conv2d.total_s, 0.99, 1.01, unit=PART)
    page.claim("no-event-across", trace.entangled(), 0, 0, unit=followed("pairs"))
    page.claim("arrows", trace.arrows, low=1, unit=units.count)
    names, warning = found.modules
    if names is None:
        page.skip("modules-need-script", "the option `with_modules`, which this torch no longer has")
    else:
        page.claim("modules-need-script", names, 0, 0, unit=followed("names"))
    page.say(
        "The file has no tree. But on one thread calls return in order, so what lies within an event's time was called",
        "by it, and own time is what those leave: that is how the table comes about, and you will write it yourself.",
        "`with_modules` names modules here; its documentation says it does for TorchScript models alone."
        if names
        else "`with_modules` works for TorchScript models alone, so says its documentation.",
        "Stacks name modules, as step 4 shows.",
        f"This torch, {TORCH}, warns that the option is deprecated; torch 2.13 did not." if warning else "",
    )
    page.say(
        f"Look at it: go to ui.perfetto.dev, choose “Open trace file”, and take {kept}. W and S zoom, A and D move, a",
        "click on an event shows its arrows. The file is read by your browser and sent nowhere. Chrome and Chromium",
        "have an older viewer within them, at chrome://tracing.",
    )


def depth_of(event: Event, events: tuple[Event, ...]) -> int:
    """Return within how many others an event lies."""
    return sum(
        each.start_us <= event.start_us and event.end_us <= each.end_us and each is not event
        for each in events[: events.index(event)]
    )


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
class Scheduled(NamedTuple):
    plan: list[str]
    traces: list[Trace]
    names: list[str]
    by_hand: int
    kept: int


@lesson.step(
    "Not all of it",
    predict=Choice(
        "`schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2)`: which steps, from 0, are recorded?",
        {"a": "1 to 4", "b": "3 and 4, 7 and 8", "c": "2 to 4, 6 to 8", "d": "2 and 3, 6 and 7"},
    ),
    claims={
        "as-planned": "the traces hold the steps that the plan says, and no others",
        "a-file-a-cycle": "the handler is called once a cycle, and writes a file each time",
        "all-kept": "with `acc_events`, the profile itself keeps the steps of both cycles",
        "by-hand": "between `start` and `stop` everything is recorded",
    },
    fast={"images": 2},
)
def not_all_of_it(images: int = 16) -> Scheduled:
    """A training of hours is not traced whole. `schedule` says which steps are, and `step` tells where one ends.

    In `warmup` the profiler runs and throws away what it sees. When a cycle is complete, `on_trace_ready` is called;
    `tensorboard_trace_handler` makes a function for it that writes a file. `start` and `stop` do the same as `with`.
    """
    training = Training(images)
    plan = schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2)
    with TemporaryDirectory() as folder:
        write = tensorboard_trace_handler(folder, use_gzip=True)
        with profile(
            activities=[ProfilerActivity.CPU],
            schedule=plan,
            on_trace_ready=write,
            acc_events=True,
        ) as found:
            for _ in range(11):
                training.step()
                found.step()
        files = sorted(Path(folder).iterdir())
        traces = [read_trace(file) for file in files]
    by_hand = profile(activities=[ProfilerActivity.CPU])
    by_hand.start()
    training.step()
    by_hand.stop()
    return Scheduled(
        [plan(step).name for step in range(11)],
        traces,
        [file.name for file in files],
        len(by_hand.events()),
        len([1 for each in found.events() if "Step*" in each.name]),
    )


@not_all_of_it.observe
def explain_schedule(page: Page, found: Scheduled) -> None:
    recorded = [steps_in(trace) for trace in found.traces]
    rows = [
        (step, action, "".join(f"file {n}" for n, steps in enumerate(recorded, start=1) if step in steps))
        for step, action in enumerate(found.plan)
    ]
    page.table(Table.of("What the plan says of each step", {"step": None, "action": None, "written to": None}, rows))
    planned = [step for step, action in enumerate(found.plan) if action.startswith("RECORD")]
    all_steps = [step for steps in recorded for step in steps]
    letters = {(1, 2, 3, 4): "a", (3, 4, 7, 8): "b", (2, 3, 4, 6, 7, 8): "c", (2, 3, 6, 7): "d"}
    page.reveal(letters.get(tuple(all_steps)))
    page.claim("as-planned", int(all_steps == planned), 1, 1, unit=yes_no)
    page.claim("a-file-a-cycle", len(found.names), 2, 2, unit=followed("files"))
    page.claim("all-kept", found.kept, len(planned), len(planned), unit=followed("steps"))
    page.claim("by-hand", found.by_hand, low=100, unit=followed("events"))
    page.say(
        "Without `acc_events`, each cycle throws away what the one before saw, and `key_averages` speaks of the last",
        f"alone. The file of a cycle, here {next(iter(found.names), 'none')}, is a trace as in the step before,",
        "compressed: Perfetto opens it as it is.",
    )
    page.table(Table.of("What TensorBoard's plugin made of such files, and what does now", PLUGIN_HEADS, PLUGIN))
    page.say(
        "The plugin (`torch-tb-profiler`) read a folder of these files. PyTorch's documentation calls it deprecated,",
        "and names Perfetto. TensorBoard itself lives on: the extra `fairclock[tensorboard]` brings it, for curves of",
        "losses. The handler needs neither: it writes a file.",
    )


def steps_in(trace: Trace) -> list[int]:
    """Return the numbers of the steps that a trace holds."""
    found = (re.fullmatch(r"ProfilerStep#(\d+)", each.name) for each in trace.events)
    return sorted({int(match[1]) for match in found if match})


PLUGIN_HEADS = {"view": None, "what it showed": None, "now": None}
PLUGIN = (
    ("overview", "parts of a step, advice", "record_function, and your eyes"),
    ("operator", "own and total time by operator", "key_averages().table()"),
    ("kernel", "kernels of a GPU, how full it was", "the same, with CUDA among the activities"),
    ("trace", "every event in time", "Perfetto"),
    ("memory", "allocations over time", "profile_memory; on a GPU pytorch.org/memory_viz"),
    ("module", "time by module", "stacks and their flame graph"),
    ("distributed", "waiting for other machines", "Holistic Trace Analysis"),
)


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────


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
class Costs(NamedTuple):
    turns: list[dict[str, list[float]]]
    during_s: float
    afterwards_s: float


@lesson.step(
    "What asking changes",
    predict=Choice(
        "Which of these takes longest, compared with its time without the profiler?",
        {"a": "thousands of small operators", "b": "a step of training", "c": "a few large products"},
    ),
    claims={
        "small-are-slowed": "with the profiler, small operators take more than 1.1 times as long",
        "large-hardly": "large products take less than 1.25 times as long",
        "stacks-cost-more": "with shapes and stacks, small operators take longer still",
        "paid-afterwards": "adding up takes longer than what was profiled",
    },
    fast={"turns": 5, "operations": 300, "images": 2},
)
def what_asking_changes(
    turns: int = 9,
    operations: int = 1500,
    images: int = 16,
) -> Costs:
    """The profiler is called at the beginning and the end of each operator: a price by the call, whatever it does.

    Three kinds of work, each without it, with it, and with shapes and stacks as well; in CPU seconds. What comes when
    the block is over, and you ask for a table, is measured by itself.
    """
    training = Training(images)
    work: dict[str, Callable[[], object]] = {
        "many small": lambda: many_small(operations),
        "training": training.step,
        "few large": lambda: few_large(2),
    }
    ways = (plain, watched, stacked)
    found: list[dict[str, list[float]]] = [{} for _ in range(turns)]
    for turn in found:
        for kind, call in work.items():
            turn[kind] = [way(call) for way in ways]
    return Costs(found, *adding_up(lambda: many_small(300)))


@what_asking_changes.observe
def explain_asking(page: Page, found: Costs) -> None:
    kinds, turns = tuple(found.turns[0]), found.turns
    typical = {kind: [median(turn[kind][way] for turn in turns) for way in range(3)] for kind in kinds}
    rows = [(kind, took[0], took[1] / took[0], took[2] / took[0]) for kind, took in typical.items()]
    heads = {"work": None, "without": units.seconds, "with it": units.ratio, "with shapes and stacks": units.ratio}
    page.table(Table.of(f"CPU time, the median of {len(turns)} turns", heads, rows))
    dearest = max(rows, key=lambda row: row[2])
    page.reveal("abc"[kinds.index(dearest[0])], f"{units.ratio(dearest[2])}.")
    small, large = ([turn[kind] for turn in turns] for kind in ("many small", "few large"))
    of_all(page, "small-are-slowed", [profiled_s / plain_s for plain_s, profiled_s, _ in small], low=1.1)
    of_all(page, "large-hardly", [profiled_s / plain_s for plain_s, profiled_s, _ in large], high=1.25)
    of_all(page, "stacks-cost-more", [stacked_s / profiled_s for _, profiled_s, stacked_s in small], low=1.0)
    after = found.afterwards_s / found.during_s
    page.claim("paid-afterwards", after, low=1.0, unit=units.ratio)
    low, high = PROFILED_TIMES
    page.say(
        f"Here, a step of training took {units.ratio(rows[1][2])} its time; in measurements published with this",
        f"curriculum it was {units.number(low)} to {units.ratio(high)} for other programs, on another machine.",
        f"The table of 300 operators took {units.seconds(found.afterwards_s)} afterwards. That is in no row of it.",
    )
    page.say(
        "So do not read from a profile how long something takes, and least of all of something small: read where to",
        "look, and time it without.",
    )


lesson.take_along(
    "By total time you find the way down, by own time the work; the cause is the line that asked for it.",
    "One row is many calls: group by shapes to tell them apart, by stacks to learn who called.",
    "Trace a few steps, after a warm-up. Then time what you changed without the profiler.",
)
lesson.read_on(
    "PyTorch, “torch.profiler”: docs.pytorch.org/docs/stable/profiler.html",
    "Perfetto, a viewer of traces: ui.perfetto.dev, perfetto.dev/docs",
    "Gregg: The Flame Graph (Communications of the ACM 2016)",
)

if __name__ == "__main__":
    lesson.main()
