"""Exercise of lesson 03: time asynchronous work."""
