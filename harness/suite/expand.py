"""Expand grouped definitions to a list of benchmarks. No benchmark is run.

The benchmarks of a definition have a fixed order. They are sorted first by mode (eager, compiled, TorchScript), then by
forward and backward, then by Python and C++. The numbers of threads stay in the given order.
"""

import textwrap
from itertools import product

from torch.utils.benchmark import Language

from harness.suite import models
from harness.suite.api import AutogradMode, AutoLabels, GroupedBenchmark, RuntimeMode, TimerArgs
from harness.suite.types import FlatDefinition, FlatIntermediateDefinition

_INCLUDES = "#include <string>\n#include <vector>\n#include <torch/script.h>\n"

WARM_UPS = 3
"""Number of calls before a measurement. `torch.compile` compiles at the first call. TorchScript compiles after a few
calls, when it has recorded the types of the arguments."""


def materialize(benchmarks: FlatIntermediateDefinition) -> FlatDefinition:
    """Return the list of all benchmarks, each with its label, its kind, and the arguments of `Timer`."""
    flat: list[tuple[tuple[str, ...], AutoLabels, TimerArgs]] = []
    for label, benchmark in benchmarks.items():
        if isinstance(benchmark, TimerArgs):
            flat.append((label, AutoLabels(RuntimeMode.EXPLICIT, AutogradMode.EXPLICIT, benchmark.language), benchmark))
            continue
        enabled = {
            RuntimeMode.EAGER: True,
            RuntimeMode.COMPILED: benchmark.compiled,
            RuntimeMode.JIT: benchmark.torchscript,
        }
        runtimes = [runtime for runtime, wanted in enabled.items() if wanted]
        autograds = (AutogradMode.FORWARD, AutogradMode.FORWARD_BACKWARD)[: 1 + benchmark.autograd]
        for runtime, autograd, language in product(runtimes, autograds, (Language.PYTHON, Language.CPP)):
            kind = AutoLabels(runtime, autograd, language)
            stmt = _stmt(benchmark, kind)
            if stmt is not None:
                flat += [
                    (label, kind, _timer_args(benchmark, kind, stmt, threads)) for threads in benchmark.num_threads
                ]
    return tuple(flat)


def _timer_args(benchmark: GroupedBenchmark, kind: AutoLabels, stmt: str, num_threads: int) -> TimerArgs:
    is_cpp = kind.language is Language.CPP
    setup = benchmark.setup.cpp_setup if is_cpp else benchmark.setup.py_setup
    if kind.runtime is RuntimeMode.COMPILED:
        setup = f"{setup}\nfor _ in range({WARM_UPS}):\n{textwrap.indent(stmt, '    ')}".strip("\n")
        return TimerArgs(stmt, setup, num_threads=num_threads, compiled=benchmark.py_model_setup or "")
    source = benchmark.py_model_setup or "" if kind.runtime is RuntimeMode.JIT else ""
    if source:
        setup = f"{setup}\n{_load(source, stmt, kind.language)}"
    else:
        setup = f"{setup}\n{(benchmark.cpp_model_setup if is_cpp else _eager_model(benchmark)) or ''}"
    global_setup = benchmark.setup.global_setup if is_cpp else ""
    if source and is_cpp:
        global_setup = f"{_INCLUDES}{global_setup}"
    return TimerArgs(stmt, setup.strip("\n"), global_setup, num_threads, kind.language, scripted=source)


def _eager_model(benchmark: GroupedBenchmark) -> str | None:
    return None if benchmark.is_stmts else benchmark.py_model_setup


def _stmt(benchmark: GroupedBenchmark, kind: AutoLabels) -> str | None:
    is_cpp = kind.language is Language.CPP
    signature = benchmark.signature
    if kind.runtime is RuntimeMode.COMPILED:
        assert signature is not None
        stmt = None if is_cpp else signature.call(models.COMPILED, kind.language)
    elif kind.runtime is RuntimeMode.JIT:
        assert signature is not None
        defined_in_cpp = benchmark.cpp_fwd_stmt is not None or benchmark.setup.cpp_setup.strip()
        stmt = signature.call_scripted("jit_model", kind.language) if defined_in_cpp or not is_cpp else None
    else:
        stmt = benchmark.cpp_fwd_stmt if is_cpp else benchmark.py_fwd_stmt
    if stmt is None or kind.autograd is not AutogradMode.FORWARD_BACKWARD:
        return stmt
    assert signature is not None
    boxed = is_cpp and kind.runtime is RuntimeMode.JIT
    tensor = f"{signature.output}.toTensor()" if boxed else f"{signature.output}"
    return f"{stmt}\n{tensor}.backward(){';' if is_cpp else ''}"


def _load(source: str, stmt: str, language: Language) -> str:
    """Return the setup code that loads a TorchScript model as `jit_model`, and calls the model until it is compiled."""
    path, body = str(models.script_path(source)), textwrap.indent(stmt, "    ")
    if language is Language.PYTHON:
        return f"jit_model = torch.jit.load({path!r})\nfor _ in range({WARM_UPS}):\n{body}"
    quoted = path.replace("\\", "\\\\").replace('"', '\\"')
    loop = f"for (int warm_up = 0; warm_up < {WARM_UPS}; ++warm_up) {{\n{body}\n}}"
    return f'auto jit_model = torch::jit::load("{quoted}");\n{loop}'
