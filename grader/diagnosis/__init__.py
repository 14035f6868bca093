"""The command `doctor`: check each part of this machine that grading needs, and give advice."""
