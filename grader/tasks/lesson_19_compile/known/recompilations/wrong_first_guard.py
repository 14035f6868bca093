"""The first guard of each message gives this wrong answer. The lines come in any order: use the highest number."""

from baseline import cause, counted, messages


def recompilations(log):
    return counted((function, place, cause(guards[0][1])) for function, place, guards in messages(log))
