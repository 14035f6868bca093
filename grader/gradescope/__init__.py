"""Grading on Gradescope. `bundle` makes the zip that the instructor uploads, and `autograder` grades one submission."""
