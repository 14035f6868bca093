"""At most the guaranteed share of comparisons on simulated machines ends with a wrong verdict."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "decisions.py"


def rates(*options: str) -> subprocess.CompletedProcess[str]:
    """Simulate comparisons on some machines. The process ends with 1 if a rate is above the guaranteed one."""
    script = [sys.executable, str(SCRIPT), "--jobs", "1", *options]
    return subprocess.run(script, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_no_rate_of_wrong_verdicts_is_above_the_guaranteed_one() -> None:
    done = rates("--verdicts", "500")
    assert done.returncode == 0, done.stdout
