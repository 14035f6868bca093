"""Count instructions with Valgrind's tool Callgrind. Unlike times, repeated counts of the same code are equal."""
