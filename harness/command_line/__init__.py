"""The code that all commands share: exit codes, error messages, and names given on the command line."""
