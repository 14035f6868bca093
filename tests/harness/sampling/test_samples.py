"""Tests of samples: counts, shares and stacks."""

from harness.sampling import Sample, Samples


def sample(*names: str, file: str = "/x/a.py") -> Sample:
    return Sample("main", tuple((name, file) for name in names))


RECORDED = Samples((sample("f", "g"), sample("f", "g", "g"), sample("f"), Sample("main", ())))


def test_a_sample_counts_once_for_a_function_that_calls_itself_and_no_samples_have_no_shares() -> None:
    assert RECORDED.with_function("g") == 2
    assert RECORDED.share("g") == 0.5
    assert RECORDED.share("h") == Samples(()).share("f") == len(Samples(())) == 0
    assert RECORDED.on_top() == {"g": 2, "f": 1}
    assert len(RECORDED.only(lambda each: "g" in each.names)) == 2


def test_equal_stacks_are_merged_and_frames_named_with_their_files() -> None:
    twice = Samples((sample("f"), sample("f"), sample("f", file="")))
    assert twice.stacks() == [(("a.py: f",), 2.0), (("f",), 1.0)]


def test_frames_of_the_import_system_are_python() -> None:
    assert not sample("_find_and_load", file="<frozen importlib._bootstrap>").in_c
    assert sample("gemm", file="libtorch_cpu.so").in_c
    assert not Sample("main", ()).in_c
