import os
import subprocess
import sys
import time
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest
from neighbours import LOADS, Load, burners, disturbed, neighbours

HERE = Path(__file__).parent


def children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize("load", LOADS, ids=lambda load: load.name)
def test_a_load_is_there_during_the_block_and_gone_after_it(load: Load) -> None:
    before = set(children())
    with disturbed(load):
        added = set(children()) - before
        assert len(added) == load.count(len(os.sched_getaffinity(0)))
    assert not any(process.is_running() for process in added)


def test_a_load_ends_when_the_block_fails() -> None:
    before = set(children())
    added: set[psutil.Process] = set()

    def interrupted() -> None:
        with burners(2):
            added.update(set(children()) - before)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert len(added) == 2
    assert not any(process.is_running() for process in added)


def test_burners_use_their_core() -> None:
    with neighbours(LOADS[2].code, 1) as [burner]:
        busy = psutil.Process(burner.pid)
        deadline = time.monotonic() + 30
        while busy.cpu_times().user < 0.1:
            assert time.monotonic() < deadline, "the process must use a whole core"
            time.sleep(0.02)


def test_neighbours_do_not_outlive_a_run_that_is_killed() -> None:
    script = (
        "from neighbours import burners\nimport psutil, time\n"
        "with burners(2):\n    print(*(p.pid for p in psutil.Process().children()), flush=True)\n    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=HERE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        left = [psutil.Process(int(pid)) for pid in run.stdout.readline().split()]
        assert len(left) == 2
        run.kill()
    _, alive = psutil.wait_procs(left, timeout=30)
    assert alive == []


def test_a_neighbour_that_cannot_start_is_told() -> None:
    with pytest.raises(RuntimeError, match="ended at once, with code 3"), neighbours("raise SystemExit(3)", 1):
        pass
