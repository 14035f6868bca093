"""The task: a sequential decision with two promises, kept with as few pairs as can be.

Gain: the baseline asks for 300 pairs in every world and counts once. A sequential rule stops where the evidence is: two
bets do with some 17 pairs on average. One look at a fixed number of pairs cannot do with much less than 80, for it has
to serve the hardest world; so full marks, at 7.5 times fewer pairs than the baseline, are for those that stop early.
"""

from pathlib import Path

from grader.records import Cost
from grader.task import MeteredExam, Task, Tier

from .judging import judge
from .worlds import draw_worlds

IS_SLOWER = Task(
    lesson="06_ab_testing",
    name="is_slower",
    summary="a sequential A/B test: 1 % false alarms, 95 % power, few pairs",
    points=10.0,
    cost=Cost.CALLS,
    tiers=(Tier(1.25, 0.6), Tier(2.7, 0.8), Tier(5.0, 1.0)),
    hints=(
        (
            "Of each pair, look only at which side took longer. Without a slowdown, that is the toss of a fair coin: "
            "whatever the tails, whatever the drift. What is it with one?"
        ),
        (
            "Do not test again and again: bet. You begin with a capital of 1, and before each pair you stake half of "
            "it on B being slower: 1.5 times as much when it is, half as much when not. On a fair coin, the "
            "probability of ever owning 100 is at most 1 in 100, however often you look. That is the alarm."
        ),
        (
            "And when do you stop without one? Run a second bet against a slowdown as large as the threshold: if there "
            "is one, b < a * (1 + threshold) is a fair coin. Stake half on that each time. When this capital reaches "
            "20, return False: it happens to a real slowdown in at most 1 of 20 cases. Whichever bet wins first "
            "decides."
        ),
    ),
    exam=MeteredExam(draw_worlds, max_calls=3000, together=judge),
    folder=Path(__file__).parent,
    read="lesson 06, step 5",
    idea=(
        "two bets on fair coins. If A and B are equal, b > a is a fair coin, and no way of staking one's capital on a "
        "fair coin gets it to a hundredfold with more than 1 % probability, however long one plays and however often "
        "one looks (Ville's inequality). If B is slower by the threshold, b < a * (1 + threshold) is a fair coin, and "
        "a twentyfold capital comes with at most 5 %. Only who was slower counts, not by how much, so heavy tails and "
        "drift change nothing."
    ),
    read_on="Ramdas, Grünwald, Vovk and Shafer 2023, “Game-theoretic statistics and safe anytime-valid inference”; the "
    "top of harness/decide.py, which plans its looks instead.",
)
