"""Tries, for each benchmark and each size, the group with the largest other p-values."""


def red(p_values, run_error):
    found = []
    for name, own in p_values.items():
        others = sorted((p for other, p in p_values.items() if other != name), reverse=True)
        slower = True
        for size in range(1, len(others) + 2):
            group = [own, *others[: size - 1]]
            if group[-1] < own:
                smallest = group[-1]
            else:
                smallest = own
            if smallest > run_error / size:
                slower = False
        if slower:
            found.append(name)
    return sorted(found, key=lambda name: (p_values[name], name))
