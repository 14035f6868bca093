"""Everything over one common denominator in whole numbers (as_integer_ratio), then whole-number division upwards."""


def break_even(compile_s, slow_s, fast_s):
    (c, cd), (s, sd), (f, fd) = (float(x).as_integer_ratio() for x in (compile_s, slow_s, fast_s))
    cost = c * sd * fd
    gain = (s * fd - f * sd) * cd
    if cost <= gain:
        return 1
    if gain <= 0:
        return None
    return (cost + gain - 1) // gain
