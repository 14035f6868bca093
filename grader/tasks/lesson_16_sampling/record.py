"""Record the profiles of the tasks again: `python -m grader.tasks.lesson_16_sampling.record`.

py-spy samples two versions of a training loop and a program that calls itself. The recording holds the lines that
`py-spy record --format raw` writes: a stack with its number of samples per line.
"""

import json
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from harness.sampling import live, pyspy

from .recorded import PROFILES

SECONDS, RATE = 5, 100
MOST_STACKS = 60
"""At most this number of stacks of a run is recorded: those with the most samples."""

TRAINING = """
import json
import torch
from torch import nn

def parse(line):
    return json.loads(line)["row"]

def scale(row):
    top = max(row)
    return [value / top for value in row]

def load(lines):
    {load}

def forward(network, x):
    return network(x).square().mean()

def train(network, optimizer, lines):
    while True:
        loss = forward(network, load(lines))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", flush=True)

torch.set_num_threads(1)
layers = nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1)
network = nn.Sequential(*layers)
optimizer = torch.optim.Adam(network.parameters(), lr=0.001)
lines = [json.dumps({{"row": [i * j % 11 + 1 for j in range(64)]}}) for i in range(128)]
train(network, optimizer, lines)
"""

RECURSIVE = """
import copy

def nested(depth):
    return {str(n): nested(depth - 1) for n in range(3)} if depth else [1.0, 2.0]

def keep(tree):
    return copy.deepcopy(tree)

tree = nested(5)
while True:
    keep(tree)
    print("round", flush=True)
"""

PROGRAMS = {
    "before": TRAINING.format(load="return torch.tensor([scale(parse(line)) for line in lines])"),
    "after": TRAINING.format(load="x = torch.tensor([parse(line) for line in lines]); return x / x.amax(1, True)"),
    "recursive": RECURSIVE,
}


def record(script: str) -> list[str]:
    """Return the lines that py-spy records while it samples the program, without the programs' own folders."""
    path = pyspy.program()
    assert path is not None, pyspy.INSTALL
    with live(script) as program, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "raw.txt"
        chosen = ["--format", "raw", "--output", str(file), "--rate", str(RATE), "--duration", str(SECONDS)]
        subprocess.run([path, "record", "--pid", str(program.pid), *chosen], check=True, capture_output=True)
        lines = file.read_text(encoding="utf-8").splitlines()
    return sorted(lines, key=lambda line: -int(line.rpartition(" ")[2]))[:MOST_STACKS]


if __name__ == "__main__":
    made = f"py-spy {version('py-spy')}, torch {version('torch')}, Python {platform.python_version()}, "
    made += f"{platform.machine()}; {datetime.now(UTC):%Y-%m-%d}"
    found = {name: record(script) for name, script in PROGRAMS.items()}
    PROFILES.write_text(json.dumps({"made by": made, "profiles": found}, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{PROFILES}\n")
