"""Keeps each recording in an object, and asks the object for each function.

Trade: The object can also answer other questions about a recording. It is more code.
"""


class Profile:
    def __init__(self, lines):
        self.stacks = []
        for line in lines:
            *words, samples = line.split(" ")
            frames = " ".join(words).split(";")
            self.stacks.append(([self.strip(frame) for frame in frames], int(samples)))
        self.total = sum(samples for _, samples in self.stacks)

    @staticmethod
    def strip(frame):
        end = len(frame) - 1
        while frame[end - 1].isdigit():
            end -= 1
        return frame[: end - 1] + ")" if end < len(frame) - 1 and frame[end - 1] == ":" else frame

    def samples(self, function):
        return sum(samples for frames, samples in self.stacks if function in frames)

    def functions(self):
        return {frame for frames, _ in self.stacks for frame in frames}


def changes(before, after):
    first, second = Profile(before), Profile(after)
    if not first.total or not second.total:
        return []
    rows = []
    for function in sorted(first.functions() | second.functions()):
        a, b = first.samples(function), second.samples(function)
        p = (a + b) / (first.total + second.total)
        error = (p * (1 - p) * (1 / first.total + 1 / second.total)) ** 0.5
        if abs(a / first.total - b / second.total) > 2 * error:
            rows.append([function, a, b])
    return rows
