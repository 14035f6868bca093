"""The parts of a machine that `doctor` looks at: what was found of each, and the fix that fits what was found."""
