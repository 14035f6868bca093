import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from torch.utils.benchmark import CallgrindStats, Compare, FunctionCounts, Measurement
from torch.utils.benchmark.utils.common import TaskSpec
from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import FunctionCount

from harness.environment import Environment
from harness.errors import UsageError
from harness.store import Kept, env_names, keep, load, save, table

HERE = Environment.capture(ask_cuda=False)
THERE = replace(HERE, settings=(("OMP_NUM_THREADS", "1"),))


def timing(env: str | None = None, times_s: tuple[float, ...] = (0.1, 0.3, 0.2 + 1e-17)) -> Measurement:
    task = TaskSpec("f(x)", "x = 1", label="work", sub_label="small", description="f", env=env, num_threads=2)
    return Measurement(7, list(times_s), task, {"run": 3})


def counting(instructions: int = 100) -> CallgrindStats:
    def counts(inclusive: bool) -> FunctionCounts:
        rows = (FunctionCount(instructions, "a.c:f [lib.so]"), FunctionCount(-3, "b.c:größe"))
        return FunctionCounts(rows, inclusive, truncate_rows=False)

    return CallgrindStats(
        TaskSpec("f(x)", "x = 1"), 100, True, counts(True), counts(False), counts(True), counts(False), "raw\nout\n"
    )


@pytest.fixture(params=["kept.jsonl", "kept.pkl"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / str(request.param)


def test_what_was_kept_comes_back_equal_sample_for_sample(path: Path) -> None:
    kept = keep([timing(), timing("B", (1e-300, 5e-324)), counting()], HERE)
    save(kept, path)
    back = load(path)
    assert back == kept
    first = back[0].result
    assert isinstance(first, Measurement)
    assert first == timing()
    assert (first.median, first.iqr) == (timing().median, timing().iqr)
    assert back[0].environment == HERE


def test_counts_come_back_whole(path: Path) -> None:
    save(keep([counting()], HERE), path)
    back = load(path)[0].result
    assert isinstance(back, CallgrindStats)
    assert back.counts() == counting().counts()
    assert repr(back.stats(inclusive=True)).splitlines()[1:] == repr(counting().stats(inclusive=True)).splitlines()[1:]
    assert back.delta(counting()).sum() == 0
    assert back.stmt_callgrind_out == "raw\nout\n"


def test_two_counts_with_the_same_contents_are_equal_once_kept_although_torch_says_no() -> None:
    one, other = counting(), pickle.loads(pickle.dumps(counting()))  # noqa: S301 - written by us
    assert one != other  # torch 2.13: when this fails, `Kept` no longer needs an equality of its own
    assert Kept(one, HERE) == Kept(other, HERE)
    assert hash(Kept(one, HERE)) == hash(Kept(other, HERE))


@pytest.mark.parametrize(
    "other",
    [
        Kept(timing("B"), HERE),
        Kept(timing(), THERE),
        Kept(timing(times_s=(0.1, 0.3)), HERE),
        Kept(replace(timing(), metadata=None), HERE),
        Kept(counting(), HERE),
    ],
)
def test_whatever_differs_makes_kept_results_unequal(other: Kept) -> None:
    assert Kept(timing(), HERE) != other
    assert Kept(counting(), HERE) != Kept(counting(101), HERE)
    assert Kept(timing(), HERE) != timing()


def test_the_results_of_another_day_are_added_at_the_end(path: Path) -> None:
    save(keep([timing("A")], HERE), path)
    save(keep([timing("B")], THERE), path, append=True)
    assert [each.env for each in load(path)] == ["A", "B"]
    save(keep([timing("C")], HERE), path)
    assert [each.env for each in load(path)] == ["C"]


def test_nothing_kept_is_an_empty_file(path: Path) -> None:
    save((), path)
    assert load(path) == ()


def test_a_line_is_json_that_any_tool_reads_with_the_fingerprint_in_it(tmp_path: Path) -> None:
    save(keep([timing(), counting()], HERE), tmp_path / "kept.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "kept.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["kind"] for line in lines] == ["measurement", "callgrind"]
    assert {line["fingerprint"] for line in lines} == {HERE.fingerprint()}
    assert lines[0]["raw_times_s"] == timing().raw_times


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if "|" in line][1:]


def test_two_environments_are_two_rows_with_their_names() -> None:
    shown = rows(str(table([*keep([timing("A")], HERE), *keep([timing("B")], THERE)])))
    assert len(shown) == 2
    assert shown[0].lstrip().startswith("(A)")
    assert shown[1].lstrip().startswith("(B)")


def test_results_of_two_environments_are_never_merged_whatever_they_are_called() -> None:
    unnamed = [*keep([timing()], HERE), *keep([timing()], THERE)]
    assert len(rows(str(table(unnamed)))) == 2
    assert HERE.fingerprint() in str(table(unnamed))
    namesakes = [*keep([timing("A")], HERE), *keep([timing("A")], THERE)]
    assert len(rows(str(table(namesakes)))) == 2
    assert set(env_names(namesakes).values()) == {f"A {HERE.fingerprint()}", f"A {THERE.fingerprint()}"}


def test_a_named_environment_beside_an_unnamed_one_is_shown() -> None:
    mixed = [*keep([timing()], HERE), *keep([timing("B")], THERE)]
    assert len(rows(str(table(mixed)))) == 2  # torch's Compare alone raises a TypeError here


def test_a_measurement_without_a_description_is_shown() -> None:
    bare = replace(timing(), task_spec=replace(timing().task_spec, description=None))
    assert "time" in str(table(keep([bare], HERE)))
    with pytest.raises(TypeError):  # torch 2.13: when this fails, `table` need no longer fill in a heading
        str(Compare([bare]))


def test_replicates_of_one_environment_are_one_row_and_all_their_samples_count() -> None:
    assert len(rows(str(table(keep([timing("A"), timing("A")], HERE))))) == 1


def test_a_table_of_counts_alone_is_refused() -> None:
    with pytest.raises(UsageError, match="no measurement"):
        table(keep([counting()], HERE))


def test_a_name_that_says_no_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"end it in \.jsonl or \.pkl"):
        load(tmp_path / "kept.csv")
    with pytest.raises(UsageError, match=r"end it in \.jsonl or \.pkl"):
        save((), tmp_path / "kept.csv")


@pytest.mark.parametrize(
    "content", [b"{}\n", b"not json\n", b'{"kind": "opinion"}\n', b"[]\n", b'{"kind": "measurement"}\n', b"\xff\xfe\n"]
)
def test_a_line_that_is_no_result_is_one_sentence_with_its_number(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    save(keep([timing()], HERE), path)
    path.write_bytes(path.read_bytes() + content)
    with pytest.raises(UsageError, match=r"kept\.jsonl, line 2: "):
        load(path)


@pytest.mark.parametrize("content", [b"no pickle", b"\x80\x05", pickle.dumps(3), pickle.dumps([timing()])])
def test_a_pickle_of_something_else_is_one_sentence(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "kept.pkl"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"kept\.pkl "):
        load(path)


def test_files_that_cannot_be_read_or_written_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="cannot be written"):
        save((), tmp_path / "no folder" / "kept.pkl")


def test_metadata_that_json_cannot_hold_is_refused_and_the_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    save(keep([timing()], HERE), path)
    with pytest.raises(UsageError, match=r"does not fit into kept\.jsonl"):
        save(keep([replace(timing(), metadata={"when": object()})], HERE), path, append=True)
    assert len(load(path)) == 1
