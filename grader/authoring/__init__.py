"""Tools for authors of exercises: write stubs, check exercises, and test whether their grading finds mistakes."""
