"""How benchmarks are written down: the words of PyTorch's instruction-count suite, with the same meaning.

One grouped definition stands for many benchmarks: eager and compiled, forward and with backward, Python and C++, on one
thread and on several. `harness.suite.expand.materialize` makes the flat list of them. `compiled=True`, for
`torch.compile`, is this kit's own word. `torchscript=True` is PyTorch's, and means what it means there.
"""

import enum
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from torch.utils.benchmark import Language

from harness.errors import UsageError
from harness.suite.variants import parse_variants

__all__ = [
    "AutoLabels",
    "AutogradMode",
    "GroupedBenchmark",
    "GroupedModules",
    "GroupedSetup",
    "GroupedStmts",
    "GroupedVariants",
    "RuntimeMode",
    "TimerArgs",
]

_SIGNATURE = re.compile(r"f\((?P<arguments>.*)\) -> (?P<output>.+)")


@dataclass(frozen=True)
class TimerArgs:
    """What `torch.utils.benchmark.Timer` is given: one benchmark, ready to be run.

    Two fields are this kit's own. Both hold the source of a module that defines `model`, and are empty for none:
    `scripted` is made TorchScript before the setup loads it, and `compiled` is what the setup and the statement call
    `compiled_model`.
    """

    stmt: str
    setup: str = "pass"
    global_setup: str = ""
    num_threads: int = 1
    language: Language = Language.PYTHON
    scripted: str = ""
    compiled: str = ""


class RuntimeMode(enum.Enum):
    """What runs the statement. Explicit ones are of `TimerArgs` written by hand, about which nothing is known."""

    EAGER = "Eager"
    COMPILED = "Compiled"
    JIT = "TorchScript"
    EXPLICIT = ""


class AutogradMode(enum.Enum):
    """Whether a backward pass follows."""

    FORWARD = "Forward"
    FORWARD_BACKWARD = "Forward + Backward"
    EXPLICIT = ""


@dataclass(frozen=True)
class AutoLabels:
    """What expansion adds to a benchmark's label."""

    runtime: RuntimeMode
    autograd: AutogradMode
    language: Language

    @property
    def as_dict(self) -> dict[str, str]:
        """The three as plain text."""
        return {
            "runtime": self.runtime.value,
            "autograd": self.autograd.value,
            "language": "Python" if self.language is Language.PYTHON else "C++",
        }


@dataclass(frozen=True)
class GroupedSetup:
    """How to get ready, in both languages. `global_setup` is C++ that stands before any function, such as includes."""

    py_setup: str = ""
    cpp_setup: str = ""
    global_setup: str = ""

    def __post_init__(self) -> None:
        for name in ("py_setup", "cpp_setup", "global_setup"):
            object.__setattr__(self, name, textwrap.dedent(getattr(self, name)))


_NO_SETUP = GroupedSetup()


@dataclass(frozen=True)
class Signature:
    """What a statement takes and leaves behind: `f(x, w) -> y`. The output None is for what changes in place."""

    arguments: tuple[str, ...]
    output: str | None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `f(a, b) -> c`. Raises `UsageError` for anything else, and for several outputs."""
        found = _SIGNATURE.fullmatch(text.strip())
        if found is None:
            raise UsageError(f"The signature {text!r} cannot be read; write it like f(x, w) -> y.")
        arguments = tuple(name.strip() for name in found["arguments"].split(",") if name.strip())
        output = found["output"].strip()
        if "," in output:
            raise UsageError(f"The signature {text!r} has several outputs; a benchmark can have one, or None.")
        return cls(arguments, None if output == "None" else output)

    def call(self, model: str, language: Language) -> str:
        """The statement that calls an eager model: `y = model(x)`, or in C++ the model's `forward`."""
        given = ", ".join(self.arguments)
        if language is Language.PYTHON:
            return f"{self.output} = {model}({given})" if self.output else f"{model}({given})"
        return f"auto {self.output} = {model}->forward({given});" if self.output else f"{model}->forward({given});"

    def call_scripted(self, model: str, language: Language) -> str:
        """The statement that calls a TorchScript model; in C++ it takes a vector of boxed values."""
        if language is Language.PYTHON:
            return self.call(model, language)
        boxed = ", ".join(f"torch::jit::IValue({name})" for name in self.arguments)
        kept = f"auto {self.output} = " if self.output else ""
        return f"std::vector<torch::jit::IValue> boxed_inputs({{{boxed}}});\n{kept}{model}.forward(boxed_inputs);"


@dataclass(frozen=True)
class GroupedBenchmark:
    """Several benchmarks of one thing. Made by `GroupedStmts`, `GroupedModules` and `GroupedVariants`, never by hand.

    What these three share: `setup`; `signature`, which says what a statement takes and gives ("f(x, w) -> y", needed
    for models, compiling and autograd); `autograd=True` adds benchmarks with `y.backward()` after the forward pass;
    `num_threads` takes a number or a tuple of them. `compiled=True` adds benchmarks of the model under `torch.compile`,
    in Python alone; `torchscript=True` adds those of the TorchScript model, in both languages.
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
        """Benchmarks of free-form statements, as Timer takes them.

        With `compiled=True` or `torchscript=True` the Python statement becomes the body of a function to compile.
        """
        read = Signature.parse(signature) if signature is not None else None
        python = textwrap.dedent(py_stmt) if py_stmt is not None else None
        return cls(
            py_fwd_stmt=python,
            cpp_fwd_stmt=textwrap.dedent(cpp_stmt) if cpp_stmt is not None else None,
            py_model_setup=_as_function(python, read) if torchscript or compiled else None,
            cpp_model_setup=None,
            is_stmts=True,
            setup=setup,
            signature=read,
            torchscript=torchscript,
            autograd=autograd,
            num_threads=_tuple(num_threads),
            compiled=compiled,
        )

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
        """Benchmarks of a module, which the model setups define under the name `model`. A signature is needed."""
        if signature is None:
            raise UsageError("A benchmark of a model needs its signature, such as f(x) -> y.")
        read = Signature.parse(signature)
        return cls(
            py_fwd_stmt=read.call("model", Language.PYTHON) if py_model_setup is not None else None,
            cpp_fwd_stmt=read.call("model", Language.CPP) if cpp_model_setup is not None else None,
            py_model_setup=textwrap.dedent(py_model_setup) if py_model_setup is not None else None,
            cpp_model_setup=textwrap.dedent(cpp_model_setup) if cpp_model_setup is not None else None,
            is_stmts=False,
            setup=setup,
            signature=read,
            torchscript=torchscript,
            autograd=autograd,
            num_threads=_tuple(num_threads),
            compiled=compiled,
        )

    @classmethod
    def init_from_variants(
        cls, py_block: str = "", cpp_block: str = "", num_threads: int | tuple[int, ...] = 1
    ) -> Mapping[tuple[str, ...] | str | None, Self]:
        """Several related benchmarks at once: a block of lines in each language, one statement a line.

        A comment that begins with @ names the lines below it: `# @setup`, in C++ also `// @Global Setup`, or a label.
        """
        cases, py_setup, cpp_setup, global_setup = parse_variants(py_block, cpp_block)
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
                raise UsageError(f"This setup has to define a model under the name `model`: {model.strip()}")


GroupedStmts = GroupedBenchmark.init_from_stmts
GroupedModules = GroupedBenchmark.init_from_model
GroupedVariants = GroupedBenchmark.init_from_variants


def _as_function(py_stmt: str | None, signature: Signature | None) -> str:
    if py_stmt is None or signature is None:
        raise UsageError("A function to compile needs a Python statement and a signature, such as f(x, w) -> y.")
    head = f"def model({', '.join(signature.arguments)}):"
    return "\n".join([head, textwrap.indent(py_stmt.strip("\n"), "    "), f"    return {signature.output}", ""])


def _tuple(num_threads: int | tuple[int, ...]) -> tuple[int, ...]:
    return (num_threads,) if isinstance(num_threads, int) else tuple(num_threads)
