"""Commands start in any folder, or print one sentence on what the installation lacks."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from commanding import ROOT

from harness import installation

NEEDED = {"torch": "2.9", "numpy": "1.26", "pyyaml": "6", "no-such-package": "1.2"}
WINDOWS = """import sys, typer
sys.modules |= dict.fromkeys(("fcntl", "resource", "pwd", "grp", "termios"))
sys.platform = "win32"
"""


def started(code: str, *words: str, here: Path = ROOT) -> tuple[int, str]:
    done = subprocess.run([sys.executable, code, *words], cwd=here, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


def test_a_package_that_is_missing_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "_requirements", lambda: NEEDED)
    said = installation.problem()
    assert "no-such-package is missing" in said
    assert said.endswith("install 'no-such-package>=1.2'")
    monkeypatch.setattr(sys, "version_info", (3, 10, 14))
    assert "is Python 3.10.14. Install a newer one." in installation.problem()


def test_a_file_of_the_student_never_replaces_a_module(tmp_path: Path) -> None:
    for name in ("random.py", "torch.py", "numpy/__init__.py", "harness/__init__.py", "typing.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("raise SystemExit('the file of the student ran')")
    for module in ("grader", "lessons"):
        code, said = started("-m", module, "--version", here=tmp_path)
        assert (code, said.partition(" ")[0]) == (0, "fairclock")


def test_on_windows_the_first_command_names_wsl_and_lessons_start() -> None:
    check = f"{WINDOWS}sys.argv = ['-m', 'check', '4']\nfrom grader.__main__ import main\nmain()"
    assert started("-c", check) == (2, f"{installation.ON_WINDOWS}\n")
    code, said = started("-c", f"{WINDOWS}from lessons.__main__ import main\nsys.exit(main(['--version']))")
    assert (code, said.partition(" ")[0]) == (0, "fairclock")


def test_ctrl_c_while_a_command_imports_its_modules_ends_it_without_a_traceback() -> None:
    interrupt = "from harness import installation; installation.require(); signal.raise_signal(signal.SIGINT)"
    assert started("-c", f"import signal; {interrupt}") == (-signal.SIGINT, "")
