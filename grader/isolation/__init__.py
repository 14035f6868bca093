"""Process trees that cannot reach out: the sandbox, its layers, and what is seen of a tree from outside."""
