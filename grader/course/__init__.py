"""The course file, the policy on attempts and lateness, and the class roll."""
