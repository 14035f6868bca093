"""Keeps the set of running threads, and notes which threads run beside each other.

Trade: It could run beside the program, because it needs no later events. It keeps a set for each access of main.
"""

from collections import Counter, defaultdict


def races(events):
    running, beside, held = set(), defaultdict(set), defaultdict(Counter)
    accesses = defaultdict(list)
    for thread, action, name in events:
        if action == "start":
            for each in running:
                beside[each].add(name)
                beside[name].add(each)
            running.add(name)
        elif action == "join":
            running.discard(name)
        elif action == "acquire":
            held[thread][name] += 1
        elif action == "release":
            held[thread][name] -= 1
        else:
            locks = frozenset(+held[thread])
            now = frozenset(running) if thread == "main" else None
            accesses[name].append((thread, action == "write", locks, now))
    rows = set()
    for name, found in accesses.items():
        for thread, writes, locks, now in found:
            for other, writes_too, others, then in found:
                if thread >= other or not (writes or writes_too) or locks & others:
                    continue
                if now is not None:
                    together = other in now
                elif then is not None:
                    together = thread in then
                else:
                    together = other in beside[thread]
                if together:
                    rows.add((name, thread, other))
    return [list(row) for row in sorted(rows)]
