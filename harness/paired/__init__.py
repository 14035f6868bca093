"""Compare two pieces of code in paired rounds: timing loops, rounds, the statistical decision, and duels."""
