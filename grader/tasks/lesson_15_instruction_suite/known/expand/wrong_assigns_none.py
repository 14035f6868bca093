"""Assigning a result if the signature ends with -> None gives these wrong answers. Such a signature has no output:
write only the call.
"""

from baseline import flat_list


def expand(benchmark):
    flat = flat_list(benchmark)
    for each in flat:
        if each["runtime"] == "TorchScript" and benchmark["signature"].endswith("-> None"):
            each["stmt"] = ("auto " if each["language"] == "C++" else "") + "None = " + each["stmt"]
    return flat
