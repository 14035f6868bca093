"""Exercise of lesson 02: measure one call yourself, then repair five benchmarks.

Your code runs on a simulated machine. Its clock advances only when your code does something on that machine. So every
answer is either right or wrong, and other programs on your own machine change nothing.

    clock()    reads the clock and returns seconds as a float. Use only differences between two readings.
               The clock advances in small steps, and each reading takes time too.

Check your work with      fairclock check 02_timeit_vs_timer
"""

from collections.abc import Callable

# ------------------------------------------------------------------------------------------------------------
# Task (a), 10 points


def time_per_call(fn: Callable[[], None], clock: Callable[[], float]) -> float:
    """Return the seconds that one call of `fn` takes.

    fn       fn() takes time and returns nothing
    clock    clock() reads the clock, in seconds

    Return one float, in seconds, at most 1 % away from the time of an undisturbed call. Three things make the
    measurement difficult:

    - up to three calls at the beginning are much slower than all later calls. They do not count;
    - in most scenarios, one call takes only about ten steps of the clock, so you cannot time a single call precisely;
    - interruptions of the machine add time now and then. They never make a call shorter.

    The grader runs your function in 37 simulated scenarios. Its answer may be wrong in 2 scenarios. In some scenarios
    an interruption hits an early call, such as one that you time to choose the number of calls in a block.

    Points: 4 of 10 for right answers. The baseline is a wasteful benchmark. You get 6 points for 1.4 times fewer calls
    of fn than the baseline. You get 8 points for 2.6 times fewer calls, and all 10 for 4.5 times fewer. Reading the
    clock is free. In each scenario you may call fn and clock 200000 times together.
    """
    # BEGIN SOLUTION
    # STUB: raise NotImplementedError("Measure fn() with clock() and return the seconds one call takes.")
    for _ in range(WARM_UP_CALLS):
        fn()
    step_s = smallest_step(clock)
    calls = 1
    while True:
        # Interruptions only add time, so the shortest of a few blocks is undisturbed. The code times three blocks of
        # every size, not only of the last. Otherwise one interruption could make a short block look long enough.
        best_s = min(time_block(fn, clock, calls) for _ in range(BLOCKS))
        if best_s >= STEPS * step_s:
            return best_s / calls
        calls *= 2
    # END SOLUTION


# BEGIN SOLUTION
WARM_UP_CALLS = 3
BLOCKS = 3
# The difference of two readings is wrong by about one step. In a block of 200 steps that is 0.5 %, half of the allowed
# error. A longer block would be more precise, but more likely to be interrupted.
STEPS = 200


def smallest_step(clock: Callable[[], float]) -> float:
    """Return the smallest change between two readings of the clock, in seconds, without a call of fn."""
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
# Each function below should return the seconds that ONE warm call of the measured function takes, within 1 %. All five
# run, but each returns a wrong number, because each has a different fault. One or two changed lines repair a function.
# The number of calls is not graded. Each function may make 200000 calls of its arguments.


def time_sum(make_list: Callable[[], str], add_up: Callable[[str], None], clock: Callable[[], float]) -> float:
    """Return the seconds that add_up(numbers) takes.

    make_list() makes a new list and returns its name, which you pass to add_up. Making a list takes time too.
    """
    calls = 20
    # BEGIN SOLUTION
    # STUB: start = clock()
    # STUB: for _ in range(calls):
    # STUB:     numbers = make_list()
    # STUB:     add_up(numbers)
    # STUB: return (clock() - start) / calls
    # Only the measured calls may happen between the two readings.
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
    # timeit.timeit returns the total too. torch's Timer returns the time of one run.
    return (clock() - start) / calls
    # END SOLUTION


def time_matmul(matmul: Callable[[], None], clock: Callable[[], float]) -> float:
    """Return the seconds that a warm call of matmul() takes. Its first call loads a library."""
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

    make_list() makes a new unsorted list and returns its name. sort works in place, like list.sort.
    """
    calls = 20
    # BEGIN SOLUTION
    # STUB: numbers = make_list()
    # STUB: start = clock()
    # STUB: for _ in range(calls):
    # STUB:     sort(numbers)
    # STUB: return (clock() - start) / calls
    # After the first sort the list is sorted, and sorting it again takes less work. So each call gets a new list,
    # and all lists are made before the clock is read.
    lists = [make_list() for _ in range(calls)]
    start = clock()
    for numbers in lists:
        sort(numbers)
    return (clock() - start) / calls
    # END SOLUTION


def time_hash(hash_text: Callable[[], None], clock: Callable[[], float]) -> float:
    """Return the seconds that hash_text() takes without an interruption. Some calls are interrupted."""
    calls, blocks = 50, 10
    times = []
    for _ in range(blocks):
        start = clock()
        for _ in range(calls):
            hash_text()
        times.append((clock() - start) / calls)
    # BEGIN SOLUTION
    # STUB: return sum(times) / blocks
    # An interruption only adds time to a block, so the smallest time per call is undisturbed.
    return min(times)
    # END SOLUTION
