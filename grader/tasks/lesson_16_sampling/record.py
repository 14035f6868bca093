"""Record the profiles of the tasks again: `python -m grader.tasks.lesson_16_sampling.record`.

py-spy samples two versions of a training loop and a program that calls itself. The recording holds the different stacks
of each run: the name, the file and the line of each frame, and the number of samples.
"""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

from grader.tasks import recordings
from harness.sampling import pyspy
from harness.sampling.live import live

from .recorded import PROFILES, SampledFrame, Stack

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


def record(script: str) -> list[Stack]:
    """Return the stacks that py-spy records while it samples the program, without the programs' own folders."""
    path = pyspy.program()
    assert path is not None, pyspy.INSTALL
    with live(script) as program, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "profile.json"
        chosen = ["--format", "speedscope", "--output", str(file), "--rate", str(RATE), "--duration", str(SECONDS)]
        subprocess.run([path, "record", "--pid", str(program.pid), *chosen], check=True, capture_output=True)
        return stacks(json.loads(file.read_text(encoding="utf-8")))[:MOST_STACKS]


def stacks(profile: dict[str, Any]) -> list[Stack]:
    """Return the stacks of a profile in speedscope's format, those with the most samples first."""
    frames = [
        SampledFrame(each["name"], short(each["file"]), each["line"] or 0) for each in profile["shared"]["frames"]
    ]
    counts = Counter(
        tuple(frames[number] for number in stack) for thread in profile["profiles"] for stack in thread["samples"]
    )
    return [Stack(*found) for found in counts.most_common()]


def short(file: str) -> str:
    """Return a file's path in the longest folder of `sys.path` that contains it, or else the file's name."""
    folders = sorted(filter(None, sys.path), key=len, reverse=True)
    there = (Path(file).relative_to(folder) for folder in folders if Path(file).is_relative_to(folder))
    return str(next(there, Path(file).name))


if __name__ == "__main__":
    versions = (f"{name} {version(name)}" for name in ("py-spy", "torch"))
    recordings.write(PROFILES, {name: record(script) for name, script in PROGRAMS.items()}, *versions)
