"""Functions that a step of one lesson calls, and whose code the step does not show."""
