"""Joining the frames of a stack to one text gives these wrong answers. A name may contain the separator, so two frames
and one frame can look the same. Use a tuple of names as a key.
"""

from wrong_own_widths import boxes


def fold(stacks):
    times = {}
    for frames, us in stacks:
        times[";".join(frames)] = times.get(";".join(frames), 0) + us
    return boxes((text.split(";"), us) for text, us in times.items() if text)
