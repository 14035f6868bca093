import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from torch.utils.benchmark import CallgrindStats, Compare, FunctionCounts, Measurement
from torch.utils.benchmark.utils.common import TaskSpec
from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import FunctionCount

from harness.errors import UsageError
from harness.machine.environment import Environment
from harness.torch_benchmark.result_store import SavedResult, env_names, load, save, table, with_environment

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


def test_saved_results_are_loaded_sample_for_sample(path: Path) -> None:
    kept = with_environment([timing(), timing("B", (1e-300, 5e-324)), counting()], HERE)
    save(kept, path)
    back = load(path)
    assert back == kept
    assert back[0].result == timing()
    assert back[0].environment == HERE
    counts = back[2].result
    assert isinstance(counts, CallgrindStats)
    assert counts.delta(counting()).sum() == 0
    first, again = (repr(each.stats(inclusive=True)).splitlines()[1:] for each in (counting(), counts))
    assert first == again
    assert counting() != counts  # torch 2.13: if this fails, delete `SavedResult.__eq__`
    assert hash(back[2]) == hash(kept[2])
    different = with_environment([timing("B"), replace(timing(), metadata=None)], HERE)
    assert back[0] not in (*different, SavedResult(timing(), THERE))
    assert back[2] != SavedResult(counting(101), HERE)


def test_the_results_of_another_day_are_added_at_the_end(path: Path) -> None:
    save(with_environment([timing("A")], HERE), path)
    save(with_environment([timing("B")], THERE), path, append=True)
    assert [each.env for each in load(path)] == ["A", "B"]
    if path.suffix == ".jsonl":
        (first, _) = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        assert (first["kind"], first["fingerprint"]) == ("measurement", HERE.fingerprint())
        assert first["raw_times_s"] == timing().raw_times
    save((), path)
    assert load(path) == ()


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if "|" in line][1:]


def test_results_of_two_environments_are_never_merged_even_with_equal_names_and_replicates_share_a_row() -> None:
    for first, second, names in [
        ("A", "B", {"A", "B"}),
        (None, None, {HERE.fingerprint(), THERE.fingerprint()}),
        ("A", "A", {f"A {HERE.fingerprint()}", f"A {THERE.fingerprint()}"}),
        (None, "B", {HERE.fingerprint(), "B"}),  # torch's Compare alone raises a TypeError here
    ]:
        saved = [*with_environment([timing(first)], HERE), *with_environment([timing(second)], THERE)]
        assert set(env_names(saved).values()) == names
        shown = rows(str(table(saved)))
        assert len(shown) == 2
        assert all(any(f"({name})" in row for row in shown) for name in names)
    assert len(rows(str(table(with_environment([timing("A"), timing("A")], HERE))))) == 1


def test_a_measurement_without_a_description_is_shown() -> None:
    bare = replace(timing(), task_spec=replace(timing().task_spec, description=None))
    assert "time" in str(table(with_environment([bare], HERE)))
    with pytest.raises(TypeError):  # torch 2.13: if this fails, `table` need not add a description
        str(Compare([bare]))


def test_a_file_without_a_format_or_that_cannot_be_read_or_written_and_counts_alone_are_refused(tmp_path: Path) -> None:
    kept, odd = (with_environment([replace(timing(), metadata=each)], HERE) for each in (None, {"a": object()}))
    path = tmp_path / "kept.jsonl"
    save(kept, path)
    for call, said in [
        (lambda: load(tmp_path / "kept.csv"), r"must end with \.jsonl or \.pkl"),
        (lambda: save((), tmp_path / "kept.csv"), r"must end with \.jsonl or \.pkl"),
        (lambda: load(tmp_path / "none.jsonl"), "cannot be read"),
        (lambda: save((), tmp_path / "no folder" / "kept.pkl"), "cannot be written"),
        (lambda: table(with_environment([counting()], HERE)), "no measurement"),
        (lambda: save(odd, path, append=True), r"cannot be written to kept\.jsonl"),
    ]:
        with pytest.raises(UsageError, match=said):
            call()  # type: ignore[no-untyped-call]
    assert load(path) == kept  # the file is left alone


def test_the_error_for_an_invalid_line_or_pickle_is_one_sentence_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    for content in (b"{}", b"not json", b'{"kind": "opinion"}', b"[]", b'{"kind": "measurement"}', b"\xff\xfe"):
        save(with_environment([timing()], HERE), path)
        path.write_bytes(path.read_bytes() + content + b"\n")
        with pytest.raises(UsageError, match=r"kept\.jsonl, line 2: "):
            load(path)
    for content in (b"no pickle", b"\x80\x05", pickle.dumps(3), pickle.dumps([timing()])):
        (tmp_path / "kept.pkl").write_bytes(content)
        with pytest.raises(UsageError, match=r"kept\.pkl "):
            load(tmp_path / "kept.pkl")
