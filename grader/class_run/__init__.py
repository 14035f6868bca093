"""Grading a whole class: who grades where, the journal of all grades, and which attempt counts."""
