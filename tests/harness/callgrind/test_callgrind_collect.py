"""Which snippets are counted together, in which environment, that counts repeat, and the reading of profiles."""

import json
import os
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from torch.utils.benchmark.utils.common import TaskSpec
from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import CallgrindStats, FunctionCount, FunctionCounts

from harness.callgrind import outfile, tools
from harness.callgrind.collect import Snippet, collect, decode
from harness.callgrind.script import count_script, count_scripts
from harness.errors import UsageError
from harness.torch_benchmark.result_store import callgrind_to_dict

CPP = Snippet("x * y;", 'auto n = std::atol(std::getenv("N"));', language="cpp", environment={"N": "1"})
SHORT, LONG = "print(sum(range(10)))", "print(sum(range(10_000)))"


def test_only_compiled_snippets_that_differ_in_the_environment_share_a_program_and_have_their_own_counts() -> None:
    other = replace(CPP, environment={"N": "128"}, runs=2)
    assert other.program == CPP.program
    assert other.key != CPP.key
    assert CPP.program not in {replace(CPP, stmt="x + y;").program, replace(CPP, setup="").program}
    python = Snippet("x * y", environment={"N": "1"})
    assert replace(python, environment={"N": "128"}).program != python.program


def test_counts_survive_json_and_anything_else_is_not_a_count() -> None:
    counts = FunctionCounts((FunctionCount(7, "a.c:f"),), inclusive=False)
    stats = CallgrindStats(TaskSpec("x", "pass"), 100, True, counts, counts, counts, counts, None)
    (found,) = decode(json.loads(json.dumps([callgrind_to_dict(stats)])))
    assert asdict(found) == asdict(stats)
    damaged: object
    for damaged in (None, {}, [{}], [7], [{"task_spec": {}}]):
        assert decode(damaged) == ()


@pytest.mark.long
@pytest.mark.valgrind
def test_a_statement_is_counted_in_a_new_process_and_an_error_is_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRCLOCK_CACHE", str(tmp_path))
    counted = collect(Snippet("sum(range(100))", number=10))
    assert counted.stats.counts() > 1000
    assert asdict(collect(Snippet("sum(range(100))", number=10))) == asdict(counted)
    assert collect(Snippet("1 / 0", number=10)).reason.startswith("valgrind failed: ")


def test_a_counted_process_has_fixed_hashes_this_interpreter_and_no_gpu() -> None:
    base = {"CUDA_VISIBLE_DEVICES": "0,1", "PYTHONHASHSEED": "7", "PATH": "/bin", "HOME": "/h", "VALGRIND_OPTS": "-v"}
    assert tools.environment(Path("/shims"), {**base, "PYTHONHOME": "/other"}) == {
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONHASHSEED": tools.HASH_SEED,
        "PATH": os.pathsep.join(["/shims", str(Path(sys.executable).parent), "/bin"]),
        "HOME": "/h",
    }


@pytest.mark.valgrind
def test_scripts_counted_at_the_same_time_have_the_same_counts_as_alone() -> None:
    short, long = count_scripts([SHORT, LONG])
    assert short.instructions == count_script(SHORT).instructions
    assert long.instructions > short.instructions
    assert [each.printed for each in (short, long)] == ["45\n", "49995000\n"]
    with pytest.raises(UsageError, match="ZeroDivisionError"):
        count_scripts(["1 / 0"])


PROFILE = """# callgrind format
positions: line
events: Ir
fl=(1) words.c
fn=(1) main
10 5
cfn=(2) next_word
calls=3 20
11 60
cfn=(2)
calls=2 20
12 40
fn=(2)
20 70
cfi=(2) letters.c
cfn=(3) is_letter
calls=15 30
21 30
fl=(2)
fn=(3)
30 30
totals: 105
"""


def test_a_function_has_exclusive_and_inclusive_instructions_and_those_of_a_recursive_call_once() -> None:
    profile = outfile.parse(PROFILE.splitlines())
    assert profile.exclusive == {"words.c:main []": 5, "words.c:next_word []": 70, "letters.c:is_letter []": 30}
    assert profile.inclusive == {"words.c:main []": 105, "words.c:next_word []": 100, "letters.c:is_letter []": 30}
    assert profile.total == 105
    assert profile.calls == {"words.c:next_word []": 5, "letters.c:is_letter []": 15}
    recursive = PROFILE.replace("30 30\ntotals", "30 30\ncfn=(3)\ncalls=5 30\n31 20\ntotals")
    assert outfile.parse(recursive.splitlines()).inclusive == profile.inclusive


def test_a_text_without_a_total_or_with_other_events_is_not_a_profile() -> None:
    with pytest.raises(outfile.ProfileError, match="no total"):
        outfile.parse(PROFILE.replace("totals", "subtotals").splitlines())
    with pytest.raises(outfile.ProfileError, match="not instructions"):
        outfile.parse(PROFILE.replace("Ir", "Dr Ir").splitlines())
