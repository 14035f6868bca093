"""The exercises: one package a lesson, named like it."""
