"""The autograder. It checks a submission's answers and measures its cost from outside the submission's process."""
