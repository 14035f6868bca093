"""Compares squares of whole numbers, so no rounding is possible.

Trade: The result has no rounding errors. The formula is harder to compare with a textbook.
"""


def plain(frame):
    cut = frame.rfind(":")
    if cut >= 0 and frame[cut + 1 : -1].isdigit():
        return frame[:cut] + ")"
    return frame


def changes(before, after):
    table, totals = {}, [0, 0]
    for place, lines in enumerate((before, after)):
        for line in lines:
            blank = line.rindex(" ")
            samples = int(line[blank + 1 :])
            totals[place] += samples
            for function in set(map(plain, line[:blank].split(";"))):
                table.setdefault(function, [0, 0])[place] += samples
    n, m = totals
    rows = []
    for function, (a, b) in table.items():
        if (a * m - b * n) ** 2 * (n + m) > 4 * n * m * (a + b) * (n + m - a - b):
            rows.append([function, a, b])
    return sorted(rows)
