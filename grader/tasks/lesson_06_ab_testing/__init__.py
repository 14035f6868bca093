"""Exercise of lesson 06: decide whether B is slower than A, with two guaranteed error rates."""
