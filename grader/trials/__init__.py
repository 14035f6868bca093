"""Grade one task of a submission: check the answers, measure the cost, and give points."""
