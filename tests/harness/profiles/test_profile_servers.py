"""Real servers of SnakeViz, without a browser and in one."""

import cProfile
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

if TYPE_CHECKING:
    from playwright.sync_api import Page


def wait_briefly() -> None:
    time.sleep(0.1)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a saved profile of a wait, in a file with an odd name."""
    file = tmp_path_factory.mktemp("profile") / "-waits +%20#?&'\"ü\n.prof"
    waits = cProfile.Profile()
    waits.runcall(wait_briefly)
    waits.dump_stats(file)
    return file


@pytest.fixture(scope="module")
def server(saved: Path) -> Iterator[ProfileServer]:
    with served(saved) as running:
        yield running


def test_snakeviz_serves_on_loopback_and_a_standalone_page_loads_nothing(server: ProfileServer) -> None:
    page, whole = server.page(), server.standalone()
    assert all(words in page for words in ("wait_briefly", 'value="icicle"', 'value="sunburst"'))
    assert server.fetch("/static/none.js") is None
    assert server.listens_on() in {("127.0.0.1",), ()}
    assert not any(f"{kind}={quote}/static" in whole for kind in ("src", "href") for quote in "\"'")
    assert whole.index("self.importScripts = function") < whole.index("importScripts(\n")
    assert len(whole) > 400_000


def test_bad_files_and_failing_servers_are_named(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.browser
@pytest.mark.long
def test_in_a_browser_the_chart_is_drawn_and_the_table_names_the_functions(
    page: "Page", said: list[str], server: ProfileServer, tmp_path: Path
) -> None:
    copy = tmp_path / "page.html"
    copy.write_text(server.standalone(), encoding="utf-8")
    for address in (server.url, copy.as_uri()):
        page.goto(address)
        page.locator("#chart svg :is(rect, path)").first.wait_for(state="attached")
        page.wait_for_function("document.querySelector('#working-spinner').style.display === 'none'")
        assert page.is_hidden("#sv-error-div")
        assert page.locator("#pstats-table tbody tr", has_text="(wait_briefly)").count() == 1
    assert said == []
