"""The student kit: the folder or zip that `release` makes for students."""
