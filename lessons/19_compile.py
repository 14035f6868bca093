"""Lesson 19: find graph breaks and recompilations of `torch.compile`, repair them, and export a model."""

import io
import logging
import random
from collections.abc import Callable
from functools import partial
from logging import Logger
from textwrap import shorten
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim, export

from harness.compilers.capture import Captured, captured, refusal, verdict, watch_recompilations
from harness.compilers.inductor import torchscript_support, unsupported
from lessons.engine.api import Figures, Lacking, Rows, load
from lessons.engine.command import main
from lessons.probes.graphs import CONSTRUCTS, Graphs, Model


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
def normalized(x: Tensor, log: Logger) -> Tensor:
    y = torch.relu(x * 2)
    log.info("mean %s", y.mean())
    if y.sum() > 100:
        y = y / y.sum()
    return y.cos()


def where_a_graph_ends() -> tuple[Captured, bool] | None:
    if unsupported():
        return None
    x, log = torch.ones(200), logging.getLogger("train")
    found = captured(normalized, x, log)
    compiled = torch.compile(normalized, backend="eager")
    return found, torch.equal(compiled(x, log), normalized(x, log))


def where_a_graph_ends_figures(ended: tuple[Captured, bool] | None) -> Figures | Lacking:
    if ended is None:
        return Lacking(unsupported())
    found, same = ended
    breaks = zip(found.lines, found.breaks, strict=True)
    return {
        "breaks": Rows([(line, shorten(reason, 40, placeholder="…")) for line, reason in breaks]),
        "letter": {1: "a", 2: "b", 3: "c"}.get(found.graphs),
        "same": same,
    }


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
def without_branch(x: Tensor, log: Logger) -> Tensor:
    y = torch.relu(x * 2)
    log.info("mean %s", y.mean())
    y = torch.where(y.sum() > 100, y / y.sum(), y)
    return y.cos()


def whole(x: Tensor) -> tuple[Tensor, Tensor]:
    y = torch.relu(x * 2)
    mean = y.mean()
    y = torch.where(y.sum() > 100, y / y.sum(), y)
    return y.cos(), mean


def breaks_repaired() -> tuple[Captured, str, str] | None:
    if unsupported():
        return None
    x, log = torch.ones(200), logging.getLogger("train")
    one_left = captured(without_branch, x, log)
    strict = partial(torch.compile, backend="eager", fullgraph=True)
    refused = refusal(lambda: strict(normalized)(x, log))
    accepted = refusal(lambda: strict(whole)(x))
    return one_left, refused, accepted


def breaks_repaired_figures(found: tuple[Captured, str, str] | None) -> Figures | Lacking:
    if found is None:
        return Lacking(unsupported())
    one_left, refused, accepted = found
    return {
        "letter": {1: "a", 2: "b", 3: "c"}.get(one_left.graphs),
        "tells": bool(refused) and not accepted,
    }


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
def scaled(x: Tensor, factor: float = 2.0) -> Tensor:
    return torch.tanh(x * factor)


def new_graph() -> list[tuple[int, str]] | None:
    if unsupported():
        return None
    torch.compiler.reset()
    graphs, x = Graphs(), torch.rand(8, 8)
    compiled = torch.compile(scaled, backend=graphs)
    calls: list[Callable[[], object]] = [
        lambda: compiled(x + 1),
        lambda: compiled(x.double()),
        lambda: compiled(x.t()),
        lambda: compiled(x.clone().requires_grad_()),
        lambda: compiled(x, 3.0),
        lambda: torch.no_grad()(compiled)(x),
    ]
    compiled(x)
    changes = []
    for call in calls:
        before = graphs.compiled
        with watch_recompilations() as found:
            call()
        again = found.recompilations
        reason = again[0].reasons.get(0, "") if again else ""
        changes.append((graphs.compiled - before, reason))
    return changes


def new_graph_figures(changes: list[tuple[int, str]] | None) -> Figures | Lacking:
    if changes is None:
        return Lacking(unsupported())
    numbers, *others = (graphs for graphs, _ in changes)
    return {
        "changes": Rows([(graphs, shorten(reason, 42, placeholder="…")) for graphs, reason in changes]),
        "letter": None if numbers else "a",
        "others": sum(graphs == 1 for graphs in others),
    }


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
class Counting(nn.Module):
    n = 0

    def forward(self, x: Tensor) -> Tensor:
        self.n += 1
        return x * self.n


class Buffered(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("n", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self.n += 1  # type: ignore[assignment, operator]
        return x * self.n  # type: ignore[operator]


def at_the_limit() -> list[tuple[int, int, list[str]]] | None:
    if unsupported():
        return None
    found = []
    for module in (Counting(), Buffered()):
        torch.compiler.reset()
        graphs = Graphs()
        compiled = torch.compile(module, backend=graphs)
        with watch_recompilations() as seen:
            for _ in range(20):
                compiled(torch.ones(4))
        found.append((graphs.compiled, graphs.called, seen.limits))
    return found


def at_the_limit_figures(found: list[tuple[int, int, list[str]]] | None) -> Figures | Lacking:
    if found is None:
        return Lacking(unsupported())
    (compiled, called, warnings), _ = found
    return {
        "modules": Rows([counts for *counts, _ in found]),
        "letter": {8: "a", 12: "b", 20: "c"}.get(called),
        "compiled": compiled,
        "limit": int(torch._dynamo.config.recompile_limit),  # noqa: SLF001
        "warning": warnings[0] if warnings else Lacking("torch printed no warning"),
    }


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
def row_sums(x: Tensor) -> Tensor:
    return (x * 2).sum(1)


def batch_sizes() -> list[int] | None:
    if unsupported():
        return None
    found = []
    settings = (None, False), (None, True), (True, False), (False, False)
    for dynamic, marked in settings:
        torch.compiler.reset()
        graphs = Graphs()
        with_graphs = partial(torch.compile, backend=graphs)
        compiled = with_graphs(row_sums, dynamic=dynamic)
        for rows in (32, 32, 20, 7, 1):
            x = torch.ones(rows, 3)
            if marked:
                torch._dynamo.mark_dynamic(x, 0)  # noqa: SLF001
            compiled(x)
        found.append(graphs.compiled)
    return found


def batch_sizes_figures(found: list[int] | None) -> Figures | Lacking:
    if found is None:
        return Lacking(unsupported())
    default, marked, *_ = found
    return {
        "graphs": Rows([(each,) for each in found]),
        "letter": {2: "a", 3: "b", 4: "c"}.get(default),
        "saved": default - marked,
    }


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
def thinned(x: Tensor) -> Tensor:
    return row_sums(x[::2] if len(x) > 16 else x)


def range_of_sizes() -> list[str]:
    x, shapes = torch.ones(8, 3), ({0: Dim("batch", min=2, max=64)},)
    exported = partial(export, args=(x,), dynamic_shapes=shapes)
    program = exported(Model(row_sums))
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    loaded = torch.export.load(file).module()
    return [
        refusal(lambda: loaded(torch.ones(64, 3))),
        refusal(lambda: loaded(torch.ones(65, 3))),
        refusal(lambda: exported(Model(thinned))),
    ]


def range_of_sizes_figures(errors: list[str]) -> Figures:
    inside, outside, branch = map(bool, errors)
    return {
        "calls": Rows([(not error, shorten(error, 32, placeholder="…")) for error in errors]),
        "letter": "c" if branch else None,
        "range_checked": outside and not inside,
    }


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
def noisy(x: Tensor) -> Tensor:
    return x * random.random()


def torch_noisy(x: Tensor) -> Tensor:
    return x * torch.rand(())


def frozen_numbers() -> tuple[int, int, str]:
    x = torch.ones(3)
    frozen = export(Model(noisy), (x,))
    drawn = export(Model(torch_noisy), (x,))

    def results(run: Any) -> int:
        return len({float(run(x)[0]) for _ in range(3)})

    exported, repaired = map(results, (frozen.module(), drawn.module()))
    return exported, repaired, frozen.graph_module.code


def frozen_numbers_figures(found: tuple[int, int, str]) -> Figures:
    exported, repaired, code = found
    return {
        "code": code.strip(),
        "letter": {1: "a", 2: "b", 3: "c"}.get(exported),
        "exported": exported,
        "repaired": repaired,
    }


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────
def four_compilers() -> list[dict[str, str]] | None:
    if unsupported():
        return None
    ones = torch.ones(6)
    numbers = torch.tensor([-1.0, 5.0, -3.0, 0.5, 2.0, -9.0])
    ways: dict[str, Callable[[Any], Any]] = {}
    if torchscript_support().runs:
        trace = partial(torch.jit.trace, check_trace=False)
        ways["script"] = torch.jit.script
        ways["trace"] = lambda f: trace(f, example_inputs=ones)
    ways["compile"] = partial(torch.compile, backend="eager")
    ways["export"] = lambda f: export(Model(f), (ones,)).module()
    return [
        {name: verdict(way, f, numbers) for name, way in ways.items()}
        for f in CONSTRUCTS
    ]  # fmt: skip


def four_compilers_figures(found: list[dict[str, str]] | None) -> Figures | Lacking:
    if found is None:
        return Lacking(unsupported())
    results = ("right", "wrong", "refused")
    names = ("script", "trace", "compile", "export")
    counts = {name: [sum(each.get(name) == result for each in found) for result in results] for name in names}
    missing = Lacking(reason) if (reason := torchscript_support().reason) else None
    return {
        "counts": Rows([(name, *counts[name]) for name in names if name in found[0]]),
        "accepted": missing or sum(counts["script"][:2]),
        "traces_wrong": missing or counts["trace"][1],
    }


lesson = load(__name__)

if __name__ == "__main__":
    main(lesson)
