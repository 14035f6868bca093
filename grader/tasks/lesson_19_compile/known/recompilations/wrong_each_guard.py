"""A count of all guards gives this wrong answer. A message has one guard per earlier graph, but only one cause."""

from baseline import cause, counted, messages


def recompilations(log):
    return counted((function, place, cause(guard)) for function, place, guards in messages(log) for _, guard in guards)
