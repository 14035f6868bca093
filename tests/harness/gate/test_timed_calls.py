"""The `benchmark` fixture, which has the interface of pytest-benchmark."""

from types import SimpleNamespace
from typing import Any

import pytest

from harness.errors import UsageError
from harness.gate.timed_calls import BenchmarkFixture, FixtureAlreadyUsedError, TimedCall, marker_settings


def fixture(calls: int = 3) -> BenchmarkFixture:
    """Return a fixture whose call runs once, and then in a block of `calls` calls."""

    def serve(call: TimedCall) -> None:
        assert call.block(calls).calls == calls

    node: Any = SimpleNamespace(name="test_it[a]", nodeid="f.py::test_it[a]", get_closest_marker=lambda _: None)
    return BenchmarkFixture(node, serve)


def test_a_call_passes_its_arguments_and_returns_its_first_result() -> None:
    seen: list[tuple[object, ...]] = []

    def function(*args: object, **kwargs: object) -> int:
        seen.append((args, kwargs))
        return len(seen)

    assert fixture(3)(function, 1, 2, key=3) == 1
    assert seen == 4 * [((1, 2), {"key": 3})]


def test_pedantic_runs_setup_and_teardown_around_each_call() -> None:
    seen: list[object] = []

    def setup() -> tuple[tuple[str], dict[str, str]]:
        seen.append("setup")
        return ("a",), {"key": "b"}

    def target(letter: str, *, key: str) -> str:
        seen.append(letter)
        return key

    def teardown(letter: str, *, key: str) -> None:
        seen.append(letter + key)

    assert fixture(2).pedantic(target, setup=setup, teardown=teardown, rounds=5, warmup_rounds=2) == "b"
    assert seen == 5 * ["setup", "a", "ab"]


def test_pedantic_without_setup_uses_the_same_arguments_for_all_calls() -> None:
    seen: list[int] = []
    assert fixture(4).pedantic(seen.append, args=(1,), kwargs=None, iterations=10, warmup_rounds=1) is None
    assert seen == 6 * [1]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"rounds": 0}, ValueError),
        ({"iterations": 2.0}, ValueError),
        ({"warmup_rounds": -1}, ValueError),
        ({"iterations": 2, "setup": list}, ValueError),
        ({"args": ("a",), "setup": lambda: (("b",), {})}, TypeError),
    ],
)
def test_pedantic_refuses_what_pytest_benchmark_refuses(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        fixture().pedantic(print, **arguments)


def test_the_fixture_can_be_used_only_once() -> None:
    benchmark = fixture()
    benchmark(int)
    with pytest.raises(FixtureAlreadyUsedError, match=r"Previously it was used in benchmark\(\.\.\.\) mode"):
        benchmark.pedantic(int)


def test_an_error_of_the_call_itself_is_not_changed() -> None:
    with pytest.raises(TypeError, match="not supported between"):
        fixture()(sorted, [1, "a"])


def marked(*settings: dict[str, Any]) -> Any:
    """Return an item whose innermost marker `duel` has the first one of these settings."""
    return SimpleNamespace(
        nodeid="f.py::test_it", iter_markers=lambda _: [SimpleNamespace(args=(), kwargs=each) for each in settings]
    )


@pytest.mark.parametrize("wrong", [{"allowed": 0.1}, {"allow": 0}, {"limit_s": "2"}, {"allow": True}])
def test_a_wrong_setting_of_the_marker_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"f\.py::test_it"):
        marker_settings(marked(wrong))


def test_the_marker_of_a_test_has_priority_over_that_of_its_class() -> None:
    found = marker_settings(marked({"allow": 0.2}, {"allow": 0.1, "limit_s": 5}))
    assert found == {"allow": 0.2, "limit_s": 5}
