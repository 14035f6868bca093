"""Exercise of lesson 02: measure one call yourself, then repair five benchmarks.

Your code runs on a simulated machine. Its clock moves only when something is done on it, so every answer is
either right or wrong, and busy neighbours on your own machine change nothing.

    clock()    reads the clock: seconds as a float. Only differences of two readings mean anything.
               The clock moves in small steps, and reading it takes a moment too.

Check your work with      python -m grader check 02_timeit_vs_timer
"""

from collections.abc import Callable

# ------------------------------------------------------------------------------------------------------------
# Task (a), 10 points


def time_per_call(fn: Callable[[], None], clock: Callable[[], float]) -> float:
    """Return how many seconds one call of `fn` takes.

    fn       call it as fn(); it returns nothing, it only takes time
    clock    read it as clock(); seconds

    Return one float, in seconds, at most 1 % away from the time that an undisturbed call takes. What stands
    in the way:

    - up to three first calls are much slower than all later ones, and do not count;
    - one call is short compared with the steps of the clock, so one call cannot be timed on its own;
    - now and then something else interrupts the machine for a while. That only ever adds time.

    Your function is tried in 37 simulated worlds, and may be wrong in 2 of them. In some, an interruption hits an early
    call: the one by which you choose how many calls make a block, for example.

    Points: 4 of 10 for right answers. The fewer calls of fn you need, the more points: 6 for 1.4 times fewer than a
    wasteful benchmark makes, 8 for 2.6 times, all 10 for 4.5 times. Reading the clock is free. In each
    world you may call fn and clock 200000 times together.
    """
    raise NotImplementedError("Measure fn() with clock() and return the seconds one call takes.")


# ------------------------------------------------------------------------------------------------------------
# Task (b), 10 points
#
# Each function below is to return the seconds that ONE call of the function it measures takes, once warm,
# within 1 %. All five run. All five report something else, each for a reason of its own, and a line or two
# repairs each of them. How many calls they make is not graded; each may call what it is given 200000 times.


def time_sum(make_list: Callable[[], str], add_up: Callable[[str], None], clock: Callable[[], float]) -> float:
    """Return the seconds that add_up(numbers) takes.

    make_list() returns a new list (here only its name, to be passed on). Making one takes time as well.
    """
    calls = 20
    start = clock()
    for _ in range(calls):
        numbers = make_list()
        add_up(numbers)
    return (clock() - start) / calls


def time_multiply(multiply: Callable[[], None], clock: Callable[[], float]) -> float:
    """Return the seconds that multiply() takes."""
    calls = 100
    start = clock()
    for _ in range(calls):
        multiply()
    return clock() - start


def time_matmul(matmul: Callable[[], None], clock: Callable[[], float]) -> float:
    """Return the seconds that matmul() takes once it is warm. Its first call loads a library."""
    calls = 100
    start = clock()
    for _ in range(calls):
        matmul()
    return (clock() - start) / calls


def time_sort(make_list: Callable[[], str], sort: Callable[[str], None], clock: Callable[[], float]) -> float:
    """Return the seconds that sort(numbers) takes on a new, unsorted list.

    make_list() returns a new one, and sort works in place, like list.sort.
    """
    calls = 20
    numbers = make_list()
    start = clock()
    for _ in range(calls):
        sort(numbers)
    return (clock() - start) / calls


def time_hash(hash_text: Callable[[], None], clock: Callable[[], float]) -> float:
    """Return the seconds that hash_text() takes when nothing interrupts. Now and then something does."""
    calls, blocks = 50, 10
    times = []
    for _ in range(blocks):
        start = clock()
        for _ in range(calls):
            hash_text()
        times.append((clock() - start) / calls)
    return sum(times) / blocks
