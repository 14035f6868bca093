"""The autograder: it checks the answers of a student's code, and measures its cost from outside its process."""
