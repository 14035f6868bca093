"""The student's commands: find the exercise files, check them, and pack them into a zip to hand in."""
