"""Measure the overhead of requesting a timed call, and how much of it a cheating submission could save.

    python tests/benchmarks/asking.py --rounds 400

Three worker processes of the grader are called alternately with the same inputs of `batched_dot`. Two have the same
fast code. The third cheats: its second call never returns, but answers all later requests with the shortest possible
loop. The request overhead is subtracted from each time, as in grading, so a worker with less overhead seems to compute
less. The benchmark prints the CPU time per call of each worker, the overhead, and how much faster the cheating worker
seems.
"""

import argparse
import random
from contextlib import ExitStack
from statistics import median

from grader import catalogue
from grader.isolation.pool import Pool
from grader.seeds import generator
from grader.task import TensorExam
from grader.trials.turns import Supply
from grader.trials.worker_client import worker
from harness.machine.lanes import lane
from harness.rendering import units

HONEST = "def batched_dot(a, b):\n    return (a * b).sum(1)\n"
SERVES_ITSELF = """
import os
import sys

calls = []

def batched_dot(a, b):
    calls.append(1)
    if len(calls) < 2:
        return (a * b).sum(1)
    frame = sys._getframe()
    while "service" not in frame.f_locals:
        frame = frame.f_back
    service = frame.f_locals["service"]
    cells = dict(zip(service.step.__code__.co_freevars, service.step.__closure__))
    copy, channel, write, read = cells["place"].cell_contents.copy_, service.channel.descriptor, os.write, os.read
    while True:
        copy((a * b).sum(1))
        write(channel, b"\\1\\0\\0\\0D")
        read(channel, 5)
"""


def main() -> None:
    """Measure the CPU times and print them."""
    parser = argparse.ArgumentParser(description="The price of asking, and what of it can be saved.")
    parser.add_argument("--rounds", type=int, default=400, metavar="N", help="calls of each worker (default: 400)")
    rounds = parser.parse_args().rounds
    (task,) = (each for each in catalogue.all_tasks() if each.name == "batched_dot")
    assert isinstance(task.exam, TensorExam)
    supply = Supply(task.exam, generator("asking"))
    first = supply.first
    with Pool() as pool, pool.trusted(tensors=True) as server, lane() as held, ExitStack() as stack:
        workers = {}
        for name, source in (("honest", HONEST), ("serves itself", SERVES_ITSELF), ("honest again", HONEST)):
            workers[name] = one = stack.enter_context(worker(server, task.limits))
            one.load(source)
            one.arrange(task.name, first.packed, str(first.dtype), first.allowed.shape, held.cores)
        taken: dict[str, list[float]] = {name: [] for name in (*workers, "asking")}
        for drawn in supply.draw(rounds):
            for name, one in random.sample(list(workers.items()), len(workers)):
                drawn.packed.write(one.inputs)
                taken[name].append(median([one.timed(drawn.size_bytes)[0].cpu_s for _ in range(4)][1:]))
            asked = [workers["honest"].timed(drawn.size_bytes, null=True)[0].cpu_s for _ in range(2)]
            taken["asking"].append(asked[1])  # before the first call, other code has filled the caches
    calls = {name: median(times) for name, times in taken.items()}
    for name, call_s in calls.items():
        print(f"{name:16}{units.seconds(call_s):>10}")
    honest, other, again = (calls[name] - calls["asking"] for name in workers)
    print(f"Seems {units.ratio(honest / other)} as fast as honest work; honest again: {units.ratio(honest / again)}.")


if __name__ == "__main__":
    main()
