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
    # BEGIN SOLUTION
    # STUB: raise NotImplementedError("Measure fn() with clock() and return the seconds one call takes.")
    for _ in range(WARM_UP_CALLS):
        fn()
    step_s = smallest_step(clock)
    calls = 1
    while True:
        # Disturbances only add time, so the smallest of a few blocks is the one that was left alone. Trying
        # three at every size, not only at the last, keeps an interruption from passing a short block off as a
        # long one.
        best_s = min(time_block(fn, clock, calls) for _ in range(BLOCKS))
        if best_s >= STEPS * step_s:
            return best_s / calls
        calls *= 2
    # END SOLUTION


# BEGIN SOLUTION
WARM_UP_CALLS = 3
BLOCKS = 3
# Two readings are together wrong by about a step. In a block of 200 steps that is 0.5 %, half of what is
# allowed; a longer block would be more precise, and more likely to be interrupted.
STEPS = 200


def smallest_step(clock: Callable[[], float]) -> float:
    """Return the smallest change that two readings of the clock can show, in seconds. Costs no call of fn."""
    first = clock()
    while (second := clock()) == first:
        pass
    while (third := clock()) == second:
        pass
    return third - second


def time_block(fn: Callable[[], None], clock: Callable[[], float], calls: int) -> float:
    """Return the seconds that `calls` calls of fn take together."""
    start_s = clock()
    for _ in range(calls):
        fn()
    return clock() - start_s


# END SOLUTION
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
    # BEGIN SOLUTION
    # STUB: start = clock()
    # STUB: for _ in range(calls):
    # STUB:     numbers = make_list()
    # STUB:     add_up(numbers)
    # STUB: return (clock() - start) / calls
    # Only what is measured may happen between the two readings.
    numbers = make_list()
    start = clock()
    for _ in range(calls):
        add_up(numbers)
    return (clock() - start) / calls
    # END SOLUTION


def time_multiply(multiply: Callable[[], None], clock: Callable[[], float]) -> float:
    """Return the seconds that multiply() takes."""
    calls = 100
    start = clock()
    for _ in range(calls):
        multiply()
    # BEGIN SOLUTION
    # STUB: return clock() - start
    # timeit.timeit returns the total as well; torch's Timer returns the time of one run.
    return (clock() - start) / calls
    # END SOLUTION


def time_matmul(matmul: Callable[[], None], clock: Callable[[], float]) -> float:
    """Return the seconds that matmul() takes once it is warm. Its first call loads a library."""
    calls = 100
    # BEGIN SOLUTION
    # STUB: start = clock()
    matmul()
    start = clock()
    # END SOLUTION
    for _ in range(calls):
        matmul()
    return (clock() - start) / calls


def time_sort(make_list: Callable[[], str], sort: Callable[[str], None], clock: Callable[[], float]) -> float:
    """Return the seconds that sort(numbers) takes on a new, unsorted list.

    make_list() returns a new one, and sort works in place, like list.sort.
    """
    calls = 20
    # BEGIN SOLUTION
    # STUB: numbers = make_list()
    # STUB: start = clock()
    # STUB: for _ in range(calls):
    # STUB:     sort(numbers)
    # STUB: return (clock() - start) / calls
    # After the first sort the list is sorted, and sorting it again is another, easier task. One new list for
    # each call, all made before the clock is read.
    lists = [make_list() for _ in range(calls)]
    start = clock()
    for numbers in lists:
        sort(numbers)
    return (clock() - start) / calls
    # END SOLUTION


def time_hash(hash_text: Callable[[], None], clock: Callable[[], float]) -> float:
    """Return the seconds that hash_text() takes when nothing interrupts. Now and then something does."""
    calls, blocks = 50, 10
    times = []
    for _ in range(blocks):
        start = clock()
        for _ in range(calls):
            hash_text()
        times.append((clock() - start) / calls)
    # BEGIN SOLUTION
    # STUB: return sum(times) / blocks
    # An interruption adds time to a block and never takes any away.
    return min(times)
    # END SOLUTION
