"""Grade the submissions of all students in parallel, store the grades, and choose the attempts that count."""
