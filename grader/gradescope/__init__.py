"""Grading on Gradescope: the autograder to upload as one zip, and what it runs there."""
