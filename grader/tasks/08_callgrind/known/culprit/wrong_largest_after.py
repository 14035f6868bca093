"""The function with the most instructions after the change was named. That is what the program mostly does, as it did
before: compare with the other count."""


def culprit(before, after):
    return max(after, key=lambda row: row[2])[0].partition(".")[0]
