"""Grade a submission on one exercise task: check the answers, measure the cost, and give points."""
