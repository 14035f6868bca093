"""A function in C is found in a file, compiled and loaded; if a step fails, the student gets an explanation."""

import re
import shutil
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from commanding import ROOT
from trees import BARE

from grader import catalogue, paths
from grader.errors import MachineError, WorkerFault
from grader.grade import grade_task
from grader.inside.native_build import FaultError, c_source
from grader.isolation.pool import Pool
from grader.records import Status, Submission, Verdict
from grader.session import Session
from grader.source import Source
from grader.task import Task
from grader.trials import native
from grader.trials.faults import NOT_WRITTEN
from grader.trials.native import Built
from harness.machine import programs

(TASK,) = catalogue.load().tasks("14_extensions")
SOLUTION = paths.solution("14_extensions").read_text(encoding="utf-8")
needs_compiler = pytest.mark.skipif(native.compiler() is None, reason=native.INSTALL_HINT)

CAST = '''checksum = r"""
#include <stddef.h>
#include <stdint.h>
uint32_t checksum(const uint8_t *data, size_t size) {
  return size < 4 ? 0 : *(const uint32_t *)data;
}
"""
'''
"""C source whose fifth line assumes that an address is divisible by four."""


def in_c(body: str) -> str:
    return f'checksum = r"""\n{body}\n"""\n'


def submission(source: str) -> Submission:
    return Submission("ada", TASK.lesson, "14_extensions.py", "0" * 64, source)


@pytest.fixture(scope="module")
def built() -> Built:
    return native.built(TASK, SOLUTION)


def loaded(text: Source) -> Callable[[torch.Tensor], torch.Tensor]:
    module = ModuleType("submission")
    exec(compile(str(text), "submission", "exec"), module.__dict__)  # noqa: S102 - it is the kit's own
    function: Callable[[torch.Tensor], torch.Tensor] = module.__dict__["checksum"]
    return function


def fault(source: str) -> WorkerFault:
    with pytest.raises(WorkerFault) as raised:
        native.built(TASK, source)
    return raised.value


def test_a_file_without_a_plain_string_is_told_what_is_wrong() -> None:
    for text, kind, line in (
        ("g = 1", "missing", None),
        ("x.f = 'int x;'", "missing", None),
        ("\nf = 1", "no string", 2),
        ("f = str(1)", "no string", 1),
        ("f = " + "(" * 1000, "syntax", 1),
        ("\0", "syntax", None),
    ):
        with pytest.raises(FaultError) as raised:
            c_source([(0, text)], "f")
        assert raised.value.told["fault"] == kind
        assert line in {None, raised.value.told["line"]}


def test_the_text_may_be_annotated_or_put_together_from_constants() -> None:
    for text, line in (
        ("f: str = 'ab'", 1),
        ("\ng = 'a'\nf = g + 'b'", 2),
        ("f = 'a'\nf += 'b'", 1),
        ("f = textwrap.dedent('''  ab''').replace('c', '')", 1),
        ("b, n = 1, 2\nb = 'b'\nf = f'a{b:>1}'", 3),
        ("f = ''.join(['a', 'b'])", 1),
        ("print(f := 'ab')", 1),
    ):
        assert c_source([(0, text)], "f") == f'#line {line} "submission.c"\nab\n', text


def test_a_missing_or_broken_compiler_is_the_machines_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "compiler", lambda: None)
    verdict = grade_task(TASK, submission(SOLUTION), BARE)
    assert verdict.status is Status.GRADER_ERROR
    assert programs.C_COMPILER in verdict.attempt.rationale
    monkeypatch.setattr(native, "compiler", lambda: shutil.which("false"))
    with pytest.raises(MachineError, match="does not work here"):
        native.built(TASK, SOLUTION)


@needs_compiler
def test_both_libraries_are_right_at_any_address(built: Built, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    data = np.random.default_rng(0).integers(0, 256, 64, dtype=np.uint8)
    for checksum in map(loaded, (built.checked, built.timed)):
        for start, size in product(range(9), range(40)):
            part = data[start : start + size]
            answer = bytes(checksum(torch.from_numpy(part)).numpy())
            assert answer == zlib.crc32(part.tobytes()).to_bytes(4, "little")
    assert list(tmp_path.iterdir()) == []


@needs_compiler
def test_what_the_compiler_and_the_linker_miss_is_told_with_its_line_in_the_file() -> None:
    told = fault("# a comment\n" + in_c("int x = y;"))
    assert told.status is Status.REFUSED
    assert "does not compile: 'y' undeclared" in str(told)
    assert "(line 3 of the file)" in str(told)
    source = in_c("unsigned crc32(unsigned);\nunsigned checksum(void) { return crc32(0); }")
    assert "undefined reference to `crc32'" in str(fault(source))


@needs_compiler
def test_the_stub_is_not_written_yet() -> None:
    stub = paths.stub(TASK.lesson).read_text(encoding="utf-8")
    told = fault(stub)
    assert told.help == NOT_WRITTEN
    line = 1 + stub[: stub.index("\n#error")].count("\n") + 1
    assert f"still the stub (line {line} of the file)" in str(told)


@needs_compiler
def test_a_library_without_the_function_or_one_that_no_message_holds_is_told_as_one() -> None:
    assert loaded(native.built(TASK, in_c("int other;")).timed) is None
    large = "A" * (native.MOST_LIBRARY_BYTES + 1)
    assert "larger than 512 KiB" in str(native._fault("checksum", {"libraries": {"checked": large, "timed": large}}))


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(hidden=(ROOT,)) as one:
        yield one


def graded(pool: Pool, source: str, task: Task = TASK) -> Verdict:
    return grade_task(replace(task, tiers=()), submission(source), Session("seed", pool))


@needs_compiler
@pytest.mark.sandbox
@pytest.mark.slow
def test_in_the_sandbox_a_cast_address_is_told_by_its_line(pool: Pool) -> None:
    verdict = graded(pool, CAST)
    assert verdict.status is Status.WRONG
    assert "misaligned address" in verdict.attempt.rationale
    assert "(line 5 of the file)" in verdict.attempt.rationale
    assert re.fullmatch(r"It happened with data of shape [^.]*uint8[^.]*\.", verdict.attempt.help)
    source = f"raise SystemExit\n{in_c('int x = y;')}"
    assert "does not compile" in graded(pool, source).attempt.rationale, "the file's Python is never run"
