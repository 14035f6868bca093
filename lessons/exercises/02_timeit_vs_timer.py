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
    raise NotImplementedError("Measure fn() with clock() and return the seconds one call takes.")


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
    """Return the seconds that a warm call of matmul() takes. Its first call loads a library."""
    calls = 100
    start = clock()
    for _ in range(calls):
        matmul()
    return (clock() - start) / calls


def time_sort(make_list: Callable[[], str], sort: Callable[[str], None], clock: Callable[[], float]) -> float:
    """Return the seconds that sort(numbers) takes on a new, unsorted list.

    make_list() makes a new unsorted list and returns its name. sort works in place, like list.sort.
    """
    calls = 20
    numbers = make_list()
    start = clock()
    for _ in range(calls):
        sort(numbers)
    return (clock() - start) / calls


def time_hash(hash_text: Callable[[], None], clock: Callable[[], float]) -> float:
    """Return the seconds that hash_text() takes without an interruption. Some calls are interrupted."""
    calls, blocks = 50, 10
    times = []
    for _ in range(blocks):
        start = clock()
        for _ in range(calls):
            hash_text()
        times.append((clock() - start) / calls)
    return sum(times) / blocks
