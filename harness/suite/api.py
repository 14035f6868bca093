"""Define benchmarks with the names of PyTorch's instruction-count suite. Only `compiled=True` does not exist there."""

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from textwrap import dedent
from typing import Self

from torch.utils.benchmark import Language

from harness.errors import UsageError
from harness.statements import indented

_SECTIONS = ("SETUP", "GLOBAL_SETUP")
_SIGNATURE = re.compile(r"f\((?P<arguments>.*)\) -> (?P<output>.+)")


@dataclass(frozen=True)
class TimerArgs:
    """The arguments of `torch.utils.benchmark.Timer` for one benchmark.

    The last field does not exist in `Timer`: the source of a `model` for `torch.compile`, or "". Setup and statement
    call the compiled model under the name `compiled_model`.
    """

    stmt: str
    setup: str = "pass"
    global_setup: str = ""
    num_threads: int = 1
    language: Language = Language.PYTHON
    compiled: str = ""


class RuntimeMode(enum.Enum):
    """How a statement runs. EXPLICIT marks benchmarks whose `TimerArgs` a person wrote."""

    EAGER = "Eager"
    COMPILED = "Compiled"
    EXPLICIT = ""


class AutogradMode(enum.Enum):
    """Whether a benchmark includes a backward pass. EXPLICIT marks benchmarks whose `TimerArgs` a person wrote."""

    FORWARD = "Forward"
    FORWARD_BACKWARD = "Forward + Backward"
    EXPLICIT = ""


@dataclass(frozen=True)
class AutoLabels:
    """The labels that distinguish the benchmarks of one grouped definition."""

    runtime: RuntimeMode
    autograd: AutogradMode
    language: Language


@dataclass(frozen=True)
class GroupedSetup:
    """The setup code in Python and in C++. `global_setup` is C++ code outside functions, such as `#include`."""

    py_setup: str = ""
    cpp_setup: str = ""
    global_setup: str = ""

    def __post_init__(self) -> None:
        for name, dedented in (("py_setup", indented), ("cpp_setup", dedent), ("global_setup", dedent)):
            object.__setattr__(self, name, dedented(getattr(self, name)))


_NO_SETUP = GroupedSetup()


@dataclass(frozen=True)
class Signature:
    """The names of a statement's arguments and output: `f(x, w) -> y`. `output` is None for an in-place operation."""

    arguments: tuple[str, ...]
    output: str | None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the signature in a text such as `f(a, b) -> c`, or raise `UsageError`."""
        found = _SIGNATURE.fullmatch(text.strip())
        if found is None:
            raise UsageError(f"The signature {text!r} is invalid; write it like f(x, w) -> y.")
        arguments = tuple(name.strip() for name in found["arguments"].split(",") if name.strip())
        output = found["output"].strip()
        if "," in output:
            raise UsageError(f"The signature {text!r} has several outputs; write one output, or None.")
        return cls(arguments, None if output == "None" else output)

    def call(self, model: str, language: Language) -> str:
        """Return the statement that calls an eager model, such as `y = model(x)` in Python."""
        given = ", ".join(self.arguments)
        if language is Language.PYTHON:
            return f"{self.output} = {model}({given})" if self.output else f"{model}({given})"
        return f"{self._result}{model}->forward({given});"

    def function(self, body: str) -> str:
        """Return the Python source of a function `model` with these statements and this signature."""
        head = f"def model({', '.join(self.arguments)}):"
        return f"{head}\n{indented(body, '    ')}\n    return {self.output}\n"

    @property
    def _result(self) -> str:
        return f"auto {self.output} = " if self.output else ""


@dataclass(frozen=True)
class GroupedBenchmark:
    """Several benchmarks of one operation or model, from `GroupedStmts`, `GroupedModules` or `GroupedVariants`.

    `signature` names the inputs and the output of the statement, as in "f(x, w) -> y", for models, compiling and
    autograd. `autograd=True` adds benchmarks with `y.backward()`. `compiled=True`, or `torchscript=True` in definitions
    for PyTorch's suite, adds those with `torch.compile`, in Python only, of the model in `source`.
    """

    py_fwd_stmt: str | None
    cpp_fwd_stmt: str | None
    py_model_setup: str | None
    cpp_model_setup: str | None
    source: str | None
    setup: GroupedSetup
    signature: Signature | None
    compiled: bool
    autograd: bool
    num_threads: tuple[int, ...]

    @classmethod
    def init_from_stmts(
        cls,
        py_stmt: str | None = None,
        cpp_stmt: str | None = None,
        setup: GroupedSetup = _NO_SETUP,
        signature: str | None = None,
        torchscript: bool = False,
        autograd: bool = False,
        num_threads: int | tuple[int, ...] = 1,
        compiled: bool = False,
    ) -> Self:
        """Return the benchmarks of a statement in Python, in C++, or in both languages."""
        read = None if signature is None else Signature.parse(signature)
        python, cpp, threads = py_stmt and indented(py_stmt), cpp_stmt and dedent(cpp_stmt), _tuple(num_threads)
        compiled = compiled or torchscript
        model = read.function(python.strip("\n")) if compiled and read and python is not None else None
        return cls(python, cpp, None, None, model, setup, read, compiled, autograd, threads)

    @classmethod
    def init_from_model(
        cls,
        py_model_setup: str | None = None,
        cpp_model_setup: str | None = None,
        setup: GroupedSetup = _NO_SETUP,
        signature: str | None = None,
        torchscript: bool = False,
        autograd: bool = False,
        num_threads: int | tuple[int, ...] = 1,
        compiled: bool = False,
    ) -> Self:
        """Return the benchmarks of a model, which the model setups define under the name `model`."""
        if signature is None:
            raise UsageError("A benchmark of a model needs its signature, such as f(x) -> y.")
        read, threads = Signature.parse(signature), _tuple(num_threads)
        py_stmt = read.call("model", Language.PYTHON) if py_model_setup is not None else None
        cpp_stmt = read.call("model", Language.CPP) if cpp_model_setup is not None else None
        python, cpp = py_model_setup and indented(py_model_setup), cpp_model_setup and dedent(cpp_model_setup)
        return cls(py_stmt, cpp_stmt, python, cpp, python, setup, read, compiled or torchscript, autograd, threads)

    @classmethod
    def init_from_variants(
        cls, py_block: str = "", cpp_block: str = "", num_threads: int | tuple[int, ...] = 1
    ) -> Mapping[tuple[str, ...] | str | None, Self]:
        """Return several related benchmarks by label. Each line of `py_block` and `cpp_block` is one statement.

        `# @setup` is above the setup, `# @reshape` above the statements with the label "reshape", and in C++,
        `// @Global Setup` above the global setup. Several statements are ("reshape", "Case:  0") and so on.
        """
        python, cpp = _by_label(py_block, "#"), _by_label(cpp_block, "//")
        py_setup, py_global = ("\n".join(python.pop(name, [])) for name in _SECTIONS)
        setup = GroupedSetup(py_setup, *("\n".join(cpp.pop(name, [])) for name in _SECTIONS))
        if py_global.strip():
            raise UsageError("Only C++ has a global setup; move the lines below `# @Global Setup` to `# @setup`.")
        found: dict[tuple[str, ...] | str | None, Self] = {}
        for label in {**python, **cpp}:
            lines = zip_longest(python.get(label, []), cpp.get(label, []), fillvalue="")
            pairs = [pair for pair in lines if any(pair)]
            for number, (py_stmt, cpp_stmt) in enumerate(pairs):
                name = (label, f"Case: {number:>2}") if len(pairs) > 1 else (label,)
                found[name] = cls.init_from_stmts(py_stmt or None, cpp_stmt or None, setup, num_threads=num_threads)
        return found

    @property
    def output(self) -> str | None:
        """The name of the output in the signature, or None if there is none."""
        return self.signature.output if self.signature else None

    def __post_init__(self) -> None:
        if self.autograd and self.output is None:
            raise UsageError("autograd=True needs a signature with an output, such as f(x, w) -> y.")
        if self.compiled and (self.signature is None or self.source is None):
            raise UsageError("compiled=True needs a signature, and a Python statement or model to compile.")
        for model in (self.py_model_setup, self.cpp_model_setup):
            if model and not re.search(r"\bmodel\b", model):
                raise UsageError(f"A model's setup must define `model`, but this setup does not: {model.strip()}")


GroupedStmts = GroupedBenchmark.init_from_stmts
GroupedModules = GroupedBenchmark.init_from_model
GroupedVariants = GroupedBenchmark.init_from_variants


def _tuple(num_threads: int | tuple[int, ...]) -> tuple[int, ...]:
    return (num_threads,) if isinstance(num_threads, int) else tuple(num_threads)


def _by_label(block: str, comment: str) -> dict[str, list[str]]:
    label = ""
    lines: dict[str, list[str]] = {}
    for line in dedent(block).strip().splitlines():
        if marked := re.search(rf"{comment} @(.+)$", line.strip()):
            label = marked[1]
            section = label.replace(" ", "_").upper()
            label = section if section in _SECTIONS else label
        else:
            # A comment becomes an empty line, because the Python and C++ lines are matched by line number.
            lines.setdefault(label, []).append("" if line.startswith(comment) else line)
    return lines
