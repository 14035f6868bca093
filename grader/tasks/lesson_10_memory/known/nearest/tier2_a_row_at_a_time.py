"""Computes one row of x at a time, without an array of all pairs.

Trade: Its code is short, and it needs less memory than blocks. It calls torch several times per row, which takes time
if there are many rows.
"""


def nearest(x, y, scale):
    answer = x.new_empty(len(x))
    for number, row in enumerate(x):
        differences = (row - y) / scale
        answer[number] = (differences * differences).sum(-1).min()
    return answer
