"""Run the same program with and without Python's global lock (the GIL), on threads and on processes."""
