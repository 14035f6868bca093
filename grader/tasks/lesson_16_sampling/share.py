"""Task (a) of lesson 16: estimate the share of a function from few samples of a simulated live program.

The cost is the number of samples. The baseline, with which submissions are compared, takes 4 / margin² samples in which
the program is busy. Compared with the baseline, submissions take fewer samples:

- Hoeffding's inequality for every share: 2.2 times fewer
- the normal approximation for the share one half: 4 times fewer
- the same with 90 % confidence, the lowest that passes: 5.9 times fewer
- stopping as soon as the confidence interval is narrow enough: 7 to 11 times fewer

The last gain is large because the shares of most programs are far from one half. The solution must gain only 1.3 times
the top tier (`least_gain`), because the simulated cost is the same on every machine.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import SimulatedExam, Task, Tier

from .live_programs import FORGIVEN, draw_scenarios

SHARE = Task(
    lesson="16_sampling",
    name="share",
    summary="estimate a function's share of the time from as few samples as possible",
    points=10.0,
    cost=Cost.CALLS,
    tiers=(Tier(1.4, 0.6), Tier(3.0, 0.8), Tier(6.8, 1.0)),
    hints=(
        "Which samples contain the function? A function can be anywhere on the stack, also more than once.",
        (
            "The margin of n samples is about 2 * sqrt(p * (1 - p) / n) for the share p. It is largest for p = 1/2. So "
            "1 / margin ** 2 samples are enough for every share. How many samples do you need if p is near 0 or near 1?"
        ),
        (
            "After each sample, compute a confidence interval of the share, and stop as soon as half of its width is "
            "at most the margin. The formula 2 * sqrt(p * (1 - p) / n) gives 0 if all samples agree, also for a single "
            "sample. Use Wilson's interval with z = 2: half of its width is z * sqrt(p * (1 - p) / n + (z / (2 * n)) "
            "** 2) / (1 + z ** 2 / n). Leave out samples without functions."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, max_calls=20_000, forgiven=FORGIVEN),
    folder=Path(__file__).parent,
    read="lesson 16, “How many samples are enough?”",
    idea=(
        "The number of samples that a margin needs depends on the share. For a share near 0 or 1, almost all samples "
        "agree, so a few dozen samples are enough. The solution stops as soon as Wilson's interval is narrow enough. "
        "This interval does not become narrow only because the first samples agree."
    ),
    references=(
        "Brown, Cai and DasGupta 2001, “Interval Estimation for a Binomial Proportion”, compares the intervals. The "
        "option --duration of py-spy sets the time of a recording, and --rate its samples per second."
    ),
    least_gain=1.3,
)
