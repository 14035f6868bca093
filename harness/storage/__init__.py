"""Functions for the files that stay after a run: caches, the user's progress, and notebooks."""
