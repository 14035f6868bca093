"""The teacher's pack: syllabi, a page and slides for each lesson, a question bank, a midterm and a project.

`python -m lessons guide OUT` writes the pack from the lessons' own data. The student kit does not contain this folder.
"""
