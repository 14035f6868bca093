"""Which Dask workers may grade a class, and the messages for a cluster that cannot be used."""

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from commanding import CLASS, ROOT

from grader.class_run import cluster, encryption, remote
from grader.class_run.remote import LANE, GradingPlugin, Standard, standing
from grader.commands.apps import run_grader
from grader.errors import MachineError, UsageError

MINE = Standard("1.0", "abc", "3.11.7", "2.13.0", "2.3.0")


def test_differences_from_the_standard_are_named() -> None:
    assert MINE.differences(MINE) == ""
    assert MINE.differences(replace(MINE, python="3.12.1", torch="2.9.0")) == (
        "python 3.12.1 instead of 3.11.7, torch 2.9.0 instead of 2.13.0"
    )
    assert "of the same version 1.0" in MINE.differences(replace(MINE, sources="abd"))


def test_every_file_on_which_a_grade_depends_is_in_the_standard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "KIT", tmp_path)
    monkeypatch.setattr(remote, "GRADER", tmp_path / "grader")
    found = {remote._digest()}
    for number, name in enumerate(("grader/a.py", "harness/a.py", "harness/a.c", "grader/known.json", "grader/b.py")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x = 1")
        found.add(remote._digest())
        assert len(found) == number + 2, name
    (tmp_path / "grader" / "b.py").write_text("x = 2")
    assert remote._digest() not in found


def test_a_worker_whose_kit_differs_gets_no_lane_and_says_why() -> None:
    given: dict[str, float] = {}

    async def set_resources(**resources: float) -> None:
        given.update(resources)

    plugin = GradingPlugin(replace(Standard.here(), sources="changed"), (), sandboxed=False)
    worker = SimpleNamespace(set_resources=set_resources, plugins={remote.NAME: plugin})
    asyncio.run(plugin.setup(worker))  # type: ignore[arg-type]  # a worker, as far as a refusal needs one
    assert given == {LANE: 0}
    lanes, why = standing(worker)  # type: ignore[arg-type]
    assert lanes == 0
    assert "different files in grader or harness" in why


class Client:
    """A client of a cluster whose workers all answer that they do not grade."""

    def __init__(self, **answers: tuple[int, str]) -> None:
        self.answers = answers

    def wait_for_workers(self, number: int, timeout: float) -> None:
        if len(self.answers) < number:
            raise TimeoutError(timeout)

    def register_plugin(self, _plugin: object) -> None:
        pass

    def run(self, _function: object, on_error: str) -> dict[str, tuple[int, str]]:
        assert on_error == "return"
        return self.answers


def test_a_cluster_whose_workers_cannot_grade_says_why_and_how_to_add_workers() -> None:
    with pytest.raises(MachineError, match=r"No worker .* can grade .*one does not grade: another kit.* `dask worker"):
        cluster._enlist(Client(one=(0, "another kit")), (), sandboxed=True)
    with pytest.raises(MachineError, match=r"has no worker\. To add workers, run `dask worker"):
        cluster._enlist(Client(), (), sandboxed=True)


def test_where_no_scheduler_answers_nothing_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_S", 0.5)
    with pytest.raises(MachineError, match="No Dask scheduler answers"):
        cluster.join("tcp://127.0.0.1:9", (), sandboxed=True).__enter__()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("tcp://127.0.0.1:9", "--workers", "2"), "not both"),
        (("tls://127.0.0.1:9",), "Dask's configuration names no certificates"),
        (("tcp://no-such-host.invalid:8786", "--quiet"), "tcp://no-such-host.invalid:8786 is not encrypted"),
    ],
)
def test_a_scheduler_that_cannot_be_used_is_a_usage_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_S", 0.5)
    assert run_grader(["run", str(CLASS), "--out", str(tmp_path / "out"), "--scheduler", *options]) == 2
    assert says in "".join(capsys.readouterr())
    assert not (tmp_path / "out").exists()


def test_settings_of_dask_that_do_not_fit_the_address_are_usage_errors() -> None:
    from dask import config

    tls = "distributed.comm.tls"
    missing = {f"{tls}.ca-file": "gone.pem", f"{tls}.client.cert": "gone.pem", f"{tls}.client.key": "gone.pem"}
    with config.set(missing), pytest.raises(UsageError, match="cannot load the certificates"):
        encryption.require_settings("tls://127.0.0.1:9")
    required = {"distributed.comm.require-encryption": True}
    with config.set(required), pytest.raises(UsageError, match="Use a tls:// address"):
        encryption.require_settings("tcp://127.0.0.1:9")


def test_an_address_on_the_network_without_encryption_is_warned_of_and_no_other() -> None:
    for address in ("tcp://10.0.0.1:8786", "10.0.0.1:8786", "tcp://gpu.example:8786", "tcp://[fd00::1]:1", "tcp://[b"):
        assert f"the connection to {address} is not encrypted" in encryption.warning(address)
    for address in ("tls://10.0.0.1:8786", "tcp://127.0.0.1:8786", "localhost:8786", "tcp://[::1]:1", ""):
        assert encryption.warning(address) == "", address
    with pytest.raises(UsageError, match="is not the address of a scheduler"):
        cluster.join("tcp://[bad", (), sandboxed=True).__enter__()


def test_without_cryptography_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encryption, "find_spec", lambda _: None)
    with pytest.raises(MachineError, match=r"Install this package with `pip install -e '.\[cluster\]'`"):
        encryption.of_one_run().__enter__()


def test_the_readme_section_that_messages_name_is_there() -> None:
    assert "section 'More than one machine'" in encryption.README
    assert encryption.README.startswith("grader/class_run/README.md, ")
    assert "## More than one machine\n" in (ROOT / "grader/class_run/README.md").read_text(encoding="utf-8")
