"""The rules of a course on dates and attempts, and the list of students with their grades."""
