"""Making the loop over the numbers of threads the outermost loop gives these wrong answers. It must be the innermost
loop: list all numbers of threads for one combination, then for the next.
"""

from baseline import flat_list


def expand(benchmark):
    threads = benchmark["num_threads"]
    threads = threads if isinstance(threads, list) else [threads]
    return sorted(flat_list(benchmark), key=lambda each: threads.index(each["num_threads"]))
