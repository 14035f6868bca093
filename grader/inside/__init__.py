"""The files that run inside a sandbox. They import only each other, the standard library and torch."""
