"""Changes as little as possible, but takes the median of the blocks for time_hash, because few blocks are interrupted.

Trade: The median ignores interruptions in fewer than half of the blocks. If most blocks are interrupted, the median is
too large.
"""

from statistics import median

from baseline import time_matmul, time_multiply


def time_sum(make_list, add_up, clock):
    calls = 20
    lists = []
    for _ in range(calls):
        lists.append(make_list())
    start = clock()
    for i in range(calls):
        add_up(lists[i])
    return (clock() - start) / calls


def time_sort(make_list, sort, clock):
    calls = 20
    lists = []
    for _ in range(calls):
        lists.append(make_list())
    start = clock()
    for i in range(calls):
        sort(lists[i])
    return (clock() - start) / calls


def time_hash(hash_text, clock):
    calls, blocks = 50, 11
    times = []
    for _ in range(blocks):
        start = clock()
        for _ in range(calls):
            hash_text()
        times.append((clock() - start) / calls)
    return median(times)
