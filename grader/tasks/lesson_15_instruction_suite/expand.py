"""Task (a) of lesson 15: expand a grouped benchmark to a flat list. Only the answer counts, and not the time.

A grouped benchmark and its flat list are both made from the same random choices. No code here computes the list from
the benchmark, because students could hand it in as a solution.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.kinds.simulated import CALLS
from grader.task import Mismatch, SimulatedExam, SimulatedFunction, Task
from grader.tasks.plain import PlainScenario, shown
from grader.values import Value

NAMES: Final = ("a", "b", "bias", "grid", "left", "mask", "right", "rows", "scale", "w0", "w1", "x", "y")
FUNCTIONS: Final = ("add", "dot", "gelu", "matmul", "mul", "softmax", "sub")
KEYS: Final = ("label", "runtime", "autograd", "language", "num_threads", "stmt", "setup", "global_setup")


@dataclass(frozen=True)
class Group(PlainScenario):
    """A grouped benchmark, and its flat list (`right`), made from the same random choices."""

    title: str
    benchmark: Mapping[str, Value]
    right: Sequence[Mapping[str, Value]]
    function = "expand"
    order = "by runtime (eager first), autograd mode (forward first), language (Python first), and threads as given"

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The arguments of `expand`: the grouped benchmark."""
        return (dict(self.benchmark),)

    def judge(self, answer: Value) -> Mismatch | None:
        """Return a `Mismatch` for the first benchmark that differs from the right list, or None."""
        right = self.right
        if not isinstance(answer, list):
            return Mismatch("a list of benchmarks", shown(answer))
        for number, (row, got) in enumerate(zip(right, answer, strict=False), start=1):
            if not isinstance(got, Mapping) or set(got) != set(KEYS):
                return Mismatch(f"a dict of {', '.join(KEYS)} as benchmark {number}", shown(got))
            for key in KEYS:
                if got[key] != row[key]:
                    return Mismatch(f"{row[key]!r} as {key} of benchmark {number}", shown(got[key]), _rule(key, row))
        if len(answer) != len(right):
            return Mismatch(f"{len(right)} benchmarks", f"{len(answer)}")
        return None


def _rule(key: str, right: Mapping[str, Value]) -> str:
    if key in ("runtime", "autograd", "language", "num_threads"):
        return (
            "Order the list by runtime (eager first), autograd mode (forward first), language (Python first) and "
            "threads."
        )
    if key == "global_setup":
        return "Each benchmark in C++ has the global setup, and no benchmark in Python has it."
    stmt = str(right["stmt"])
    if key != "stmt" or "jit_model" not in stmt:
        return ""
    return (
        "A scripted statement calls jit_model."
        if " = " in stmt
        else ("If the signature ends with -> None, the statement is only the call.")
    )


def draw_scenarios(rng: np.random.Generator) -> tuple[Group, ...]:
    """Return a random grouped benchmark for each special case, and benchmarks with random options."""
    draw = _Drawing(rng)
    return (
        draw.group("a statement in both languages"),
        draw.group("in Python alone", cpp=False),
        draw.group("in C++ alone, on several threads", py=False, threads=2),
        draw.group("with a global setup", whole=True),
        draw.group("scripted", torchscript=True),
        draw.group("scripted, without an output", torchscript=True, output=False),
        draw.group("scripted, without arguments", torchscript=True, arguments=0),
        draw.group("with a backward pass", autograd=True),
        draw.group("scripted, in C++ alone", py=False, torchscript=True),
        draw.group("everything at once", torchscript=True, autograd=True, threads=2, whole=True),
        *(draw.mixture() for _ in range(MIXTURES)),
    )


MIXTURES: Final = 8
"""The number of benchmarks with random options. There are 20,000 combinations, so no table has them all."""


@dataclass(frozen=True)
class _Drawing:
    rng: np.random.Generator

    def group(
        self,
        title: str,
        *,
        py: bool = True,
        cpp: bool = True,
        torchscript: bool = False,
        autograd: bool = False,
        threads: int = 0,
        whole: bool = False,
        output: bool = True,
        arguments: int | None = None,
        labels: int = 2,
    ) -> Group:
        number = int(self.rng.integers(1, 4)) if arguments is None else arguments
        *names, left = (str(name) for name in self.rng.choice(NAMES, number + 1, replace=False))
        function, tail = str(self.rng.choice(FUNCTIONS)), int(self.rng.integers(10, 100))
        given = f"({', '.join(names)})"
        label: list[Value] = [*["Drawn", f"{function} {tail}", *names][:labels]]
        counts: list[Value] = [*self.rng.choice(np.arange(1, 33), threads, replace=False).tolist()] or [1]
        setup = {
            "py": f"torch.manual_seed({tail})",
            "cpp": f"torch::manual_seed({tail});",
            "global": f"#include <seed_{tail}.h>" if whole else "",
        }
        kinds = _statements(left if output else "", f"{function}{given}", f"jit_model{given}")
        asked = {
            "Eager",
            "TorchScript" * torchscript,
            "Forward",
            "Forward + Backward" * autograd,
            "Python" * py,
            "C++" * cpp,
        }
        rows: list[Mapping[str, Value]] = [
            {
                "label": label,
                "runtime": runtime,
                "autograd": mode,
                "language": language,
                "num_threads": count,
                "stmt": stmt,
                "setup": setup["py" if language == "Python" else "cpp"],
                "global_setup": "" if language == "Python" else setup["global"],
            }
            for (runtime, mode, language), stmt in kinds.items()
            if {runtime, mode, language} <= asked
            for count in counts
        ]
        benchmark: dict[str, Value] = {
            "label": label,
            "py": kinds["Eager", "Forward", "Python"] if py else None,
            "cpp": kinds["Eager", "Forward", "C++"] if cpp else None,
            "setup": dict(setup),
            "signature": f"f{given} -> {left if output else 'None'}" if torchscript or autograd else None,
            "torchscript": torchscript,
            "autograd": autograd,
            "num_threads": counts if threads else 1,
        }
        return Group(title, benchmark, rows)

    def mixture(self) -> Group:
        """Return a benchmark with random options. A statement without an output has no backward pass."""
        language, threads, arguments, labels = self.rng.integers((0, 0, 0, 1), (3, 13, 7, 6)).tolist()
        scripted, output, whole, backward = (self.rng.random(4) < 0.5).tolist()
        return self.group(
            "random options",
            py=language != 0,
            cpp=language != 1,
            torchscript=scripted,
            autograd=output and backward,
            threads=threads,
            whole=whole,
            output=output,
            arguments=arguments,
            labels=labels,
        )


def _statements(left: str, call: str, scripted: str) -> dict[tuple[str, str, str], str]:
    py, cpp = (f"{left} = ", f"auto {left} = ") if left else ("", "")
    eager, eager_cpp = f"{py}torch.{call}", f"{cpp}torch::{call};"
    script, script_cpp = f"{py}{scripted}", f"{cpp}{scripted};"
    backward, backward_cpp = f"\n{left}.backward()", f"\n{left}.backward();"
    return {
        ("Eager", "Forward", "Python"): eager,
        ("Eager", "Forward", "C++"): eager_cpp,
        ("Eager", "Forward + Backward", "Python"): eager + backward,
        ("Eager", "Forward + Backward", "C++"): eager_cpp + backward_cpp,
        ("TorchScript", "Forward", "Python"): script,
        ("TorchScript", "Forward", "C++"): script_cpp,
        ("TorchScript", "Forward + Backward", "Python"): script + backward,
        ("TorchScript", "Forward + Backward", "C++"): script_cpp + backward_cpp,
    }


EXPAND = Task(
    summary="expand a grouped benchmark to the flat list of its benchmarks",
    cost=CALLS,
    tiers=(),
    hints=(
        "Which options multiply the number of benchmarks? By how much does each option multiply it?",
        (
            "Write four nested loops, in the order that the exercise states. Write one function that returns the "
            "statement for a runtime, an autograd mode and a language, or None if there is none."
        ),
        (
            'Split the signature at the arrow: call, output = signature.split(" -> "). Then call[1:] holds the '
            'arguments in parentheses. A scripted statement is the output, " = jit_model" and the arguments. In C++, '
            'put "auto " before the statement and ";" after it. Without an output, write only the call. Add the line '
            "for the backward pass. Keep the global setup only for benchmarks in C++."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, scenario_noun="grouped benchmarks"),
    read="lesson 15, “Nested names”",
    idea=(
        "The solution loops over the requested options, and one function makes the statement for each combination. If "
        "code first makes all combinations and then removes some, it must contain every rule twice."
    ),
    references=(
        "harness/suite/expand.py expands the benchmarks of the suite. pytest's parametrize and hyperfine's parameter "
        "scans are other notations for a product of options."
    ),
)
