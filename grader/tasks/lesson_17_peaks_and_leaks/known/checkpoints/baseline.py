"""Keeps the inputs of all layers."""


def checkpoints(sizes):
    return [list(range(len(sizes))), sum(sizes)]
