"""A function in C is found in a file, compiled and loaded; if a step fails, the student gets an explanation."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace

import pytest
from commanding import ROOT
from trees import BARE

from grader import catalogue, paths
from grader.errors import MachineError, WorkerFault
from grader.grade import grade_task
from grader.inside.native_build import FaultError, c_source
from grader.isolation.pool import Pool
from grader.records import Status, Submission, Verdict
from grader.session import Session
from grader.task import Task
from grader.trials import native
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


def fault(source: str) -> WorkerFault:
    with pytest.raises(WorkerFault) as raised:
        native.built(TASK, source)
    return raised.value


def test_a_file_without_a_plain_string_is_told_what_is_wrong() -> None:
    for text, kind, line in (
        ("g = 1", "missing", None),
        ("x.f = 'int x;'", "missing", None),
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
        ("g = 'ab'\nh = f = g", 1),
        ("f = (\r\n'a'\r\n'b')\r\n", 2),
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
def test_what_the_compiler_and_the_linker_miss_is_told_with_its_line_in_the_file() -> None:
    told = fault("# a comment\n" + in_c("int x = y;"))
    assert told.status is Status.REFUSED
    assert "does not compile: 'y' undeclared" in str(told)
    assert "(line 3 of the file)" in str(told)
    source = in_c("unsigned crc32(unsigned);\nunsigned checksum(void) { return crc32(0); }")
    assert "undefined reference to `crc32'" in str(fault(source))


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
