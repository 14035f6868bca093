"""Exercises of lesson 08: find the function that became slower from two profiles, and sum counts by function."""
