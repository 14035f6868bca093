"""Exercises of lesson 18: count in a shared table without lost updates, and find races in the events of threads."""
