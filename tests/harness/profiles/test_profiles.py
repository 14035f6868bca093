"""Profiles as rows, scripts under Python's two profilers, and a real SnakeViz server."""

import cProfile
import http.client
import math
import pstats
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest

from harness.errors import MachineError, UsageError
from harness.profiles import ProfiledFunction, Server, of_one_thread, rows, run_script, served

SCRIPT = """
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def twice(n):
    return fib(n) + max(n, 0)

print(twice(10) + fib(3))
"""


def named(functions: tuple[ProfiledFunction, ...], name: str) -> ProfiledFunction:
    return next(each for each in functions if each.name == name)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a saved profile."""
    file = tmp_path_factory.mktemp("profile") / "fib.prof"
    profile, names = cProfile.Profile(), dict[str, object]()
    profile.runctx(SCRIPT.replace("print", "abs"), names, names)
    profile.dump_stats(file)
    return file


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a SnakeViz server with a profile of functions that call each other."""
    file = tmp_path_factory.mktemp("served") / "sorting.prof"
    profile = cProfile.Profile()
    profile.runcall(sorted, range(100), key=lambda number: -number)
    profile.dump_stats(file)
    with served(file) as running:
        yield running


def planted(entries: dict[tuple[str, int, Any], tuple[Any, ...]]) -> pstats.Stats:
    stats = pstats.Stats()
    vars(stats)["stats"] = entries
    return stats


def test_recursive_calls_are_counted_apart_from_outer_calls() -> None:
    ran = run_script(SCRIPT, "cProfile", "-o", "FILE")
    fib = named(ran.functions, "fib")
    assert (fib.calls, fib.outer_calls, fib.ncalls) == (177 + 5, 2, "182/2")
    assert {caller: calls for caller, (calls, _) in fib.callers.items()} == {"fib": 180, "twice": 1, "<module>": 1}
    assert named(ran.functions, "twice").ncalls == "1"
    assert ran.printed == "67\n"


def test_a_profile_with_calls_of_another_thread_is_recognised() -> None:
    """Three profiles that Python 3.14 recorded: one alone, two while another thread was busy."""

    def recorded(name: str, calls: int, own_s: float) -> ProfiledFunction:
        return ProfiledFunction(name, "<string>", calls, 1, own_s, 0.02, {})

    alone = (recorded("<module>", 1, 3e-05), recorded("main", 1, 6e-06))
    began_twice = (recorded("<module>", 2, 6e-04), recorded("main", 1, -1.28))
    gone = (recorded("main", 1, 6e-06),)
    assert [of_one_thread(each) for each in (alone, began_twice, gone)] == [True, False, False]


def test_a_builtin_has_its_short_name_and_callers_of_one_name_are_added_up() -> None:
    a, b = ("~", 0, "<built-in method builtins.max>"), ("~", 0, "<method 'strip' of 'str' objects>")
    found = rows(planted({a: (1, 1, 0.5, 0.5, {}), b: (2, 2, 1.0, 1.0, {a: (2, 2, 1.0, 1.0)})}))
    assert [each.name for each in found] == ["str.strip", "builtins.max"]
    assert found[0].callers == {"builtins.max": (2, 1.0)}
    callers = {("b.py", 3, "main"): (2, 1, 0.1, 0.25), ("c.py", 9, "main"): (1, 1, 0.2, 0.5)}
    (load,) = rows(planted({("a.py", 1, "load"): (2, 3, 0.3, 0.75, callers)}))
    assert load.callers == {"main": (3, 0.75)}


def test_the_module_profile_keeps_calls_of_callers_without_times() -> None:
    mine, other = (run_script(SCRIPT, name, "-o", "FILE").functions for name in ("profile", "cProfile"))
    assert named(mine, "fib").ncalls == named(other, "fib").ncalls
    calls, cumulative_s = named(mine, "fib").callers["twice"]
    assert calls == 1
    assert math.isnan(cumulative_s)


def test_the_largest_own_time_comes_first_also_from_a_file(saved: Path) -> None:
    own_s = [each.own_s for each in rows(saved)]
    assert own_s == sorted(own_s, reverse=True)
    assert own_s


def test_the_error_for_a_script_that_fails_or_hangs_says_so() -> None:
    with pytest.raises(UsageError, match="ZeroDivisionError"):
        run_script("1 / 0", "cProfile")
    with pytest.raises(UsageError, match="ran longer than"):
        run_script("while True: pass", "cProfile", timeout_s=0.5)


def test_snakeviz_serves_its_page_and_the_files_it_loads_only_on_the_loopback_address(server: Server) -> None:
    page = server.page()
    assert "builtins.sorted" in page
    assert 'value="icicle"' in page
    assert 'value="sunburst"' in page
    assert server.fetch("/static/snakeviz.js")
    assert server.fetch("/static/none.js") is None
    assert urlsplit(server.url).hostname == "127.0.0.1"
    assert server.listens_on() in {("127.0.0.1",), ()}


def test_a_standalone_page_loads_nothing(server: Server) -> None:
    whole = server.standalone()
    assert 'src="' not in whole.partition("<body")[0]
    assert "/static/vendor" in whole  # in the worker's fallback, which does not run here
    assert 'src="/static' not in whole
    assert "src='/static" not in whole
    assert 'href="/static' not in whole
    assert whole.index("self.importScripts = function") < whole.index("importScripts(\n")
    assert len(whole) > 400_000


def test_a_port_that_another_program_takes_first_does_not_stop_it(
    server: Server, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = urlsplit(server.url).port
    monkeypatch.setattr("harness.profiles.snakeviz.free_port", lambda: taken)
    with served(saved) as second:
        assert urlsplit(second.url).port != taken
        assert "fib" in second.page()


def test_a_file_that_is_not_a_profile_is_refused_and_no_process_is_left(tmp_path: Path) -> None:
    file = tmp_path / "not.prof"
    file.write_text("no profile", encoding="utf-8")
    before = set(psutil.Process().children())
    with pytest.raises(MachineError, match="did not start"), served(file):
        pass
    assert set(psutil.Process().children()) == before


def test_the_server_ends_with_the_block_even_after_an_exception(saved: Path) -> None:
    met = []

    def fails() -> None:
        with served(saved) as running:
            met.append(running)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    (gone,) = met
    assert not gone.runs()
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        gone.page()


def test_the_server_ends_when_the_process_that_started_it_is_killed(saved: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; from harness.profiles import served\n"
        "with served(Path(sys.argv[1])) as server:\n"
        "    print(server.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, saved], capture_output=True, text=True, check=False)
    pid = int(done.stdout)
    until_s = time.monotonic() + 20
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < until_s, "SnakeViz is still running"
        time.sleep(0.05)
