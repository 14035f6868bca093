"""`check` gives each known file the points that `run` gives it, or names before the points what may differ.

Started as a program, this module runs `run`, or it checks files. One pair of processes decides a duel, on both sides.
"""

import contextlib
import io
import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from unittest import mock

import pytest
from commanding import CLASS, Outcome, outcomes
from container import container
from promises import HONEST, Promised, all_promised, quickly
from styles import every, restyled

from grader import catalogue, paths
from grader.commands import student
from grader.commands.apps import run_grader
from grader.desk import check_screen
from grader.isolation import sandbox
from grader.isolation.pool import Pool
from grader.task import Task
from harness.paired.decide import BENEFIT

OWN = {
    "kit": "from harness.paired.duel import duel",
    "other exercise": "import lessons.exercises",
    "module beside": "import beside",
    "file beside": "open('beside.py').read()",
    "file of the kit": f"open({str(paths.KIT / 'README.md')!r})",
    "writes": "open('log.txt', 'w').write('x')",
    "temporary file": "import tempfile; tempfile.NamedTemporaryFile().write(b'x')",
    "home": "import pathlib; next(pathlib.Path.home().iterdir())",
    "user": "import getpass; getpass.getuser()",
    "missing package": "import no_such_package",
    "package of tests": "import hypothesis",
    "network": "import socket; socket.create_server(('127.0.0.1', 0))",
    "download": "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9', timeout=1)",
    "other program": "import subprocess; subprocess.run(['true'], check=True)",
    "fork": "import os; os.fork() or os._exit(0)",
    "processes": "import multiprocessing; multiprocessing.Process(target=print).start()",
    "threads": "import threading; each = threading.Thread(target=print); each.start(); each.join()",
    "memory": "bytearray(64 << 30)",
    "recursion": "f = lambda n: n and f(n - 1); f(10**5)",
    "input": "input()",
    "main": "if __name__ == '__main__': import beside",
}
"""Lines that a student may add to the solution of lesson 04: what they do may differ between `check` and `run`."""
Checked = dict[str, tuple[str, dict[str, tuple[str, float, float, int]]]]
OTHER_NAME = "Under another name it is not graded."


def hand_ins(folder: Path, styles: Iterable[tuple[Task, str]], honest: Iterable[Promised]) -> None:
    """Write a class: the known hand-ins, honest files, solutions in other styles, and files of this module."""
    shutil.copytree(CLASS, folder)
    shutil.unpack_archive(folder / "juno.zip", folder / "juno")  # `check` takes no zip
    (folder / "juno.zip").unlink()
    for task, style in styles:
        (own := folder / f"{task.name} as {style}").mkdir()
        restyled(task, style, own)
    texts = {one.name: (one.lesson, one.path.read_text(encoding="utf-8")) for one in honest}
    solution = paths.solution("04_autorange").read_text(encoding="utf-8")
    texts |= {name: ("04_autorange", f"{solution}\n{line}\n") for name, line in OWN.items()}
    for name, (lesson, text) in (texts | {"renamed": ("04_answer", solution)}).items():
        (folder / name).mkdir()
        (folder / name / f"{lesson}.py").write_text(text, encoding="utf-8")
        (folder / name / "beside.py").touch()


def check_all(folder: Path, pattern: str) -> Checked:
    """Return what `check` prints and finds for each file, by student and lesson. All files share one pool."""
    found: Checked = {}
    pool = Pool(sandboxed=sandbox.problem() is None)
    with pool, mock.patch.object(student, "Pool", return_value=contextlib.nullcontext(pool)):
        for path in sorted(folder.glob(pattern)):
            screen = mock.patch.object(check_screen, "screen", wraps=check_screen.screen)
            with screen as shown, contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(said):
                run_grader(["check", str(path)])
            results = {}
            for one in shown.call_args.args[0].verdicts if shown.called else ():
                speed = one.attempt.speed
                results[one.task] = (
                    one.status.value,
                    one.points,
                    speed.ratio if speed else 0.0,
                    speed.tier if speed else 0,
                )
            found[f"{path.parent.name}/{path.stem}"] = " ".join(said.getvalue().split()), results
    return found


def disagreements(name: str, checked: Checked, in_class: Mapping[str, Mapping[str, Outcome]]) -> list[str]:
    """Return the tasks on which both verdicts differ more than by one tier that a noisy ratio may reach or miss."""
    (said, verdicts), (who, lesson) = checked[name], name.split("/")
    graded = {task: one for task, one in in_class.get(who, {}).items() if task.startswith(f"{lesson}.")}
    if not graded or not verdicts:  # each command leaves out only what the other one gives no points for
        named = graded or OTHER_NAME in said
        return [task for task, outcome in graded.items() if outcome.points] if named else ["it is not graded"]
    found, tiers = [], {task.full_name: task.tiers for task in catalogue.all_tasks()}
    for task, (status, points, ratio, tier) in verdicts.items():
        outcome = graded[task]
        both = {status, outcome.status.lower().replace("_", " ")}
        near = "undecided" in both or any(each.ratio / BENEFIT <= ratio <= each.ratio * BENEFIT for each in tiers[task])
        noise = both <= {"passed", "undecided"} and near and abs(tier - (outcome.tier or 0)) <= 1
        if (len(both) > 1 or points != outcome.points) and not noise:
            found.append(f"{task}: {status}, {points}; in the class {outcome}")
    return found


@pytest.mark.long
@pytest.mark.sandbox
@pytest.mark.program("cc")
def test_check_gives_the_points_of_run_or_names_the_difference(tmp_path: Path) -> None:
    folder, out, seed = tmp_path / "hw", tmp_path / "out", secrets.token_hex(4)
    in_04 = [(task, style) for task, style in every() if task.name == "blocked_autorange"]
    styles = {*Random(seed).sample(every(), 6), *Random(seed).sample(in_04, 3)}
    hand_ins(folder, styles, Random(seed).sample(all_promised(HONEST), 10))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    this = [sys.executable, __file__, str(folder)]
    with subprocess.Popen([*this, "--out", str(out)], env=environment, stdout=subprocess.DEVNULL) as run, quickly():
        here = check_all(folder, "*/[01]*")
    assert run.returncode == 0
    in_class = outcomes(out)
    assert {name: found for name in here if (found := disagreements(name, here, in_class))} == {}
    assert {outcome.points for name in OWN for outcome in in_class[name].values()} == {0, 10}
    earned = [(task, style, in_class[f"{task.name} as {style}"][task.full_name]) for task, style in styles]
    assert [(task.name, style, one) for task, style, one in earned if one.points < task.points] == [], f"seed {seed}"
    bare = container("old docker", [*this, "*/04_*"])  # these files need no torch
    done = subprocess.run(bare, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    without = json.loads(done.stdout)
    for name, (said, verdicts) in without.items():
        assert not verdicts or 0 <= said.find(check_screen.NO_SANDBOX) < said.find(" / 10"), name
        assert Path(name).parent.name in OWN or not disagreements(name, without, in_class), name


if __name__ == "__main__":
    with quickly():
        if "--out" in sys.argv:
            sys.exit(run_grader(["run", *sys.argv[1:]]))
        print(json.dumps(check_all(Path(sys.argv[1]), sys.argv[2])))
