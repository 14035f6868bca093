"""The functions that replace files from the network in a page."""

from pathlib import Path

import pytest

from harness.rendering.chromium import chromium

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ADDRESS = "https://no-such-host.invalid/library.js"


def test_a_page_gets_a_file_without_the_network_and_a_script_runs_before_the_page(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(
        f"<!doctype html><script>window.early = window.first</script><script src={ADDRESS}></script>", encoding="utf-8"
    )
    with chromium(tmp_path / "browser") as page:
        page.before_each_page("window.first = 'ran'")
        page.open(file)
        assert page.run("[window.early, typeof window.answered]") == ["ran", "undefined"]
        page.answer("*/library.js", b"window.answered = 5")
        page.go(file.as_uri())
        assert page.run("window.answered") == 5
