"""The autograder: right output at a bounded cost, measured where a submission cannot reach."""
