"""The text about a raised exception: whose fault it is, the lines that led to it, and the case."""

import errno
from pathlib import Path

import pytest
from small_tasks import hand_in, negation, search
from trees import BARE

from grader.errors import GraderFault, MachineError, WorkerFault
from grader.grade import grade_task
from grader.records import Status
from grader.trials.faults import NO_PROCESSES, Raised, blame_grader, blame_submission, failing_case, fault_of, untrusted
from harness.machine.clocks import ProcessGoneError

COMPILER = "OSError: [Errno 95] Operation not supported\n\nSet TORCHDYNAMO_VERBOSE=1 for the internal stack trace"
NINJA = "Ninja is required to load C++ extensions (pip install ninja to get it)"


def test_who_cannot_start_a_compiler_is_told_why_and_what_to_use_in_its_place() -> None:
    compiled = {"type": "InductorError", "message": COMPILER, "errno": errno.EOPNOTSUPP, "line": 7}
    for told, said in (
        (compiled, "f raised InductorError: OSError: [Errno 95] Operation not supported (line 7 of the file)."),
        ({"type": "RuntimeError", "message": NINJA}, f"f raised RuntimeError: {NINJA}."),
    ):
        fault = fault_of(Raised(told), "f")
        assert (str(fault), fault.help) == (said, NO_PROCESSES)


HELPERS = """
import json

def helper(text):
    print("reading", text)
    return json.loads(text)

def find(probe):
    return first(probe)

def first(probe):
    return helper(str(probe(3)) + "}")
"""


def frames(*names: str) -> list[list[object]]:
    return [[number, name, f"{name}()"] for number, name in enumerate(names, start=1)]


def test_a_helpers_exception_is_told_with_its_lines_scenario_and_output(tmp_path: Path) -> None:
    attempt = grade_task(search(tmp_path), hand_in(HELPERS), BARE).attempt
    first, *trace, case = attempt.rationale.splitlines()
    assert first.startswith("find raised JSONDecodeError: ")
    assert first.endswith("(line 6 of the file).")
    assert trace == [
        "  line 9 of the file, in find:  return first(probe)",
        '  line 12 of the file, in first:  return helper(str(probe(3)) + "}")',
        "  line 6 of the file, in helper:  return json.loads(text)",
    ]
    assert case == "It happened in: a number is hidden"
    assert failing_case(attempt) == "a number is hidden"
    assert attempt.output_tail.strip() == "reading False}"


def test_a_traceback_is_short_and_printable_whatever_a_worker_says() -> None:
    said = [[1, "f" * 999, "\x1b[2J" + "x" * 999], *frames(*"abcdefghijklmn")]
    lines = str(fault_of(Raised({"type": "E", "message": "m", "frames": said}), "f")).splitlines()
    assert len(lines) == 9
    assert all(line.isprintable() and len(line) < 300 for line in lines)


SUBMISSIONS = (
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no text"),
    KeyError("VmHWM"),
    RecursionError(),
    PermissionError(errno.EACCES, "not to be looked at"),
    ProcessLookupError(),
    ProcessGoneError(),
)
OWN = (GraderFault("ours"), MachineError("the machine's"), MemoryError(), OSError(errno.EMFILE, "no descriptors left"))


def test_what_cannot_be_read_of_a_process_is_the_fault_of_whoever_runs_in_it_and_nothing_else_is() -> None:
    for error in SUBMISSIONS:
        with pytest.raises(WorkerFault, match=type(error).__name__) as caught, blame_submission("f"):
            raise error
        assert caught.value.status is Status.PROTOCOL_VIOLATION
        with pytest.raises(GraderFault), blame_grader("The baseline"), untrusted("the submission"):
            raise error
    for own in OWN:
        with pytest.raises(type(own)) as kept, blame_submission("f"):
            raise own
        assert kept.value is own


FORGED = "The smallest case: of my own choosing"


def test_the_case_is_found_however_a_task_failed(tmp_path: Path) -> None:
    task = negation(tmp_path)
    for body, status in {
        "return abs(x)": Status.WRONG,
        f"raise ValueError('{FORGED}')": Status.RAISED,
        "import os; os._exit(3)": Status.CRASHED,
    }.items():
        attempt = grade_task(task, hand_in(f"def negate(x):\n    {body}\n"), BARE).attempt
        assert attempt.status is status
        assert failing_case(attempt).startswith("x of shape ("), attempt
        assert "." not in failing_case(attempt)
    attempt = grade_task(search(tmp_path), hand_in("def find(probe):\n    return -1\n"), BARE).attempt
    assert failing_case(attempt) == "a number is hidden"
