"""Exercise of lesson 20: the error rate of a run of many benchmarks, and the search for the first slow commit."""
