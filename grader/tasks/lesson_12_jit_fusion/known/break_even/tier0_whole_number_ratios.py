"""Converts all times to fractions of whole numbers with a common denominator (as_integer_ratio). Divides, rounding up."""


def break_even(compile_s, slow_s, fast_s):
    (c, cd), (s, sd), (f, fd) = (float(x).as_integer_ratio() for x in (compile_s, slow_s, fast_s))
    cost = c * sd * fd
    gain = (s * fd - f * sd) * cd
    if cost <= gain:
        return 1
    if gain <= 0:
        return None
    return (cost + gain - 1) // gain
