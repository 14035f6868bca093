"""Scripted benchmarks for a language without a statement give these wrong answers. Such a language has no benchmarks."""

from baseline import flat_list


def expand(benchmark):
    given = {"Python": benchmark["py"], "C++": benchmark["cpp"]}
    flat = flat_list({**benchmark, "py": given["Python"] or "", "cpp": given["C++"] or ""})
    return [each for each in flat if each["runtime"] == "TorchScript" or given[each["language"]] is not None]
