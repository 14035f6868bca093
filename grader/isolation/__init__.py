"""Sandboxed process trees: confine them, start them, measure their use of resources, and end them."""
