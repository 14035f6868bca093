import shutil
import sys
from itertools import product

import pytest

from harness.machine import programs


def test_a_user_who_is_not_root_needs_sudo_except_for_brew_and_a_missing_package_has_no_command() -> None:
    headers = f"apt-get install python{sys.version_info.major}.{sys.version_info.minor}-dev"
    assert programs.install("Python headers", "apt-get", root=True) == headers
    assert programs.install("valgrind", "dnf", root=False) == "sudo dnf install valgrind"
    assert programs.install("C compiler", "brew", root=False) == "brew install gcc"
    expected = "brew has no package with bubblewrap: use a Linux machine with another package manager"
    assert programs.install("bubblewrap", "brew") == expected


def test_every_manager_has_a_command_for_every_package_or_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    for name, manager in product(programs.PACKAGES, programs.MANAGERS):
        command = programs.install(name, manager, root=True)
        assert command.startswith(f"{manager} ")
        assert len(command.split()) >= 3
        monkeypatch.setattr(shutil, "which", lambda found, only=manager: found == only or None)
        assert programs.install(name, root=True) == command
    monkeypatch.setattr("sys.platform", "darwin")
    assert programs.install("C compiler") == programs.install("C++ compiler") == "xcode-select --install"


def test_a_program_is_missing_only_when_it_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert programs.lacking("a shell", "install one", "sh") == ""
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    assert programs.lacking("a shell", "install one", "sh") == "a shell is missing: install one"
