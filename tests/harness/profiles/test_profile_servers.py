"""Real servers of SnakeViz, without a browser and in one."""

import cProfile
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest

from harness.errors import MachineError, UsageError
from harness.machine.environment import ABSENT
from harness.profiles import servers
from harness.profiles.servers import ProfileServer, served
from harness.profiles.stats import rows

if TYPE_CHECKING:
    from playwright.sync_api import Page


def wait_long() -> None:
    time.sleep(0.3)


def wait_briefly() -> None:
    time.sleep(0.1)


def wait_twice() -> None:
    wait_long()
    wait_briefly()


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a saved profile, in which a function waits in one place about three times as long as in another."""
    file = tmp_path_factory.mktemp("profile") / "-waits +%20#?&'\"ü\n.prof"
    waits = cProfile.Profile()
    waits.runcall(wait_twice)
    waits.dump_stats(file)
    return file


@pytest.fixture(scope="module")
def server(saved: Path) -> Iterator[ProfileServer]:
    with served(saved) as running:
        yield running


def test_snakeviz_serves_its_page_only_on_the_loopback_address_and_the_standalone_page_loads_nothing(
    server: ProfileServer,
) -> None:
    page, whole = server.page(), server.standalone()
    assert all(words in page for words in ("wait_briefly", 'value="icicle"', 'value="sunburst"'))
    assert server.fetch("/static/none.js") is None
    assert server.listens_on() in {("127.0.0.1",), ()}
    assert not any(f"{kind}={quote}/static" in whole for kind in ("src", "href") for quote in "\"'")
    assert whole.index("self.importScripts = function") < whole.index("importScripts(\n")
    assert len(whole) > 400_000


def test_a_profile_of_any_name_is_served(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(saved.parent)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ("x" * 250)).write_bytes(saved.read_bytes())
    for name in (saved.name, "~/" + "x" * 250):
        with served(Path(name)) as server:
            assert "wait_briefly" in server.page()


def test_a_file_that_is_not_a_profile_and_a_server_that_does_not_start_are_named_and_no_process_is_left(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, empty = set(psutil.Process().children()), tmp_path / "empty.prof"
    cProfile.Profile().dump_stats(empty)
    for file in (empty, Path(__file__), tmp_path / "missing.prof"):
        with pytest.raises(UsageError, match=file.name), served(file):
            pass
    monkeypatch.setattr(servers, "_CHILD", "print('no address')")
    with pytest.raises(MachineError, match="see the reason, run: python -m snakeviz"), served(saved):
        pass
    monkeypatch.setattr(servers, "version_of", lambda _: ABSENT)
    with pytest.raises(MachineError, match="pip install snakeviz"), served(saved):
        pass
    assert set(psutil.Process().children()) == before


def test_two_servers_run_at_once_and_each_ends_with_its_block_even_after_an_exception(
    server: ProfileServer, saved: Path
) -> None:
    with pytest.raises(ZeroDivisionError), served(saved) as second:
        raise ZeroDivisionError
    assert server.url != second.url
    assert not second.runs()
    with pytest.raises(MachineError, match="does not answer"):
        second.page()
    assert server.runs()


def test_the_server_ends_when_the_process_that_started_it_is_killed(saved: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; from harness.profiles.servers import served\n"
        "with served(Path(sys.argv[1])) as server:\n"
        "    print(server.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, saved], capture_output=True, text=True, check=False)
    pid = int(done.stdout)
    until_s = time.monotonic() + 20
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < until_s, "SnakeViz is still running"
        time.sleep(0.05)


def widths(page: "Page", style: str, shape: str) -> list[float]:
    """Choose a style in the page's menu, wait until its chart is drawn, and return the widths of the shapes.

    Choosing a style stops the page's worker, and a worker that is stopped while it loads its libraries reports an
    error. So each choice waits until the page has hidden its spinner. An earlier chart stays visible until then.
    """
    page.locator("#chart svg :is(rect, path)").nth(2).wait_for(state="attached")
    for chosen in (None, style):
        if chosen:
            page.select_option("#sv-style-select", chosen)
        page.wait_for_function("document.querySelector('#working-spinner').style.display === 'none'")
    page.locator(f"#chart svg {shape}").nth(2).wait_for(state="attached")
    found = page.evaluate(
        f"[...document.querySelectorAll('#chart svg {shape}')].map((each) => each.getBoundingClientRect().width)"
    )
    return list(found)


@pytest.mark.browser
@pytest.mark.long
def test_in_a_browser_both_charts_show_the_waits_and_the_table_names_the_functions(
    page: "Page", said: list[str], server: ProfileServer, saved: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "page.html"
    copy.write_text(server.standalone(), encoding="utf-8")
    times = {each.name: each.cumulative_s for each in rows(saved)}
    shares = [times[wait.__name__] / times[wait_twice.__name__] for wait in (wait_long, wait_briefly)]
    for address in (server.url, copy.as_uri()):
        page.goto(address)
        icicle = widths(page, "icicle", "rect")
        for share in shares:
            assert any(width / max(icicle) == pytest.approx(share, abs=0.02) for width in icicle), icicle
        assert len(widths(page, "sunburst", "path")) >= 3
        assert page.is_hidden("#sv-error-div")
        assert page.locator("#pstats-table tbody tr", has_text="(wait_briefly)").count() == 1
    assert said == []
