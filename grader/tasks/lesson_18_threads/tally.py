"""Task (a) of lesson 18: count keys in a table that other threads change too. The cost is simulated time.

Seven simulated threads run beside the submission's thread. Whenever it does not hold the lock, one of them may change
the table between two calls. They always hold the lock when they change the table. The time in which they wait for the
lock counts as well.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from grader.kinds.simulated import SIMULATED_TIME
from grader.task import Mismatch, SimulatedExam, SimulatedFunction, Task, Tier
from grader.tasks.plain import is_whole, shown
from grader.tasks.simulated import shuffled, want_no_arguments
from grader.values import Value

OTHERS: Final = 7
"""The number of other threads. All of them wait while the submission's thread holds the lock."""

START: Final = 5.0
KEY: Final = 3.0
LOCK: Final = 1.0
TABLE: Final = 0.5
"""The simulated microseconds of the thread's start, of `key_of`, of `acquire` or `release`, and of `get` or `put`."""

PLAIN: Final = KEY + 2 * LOCK + 2 * TABLE + OTHERS * (KEY + 2 * TABLE + LOCK)
"""The cost of a job for the baseline, which holds the lock from `key_of` to `put` while `OTHERS` threads wait."""

CHANGES: Final = 0.6
"""The probability that another thread changes the table before a call of a submission that does not hold the lock."""

WAITING: Final = 3
"""The number of times that another thread can change the table while the submission waits in `acquire`."""

FUNCTIONS: Final = ("key_of", "get", "put", "acquire", "release")
WORDS: Final = ("ash", "beech", "birch", "elm", "fir", "hazel", "lime", "maple", "oak", "pine", "rowan", "yew")


@dataclass
class TableScenario:
    """Jobs of one thread, the key of each job, and a table of counts that several threads change.

    `chance` decides when another thread changes the table. `put` holds the count that the submission put last, per key.
    """

    title: str
    jobs: list[int]
    keys: dict[int, str]
    table: dict[str, int]
    chance: random.Random
    expected: dict[str, int] = field(init=False)
    put: dict[str, int] = field(default_factory=dict)
    locked: bool = False
    cost: float = START
    function = "tally"
    arguments: tuple[Value | SimulatedFunction, ...] = field(init=False)

    def __post_init__(self) -> None:
        counts = Counter(self.keys[job] for job in self.jobs)
        self.expected = {key: count + counts[key] for key, count in self.table.items()}
        self.arguments = (list(self.jobs), *map(SimulatedFunction, FUNCTIONS))

    @property
    def plain_cost(self) -> float:
        """The cost of the baseline in simulated microseconds."""
        return START + PLAIN * len(self.jobs)

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Answer a call of the submission. Before it, another thread may change the table."""
        for _ in range(0 if self.locked else WAITING if name == "acquire" else 1):
            if self.chance.random() < CHANGES:
                key = self.chance.choice(list(self.table))
                self.table[key] += 1
                self.expected[key] += 1
        methods = (self._key_of, self._get, self._put, self._acquire, self._release)
        return methods[FUNCTIONS.index(name)](arguments)

    def judge(self, answer: Value) -> Mismatch | None:
        """Return a `Mismatch` if an update is lost, if the lock is still held, or if the answer is wrong, else None."""
        if self.locked:
            return Mismatch("a free lock", "a lock that your thread holds", "The other threads wait forever.")
        wrong = next((key for key in self.table if self.table[key] != self.expected[key]), None)
        if wrong is not None:
            remark = "Another thread changed the count between your get and your put, or a job is missing."
            return Mismatch(f"{self.expected[wrong]} for {wrong!r}", f"{self.table[wrong]}", remark)
        if answer != self.put:
            return Mismatch(shown(dict(self.put)), shown(answer), "Return the count that you put last, for each key.")
        return None

    def _spend(self, own_us: float) -> None:
        self.cost += own_us * (1 + OTHERS * self.locked)

    def _key_of(self, arguments: Sequence[Value]) -> Value:
        job = arguments[0] if len(arguments) == 1 else None
        if not is_whole(job) or job not in self.keys:
            raise ValueError("key_of(job) takes one of the jobs.")
        self._spend(KEY)
        return self.keys[job]

    def _get(self, arguments: Sequence[Value]) -> Value:
        if len(arguments) != 1 or not isinstance(arguments[0], str) or arguments[0] not in self.table:
            raise ValueError("get(key) takes a key that key_of returned.")
        self._spend(TABLE)
        return self.table[arguments[0]]

    def _put(self, arguments: Sequence[Value]) -> Value:
        key, count = arguments if len(arguments) == 2 else (None, None)
        if not isinstance(key, str) or key not in self.table:
            raise ValueError("put(key, count) takes a key that key_of returned, and a count.")
        if not is_whole(count):
            raise ValueError("put(key, count) takes a whole number as the count.")
        self._spend(TABLE)
        self.table[key] = self.put[key] = count
        return None

    def _acquire(self, arguments: Sequence[Value]) -> Value:
        want_no_arguments("acquire", arguments)
        if self.locked:
            raise ValueError("Your thread already holds the lock, so acquire() would wait forever.")
        self._spend(LOCK)
        self.locked = True
        return None

    def _release(self, arguments: Sequence[Value]) -> Value:
        want_no_arguments("release", arguments)
        if not self.locked:
            raise ValueError("Your thread does not hold the lock, so it cannot release it.")
        self._spend(LOCK)
        self.locked = False
        return None


def draw_scenarios(rng: np.random.Generator) -> tuple[TableScenario, ...]:
    """Return threads with many jobs and few keys, and threads with no, one or two jobs, in random order."""
    many = [_drawn(rng, "many jobs", int(rng.integers(80, 121)), int(rng.integers(3, 6))) for _ in range(14)]
    few = [_drawn(rng, title, jobs, 2) for title, jobs in (("no jobs", 0), ("one job", 1))]
    return shuffled(rng, [*many, _drawn(rng, "all jobs with the same key", 60, 1), *few])


def _drawn(rng: np.random.Generator, title: str, jobs: int, keys: int) -> TableScenario:
    names = [str(name) for name in rng.choice(WORDS, keys, replace=False)]
    numbers = [int(number) for number in rng.choice(10_000, jobs, replace=False)]
    key_of = {number: str(rng.choice(names)) for number in numbers}
    table = {name: int(rng.integers(0, 50)) for name in names}
    return TableScenario(title, numbers, key_of, table, random.Random(int(rng.integers(2**60))))


TALLY = Task(
    summary="count keys in a table that other threads change too, without lost updates and with little waiting",
    cost=SIMULATED_TIME,
    tiers=(Tier(1.32, 0.6), Tier(2.45, 0.8), Tier(6.0, 1.0)),
    hints=(
        "Between your get and your put, another thread can change the same count. How long do you need the lock?",
        (
            "key_of does not use the table, so call it without the lock. Each acquire and each release takes time, and "
            "the other threads wait while you hold the lock. How many changes can you make with one acquire?"
        ),
        (
            "Count the keys of your own jobs first, in a dict that only your thread uses. Then acquire the lock once, "
            "add each of your counts to the table with get and put, and release the lock. Return the counts that you "
            "put. Without jobs, you need no lock."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, scenario_noun="threads"),
    read="lesson 18, “Two repairs”",
    idea=(
        "The solution counts in a dict that only its own thread uses, so counting needs no lock. It holds the lock "
        "once, for a few changes. The number of these changes depends on the number of keys, not on the number of jobs."
    ),
    references=(
        "Per-thread counts that are added up at the end are also called sharded counters. The Linux kernel uses them "
        "(Documentation/core-api/this_cpu_ops.rst)."
    ),
    least_gain=1.5,
)
