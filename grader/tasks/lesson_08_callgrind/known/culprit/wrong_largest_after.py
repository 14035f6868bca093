"""The function with the most instructions after the change gives these wrong answers. This function had the most
instructions before the change too. Compare the two counts.
"""


def culprit(before, after):
    return max(after, key=lambda row: row[2])[0].partition(".")[0]
