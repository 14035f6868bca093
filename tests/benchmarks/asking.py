"""What does asking for a timed call cost, and how much of it could a submission save that serves itself?

    python tests/benchmarks/asking.py --rounds 400

Three workers of the grader take turns on the same inputs of `batched_dot`: two with the same fast code, and one whose
second call never returns. That one serves all later calls by the shortest loop there is. The price of asking is taken
off each turn, as in a duel, so whoever is asked for less seems to compute less. Prints the CPU time of a call of each,
the price of asking, and how much faster than it is the one that serves itself would seem.
"""

import argparse
import random
from contextlib import ExitStack
from statistics import median

from grader import catalogue
from grader.isolation.pool import Pool
from grader.task import TensorExam
from grader.trials.inputs import generator
from grader.trials.supervisor import worker
from grader.trials.turns import Supply
from harness import units
from harness.lanes import lane

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
    """Take the CPU times, and print them."""
    parser = argparse.ArgumentParser(description="The price of asking, and what of it can be saved.")
    parser.add_argument("--rounds", type=int, default=400, metavar="N", help="turns of each worker (default: 400)")
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
            taken["asking"].append(asked[1])  # the first meets the caches as others have left them
    calls = {name: median(times) for name, times in taken.items()}
    for name, call_s in calls.items():
        print(f"{name:16}{units.seconds(call_s):>10}")
    honest, other, again = (calls[name] - calls["asking"] for name in workers)
    print(
        f"Serving itself seems {units.ratio(honest / other)} as fast, honest work again {units.ratio(honest / again)}."
    )


if __name__ == "__main__":
    main()
