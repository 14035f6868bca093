"""The exercises: one package for each lesson, `lesson_NN_name`."""
