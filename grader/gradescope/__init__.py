"""The part of the kit that runs on Gradescope: scripts, and `autograder`, which grades one submission."""
