"""Exercises of lesson 01: a fast and right dot product, and a test of such functions."""
