"""The commands of `python -m grader`, grouped by the people who use them."""
