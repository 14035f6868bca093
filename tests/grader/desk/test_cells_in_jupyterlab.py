"""A student solves, checks, renames and hands in an exercise's notebook in JupyterLab, in a real browser."""

import os
import re
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commanding import ROOT

from grader import paths
from grader.desk import exercise_notebook

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.long, pytest.mark.browser("jupyterlab")]

LESSON, TASK = "04_autorange", "blocked_autorange"
OPTIONS = (
    "--no-browser",
    "--allow-root",
    "--IdentityProvider.token=",
    "--LabApp.news_url=",
    "--ServerApp.log_level=50",
)
"""A server without a password, which asks nothing and uses no network."""


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """Start JupyterLab with the notebook in a folder below the server's root, and yield its address."""
    folder = tmp_path / "root" / "my work"
    folder.mkdir(parents=True)
    stub = paths.stub(LESSON).read_text(encoding="utf-8")
    (folder / f"{LESSON}.ipynb").write_bytes(exercise_notebook.exported(LESSON, stub))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "JUPYTERLAB_WORKSPACES_DIR")
    own = {name: str(tmp_path / name) for name in (*names, "JUPYTERLAB_SETTINGS_DIR")}
    command = [sys.executable, "-m", "jupyterlab", *OPTIONS, f"--port={port}", f"--ServerApp.root_dir={tmp_path}/root"]
    with subprocess.Popen(command, env={**os.environ, **own, "PYTHONPATH": str(ROOT)}) as server:
        yield f"http://127.0.0.1:{port}/lab/tree/my%20work/{LESSON}.ipynb"
        server.terminate()


class Lab:
    """The notebook in JupyterLab. A cell is named by the beginning of its code."""

    def __init__(self, page: "Page", url: str) -> None:
        self.page = page
        page.set_default_timeout(60_000)
        for _ in range(300):
            try:
                page.goto(url)
                break
            except Exception:  # noqa: BLE001 - the server has not started yet
                page.wait_for_timeout(200)
        page.get_by_text("| Idle").wait_for()  # cells that run before the kernel has started open a dialog

    def cell(self, code: str) -> "Locator":
        text = self.page.locator(".cm-content", has_text=re.compile(f"^{code}"))
        return self.page.locator(".jp-CodeCell").filter(has=text).first

    def run(self, code: str, says: str) -> "Locator":
        """Run a cell, and wait until its output contains a text."""
        cell = self.cell(code)
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        found = cell.locator(".jp-OutputArea", has_text=re.compile(says))
        found.wait_for()
        return found

    def type_code(self, code: str, text: str) -> None:
        """Replace the code of a cell, and run it."""
        self.cell(code).locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)
        self.page.keyboard.press("Control+Enter")

    def menu(self, name: str, item: str) -> None:
        self.page.get_by_role("menubar").get_by_text(name, exact=True).click()
        self.page.get_by_role("menuitem", name=item, exact=True).click()

    def save(self) -> None:
        self.page.keyboard.press("Control+S")
        self.page.locator(".jp-DirListing-item.jp-mod-dirty, .lm-mod-current.jp-mod-dirty").wait_for(state="detached")


def test_an_exercise_is_solved_renamed_and_handed_in(page: "Page", url: str, tmp_path: Path) -> None:
    lab = Lab(page, url)
    lab.menu("Run", "Run All Cells")
    lab.run("%check", "0 / 10.*not written yet")
    lab.run("%hint", "Hint [12] of 3")
    lab.run("%submit", "nothing to hand in")
    lab.type_code(f"def {TASK}", paths.solution(LESSON).read_text(encoding="utf-8"))
    lab.run("%check", "not saved since your last change(.|\n)*0 / 10")
    lab.save()
    lab.run("%check", "^(?!.*not saved)(.|\n)*10 / 10")
    lab.run("%hint", "Hint [23] of 3")
    page.locator(".jp-DirListing-item", has_text=f"{LESSON}.ipynb").click()
    page.keyboard.press("F2")
    page.keyboard.insert_text("mine")  # the suffix is not selected
    page.keyboard.press("Enter")
    page.locator(".jp-DirListing-item", has_text="mine.ipynb").wait_for()
    lab.menu("Kernel", "Restart Kernel and Run All Cells…")
    page.get_by_role("button", name="Confirm Kernel Restart").click()
    output = lab.cell("%submit").locator(".jp-OutputArea", has_text="Download submission.zip")
    output.wait_for()
    lab.run("%check", "10 / 10")
    with page.expect_download() as download:
        output.get_by_role("link").click()
    page.wait_for_timeout(100)
    with zipfile.ZipFile(download.value.path()) as packed:
        assert set(packed.namelist()) == {f"{LESSON}.ipynb", "manifest.json"}
        saved = (tmp_path / "root" / "my work" / "mine.ipynb").read_bytes()
        assert packed.read(f"{LESSON}.ipynb") == saved
