"""Takes the smallest of three blocks at each of four sizes, about 3, 6, 9 and 12 ms. Returns the slope of the
least-squares line through them.

Trade: The slope does not contain the fixed cost of a wait. It needs three blocks at each of four sizes.
"""

from baseline import block


def time_async(launch, synchronize, clock):
    launch()
    synchronize()

    def best(n):
        return min(block(launch, synchronize, clock, n) for _ in range(3))

    n = 1
    t = best(n)
    while t < 2.5e-3:
        n = max(2 * n, min(100 * n, int(n * 3e-3 / t)))
        t = best(n)

    if 4 * t > 28e-3:
        # longer blocks would not fit between two disturbances; synchronize takes less than 0.3 % of t
        return min(t, best(n)) / n

    sizes = [n, 2 * n, 3 * n, 4 * n]
    times = [t] + [best(size) for size in sizes[1:]]
    mean_n = sum(sizes) / 4
    mean_t = sum(times) / 4
    top = sum((x - mean_n) * (y - mean_t) for x, y in zip(sizes, times))
    bottom = sum((x - mean_n) ** 2 for x in sizes)
    return top / bottom
