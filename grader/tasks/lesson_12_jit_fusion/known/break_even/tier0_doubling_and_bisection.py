"""Doubles the number of calls until compiling pays, then bisects to find the smallest number.

Trade: It needs only a test, and no formula. It tests about twice as many numbers as the answer has binary digits.
"""


def break_even(compile_s, slow_s, fast_s):
    if fast_s > slow_s or (fast_s == slow_s and compile_s > 0):
        return None

    def paid(n):
        return compile_s + n * fast_s <= n * slow_s

    high = 1
    while not paid(high):
        high *= 2
        if high > 2**1000:
            return None
    low = high // 2  # compiling does not pay, or the number is 0
    while high - low > 1:
        middle = (low + high) // 2
        if paid(middle):
            high = middle
        else:
            low = middle
    return high
