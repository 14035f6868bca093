"""The engine of the lessons. `lessons.engine.api` has the names that lessons import."""
