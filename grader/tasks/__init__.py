"""The exercises of the course: one package for each lesson, `lesson_NN_name`."""
