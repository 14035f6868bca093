"""What `torch.compile` captures of a function: how many graphs, behind which guards, and why they end where they do."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Captured:
    """Graphs and operations in them, the guards' conditions as Python, and the reasons of breaks between graphs."""

    graphs: int
    operations: int
    guards: tuple[str, ...]
    breaks: tuple[str, ...]


def captured(function: Callable[..., object], *inputs: object) -> Captured:
    """Capture a function as a call with `inputs` shows it; nothing is compiled."""
    import torch._dynamo  # noqa: PLC0415 - takes seconds

    found = torch._dynamo.explain(function)(*inputs)  # type: ignore[no-untyped-call,unused-ignore]  # noqa: SLF001
    conditions = [code for guard in found.out_guards or () for code in guard.code_list or ()]
    return Captured(
        found.graph_count,
        found.op_count,
        tuple(dict.fromkeys(conditions)),
        tuple(str(each.reason) for each in found.break_reasons),
    )
