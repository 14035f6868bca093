"""Uses regula falsi (the Illinois variant) on the log of the time ratio as a function of the log of the size. Stops
early if f and g cost the same.

Trade: It also uses how much the two times differ, so it needs fewer sizes. It needs more code, and sometimes bisects in
case the curve is not straight.
"""

import math


def crossover(f, g, measure, low, high):
    def h(size, pairs=5):
        logs = sorted(math.log(measure(f, size)) - math.log(measure(g, size)) for _ in range(pairs))
        return logs[pairs // 2]

    measure(f, high)
    measure(g, high)

    xa, xb = math.log(low), math.log(high)
    ya, yb = h(low, 7), h(high, 7)
    if (ya < 0) == (yb < 0):
        return None

    side = 0
    for step in range(30):
        if xb - xa < 0.07:
            break
        if step % 3 == 2:
            x = (xa + xb) / 2  # a bisection now and then, in case the curve is not straight
        else:
            x = (xa * yb - xb * ya) / (yb - ya)
            x = min(max(x, xa + 0.1 * (xb - xa)), xb - 0.1 * (xb - xa))
        size = round(math.exp(x))
        if not low < size < high:
            break
        y = h(size)
        if abs(y) < 0.02 and abs(h(size, 7)) < 0.03:
            return size  # both cost the same within 5 %
        if (y < 0) == (ya < 0):
            xa, ya = x, y
            if side == -1:
                yb /= 2
            side = -1
        else:
            xb, yb = x, y
            if side == 1:
                ya /= 2
            side = 1
    return round(math.exp((xa + xb) / 2))
