"""Classes that define benchmarks. Their names and meaning are those of PyTorch's instruction-count suite.

One grouped definition describes many benchmarks: eager and compiled, with and without a backward pass, in Python and
C++, with one or several threads. `harness.suite.expand.materialize` returns the list of these benchmarks. The argument
`compiled=True`, for `torch.compile`, does not exist in PyTorch's suite. The argument `torchscript=True` has the same
meaning as in PyTorch's suite.
"""

import enum
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Self

from torch.utils.benchmark import Language

from harness.errors import UsageError

_SECTIONS = ("SETUP", "GLOBAL_SETUP")
_SIGNATURE = re.compile(r"f\((?P<arguments>.*)\) -> (?P<output>.+)")


@dataclass(frozen=True)
class TimerArgs:
    """The arguments of `torch.utils.benchmark.Timer` for one benchmark.

    The last two fields do not exist in `Timer`. Each holds the source code of a module that defines `model`, or "". The
    model in `scripted` is compiled to TorchScript before the setup loads it. The model in `compiled` is compiled with
    `torch.compile`. Setup and statement call it under the name `compiled_model`.
    """

    stmt: str
    setup: str = "pass"
    global_setup: str = ""
    num_threads: int = 1
    language: Language = Language.PYTHON
    scripted: str = ""
    compiled: str = ""


class RuntimeMode(enum.Enum):
    """How a statement runs. EXPLICIT marks benchmarks whose `TimerArgs` a person wrote."""

    EAGER = "Eager"
    COMPILED = "Compiled"
    JIT = "TorchScript"
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
        for name in ("py_setup", "cpp_setup", "global_setup"):
            object.__setattr__(self, name, textwrap.dedent(getattr(self, name)))


_NO_SETUP = GroupedSetup()


@dataclass(frozen=True)
class Signature:
    """The names of a statement's arguments and output: `f(x, w) -> y`. `output` is None for an in-place operation."""

    arguments: tuple[str, ...]
    output: str | None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the signature that a text such as `f(a, b) -> c` describes.

        Raise `UsageError` if the text is not of this form, or if it names several outputs.
        """
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
        return f"auto {self.output} = {model}->forward({given});" if self.output else f"{model}->forward({given});"

    def call_scripted(self, model: str, language: Language) -> str:
        """Return the statement that calls a TorchScript model. In C++, it passes a vector of boxed values."""
        if language is Language.PYTHON:
            return self.call(model, language)
        boxed = ", ".join(f"torch::jit::IValue({name})" for name in self.arguments)
        kept = f"auto {self.output} = " if self.output else ""
        return f"std::vector<torch::jit::IValue> boxed_inputs({{{boxed}}});\n{kept}{model}.forward(boxed_inputs);"


@dataclass(frozen=True)
class GroupedBenchmark:
    """Several benchmarks of one operation or model.

    Create a grouped benchmark with `GroupedStmts`, `GroupedModules` or `GroupedVariants`. These functions share some
    arguments. `setup` is the setup code. `signature` names the inputs and the output of the statement, as in "f(x, w)
    -> y". A signature is required for models, compiling and autograd. `autograd=True` adds benchmarks with
    `y.backward()` after the forward pass. `num_threads` is a number or a tuple of numbers. `compiled=True` adds
    benchmarks of the model with `torch.compile`, in Python only. `torchscript=True` adds benchmarks of the TorchScript
    model in both languages.
    """

    py_fwd_stmt: str | None
    cpp_fwd_stmt: str | None
    py_model_setup: str | None
    cpp_model_setup: str | None
    is_stmts: bool
    setup: GroupedSetup
    signature: Signature | None
    torchscript: bool
    autograd: bool
    num_threads: tuple[int, ...]
    compiled: bool = False

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
        """Return the benchmarks of a statement in Python, in C++, or in both languages.

        With `compiled=True` or `torchscript=True`, the Python statement becomes the body of a function that is
        compiled.
        """
        read = Signature.parse(signature) if signature is not None else None
        python, cpp, threads = _dedent(py_stmt), _dedent(cpp_stmt), _tuple(num_threads)
        model = _as_function(python, read) if torchscript or compiled else None
        return cls(python, cpp, model, None, True, setup, read, torchscript, autograd, threads, compiled)

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
        """Return the benchmarks of a model. The code of the model setups must define the variable `model`.

        Raise `UsageError` if there is no signature.
        """
        if signature is None:
            raise UsageError("A benchmark of a model needs its signature, such as f(x) -> y.")
        read, threads = Signature.parse(signature), _tuple(num_threads)
        py_stmt = read.call("model", Language.PYTHON) if py_model_setup is not None else None
        cpp_stmt = read.call("model", Language.CPP) if cpp_model_setup is not None else None
        python, cpp = _dedent(py_model_setup), _dedent(cpp_model_setup)
        return cls(py_stmt, cpp_stmt, python, cpp, False, setup, read, torchscript, autograd, threads, compiled)

    @classmethod
    def init_from_variants(
        cls, py_block: str = "", cpp_block: str = "", num_threads: int | tuple[int, ...] = 1
    ) -> Mapping[tuple[str, ...] | str | None, Self]:
        """Return several related benchmarks by label. Each line of `py_block` and `cpp_block` is one statement.

        A comment that begins with @ describes the lines below it. `# @setup` marks the setup, and `# @reshape` the
        statements with the label "reshape". In C++, `// @Global Setup` marks the global setup.
        """
        cases, py_setup, cpp_setup, global_setup = _parse_variants(py_block, cpp_block)
        setup = GroupedSetup(py_setup, cpp_setup, global_setup)
        return {
            label: cls.init_from_stmts(python or None, cpp or None, setup, num_threads=num_threads)
            for label, (python, cpp) in cases.items()
        }

    def __post_init__(self) -> None:
        if self.autograd and (self.signature is None or self.signature.output is None):
            raise UsageError("autograd=True needs a signature with an output, such as f(x, w) -> y.")
        for word, wanted in (("torchscript", self.torchscript), ("compiled", self.compiled)):
            if wanted and (self.signature is None or self.py_model_setup is None):
                raise UsageError(f"{word}=True needs a signature, and a Python statement or model to compile.")
        for model in (self.py_model_setup, self.cpp_model_setup):
            if model and not re.search(r"\bmodel\b", model):
                raise UsageError(f"A model's setup must define `model`, but this setup does not: {model.strip()}")


GroupedStmts = GroupedBenchmark.init_from_stmts
GroupedModules = GroupedBenchmark.init_from_model
GroupedVariants = GroupedBenchmark.init_from_variants


def _as_function(py_stmt: str | None, signature: Signature | None) -> str:
    if py_stmt is None or signature is None:
        raise UsageError("To compile a function, give a Python statement and a signature, such as f(x, w) -> y.")
    head = f"def model({', '.join(signature.arguments)}):"
    return "\n".join([head, textwrap.indent(py_stmt.strip("\n"), "    "), f"    return {signature.output}", ""])


def _dedent(text: str | None) -> str | None:
    return None if text is None else textwrap.dedent(text)


def _tuple(num_threads: int | tuple[int, ...]) -> tuple[int, ...]:
    return (num_threads,) if isinstance(num_threads, int) else tuple(num_threads)


_Cases = dict[tuple[str, ...] | str | None, tuple[str, str]]
# A Python statement and a C++ statement for each label. One of the two statements may be "".


def _parse_variants(py_block: str, cpp_block: str) -> tuple[_Cases, str, str, str]:
    """Return four values: the statements by label, the Python setup, the C++ setup, and the global C++ setup.

    If a label has several lines, each line gets its own label: `("label", "Case:  0")`, `("label", "Case:  1")` and so
    on. Raise `UsageError` if the Python block has a global setup.
    """
    python, cpp = _by_label(py_block, "#"), _by_label(cpp_block, "//")
    py_setup, py_global = ("\n".join(python.pop(name, [])) for name in _SECTIONS)
    cpp_setup, global_setup = ("\n".join(cpp.pop(name, [])) for name in _SECTIONS)
    if py_global.strip():
        raise UsageError("Only C++ has a global setup; move the lines below `# @Global Setup` to `# @setup`.")
    cases: _Cases = {}
    for label in {**python, **cpp}:
        pairs = [pair for pair in zip_longest(python.get(label, []), cpp.get(label, []), fillvalue="") if any(pair)]
        for number, pair in enumerate(pairs):
            cases[(label, f"Case: {number:>2}") if len(pairs) > 1 else (label,)] = pair
    return cases, py_setup, cpp_setup, global_setup


def _by_label(block: str, comment: str) -> dict[str, list[str]]:
    label = ""
    lines: dict[str, list[str]] = {}
    for line in textwrap.dedent(block).strip().splitlines():
        if marked := re.search(rf"{comment} @(.+)$", line.strip()):
            label = marked[1]
            section = label.replace(" ", "_").upper()
            label = section if section in _SECTIONS else label
        else:
            # A comment becomes an empty line, because the Python and C++ lines are matched by line number.
            lines.setdefault(label, []).append("" if line.startswith(comment) else line)
    return lines
