"""The commands of the page on serving a course play a whole term."""

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import real_server
from commanding import ROOT, rows

PAGE = ROOT / "grader" / "server" / "README.md"


@pytest.mark.long
@pytest.mark.sandbox
@pytest.mark.program("curl")
def test_the_commands_of_the_page_play_a_term(tmp_path: Path) -> None:
    (script,) = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    port = str(real_server.free_port())
    script = script.replace("8800", port).replace("serve measuring --url", f"serve measuring --port {port} --url")
    program = tmp_path / "bin" / "fairclock"
    program.parent.mkdir()
    shutil.copy(ROOT / "grader" / "student_kit" / "fairclock", program)
    program.chmod(0o755)
    path = os.pathsep.join((str(program.parent), str(Path(sys.executable).parent), os.environ["PATH"]))
    ended = subprocess.run(
        ["bash", "-euc", f"set -o pipefail; kit={ROOT}; trap 'kill $(jobs -p) || true' EXIT\n{script}"],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    out = tmp_path / "measuring" / "grades"
    with (tmp_path / "points.csv").open(encoding="utf-8", newline="") as file:
        points = {(row["student_id"][:3], row["assignment"][:2]): float(row["score"]) for row in csv.DictReader(file)}
    given = {("Ada", "04"): 10.0, ("Bob", "04"): 4.0, ("Eve", "04"): 4.0, ("Eve", "03"): 5.0, ("Ivy", "03"): 10.0}
    assert {key: number for key, number in points.items() if number} == given
    assert rows(out, "SELECT count(*) FROM gradings WHERE regrade > 0 AND state = 'counts'") == [(1,)]
    left = [path for path in (tmp_path / "measuring").rglob("*") if path.is_file() and b"Ivy" in path.read_bytes()]
    assert left == []
    assert rows(out, "SELECT DISTINCT student FROM receipts ORDER BY 1") == [("Ada Ito",), ("Bob Lee",)]
