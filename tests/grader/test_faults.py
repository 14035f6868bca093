import errno

import pytest

from grader.trials.faults import NO_PROCESSES, Raised, fault_of

COMPILER = "OSError: [Errno 95] Operation not supported\n\nSet TORCHDYNAMO_VERBOSE=1 for the internal stack trace"
NINJA = "Ninja is required to load C++ extensions (pip install ninja to get it)"


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (
            {"type": "InductorError", "message": COMPILER, "errno": errno.EOPNOTSUPP, "line": 7},
            "f raised InductorError: OSError: [Errno 95] Operation not supported (line 7 of the file).",
        ),
        ({"type": "RuntimeError", "message": NINJA}, f"f raised RuntimeError: {NINJA}."),
    ],
    ids=["torch.compile", "load_inline"],
)
def test_who_cannot_start_a_compiler_is_told_why_and_what_to_use_in_its_place(
    told: dict[str, object], said: str
) -> None:
    fault = fault_of(Raised(told), "f")
    assert (str(fault), fault.help) == (said, NO_PROCESSES)
    assert "numba compiles without one" in fault.help


def test_any_other_exception_is_told_whole_and_without_that_advice() -> None:
    fault = fault_of(Raised({"type": "ValueError", "message": "one\n\ntwo", "errno": None}), "f")
    assert (str(fault), fault.help) == ("f raised ValueError: one\n\ntwo.", "")
