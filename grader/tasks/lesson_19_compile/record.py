"""Record the log for the task `recompilations` again: `python -m grader.tasks.lesson_19_compile.record`.

Each program runs in a process of its own with TORCH_LOGS=recompiles,graph_breaks. Before each call, the program prints
what it changes since the call for which torch compiled the newest graph. So the cause of each recompilation is known.
Only torch is needed, and no C++ compiler.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import torch

from grader.tasks import recordings

from .recompilations import FILE, LOGS, RecordedMessage

MARK: Final = "@change "
"""The beginning of the line that a program prints before each call."""

_BEGIN: Final = """
import sys
import torch
torch._dynamo.config.recompile_limit = 16

def call(change, run):
    print("@change " + change, file=sys.stderr, flush=True)
    run()
"""

PROGRAMS: Final = {
    "static": """
def recorded_step(x, n, mode):
    return torch.tanh(x * n) if mode == "sum" else torch.tanh(x - n)

step = torch.compile(recorded_step, backend="eager", dynamic=False)
x = torch.ones(8, 8)
call("first", lambda: step(x, 1, "sum"))
call("value", lambda: step(x, 2, "sum"))
x = torch.ones(9, 9)
call("size", lambda: step(x, 2, "sum"))
call("value", lambda: step(x, 2, "size mismatch"))
x = x.double()
call("dtype", lambda: step(x, 2, "size mismatch"))
x = x.t().contiguous().t()
call("stride", lambda: step(x, 2, "size mismatch"))
call("value", lambda: step(x, 3, "size mismatch"))
x = torch.ones(7, 9, 9, dtype=torch.float64)
call("rank", lambda: step(x, 3, "size mismatch"))
x = torch.ones(7, 9, 6, dtype=torch.float64)[:, :, :6]
call("size", lambda: step(x, 3, "size mismatch"))
x.requires_grad_()
call("requires_grad", lambda: step(x, 3, "size mismatch"))
torch.set_grad_enabled(False)
call("mode", lambda: step(x, 3, "size mismatch"))
x = torch.ones(5, 9, 6, dtype=torch.float64, requires_grad=True)
call("size", lambda: step(x, 3, "size mismatch"))
call("value", lambda: step(x, 3, "dtype mismatch"))
""",
    "dynamic": """
def recorded_step(x, scale):
    if len(x) > 16:
        x = x[::2]
    return x * scale

step = torch.compile(recorded_step, backend="eager")
call("first", lambda: step(torch.ones(8, 4), 0.5))
call("size", lambda: step(torch.ones(9, 4), 0.5))
call("range", lambda: step(torch.ones(20, 4), 0.5))
call("range", lambda: step(torch.ones(1, 4), 0.5))
call("dtype", lambda: step(torch.ones(1, 4).half(), 0.5))
call("rank", lambda: step(torch.ones(1, 4, 2).half(), 0.5))
torch.set_num_threads(torch.get_num_threads() + 1)
call("mode", lambda: step(torch.ones(1, 4, 2).half(), 0.5))
""",
    "breaks": """
import logging
log = logging.getLogger("train")

def recorded_step(x, steps):
    x = x + steps
    log.info("before")
    return torch.relu(x) * steps

step = torch.compile(recorded_step, backend="eager", dynamic=False)
call("first", lambda: step(torch.ones(3), 1))
call("breaks", lambda: step(torch.ones(4), 1))
call("breaks", lambda: step(torch.ones(4), 2))
""",
}
"""Programs whose only compiled function is `recorded_step`. The log of the last one contains graph breaks."""

_PREFIX: Final = re.compile(r"^[VDIWE]\d{4} .*?\] (?:\[[^\]]*\] )*")
_PATH: Final = re.compile(r"[^\s\"]*fairclock-record-[^\s\"]*?train\.py")
_REASON: Final = re.compile(r"^ +- \d+/\d+: ")


def recorded(program: str) -> tuple[list[RecordedMessage], list[str]]:
    """Return the messages about recompilations of a program, and the lines of all other messages of torch."""
    with tempfile.TemporaryDirectory(prefix="fairclock-record-") as folder:
        file = Path(folder) / "train.py"
        file.write_text(_BEGIN + PROGRAMS[program], encoding="utf-8")
        done = subprocess.run(
            [sys.executable, str(file)],
            env={**os.environ, "TORCH_LOGS": "recompiles,graph_breaks"},
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
    blocks, others, change = list[RecordedMessage](), list[str](), ""
    for line in _PATH.sub(FILE, done.stderr).splitlines():
        prefix = found[0] if (found := _PREFIX.match(line)) else ""
        text = line.removeprefix(prefix)
        if line.startswith(MARK):
            change = line.removeprefix(MARK)
        elif "[__recompiles]" not in prefix:
            others += [line] if prefix else []  # a line without a prefix is not from torch's log
        elif text.startswith("Recompiling function"):
            blocks.append(RecordedMessage(change, prefix, [text], []))
        elif _REASON.match(text):
            blocks[-1].reasons.append([text])
        else:
            (blocks[-1].reasons[-1] if blocks[-1].reasons else blocks[-1].head).append(text)
    return blocks, others


if __name__ == "__main__":
    runs = [recorded(program) for program in PROGRAMS]
    blocks = [block for blocks, _ in runs for block in blocks if block.change != "breaks"]
    others = [line for _, lines in runs for line in lines]
    recordings.write(LOGS, {"blocks": blocks, "others": others}, f"torch {torch.__version__}")
