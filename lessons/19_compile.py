"""Lesson 19: find graph breaks and recompilations of `torch.compile`, repair them, and export a model.

The steps appear on the screen in the order of this file. Most steps only capture graphs, and need no C++ compiler. The
steps that compile keep their results in the user's cache folder.
"""

import io
import logging
import math
import random
from collections.abc import Callable
from functools import partial
from logging import Logger
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.export import Dim, export
from torch.profiler import ProfilerActivity, profile
from torch.utils.benchmark import Timer

from harness.compilers.capture import Captured, captured, refusal, verdict, watch_recompilations
from harness.compilers.inductor import cannot_compile, kernel_of, prepare, torchscript_support, unsupported
from harness.compilers.new_processes import Starts, calls_to_break_even, starts
from harness.paired.duel import Duel, duel
from harness.profiles.kineto import Operator, operators
from harness.rendering import units
from harness.rendering.tables import Row, Table
from lessons.engine import Choice, Interval, Lesson, Page
from lessons.engine.command import main
from lessons.engine.words import followed, things, yes_no

lesson = Lesson(
    __file__,
    objective="You can find and repair graph breaks and recompilations, and export a model for other sizes.",
)


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def normalized(x: Tensor, log: Logger) -> Tensor:
    y = torch.relu(x * 2)
    log.info("mean %s", y.mean())
    if y.sum() > 100:
        y = y / y.sum()
    return y.cos()


@lesson.given
class Ended(NamedTuple):
    found: Captured
    same: bool


@lesson.step(
    "Where a graph ends",
    predict=Choice(
        "`normalized` writes a line to a log, and its branch depends on the numbers in a tensor. torch cannot capture"
        " these two lines. Into how many graphs does torch split the function?",
        {"a": "1", "b": "2", "c": "3"},
    ),
    expected="c",
    wrong_reasoning="Students count the two lines that torch cannot capture. But each of them ends a graph, and the "
    "operations around them are in the graphs between.",
)
def where_a_graph_ends() -> Ended | None:
    """`torch.compile` captures torch's operations in a graph until it meets code that a graph cannot contain.

    This is a *graph break*. The graph ends, Python runs this piece of code, and torch begins a new graph after it.
    `captured` calls `torch._dynamo.explain(normalized)(x, log)`, which returns the graphs and the reasons of the
    breaks. With `backend="eager"`, torch captures graphs and checks guards, but compiles no machine code.
    """
    if unsupported():
        return None
    x, log = torch.ones(200), logging.getLogger("train")
    found = captured(normalized, x, log)
    compiled = torch.compile(normalized, backend="eager")
    same = torch.equal(compiled(x, log), normalized(x, log))
    return Ended(found, same)


TWO_BREAKS = where_a_graph_ends.claim(
    "two-breaks", "torch splits `normalized` into 3 graphs", equals=3, unit=things("graph")
)
STILL_RIGHT = where_a_graph_ends.claim(
    "still-right", "with graph breaks, the compiled function returns the same numbers", equals=True, unit=yes_no
)


@where_a_graph_ends.explain
def _(page: Page, ended: Ended | None) -> None:
    if ended is None:
        page.skip_step(unsupported(), shows="the graphs and graph breaks of a function")
        return
    found = ended.found
    rows: list[Row] = [
        (line, reason.strip().splitlines()[0]) for line, reason in zip(found.lines, found.breaks, strict=True)
    ]
    page.table(Table.of("The graph breaks of `normalized`", dict.fromkeys(("line", "torch's reason")), rows))
    page.reveal({1: "a", 2: "b", 3: "c"}.get(found.graphs), f"torch captures {units.some(found.graphs, 'graph')}.")
    page.settle(TWO_BREAKS, found.graphs)
    page.settle(STILL_RIGHT, ended.same)
    page.say(
        "The compiler sees one graph at a time. At a break, it cannot fuse the operations before and after the break,",
        "and the results between them need memory. Each graph also checks its own guards at each call.",
        STILL_RIGHT.words(
            held="A break causes no error and no wrong result, so you notice it only if you look for it.",
            refuted="In this run, the compiled function returns other numbers.",
            unclear="This run does not show whether the compiled function returns the same numbers.",
        ),
        "`TORCH_LOGS=graph_breaks python train.py` prints each break of a program with its line.",
    )


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def without_branch(x: Tensor, log: Logger) -> Tensor:
    y = torch.relu(x * 2)
    log.info("mean %s", y.mean())
    y = torch.where(y.sum() > 100, y / y.sum(), y)
    return y.cos()


@lesson.given
def whole(x: Tensor) -> tuple[Tensor, Tensor]:
    y = torch.relu(x * 2)
    mean = y.mean()
    y = torch.where(y.sum() > 100, y / y.sum(), y)
    return y.cos(), mean


@lesson.given
class Repaired(NamedTuple):
    one_left: Captured
    none_left: Captured
    same: bool
    refused: str
    accepted: str


@lesson.step(
    "Breaks repaired, and breaks forbidden",
    predict=Choice(
        "We replace the branch by `torch.where`, and leave the log where it is. Into how many graphs does torch split"
        " the function now?",
        {"a": "1", "b": "2", "c": "3"},
    ),
    expected="b",
    wrong_reasoning="Students think that one repair is enough. But the log still ends a graph, so torch captures a "
    "graph before it and a graph after it.",
)
def breaks_repaired() -> Repaired | None:
    """`torch.where` computes both sides and selects one of them, number by number. A graph can contain it.

    For the log, the function `whole` returns the mean, and the caller writes the line. `refusal` returns the error of
    a call, or an empty text. With `fullgraph=True`, torch may not split the function.
    """
    if unsupported():
        return None
    x, log = torch.ones(200), logging.getLogger("train")
    one_left = captured(without_branch, x, log)
    none_left = captured(whole, x)
    same = torch.equal(whole(x)[0], normalized(x, log))
    strict = partial(torch.compile, backend="eager", fullgraph=True)
    refused = refusal(lambda: strict(normalized)(x, log))
    accepted = refusal(lambda: strict(whole)(x))
    return Repaired(one_left, none_left, same, refused, accepted)


ONE_BREAK_LEFT = breaks_repaired.claim(
    "one-break-left", "without the branch, torch captures 2 graphs", equals=2, unit=things("graph")
)
NO_BREAK_LEFT = breaks_repaired.claim(
    "no-break-left", "without the branch and the log, torch captures 1 graph", equals=1, unit=things("graph")
)
SAME_NUMBERS = breaks_repaired.claim(
    "same-numbers", "`whole` returns the same numbers as `normalized`", equals=True, unit=yes_no
)
FULL_REFUSES = breaks_repaired.claim(
    "full-refuses",
    "`fullgraph=True` raises an error for `normalized`, but not for `whole`",
    equals=True,
    unit=yes_no,
)


@breaks_repaired.explain
def _(page: Page, found: Repaired | None) -> None:
    if found is None:
        page.skip_step(unsupported(), shows="how to repair graph breaks, and how to forbid them")
        return
    graphs = found.one_left.graphs
    page.reveal({1: "a", 2: "b", 3: "c"}.get(graphs), f"torch captures {units.some(graphs, 'graph')}.")
    page.settle(ONE_BREAK_LEFT, graphs)
    page.settle(NO_BREAK_LEFT, found.none_left.graphs)
    page.settle(SAME_NUMBERS, found.same)
    page.settle(FULL_REFUSES, bool(found.refused) and not found.accepted)
    if found.refused:
        page.output(narrowed(found.refused), caption="The error of `fullgraph=True` for `normalized`")
    page.say(
        FULL_REFUSES.words(
            held="Set `fullgraph=True` while you develop. Then a later change cannot cause a break without an error.",
            refuted="In this run, `fullgraph=True` does not distinguish the two functions.",
            unclear="This run does not show what `fullgraph=True` does.",
        ),
        "`torch.where` computes both sides, so use it if both sides are cheap. `torch.cond` runs only one side.",
        "Common causes of breaks are `.item()`, `float(tensor)`, `print`, and calls of C libraries other than NumPy.",
    )


def narrowed(text: str, width: int = 76) -> str:
    """Return `text` with each line cut to at most `width` characters. A cut line ends in an ellipsis."""
    return "\n".join(line if len(line) <= width else f"{line[: width - 1]}…" for line in text.strip().splitlines())


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def log_in_loop(x: Tensor, log: Logger) -> Tensor:
    for weight in (0.5, 1.0, 2.0):
        x = torch.tanh(x * weight)
        log.info("mean %s", x.mean())
    return x


@lesson.given
def log_after_loop(x: Tensor, log: Logger) -> Tensor:
    means = []
    for weight in (0.5, 1.0, 2.0):
        x = torch.tanh(x * weight)
        means.append(x.mean())
    log.info("means %s", means)
    return x


@lesson.given
class Looped(NamedTuple):
    inside: Captured
    after: Captured


@lesson.step(
    "A graph break in a loop",
    predict=Choice(
        "`log_in_loop` runs three layers in a loop, and logs a mean after each layer. After a break in a loop, torch"
        " cannot continue in the middle of the loop. How many graphs does torch capture?",
        {"a": "none", "b": "1", "c": "4"},
    ),
    expected="a",
    wrong_reasoning="Students count one graph for each layer. But torch cannot continue in the middle of a loop, so "
    "Python runs the whole function.",
)
def break_in_a_loop() -> Looped | None:
    """Torch follows a loop iteration by iteration. The graph then contains the operations of all iterations.

    The first version logs a mean in each iteration. A second version collects the means in a list, and logs them after
    the loop.
    """
    if unsupported():
        return None
    x, log = torch.ones(200), logging.getLogger("train")
    inside = captured(log_in_loop, x, log)
    return Looped(inside, captured(log_after_loop, x, log))


LOOP_SKIPPED = break_in_a_loop.claim(
    "loop-skipped", "torch captures no graph of `log_in_loop`", equals=0, unit=things("graph")
)
AFTER_IS_WHOLE = break_in_a_loop.claim(
    "after-is-whole", "torch captures all layers of `log_after_loop` in 1 graph", equals=1, unit=things("graph")
)


@break_in_a_loop.explain
def _(page: Page, found: Looped | None) -> None:
    if found is None:
        page.skip_step(unsupported(), shows="what a graph break in a loop does")
        return
    rows: list[Row] = [
        (name, each.graphs, each.operations)
        for name, each in (("log_in_loop", found.inside), ("log_after_loop", found.after))
    ]
    heads = {"function": None, "graphs": units.count, "operations in graphs": units.count}
    page.table(Table.of("The same three layers", heads, rows))
    graphs = found.inside.graphs
    page.reveal({0: "a", 1: "b", 4: "c"}.get(graphs), f"torch captures {units.some(graphs, 'graph')}.")
    page.settle(LOOP_SKIPPED, graphs)
    page.settle(AFTER_IS_WHOLE, found.after.graphs)
    page.say(
        LOOP_SKIPPED.words(
            held="torch gives up the whole function, and Python runs it as if you had not compiled it. torch can still"
            " compile the functions that the loop calls.",
            refuted="In this run, torch captures graphs in spite of the break.",
            unclear="This run does not show what torch does after a break in a loop.",
        ),
        AFTER_IS_WHOLE.words(
            held="So move a break out of the loop, even if you cannot remove it.",
            refuted="In this run, the second version does not have exactly one graph.",
            unclear="This run does not show how many graphs the second version has.",
        ),
    )


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Graphs:
    def __init__(self) -> None:
        self.compiled = 0
        self.called = 0

    def __call__(self, graph: torch.fx.GraphModule, _: list[Tensor]) -> Callable[..., object]:
        self.compiled += 1

        def run(*inputs: object) -> object:
            self.called += 1
            return graph.forward(*inputs)

        return run


@lesson.given
def scaled(x: Tensor, factor: float = 2.0) -> Tensor:
    return torch.tanh(x * factor)


@lesson.given
class Change(NamedTuple):
    name: str
    graphs: int
    reason: str


@lesson.step(
    "Which change needs a new graph?",
    predict=Choice(
        "torch compiles `scaled` for a matrix of 8 × 8 numbers. Which later call uses the same graph again?",
        {
            "a": "with other numbers in the matrix",
            "b": "with the transposed matrix",
            "c": "with another factor",
            "d": "under `torch.no_grad`",
        },
    ),
    expected="a",
    wrong_reasoning="Students think that other numbers need another graph, as another size does. But no guard looks "
    "at the numbers in a tensor.",
)
def new_graph() -> list[Change] | None:
    """A guard compares a property of the call with its value at the time of compiling. A graph fits if all guards hold.

    If no graph fits, torch compiles the function again.

    `Graphs` is a backend. It counts how many graphs torch compiles, and how often torch calls them.
    `watch_recompilations` collects the messages of `TORCH_LOGS=recompiles`, with the guard that failed. We print the
    guard of the first graph.
    """
    if unsupported():
        return None
    torch.compiler.reset()
    graphs, x = Graphs(), torch.rand(8, 8)
    compiled = torch.compile(scaled, backend=graphs)
    calls: dict[str, Callable[[], object]] = {
        "other numbers": lambda: compiled(x + 1),
        "another dtype": lambda: compiled(x.double()),
        "transposed": lambda: compiled(x.t()),
        "with gradients": lambda: compiled(x.clone().requires_grad_()),
        "another factor": lambda: compiled(x, 3.0),
        "under no_grad": lambda: torch.no_grad()(compiled)(x),
    }
    compiled(x)
    changes = []
    for name, call in calls.items():
        before = graphs.compiled
        with watch_recompilations() as found:
            call()
        again = found.recompilations
        reason = again[0].reasons.get(0, "") if again else ""
        changes.append(Change(name, graphs.compiled - before, reason))
    return changes


NUMBERS_ARE_FREE = new_graph.claim(
    "numbers-are-free", "other numbers in the tensor need no new graph", equals=0, unit=things("graph")
)
OTHERS_COMPILE = new_graph.claim(
    "others-compile", "each of the five other changes needs one new graph", equals=5, unit=followed("of 5")
)


@new_graph.explain
def _(page: Page, found: list[Change] | None) -> None:
    if found is None:
        page.skip_step(unsupported(), shows="which changes of a call make torch compile again, and why")
        return
    rows: list[Row] = [(each.name, each.graphs, narrowed(each.reason, 60)) for each in found]
    heads = {"change": None, "new graphs": units.count, "the guard of the first graph": None}
    page.table(Table.of("Calls of one compiled function, in order", heads, rows))
    numbers, *others = found
    page.settle(NUMBERS_ARE_FREE, numbers.graphs)
    page.settle(OTHERS_COMPILE, sum(each.graphs == 1 for each in others))
    page.reveal(NUMBERS_ARE_FREE.answer(held="a", refuted=""))
    page.say(
        NUMBERS_ARE_FREE.words(
            held="No guard looks at the numbers in a tensor, because the graph does not depend on them.",
            refuted="In this run, torch compiled a graph for other numbers in the tensor.",
            unclear="This run does not show whether other numbers need a new graph.",
        ),
        "A Python number such as `factor` is part of the graph at first, so it has a guard. After the second value,",
        "torch tries to make a graph for all values. If a number changes often, pass it as a tensor.",
        "A matrix can have the same size and other strides, and the compiled loop depends on the strides.",
    )


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.n = 0

    def forward(self, x: Tensor) -> Tensor:
        self.n += 1
        return x * self.n


@lesson.given
class Buffered(nn.Module):
    n: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("n", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self.n += 1
        return x * self.n


@lesson.given
class Limited(NamedTuple):
    name: str
    compiled: int
    called: int
    reason: str
    warnings: list[str]


@lesson.given
class AtTheLimit(NamedTuple):
    limit: int
    modules: list[Limited]


@lesson.step(
    "When torch stops compiling",
    predict=Choice(
        "`Counting` counts its calls in the attribute `n`, a Python integer. By default, torch keeps at most 8"
        " graphs of a function. How many of 20 calls run a compiled graph?",
        {"a": "8", "b": "12", "c": "20"},
    ),
    expected="a",
    wrong_reasoning="Students think that each call runs some graph, because the code is compiled. But each graph fits "
    "only one value of `n`, and torch keeps only 8 graphs.",
)
def at_the_limit() -> AtTheLimit | None:
    """If a module uses one of its integer attributes, torch puts a guard on the value, such as `self.n == 3`.

    If a function already has `torch._dynamo.config.recompile_limit` graphs, torch compiles no further graph. The module
    `Buffered` keeps the same number in a tensor.
    """
    if unsupported():
        return None
    modules = []
    for module in (Counting(), Buffered()):
        torch.compiler.reset()
        graphs = Graphs()
        compiled = torch.compile(module, backend=graphs)
        with watch_recompilations() as found:
            for _ in range(20):
                compiled(torch.ones(4))
        again = found.recompilations
        modules.append(
            Limited(
                type(module).__name__,
                graphs.compiled,
                graphs.called,
                again[0].reason if again else "",
                found.limits,
            )
        )
    limit = torch._dynamo.config.recompile_limit  # noqa: SLF001
    return AtTheLimit(limit, modules)


STOPS_AT_LIMIT = at_the_limit.claim(
    "stops-at-limit", "torch compiles as many graphs of `Counting` as the limit allows", equals=8, unit=things("graph")
)
THEN_NO_GRAPH = at_the_limit.claim(
    "then-no-graph", "after that, no call of `Counting` runs a compiled graph", equals=0, unit=things("call")
)
TENSOR_NEEDS_ONE = at_the_limit.claim(
    "tensor-needs-one", "all calls of `Buffered` run the same graph", equals=1, unit=things("graph")
)


@at_the_limit.explain
def _(page: Page, found: AtTheLimit | None) -> None:
    if found is None:
        page.skip_step(unsupported(), shows="what happens if a function needs too many graphs")
        return
    rows: list[Row] = [(each.name, each.compiled, each.called, narrowed(each.reason, 30)) for each in found.modules]
    heads = {"module": None, "graphs": units.count, "calls of graphs": units.count, "first guard that failed": None}
    page.table(Table.of("20 calls of each module", heads, rows))
    counting, buffered = found.modules
    page.reveal({8: "a", 12: "b", 20: "c"}.get(counting.called))
    page.settle(STOPS_AT_LIMIT, counting.compiled, at_least=found.limit, at_most=found.limit)
    page.settle(THEN_NO_GRAPH, counting.called - counting.compiled)
    page.settle(TENSOR_NEEDS_ONE, buffered.compiled)
    page.say(
        THEN_NO_GRAPH.words(
            held="Each graph fits only one value of `n`, so each graph runs once. After the limit, Python runs the"
            " module without a graph.",
            refuted="In this run, some graphs ran more than once.",
            unclear="This run does not show which calls ran a graph.",
        ),
        "torch prints one warning about the limit, and the program continues. A benchmark of many sizes can therefore",
        "measure the plain function by mistake.",
        TENSOR_NEEDS_ONE.words(
            held="No guard looks at the numbers in a tensor, so `Buffered` needs only one graph.",
            refuted="In this run, `Buffered` needs more than one graph.",
            unclear="This run does not show how many graphs `Buffered` needs.",
        ),
    )
    if counting.warnings:
        page.output(counting.warnings[0], caption="From torch's warning about `Counting`")


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def row_sums(x: Tensor) -> Tensor:
    return (x * 2).sum(1)


@lesson.given
def in_pairs(x: Tensor) -> Tensor:
    return x.reshape(2, 16, 3).sum(1)


@lesson.given
def graphs_of(marked: bool, dynamic: bool | None) -> int:
    torch.compiler.reset()
    graphs = Graphs()
    compiled = torch.compile(row_sums, backend=graphs, dynamic=dynamic)
    for rows in (32, 32, 20, 7, 1):
        x = torch.ones(rows, 3)
        if marked:
            torch._dynamo.mark_dynamic(x, 0)  # noqa: SLF001
        compiled(x)
    return graphs.compiled


@lesson.given
class Sized(NamedTuple):
    default: int
    marked: int
    dynamic: int
    static: int
    refused: str


@lesson.step(
    "Batches of different sizes",
    predict=Choice(
        "Most batches have 32 rows. The last batch of an epoch has 20 rows. Later calls have 7 rows and 1 row. torch"
        " compiles special graphs for the sizes 0 and 1. How many graphs does torch compile by default?",
        {"a": "2", "b": "3", "c": "4"},
    ),
    expected="b",
    wrong_reasoning="Students count one graph for each size, or one for all sizes. But after the second size, one "
    "graph fits all further sizes except 0 and 1.",
)
def batch_sizes() -> Sized | None:
    """At first, torch compiles a graph for exactly the size of the first call (*static shape*).

    If a size changes, torch makes the size of the next graph free (*dynamic shape*). `mark_dynamic(x, 0)` makes the
    first dimension of x free from the start. `dynamic=True` makes all sizes free, and `dynamic=False` makes none free.
    The function `in_pairs` needs exactly 32 rows.
    """
    if unsupported():
        return None
    x = torch.ones(32, 3)
    torch._dynamo.mark_dynamic(x, 0)  # noqa: SLF001
    compiled = torch.compile(in_pairs, backend="eager")
    return Sized(
        default=graphs_of(marked=False, dynamic=None),
        marked=graphs_of(marked=True, dynamic=None),
        dynamic=graphs_of(marked=False, dynamic=True),
        static=graphs_of(marked=False, dynamic=False),
        refused=refusal(lambda: compiled(x)),
    )


LEARNS_THE_SIZE = batch_sizes.claim(
    "learns-the-size", "by default, torch compiles 3 graphs for these sizes", equals=3, unit=things("graph")
)
MARK_SAVES_ONE = batch_sizes.claim(
    "mark-saves-one", "with `mark_dynamic`, torch compiles one graph less", equals=1, unit=followed("less")
)
STATIC_NEEDS_EACH = batch_sizes.claim(
    "static-needs-each", "with `dynamic=False`, torch compiles a graph for each of the 4 sizes", equals=4,
    unit=things("graph"),
)  # fmt: skip
MARK_REFUSES = batch_sizes.claim(
    "mark-refuses",
    "for `in_pairs`, torch raises an error if the number of rows is marked as dynamic",
    equals=True,
    unit=yes_no,
)


@batch_sizes.explain
def _(page: Page, found: Sized | None) -> None:
    if found is None:
        page.skip_step(unsupported(), shows="how many graphs torch compiles for batches of different sizes")
        return
    rows: list[Row] = [
        ("default", found.default),
        ("mark_dynamic(x, 0)", found.marked),
        ("dynamic=True", found.dynamic),
        ("dynamic=False", found.static),
    ]
    page.table(Table.of("Batches of 32, 32, 20, 7 and 1 rows", {"setting": None, "graphs": units.count}, rows))
    page.reveal({2: "a", 3: "b", 4: "c"}.get(found.default), f"torch compiles {units.some(found.default, 'graph')}.")
    page.settle(LEARNS_THE_SIZE, found.default)
    page.settle(MARK_SAVES_ONE, found.default - found.marked)
    page.settle(STATIC_NEEDS_EACH, found.static)
    page.settle(MARK_REFUSES, bool(found.refused))
    page.say(
        LEARNS_THE_SIZE.words(
            held="The graphs are for 32 rows, for any number of rows from 2 on, and for 1 row.",
            refuted="In this run, torch decides in another way which sizes are free.",
            unclear="This run does not show how many graphs torch compiles.",
        ),
        MARK_SAVES_ONE.words(
            held="`mark_dynamic` saves the graph for 32 rows. If you train only with whole batches (`drop_last=True` of"
            " a `DataLoader`), torch needs only the graph for 32 rows.",
            refuted="In this run, `mark_dynamic` changes the number of graphs in another way.",
            unclear="This run does not show how many graphs `mark_dynamic` saves.",
        ),
    )
    page.say(
        MARK_REFUSES.words(
            held="The mark states that one graph must fit all sizes. If the code needs one size, torch raises an error"
            " instead of compiling one graph per size.",
            refuted="In this run, torch raises no error for `in_pairs`.",
            unclear="This run does not show what torch does with `in_pairs`.",
        )
    )
    if found.refused:
        page.output(narrowed(found.refused), caption="torch's error for `in_pairs`")


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Stance(NamedTuple):
    name: str
    compiled: int
    called: int
    errors: list[str]


@lesson.step(
    "No compiling after the warm-up",
    predict=Choice(
        "A service calls a compiled function with 8 numbers as a warm-up. Then it allows no new graphs, and gets inputs"
        " of 8, 9, 8 and 10 numbers. If no graph fits, Python runs the function. How many of the four calls run the"
        " compiled graph?",
        {"a": "none", "b": "2", "c": "4"},
    ),
    expected="b",
    wrong_reasoning="Students think that a compiled function always runs a graph. But the graph of the warm-up fits "
    "only 8 numbers, and no new graph is allowed.",
)
def after_the_warm_up() -> list[Stance] | None:
    """A recompilation in the middle of a request can take seconds. `torch.compiler.set_stance` decides what torch does.

    Under `eager_on_recompile`, Python runs the function if no graph fits. Under `fail_on_recompile`, torch raises an
    error instead. Under `force_eager`, torch uses no graph. This shows whether a wrong result comes from the compiler.
    """
    if unsupported():
        return None
    found = []
    names: Any = "eager_on_recompile", "fail_on_recompile", "force_eager"
    for name in names:
        torch.compiler.reset()
        graphs = Graphs()
        compiled = torch.compile(scaled, backend=graphs)
        compiled(torch.ones(8))
        warm, errors = graphs.called, []
        with torch.compiler.set_stance(name):
            for size in (8, 9, 8, 10):
                x = torch.ones(size)
                errors.append(refusal(partial(compiled, x)))
        new, called = graphs.compiled - 1, graphs.called - warm
        raised = [each for each in errors if each]
        found.append(Stance(name, new, called, raised))
    return found


NOTHING_COMPILED = after_the_warm_up.claim(
    "nothing-compiled", "under the three stances, torch compiles no graph", equals=0, unit=things("graph")
)
KNOWN_SIZES_RUN = after_the_warm_up.claim(
    "known-sizes-run",
    "under `eager_on_recompile`, the two calls with the known size run the graph",
    equals=2,
    unit=things("call"),
)
UNKNOWN_SIZES_FAIL = after_the_warm_up.claim(
    "unknown-sizes-fail",
    "under `fail_on_recompile`, the two calls with other sizes raise an error",
    equals=2,
    unit=things("error"),
)


@after_the_warm_up.explain
def _(page: Page, found: list[Stance] | None) -> None:
    if found is None:
        page.skip_step(unsupported(), shows="how a service can forbid recompilations")
        return
    rows: list[Row] = [(each.name, each.compiled, each.called, len(each.errors)) for each in found]
    heads = {"stance": None, "new graphs": units.count, "calls of the graph": units.count, "errors": units.count}
    page.table(Table.of("Four calls with 8, 9, 8 and 10 numbers", heads, rows))
    eager, fail, _ = found
    page.reveal({0: "a", 2: "b", 4: "c"}.get(eager.called))
    page.settle(NOTHING_COMPILED, sum(each.compiled for each in found))
    page.settle(KNOWN_SIZES_RUN, eager.called)
    page.settle(UNKNOWN_SIZES_FAIL, len(fail.errors))
    if fail.errors:
        page.output(narrowed(fail.errors[0]), caption="The error under `fail_on_recompile`")
    page.say(
        "Warm up with each kind of input that the service will get: each dtype, a static or dynamic size, and size 1.",
        UNKNOWN_SIZES_FAIL.words(
            held="In a test, `fail_on_recompile` shows whether the warm-up is complete.",
            refuted="In this run, `fail_on_recompile` does not raise an error for each unknown size.",
            unclear="This run does not show when `fail_on_recompile` raises an error.",
        ),
    )


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class RowSums(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return row_sums(x)


@lesson.given
class Thinned(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if len(x) > 16:
            x = x[::2]
        return row_sums(x)


@lesson.given
class Ranged(NamedTuple):
    code: str
    bytes_: int
    errors: dict[int, str]
    branch_free: str
    branch_fixed: dict[int, str]


@lesson.step(
    "A saved program for a range of sizes",
    predict=Choice(
        "`Thinned` has a branch: `if len(x) > 16`. The example has 8 rows. We export it for 2 to 64 rows. What does"
        " `torch.export` do?",
        {"a": "it keeps both sides", "b": "it keeps the side of the example", "c": "it raises an error"},
    ),
    expected="c",
    wrong_reasoning="Students think that the export keeps the side of the example. But this side is wrong for a part "
    "of the range, so torch refuses the export.",
)
def range_of_sizes() -> Ranged:
    """`torch.export` captures one graph, without Python. A *Dim* names a size that may vary, and its range.

    We export `RowSums` for 2 to 64 rows, save the program, load it, and call it with several numbers of rows. Then we
    export `Thinned` for the same range, and for exactly 8 rows.
    """
    x, batch = torch.ones(8, 3), Dim("batch", min=2, max=64)
    shapes = ({0: batch},)
    program = export(RowSums(), (x,), dynamic_shapes=shapes)
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    loaded = torch.export.load(file).module()
    fixed = export(Thinned(), (x,)).module()

    def errors(run: Any, *sizes: int) -> dict[int, str]:
        found = {}
        for rows in sizes:
            found[rows] = refusal(partial(run, torch.ones(rows, 3)))
        return found

    return Ranged(
        program.graph_module.code,
        len(file.getvalue()),
        errors(loaded, 2, 64, 65),
        refusal(lambda: export(Thinned(), (x,), dynamic_shapes=shapes)),
        errors(fixed, 8, 20),
    )


RANGE_IS_CHECKED = range_of_sizes.claim(
    "range-is-checked",
    "the loaded program accepts 2 and 64 rows, and raises an error for 65 rows",
    equals=True,
    unit=yes_no,
)
BRANCH_NEEDS_RANGE = range_of_sizes.claim(
    "branch-needs-range", "`torch.export` raises an error for `Thinned` with 2 to 64 rows", equals=True, unit=yes_no
)
FIXED_IS_GUARDED = range_of_sizes.claim(
    "fixed-is-guarded",
    "exported for 8 rows, `Thinned` accepts 8 rows, and raises an error for 20 rows",
    equals=True,
    unit=yes_no,
)


@range_of_sizes.explain
def _(page: Page, found: Ranged) -> None:
    page.output(narrowed(found.code), caption="The graph of `RowSums`, as Python code")
    fixed = found.branch_fixed.items()
    rows: list[Row] = [
        *((f"RowSums, {size} rows", narrowed(error or "runs", 60)) for size, error in found.errors.items()),
        ("export of Thinned, 2 to 64 rows", narrowed(found.branch_free or "runs", 60)),
        *((f"Thinned for 8 rows, {size} rows", narrowed(error or "runs", 60)) for size, error in fixed),
    ]
    page.table(Table.of("Calls of exported programs", dict.fromkeys(("call", "result")), rows))
    page.settle(RANGE_IS_CHECKED, [bool(error) for error in found.errors.values()] == [False, False, True])
    page.settle(BRANCH_NEEDS_RANGE, bool(found.branch_free))
    page.settle(FIXED_IS_GUARDED, [bool(error) for error in found.branch_fixed.values()] == [False, True])
    page.reveal(BRANCH_NEEDS_RANGE.answer(held="c", refuted=""))
    page.say(
        f"The saved program needs {units.size(found.bytes_)}.",
        BRANCH_NEEDS_RANGE.words(
            held="One graph can contain only one side of the branch. For 8 rows this is right up to 16 rows, so torch"
            " refuses the range up to 64. Export one program for 2 to 16 rows and another for 17 to 64 rows.",
            refuted="In this run, `torch.export` accepts the branch.",
            unclear="This run does not show what `torch.export` does with the branch.",
        ),
        FIXED_IS_GUARDED.words(
            held="Without a Dim, the program keeps the side of the example, but refuses any other number of rows.",
            refuted="In this run, the program for 8 rows does not check the number of rows as we expected.",
            unclear="This run does not show which numbers of rows the program for 8 rows accepts.",
        ),
    )


# ── 9 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Noisy(nn.Module):
    calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x * random.random()


@lesson.given
class TorchNoisy(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rand(())


@lesson.given
class Frozen(NamedTuple):
    plain: int
    exported: int
    repaired: int
    code: str
    counted: int


@lesson.step(
    "Python is not in an exported program",
    predict=Choice(
        "`Noisy` multiplies its input with `random.random()`, a number of Python. We export it, and call the program"
        " three times with the same input. How many different results do we get?",
        {"a": "1", "b": "2", "c": "3"},
    ),
    expected="a",
    wrong_reasoning="Students think that the exported program calls `random` each time. But Python runs only during "
    "the export, and its number becomes a constant.",
)
def frozen_numbers() -> Frozen:
    """The graph of `torch.export` contains only torch's operations. Python runs once, during the export.

    `Noisy` also counts its calls. `TorchNoisy` draws the number with torch.
    """
    x, noisy = torch.ones(3), Noisy()
    exported = export(noisy, (x,))
    program = exported.module()
    repaired = export(TorchNoisy(), (x,)).module()

    def results(run: Any) -> int:
        return len({float(run(x)[0]) for _ in range(3)})

    return Frozen(
        results(Noisy()),
        results(program),
        results(repaired),
        exported.graph_module.code,
        noisy.calls,
    )


PYTHON_IS_FROZEN = frozen_numbers.claim(
    "python-is-frozen", "three calls of the exported `Noisy` return one result", equals=1, unit=things("result")
)
TORCH_IS_DRAWN = frozen_numbers.claim(
    "torch-is-drawn",
    "three calls of the exported `TorchNoisy` return three results",
    equals=3,
    unit=things("result"),
)
COUNT_IS_LOST = frozen_numbers.claim(
    "count-is-lost", "the calls of the exported program do not increase `calls`", at_most=1, unit=units.count
)


@frozen_numbers.explain
def _(page: Page, found: Frozen) -> None:
    page.output(narrowed(found.code), caption="The graph of `Noisy`, as Python code")
    page.reveal({1: "a", 2: "b", 3: "c"}.get(found.exported), f"The plain module returns {found.plain}.")
    page.settle(PYTHON_IS_FROZEN, found.exported)
    page.settle(TORCH_IS_DRAWN, found.repaired)
    page.settle(COUNT_IS_LOST, found.counted)
    page.say(
        PYTHON_IS_FROZEN.words(
            held="The number that Python drew during the export is now a constant of the graph. torch prints no"
            " warning.",
            refuted="In this run, the exported program does not always return the same result.",
            unclear="This run does not show whether the number is a constant.",
        ),
        TORCH_IS_DRAWN.words(
            held="`torch.rand` is an operation in the graph, so each call draws a new number.",
            refuted="In this run, the exported `TorchNoisy` does not return three results.",
            unclear="This run does not show whether each call draws a new number.",
        ),
        "The same holds for the time of day, and for a number that your code reads from a file.",
        "Compare an exported program with the module on several inputs, and more than once.",
    )


# ── 10 ─────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Timed(NamedTuple):
    in_timer: int
    reason: str
    afterwards: int
    same_threads: int


@lesson.step(
    "A benchmark of compiled code",
    predict=Choice(
        "A process computes with two threads, and has compiled and called a function. Then `Timer` measures the"
        " function. `Timer` uses one thread by default. How many graphs does torch compile during `timeit(5)`?",
        {"a": "none", "b": "1", "c": "5"},
    ),
    expected="b",
    wrong_reasoning="Students think that the function is already compiled. But torch also has a guard on the number "
    "of threads, and `Timer` changes this number.",
)
def compiled_in_a_timer() -> Timed | None:
    """Generated code can depend on the number of threads, so torch puts a guard on this number.

    We count the graphs during the Timer, in a call after it, and in a second Timer with `num_threads=2`.
    """
    if unsupported():
        return None
    torch.compiler.reset()
    graphs, x = Graphs(), torch.ones(8)
    compiled = torch.compile(scaled, backend=graphs)
    known = {"compiled": compiled, "x": x}
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    counts = [compiled(x) is None, graphs.compiled]
    with watch_recompilations() as found:
        Timer("compiled(x)", globals=known).timeit(5)
        counts.append(graphs.compiled)
        compiled(x)
        counts.append(graphs.compiled)
        Timer("compiled(x)", globals=known, num_threads=2).timeit(5)
        counts.append(graphs.compiled)
    torch.set_num_threads(threads)
    again = found.recompilations
    reason = again[0].reason if again else ""
    _, first, timer, after, second = counts
    return Timed(timer - first, reason, after - timer, second - after)


TIMER_COMPILES = compiled_in_a_timer.claim(
    "timer-compiles", "torch compiles one more graph during the Timer with one thread", equals=1, unit=things("graph")
)
SAME_THREADS_REUSE = compiled_in_a_timer.claim(
    "same-threads-reuse",
    "torch compiles no graph during the Timer with two threads",
    equals=0,
    unit=things("graph"),
)


@compiled_in_a_timer.explain
def _(page: Page, found: Timed | None) -> None:
    if found is None:
        page.skip_step(unsupported(), shows="how many graphs torch compiles during a benchmark")
        return
    page.reveal({0: "a", 1: "b", 5: "c"}.get(found.in_timer))
    page.settle(TIMER_COMPILES, found.in_timer)
    page.settle(SAME_THREADS_REUSE, found.same_threads)
    if found.reason:
        page.output(narrowed(found.reason), caption="The guard that failed in the Timer")
    page.say(
        TIMER_COMPILES.words(
            held="The Timer measures another graph than your program runs. Set `num_threads` to the number"
            " of your program.",
            refuted="In this run, the number of threads does not change the number of graphs as we expected.",
            unclear="This run does not show whether the Timer compiles a graph.",
        ),
        "`timeit` of torch calls the code at least twice before it measures, so the time for compiling is not in its",
        "result. Python's `timeit` measures the first call, too.",
    )


# ── 11 ─────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def curve(x: Tensor) -> Tensor:
    inner = 0.25 + x * (0.125 + x * 0.0625)
    return 1 + x * (0.5 + x * inner)


@lesson.given
def split_curve(x: Tensor) -> Tensor:
    inner = 0.25 + x * (0.125 + x * 0.0625)
    torch._dynamo.graph_break()  # noqa: SLF001
    return 1 + x * (0.5 + x * inner)


@lesson.given
class Split(NamedTuple):
    loops: tuple[int, int]
    contest: Duel


@lesson.step(
    "The cost of a graph break",
    predict=Choice.ranges(
        "`split_curve` has a graph break in the middle of `curve`. For 4 million numbers, what is the time of the"
        " compiled `split_curve` divided by the time of the compiled `curve`?",
        (1.1, 4),
        units.ratio,
    ),
    expected="b",
    wrong_reasoning="Students think that a break only costs a call. But the result before the break must go through "
    "memory, which fusion had avoided.",
    fast={"budget_s": 0.3},
)
def cost_of_a_break(budget_s: float = 0.8) -> Split | None:
    """Now Inductor compiles machine code. It writes one C++ function for each graph of these functions.

    Compiled without the break, `curve` reads x and writes the result. At the break, the first function writes `inner`,
    and the second function reads `inner` and reads x again. Both versions compute the same sums and products.
    """
    if cannot_compile():
        return None
    prepare()
    torch.set_num_threads(1)
    x = torch.rand(1 << 22)
    whole = torch.compile(curve, dynamic=True)
    split = torch.compile(split_curve, dynamic=True)
    codes = [kernel_of(each, x) for each in (whole, split)]
    one, two = (code.count('extern "C"') for code in codes)
    contest = duel(
        "whole(x)",
        baseline="split(x)",
        globals={"whole": whole, "split": split, "x": x},
        budget_s=budget_s,
    )
    return Split((one, two), contest)


TWO_LOOPS = cost_of_a_break.claim(
    "two-loops", "with the break, Inductor writes one more C++ function", equals=1, unit=followed("more")
)
BREAK_COSTS = cost_of_a_break.claim(
    "break-costs", "the break makes the compiled function slower", at_least=1, unit=units.ratio
)


@cost_of_a_break.explain
def _(page: Page, found: Split | None) -> None:
    if found is None:
        page.skip_step(cannot_compile(), shows="how much time a graph break costs")
        return
    one, two = found.loops
    contest = found.contest
    rows: list[Row] = [("curve", one, contest.candidate_s), ("split_curve", two, contest.baseline_s)]
    heads = {"function": None, "C++ functions": units.count, "compiled call": units.seconds}
    page.table(Table.of("4 million numbers, one thread", heads, rows))
    page.reveal(Interval.duel(contest))
    page.settle(TWO_LOOPS, two - one)
    page.settle(BREAK_COSTS, Interval.duel(contest))
    page.say(
        BREAK_COSTS.words(
            held="At the break, `inner` goes through memory, which fusion had avoided.",
            refuted="In this run, the version with the break is faster. The passes over memory cost little here.",
            unclear="This run does not show clearly whether the break costs time.",
        ),
        "The arithmetic costs the same in both versions. So between expensive operations, such as tanh, a break adds a"
        " smaller part of the time.",
    )


# ── 12 ─────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Profiled(NamedTuple):
    plain: tuple[Operator, ...]
    whole: tuple[Operator, ...]
    split: tuple[Operator, ...]


@lesson.step(
    "A profile of compiled code",
    predict=Choice(
        "A call of `curve` runs 8 operations of torch. How many of these operations does torch's profiler show in a"
        " call of the compiled `curve`?",
        {"a": "none", "b": "1", "c": "8"},
    ),
    expected="a",
    wrong_reasoning="Students think that the profile shows the same operations, only faster. But one loop replaces "
    "all of them, so the profile shows only its call.",
)
def profile_of_compiled_code() -> Profiled | None:
    """`torch.profiler` records each operation that torch starts (lesson 11).

    A compiled loop is not an operation of torch. For each call of a graph, torch records one row named
    `Torch-Compiled Region`, with the number of the function and of the graph.
    """
    if cannot_compile():
        return None
    prepare()
    x, cpu = torch.rand(1 << 16), [ProfilerActivity.CPU]
    found = []
    for call in (
        curve,
        torch.compile(curve, dynamic=True),
        torch.compile(split_curve, dynamic=True),
    ):
        call(x)  # compiles
        call(x)
        with profile(activities=cpu) as recorded:
            call(x)
        found.append(operators(recorded.key_averages()))
    return Profiled(*found)


PLAIN_SHOWS_ALL = profile_of_compiled_code.claim(
    "plain-shows-all", "the profile of a plain call shows 8 operations", equals=8, unit=things("operation")
)
COMPILED_SHOWS_NONE = profile_of_compiled_code.claim(
    "compiled-shows-none", "the profile of a compiled call shows none of them", equals=0, unit=things("operation")
)
REGIONS_ARE_GRAPHS = profile_of_compiled_code.claim(
    "regions-are-graphs", "with the graph break, the profile shows two compiled regions", equals=2,
    unit=things("region"),
)  # fmt: skip


@profile_of_compiled_code.explain
def _(page: Page, found: Profiled | None) -> None:
    if found is None:
        page.skip_step(cannot_compile(), shows="what a profile shows of compiled code")
        return
    rows: list[Row] = [(each.name, each.calls, each.total_s) for each in found.split if each.name.startswith("Torch")]
    heads = {"row": None, "calls": units.count, "total time": units.seconds}
    page.table(Table.of("The profile of a compiled call of `split_curve`", heads, rows))
    operations = of_curve(found.whole)
    page.reveal({0: "a", 1: "b", 8: "c"}.get(operations))
    page.settle(PLAIN_SHOWS_ALL, of_curve(found.plain))
    page.settle(COMPILED_SHOWS_NONE, operations)
    page.settle(REGIONS_ARE_GRAPHS, regions(found.split))
    page.say(
        COMPILED_SHOWS_NONE.words(
            held="All operations are in one loop, so the profiler cannot show the time of a single operation.",
            refuted="In this run, the compiled call still runs some operations one by one.",
            unclear="This run does not show which operations the compiled call runs.",
        ),
        REGIONS_ARE_GRAPHS.words(
            held="The number of regions in a training step shows how many graphs it runs. A new number after the slash"
            " shows a recompilation.",
            refuted="In this run, the number of regions differs from the number of graphs.",
            unclear="This run does not show how many regions there are.",
        ),
        "`TorchDynamo Cache Lookup` is the time for checking the guards.",
    )


def of_curve(rows: tuple[Operator, ...]) -> int:
    """Return the number of products and sums in a profile."""
    return sum(each.calls for each in rows if each.name in {"aten::mul", "aten::add"})


def regions(rows: tuple[Operator, ...]) -> int:
    """Return the number of calls of graphs in a profile."""
    return sum(each.calls for each in rows if each.name.startswith("Torch-Compiled Region"))


# ── 13 ─────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def two_sizes() -> str:
    return """
import torch, torch._inductor.compile_fx
torch.set_num_threads(1)
sizes = iter([1 << 22, 1 << 21])
@torch.compile(dynamic=False)
def curve(x):
    inner = 0.25 + x * (0.125 + x * 0.0625)
    return 1 + x * (0.5 + x * inner)
def call():
    curve(torch.rand(next(sizes)))
"""


@lesson.given
class Price(NamedTuple):
    cold: Starts
    contest: Duel


@lesson.step(
    "Break-even with several graphs",
    predict=Choice(
        "In a new process, each of two calls compiles a graph: the first call for 4 million numbers, the second"
        " call for 2 million. What is the time of the second call divided by the time of the first call?",
        {"a": "less than 0.1", "b": "0.1 to 0.9", "c": "more than 0.9"},
        limits=(0.1, 0.9),
    ),
    expected="a",
    wrong_reasoning="Students think that each compilation takes the same time. But the first call also starts the "
    "compiler and loads its parts.",
    fast={"budget_s": 0.3, "measuring": 0},
)
def several_graphs(budget_s: float = 0.8, measuring: int = 1) -> Price | None:
    """Each recompilation must pay off, too. `starts` runs a program in a new process, with an empty cache.

    With `dynamic=False`, torch compiles a graph for each size. We compute the break-even as in lesson 12: the time for
    compiling divided by the time that one compiled call saves.
    """
    if cannot_compile():
        return None
    prepare()
    torch.set_num_threads(1)
    cold = starts(two_sizes(), measuring=bool(measuring))
    fast, x = torch.compile(curve, dynamic=True), torch.rand(1 << 22)
    fast(x)
    contest = duel(
        "fast(x)",
        baseline="curve(x)",
        globals={"fast": fast, "curve": curve, "x": x},
        budget_s=budget_s,
    )
    return Price(cold, contest)


SECOND_COSTS_TOO = several_graphs.claim(
    "second-costs-too",
    "the call that compiles the second graph takes more than 10 times as long as a plain call of `curve`",
    at_least=10,
    unit=units.ratio,
)
SECOND_IS_CHEAPER = several_graphs.claim(
    "second-is-cheaper", "the second call takes less time than the first call", at_most=1, unit=units.percent
)


@several_graphs.explain
def _(page: Page, found: Price | None) -> None:
    if found is None:
        page.skip_step(cannot_compile(), shows="what each graph costs, and when several graphs pay off")
        return
    first, contest = found.cold.empty, found.contest
    if first is None:
        page.reveal(None)
        for claim in (SECOND_COSTS_TOO, SECOND_IS_CHEAPER):
            page.skip(claim, found.cold.reason)
        page.say(
            "Without --fast, this step shows when a program with 1, 2 or 8 graphs is faster than without compiling."
        )
        return
    rows: list[Row] = []
    for graphs in (1, 2, 8):
        compile_s = first.first_s + (graphs - 1) * first.again_s
        calls = calls_to_break_even(compile_s, contest.baseline_s, contest.candidate_s)
        rows.append((graphs, compile_s, units.count(calls) if math.isfinite(calls) else "never"))
    page.table(found.cold.table())
    heads = {"graphs": units.count, "compiling": units.seconds, "calls until break-even": None}
    page.table(Table.of("Compiling with an empty cache, at 4 million numbers per call", heads, rows))
    share = first.again_s / first.first_s
    page.reveal(share)
    page.settle(SECOND_COSTS_TOO, first.again_s / contest.baseline_s)
    page.settle(SECOND_IS_CHEAPER, share)
    page.say(
        SECOND_IS_CHEAPER.words(
            held="The first call also does work that a process needs only once.",
            refuted="In this run, the second call takes as long as the first call.",
            unclear="This run does not show which call takes longer.",
        ),
        SECOND_COSTS_TOO.words(
            held="A recompilation in the middle of training therefore takes as long as many calls. A dynamic size saves"
            " the further graphs.",
            refuted="In this run, a recompilation costs little.",
            unclear="This run does not show what a recompilation costs.",
        ),
        "The table assumes that each further graph takes as long as the second graph.",
    )


# ── 14 ─────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def branch(x: Tensor) -> Tensor:
    return x * 2 if x.sum() > 0 else x - 1


@lesson.given
def numpy_sort(x: Tensor) -> Tensor:
    return torch.from_numpy(np.sort(x.numpy()))


@lesson.given
def mixed_dict(x: Tensor) -> Tensor:
    options = {"scale": 2.0, "name": "relu", "shift": None}
    return x * options["scale"]  # type: ignore[operator]


@lesson.given
def try_except(x: Tensor) -> Tensor:
    try:
        factor = {"b": 2}["a"]
    except KeyError:
        factor = 3
    return x * factor


@lesson.given
def inner_function(x: Tensor) -> Tensor:
    def shifted(y: Tensor) -> Tensor:
        return y + x

    return shifted(x * 2)


@lesson.given
def more_options(x: Tensor, **options: float) -> Tensor:
    return x * options.get("scale", 2.0)


@lesson.given
def lambda_function(x: Tensor) -> Tensor:
    act: Callable[[Tensor], Tensor] = lambda y: y.clamp(min=0)  # noqa: E731
    return act(x)


@lesson.given
def match_case(x: Tensor) -> Tensor:
    match x.dim():
        case 1:
            return x * 2
        case _:
            return x


@lesson.given
def constructs() -> list[Callable[..., Tensor]]:
    return [
        branch,
        numpy_sort,
        mixed_dict,
        try_except,
        inner_function,
        more_options,
        lambda_function,
        match_case,
    ]


@lesson.given
class Model(nn.Module):
    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)


@lesson.step(
    "Why the scripted column is history",
    predict=Choice(
        "Each of the eight functions uses one construct of Python. `torch.jit.script` translates the source code into"
        " TorchScript, a small language with fixed types. How many of the functions does it accept?",
        {"a": "0 to 2", "b": "3 to 5", "c": "6 to 8"},
        limits=(3, 6),
    ),
    expected="a",
    wrong_reasoning="Students think that a compiler accepts all of Python. But TorchScript is a small language with "
    "fixed types, and it has no word for most of these constructs.",
)
def four_compilers() -> dict[str, dict[str, str]] | None:
    """We capture each function in four ways, with an example of ones. Then we call it with other numbers.

    `verdict` returns "right" or "wrong" for the numbers that come back. It returns "refused" if there is an error.
    """
    if unsupported():
        return None
    ones = torch.ones(6)
    numbers = torch.tensor([-1.0, 5.0, -3.0, 0.5, 2.0, -9.0])
    ways: dict[str, Callable[[Any], Any]] = {}
    if torchscript_support().runs:
        ways["script"] = torch.jit.script
        ways["trace"] = partial(
            torch.jit.trace,
            example_inputs=ones,
            check_trace=False,
        )
    ways["compile"] = partial(torch.compile, backend="eager")
    ways["export"] = lambda f: export(Model(f), (ones,)).module()
    found: dict[str, dict[str, str]] = {}
    for function in constructs():
        found[function.__name__] = {}
        for name, way in ways.items():
            result = verdict(way, function, numbers)
            found[function.__name__][name] = result
    return found


SCRIPT_REFUSES = four_compilers.claim(
    "script-refuses", "`torch.jit.script` refuses at least 5 of the 8 functions", at_least=5, unit=followed("of 8")
)
TRACE_ERRS = four_compilers.claim(
    "trace-errs", "`torch.jit.trace` returns wrong numbers for at least one function", at_least=1, unit=followed("of 8")
)
COMPILE_TAKES_ALL = four_compilers.claim(
    "compile-takes-all", "`torch.compile` returns right numbers for all functions", equals=8, unit=followed("of 8")
)
EXPORT_NEVER_ERRS = four_compilers.claim(
    "export-never-errs", "`torch.export` returns wrong numbers for no function", equals=0, unit=followed("of 8")
)


@four_compilers.explain
def _(page: Page, found: dict[str, dict[str, str]] | None) -> None:
    if found is None:
        page.skip_step(unsupported(), shows="which constructs of Python four compilers accept")
        return
    names = ("script", "trace", "compile", "export")
    rows: list[Row] = [(function, *(each.get(name, "") for name in names)) for function, each in found.items()]
    page.table(Table.of("Eight functions, captured in four ways", dict.fromkeys(("function", *names)), rows))

    def number(name: str, result: str) -> int:
        return sum(each.get(name) == result for each in found.values())

    if support := torchscript_support().reason:
        page.reveal(None)
        page.skip(SCRIPT_REFUSES, support)
        page.skip(TRACE_ERRS, support)
    else:
        page.reveal(len(found) - number("script", "refused"))
        page.settle(SCRIPT_REFUSES, number("script", "refused"))
        page.settle(TRACE_ERRS, number("trace", "wrong"))
    page.settle(COMPILE_TAKES_ALL, number("compile", "right"))
    page.settle(EXPORT_NEVER_ERRS, number("export", "wrong"))
    page.say(
        "PyTorch's benchmark suite (lesson 15) has a scripted column, because it is from the time of TorchScript.",
        SCRIPT_REFUSES.words(
            held="A model with one refused construct must be rewritten before this column can be measured.",
            refuted="In this run, `torch.jit.script` refuses few of these functions.",
            unclear="This run does not show how many functions `torch.jit.script` refuses.",
        ),
        COMPILE_TAKES_ALL.words(
            held="`torch.compile` lets Python run what it cannot capture, so the compiled column needs no changes of"
            " the model.",
            refuted="In this run, `torch.compile` does not return right numbers for each function.",
            unclear="This run does not show whether `torch.compile` returns right numbers.",
        ),
    )
    page.say(
        TRACE_ERRS.words(
            held="A trace contains what Python decided or computed for the example, without an error.",
            refuted="In this run, each trace returns right numbers.",
            unclear="This run does not show whether the traces return right numbers.",
        ),
        EXPORT_NEVER_ERRS.words(
            held="For each of these functions, `torch.export` returns right numbers or raises an error. But the step"
            " about `Noisy` showed that it also keeps what Python computed during the export.",
            refuted="In this run, an exported function returns wrong numbers.",
            unclear="This run does not show whether exported functions return right numbers.",
        ),
        "TorchScript is deprecated since torch 2.5, according to torch's documentation. For speed, use `torch.compile`."
        " For a program without Python, use `torch.export`.",
    )


lesson.key_points = (
    "A graph break is silent. Look for breaks with `explain`, and forbid them with `fullgraph=True`.",
    "Each guard that fails costs a recompilation. Count them, and keep numbers that change in tensors.",
    "`torch.export` keeps one graph without Python. What Python computed during the export is a constant.",
)
lesson.references = (
    "PyTorch, torch.compile, graph breaks and recompilations: docs.pytorch.org/docs/stable/torch.compiler.html",
    "PyTorch, torch.export: docs.pytorch.org/docs/stable/export.html",
    "PyTorch, TorchScript (deprecated): docs.pytorch.org/docs/stable/jit.html",
)

if __name__ == "__main__":
    main(lesson)
