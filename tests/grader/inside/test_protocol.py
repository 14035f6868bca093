import subprocess
import sys

from grader.inside import protocol
from grader.paths import KIT


def test_a_timed_call_carries_nothing_but_its_kind() -> None:
    assert protocol.frame(protocol.GO) == b"\x01\x00\x00\x00g"


def test_the_worker_side_needs_nothing_but_the_standard_library() -> None:
    command = (
        "import sys; sys.modules['numpy'] = sys.modules['torch'] = None; "
        "from grader.inside import protocol, worker_main"
    )
    assert subprocess.run([sys.executable, "-c", command], cwd=KIT, check=False).returncode == 0
