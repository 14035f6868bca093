"""Adding the totals of all rows of a recursive function gives these wrong answers. The total of the outer call already
includes the total of the inner call. Add a total only if no other call of that function is open.
"""

from wrong_total_is_own import rows


def own_time(stats):
    return sorted(rows(stats, lambda path: path[-1:], once=False), key=lambda row: (-row[2], row[0]))
