"""Exercises of lesson 12: one pass over memory instead of many, and the number of calls after which compiling pays."""
