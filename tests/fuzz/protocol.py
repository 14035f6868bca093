"""A coverage-guided fuzzer for all that a worker may say to the supervisor. Needs `pip install atheris`.

    python tests/fuzz/protocol.py CORPUS -max_total_time=600

The first byte chooses what is asked, the second how the rest is cut into frames and whether the worker hangs up. A
finding is any exception that is not a fault of the submission's; libFuzzer keeps the input that leads to it.
"""

import struct
import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[1] / "grader"))
sys.path.insert(0, str(Path(__file__).parents[2]))

with atheris.instrument_imports(include=["grader", "json"]):
    import hostile

    NAMES = sorted(hostile.requests())  # imports the tasks
RAW, HANGS_UP = 1, 2
CUT = b"\xff"


def one_input(data: bytes) -> None:
    """One conversation."""
    if len(data) < 2:
        return
    name, how, rest = NAMES[data[0] % len(NAMES)], data[1], data[2:]
    stream = rest if how & RAW else b"".join(struct.pack("<I", len(part)) + part for part in rest.split(CUT))
    hostile.ask(name, stream, hangs_up=bool(how & HANGS_UP))


def main() -> None:
    """Fuzz until told to stop."""
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
