"""Fuzz all messages from a worker to the supervisor, guided by coverage. Needs `pip install atheris`.

    python tests/fuzz/protocol.py CORPUS -max_total_time=600

The first byte chooses the request. The second byte decides how the rest is cut into frames and whether the worker hangs
up. Any exception that is not a fault of the submission is a bug; libFuzzer keeps the input that causes it. An empty
CORPUS starts with conversations of honest workers. The memory of atheris grows with every run of the watched code;
`-rss_limit_mb=0` allows that.
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
HONEST = (
    [b'D{"answer":[1,[0.5],0.5,0.0]}'],
    [b'D{"answer":0.5}'],
    [b'D{"dtype":"float32","shape":[3]}'],
    [b"D"],
    [b'D{"problem":"int"}'],
    [b'D{"type":"list"}'],
    [b'R{"type":"ValueError","message":"no","line":3,"errno":1,"memory":false}'],
    [b'M{"name":"clock","arguments":[]}', b'M{"name":"run","arguments":[1]}', b'D{"answer":[1,[0.5],0.5,0.0]}'],
)
"""The messages of honest workers, frame by frame."""


def one_input(data: bytes) -> None:
    """Send one generated conversation to the supervisor."""
    if len(data) < 2:
        return
    name, how, rest = NAMES[data[0] % len(NAMES)], data[1], data[2:]
    stream = rest if how & RAW else b"".join(struct.pack("<I", len(part)) + part for part in rest.split(CUT))
    hostile.ask(name, stream, hangs_up=bool(how & HANGS_UP))


def begin(corpus: Path) -> None:
    """Write conversations of honest workers, one per kind of request, to an empty folder."""
    if any(corpus.iterdir()):
        return
    for number in range(len(NAMES)):
        for place, frames in enumerate(HONEST):
            (corpus / f"honest-{number}-{place}").write_bytes(bytes([number, HANGS_UP]) + CUT.join(frames))


def main() -> None:
    """Fuzz until stopped."""
    for folder in (Path(argument) for argument in sys.argv[1:2]):
        if folder.is_dir():
            begin(folder)
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
