"""Programs that lesson 16 watches while they run. Each prints lines without end."""

from typing import Final

TRAINING: Final = """
import time
import torch
from torch import nn

def load():
    rows = range(256)
    table = [[i * j % 7 / 7 for j in range(64)] for i in rows]
    return torch.tensor(table)

def forward(network, x):
    return network(x).square().mean()

def backward(loss):
    loss.backward()

def update(network):
    with torch.no_grad():
        for weight in network.parameters():
            weight -= 0.01 * weight.grad
            weight.grad = None

def train():
    layers = nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 1)
    network = nn.Sequential(*layers)
    while True:
        start = time.perf_counter()
        x = load()
        loaded = time.perf_counter()
        loss = forward(network, x)
        backward(loss)
        update(network)
        end = time.perf_counter()
        print(loaded - start, end - loaded, flush=True)

torch.set_num_threads(1)
train()
"""
"""A training loop. It prints the time of `load` and of the rest of each step."""

CALLS: Final = """
import time

def little(x):
    return x + 1

def round_of_calls():
    start = time.perf_counter()
    for i in range(20_000):
        little(i)
    return time.perf_counter() - start

while True:
    print(round_of_calls(), flush=True)
"""
"""A program that calls `little` again and again. It prints the time of each round of 20 000 calls."""

PLACES: Final = """
import subprocess, sys, threading, time

def work(until):
    total = 0
    while time.time() < until:
        total += sum(i * i for i in range(1000))

def in_main(until):
    while time.time() < until:
        work(min(until, time.time() + 0.02))
        print("alive", flush=True)

def in_thread(until):
    work(until)

def in_child(until):
    work(until)

def run(seconds):
    until = time.time() + seconds
    child = [sys.executable, __file__, "child", str(until)]
    started = subprocess.Popen(child, stdout=subprocess.PIPE)
    started.stdout.readline()
    thread = threading.Thread(target=in_thread, args=(until,))
    thread.start()
    in_main(until)
    thread.join()
    started.wait()

if sys.argv[1:2] == ["child"]:
    print("the child runs", flush=True)
    in_child(float(sys.argv[2]))
else:
    run(1e6)
"""
"""A program that works in its main thread, in a second thread and in a child process."""

SAFE_POINTS: Final = """
import signal, sys, threading, time
from collections import Counter

def in_python():
    total = 0
    for i in range(400_000):
        total += i * i
    return total

def in_c():
    return sum(range(2_000_000))

by_thread, by_signal = Counter(), Counter()
me = threading.get_ident()

def look():
    while True:
        time.sleep(0.002)
        frame = sys._current_frames()[me]
        by_thread[frame.f_code.co_name] += 1

def note(number, frame):
    by_signal[frame.f_code.co_name] += 1

threading.Thread(target=look, daemon=True).start()
signal.signal(signal.SIGPROF, note)
signal.setitimer(signal.ITIMER_PROF, 0.002, 0.002)
while True:
    a = time.thread_time()
    in_python()
    b = time.thread_time()
    in_c()
    c = time.thread_time()
    counts = [seen[name] for seen in (by_thread, by_signal)
              for name in ("in_python", "in_c")]
    print(b - a, c - b, *counts, flush=True)
"""
"""A program that samples itself with a thread and with a signal.

It prints the CPU times of `in_python` and `in_c`, and the samples of each: two numbers of the thread, then two of the
signal handler.
"""

RANDOM_WORK: Final = """
import random

def spin(times):
    for _ in range(times):
        pass

def rare(times):
    spin(times)

def usual(times):
    spin(times)

while True:
    for _ in range(20):
        rare(int(random.expovariate(1 / 3_000)))
        usual(int(random.expovariate(1 / 9_000)))
    print("alive", flush=True)
"""
"""A program that calls `rare` and `usual` for random times, on average in the ratio 1 to 3."""


def mean_of_last(lines: list[str], seconds: float) -> float:
    """Return the mean of the last printed times, of as many lines as are needed for this number of seconds."""
    last: list[float] = []
    for line in reversed(lines):
        last.append(float(line))
        if len(last) >= 3 and sum(last) >= seconds:
            break
    return sum(last) / len(last)
