"""Compare the code of hand-ins, and show which pairs are more similar than the other pairs of the class."""
