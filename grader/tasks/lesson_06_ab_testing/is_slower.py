"""The task of lesson 06: decide from few pairs whether B is slower than A, with two guaranteed error rates.

The baseline, with which submissions are compared, measures 300 pairs in every scenario, and then decides once. A
sequential rule stops when the evidence is sufficient: the solution, two bets, needs about 17 pairs on average. A rule
with a fixed number of pairs needs about 80, because this number must be enough for the hardest scenario. Full points
need 5 times fewer pairs than the baseline, so only rules that stop early reach them.
"""

from grader.records import Cost
from grader.task import SimulatedExam, Task, Tier

from .judging import judge
from .scenarios import draw_scenarios

IS_SLOWER = Task(
    lesson="06_ab_testing",
    name="is_slower",
    summary="write a sequential A/B test: 1 % false alarms, 95 % power, few pairs",
    cost=Cost.CALLS,
    tiers=(Tier(1.25, 0.6), Tier(2.7, 0.8), Tier(5.0, 1.0)),
    hints=(
        (
            "For each pair, use only the information which of A and B took longer. Without a slowdown, B takes longer "
            "with probability 1/2, for any noise and any drift. How does a slowdown change the probability that B "
            "takes longer?"
        ),
        (
            "Make one bet instead of many tests. Begin with a capital of 1. For each pair, bet half of the capital on "
            "“B is slower”: multiply the capital by 1.5 if B is slower, else by 0.5. If B is slower with probability "
            "1/2, the capital reaches 100 with at most 1 % probability, however often you look. At 100, return True."
        ),
        (
            "Make a second bet, against a slowdown as large as the threshold. With such a slowdown, b < a * (1 + "
            "threshold) has probability 1/2. For each pair, bet half of a second capital on this. When the second "
            "capital reaches 20, return False. You miss a real slowdown in at most 1 of 20 cases. The capital that "
            "first reaches its limit decides."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, max_calls=3000, together=judge),
    read="lesson 06, “Peeking”",
    idea=(
        "The solution makes two bets. If A and B are equally fast, b > a has probability 1/2. If you bet on b > a, "
        "your capital grows to 100 times its start with at most 1 % probability, however often you look (Ville's "
        "inequality). If B is slower by the threshold, b < a * (1 + threshold) has probability 1/2. If you bet on "
        "this, your capital grows to 20 times its start with at most 5 % probability. The solution uses only the sign "
        "of each difference, so outliers and drift do not matter."
    ),
    references=(
        "Ramdas, Grünwald, Vovk and Shafer 2023, “Game-theoretic statistics and safe anytime-valid inference”. The "
        "docstring of harness/paired/decide.py describes a test that looks at the results only at planned times."
    ),
)
