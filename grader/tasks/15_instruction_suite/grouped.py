"""What `expand` is given: grouped benchmarks, each with something that is easily overlooked."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np

from grader.task import Metered, Mismatch
from grader.tasks.answers import shown
from grader.tasks.plain import PlainWorld
from grader.values import Value

NAMES: Final = ("a", "b", "bias", "grid", "left", "mask", "right", "rows", "scale", "w0", "w1", "x", "y")
FUNCTIONS: Final = ("add", "dot", "gelu", "matmul", "mul", "softmax", "sub")
KEYS: Final = ("label", "runtime", "autograd", "language", "num_threads", "stmt", "setup", "global_setup")


@dataclass(frozen=True)
class Group(PlainWorld):
    """One grouped benchmark."""

    title: str
    benchmark: Mapping[str, Value]
    function: str = "expand"
    cost: float = 1.0

    @property
    def arguments(self) -> tuple[Value | Metered, ...]:
        """The benchmark."""
        return (dict(self.benchmark),)

    @property
    def right(self) -> list[dict[str, Value]]:
        """The flat list that is asked for."""
        given = self.benchmark
        setup = given["setup"]
        assert isinstance(setup, Mapping)
        threads = given["num_threads"]
        kinds = product(
            ("Eager", "TorchScript") if given["torchscript"] else ("Eager",),
            ("Forward", "Forward + Backward") if given["autograd"] else ("Forward",),
            (("Python", "py", ""), ("C++", "cpp", setup["global"])),
        )
        return [
            dict(
                zip(KEYS, (given["label"], runtime, autograd, language, number, stmt, setup[short], whole), strict=True)
            )
            for runtime, autograd, (language, short, whole) in kinds
            if (stmt := self._stmt(runtime, autograd, short)) is not None
            for number in (threads if isinstance(threads, list) else [threads])
        ]

    def _stmt(self, runtime: str, autograd: str, short: str) -> str | None:
        stmt, signature = self.benchmark[short], self.benchmark["signature"]
        if stmt is None:
            return None
        call, _, output = str(signature).removeprefix("f").partition(" -> ")
        end, auto = (";", "auto ") if short == "cpp" else ("", "")
        if runtime == "TorchScript":
            stmt = f"{auto}{output} = jit_model{call}{end}" if output != "None" else f"jit_model{call}{end}"
        return f"{stmt}\n{output}.backward(){end}" if autograd != "Forward" else str(stmt)

    def judge(self, answer: Value) -> Mismatch | None:
        """Compare with the right list; the first benchmark that differs is told."""
        right = self.right
        if not isinstance(answer, list):
            return Mismatch("a list of benchmarks", shown(answer))
        for number, (row, got) in enumerate(zip(right, answer, strict=False), start=1):
            if not isinstance(got, Mapping) or set(got) != set(KEYS):
                return Mismatch(f"a dict of {', '.join(KEYS)} as number {number}", shown(got))
            for key in KEYS:
                if got[key] != row[key] or type(got[key]) is not type(row[key]):
                    return Mismatch(f"{row[key]!r} as {key} of number {number}", shown(got[key]), _rule(key, row))
        if len(answer) != len(right):
            return Mismatch(f"{len(right)} benchmarks", f"{len(answer)}")
        return None


def _rule(key: str, right: Mapping[str, Value]) -> str:
    """Return the rule that says what belongs under a key, for a benchmark that is right."""
    if key in ("runtime", "autograd", "language", "num_threads"):
        return "In order: eager first, forward first, Python first, and the numbers of threads innermost."
    if key == "global_setup":
        return "The global setup belongs to each benchmark in C++, and to none in Python."
    stmt = str(right["stmt"])
    if key != "stmt" or "jit_model" not in stmt:
        return ""
    return "Scripted, a statement calls jit_model." if " = " in stmt else "After -> None, nothing is assigned."


def draw_worlds(rng: np.random.Generator) -> tuple[Group, ...]:
    """Draw one benchmark for each thing that is easily overlooked, and some with all of them."""
    draw = _Drawing(rng)
    return (
        Group("a statement in both languages", draw.benchmark()),
        Group("in Python alone", draw.benchmark(cpp=False)),
        Group("in C++ alone, on several threads", draw.benchmark(py=False, threads=True)),
        Group("with a global setup", draw.benchmark(whole=True)),
        Group("scripted", draw.benchmark(torchscript=True)),
        Group(
            "scripted, nothing left behind",
            draw.benchmark(torchscript=True, output=False),
        ),
        Group("scripted, no arguments", draw.benchmark(torchscript=True, arguments=0)),
        Group("with a backward pass", draw.benchmark(autograd=True)),
        Group("scripted, in C++ alone", draw.benchmark(py=False, torchscript=True)),
        Group(
            "everything at once",
            draw.benchmark(torchscript=True, autograd=True, threads=True, whole=True),
        ),
    )


@dataclass(frozen=True)
class _Drawing:
    rng: np.random.Generator

    def benchmark(
        self,
        *,
        py: bool = True,
        cpp: bool = True,
        torchscript: bool = False,
        autograd: bool = False,
        threads: bool = False,
        whole: bool = False,
        output: bool = True,
        arguments: int | None = None,
    ) -> dict[str, Value]:
        number = int(self.rng.integers(1, 4)) if arguments is None else arguments
        *names, left = (str(name) for name in self.rng.choice(NAMES, number + 1, replace=False))
        function, tail = str(self.rng.choice(FUNCTIONS)), int(self.rng.integers(10, 100))
        call = f"{function}({', '.join(names)})"
        label: list[Value] = ["Drawn", f"{function} {tail}"]
        counts: list[Value] = [1, int(self.rng.integers(2, 9))]
        return {
            "label": label,
            "py": (f"{left} = torch.{call}" if output else f"torch.{call}") if py else None,
            "cpp": (f"auto {left} = torch::{call};" if output else f"torch::{call};") if cpp else None,
            "setup": {
                "py": f"torch.manual_seed({tail})",
                "cpp": f"torch::manual_seed({tail});",
                "global": f"#include <seed_{tail}.h>" if whole else "",
            },
            "signature": f"f({', '.join(names)}) -> {left if output else 'None'}" if torchscript or autograd else None,
            "torchscript": torchscript,
            "autograd": autograd,
            "num_threads": counts if threads else 1,
        }
