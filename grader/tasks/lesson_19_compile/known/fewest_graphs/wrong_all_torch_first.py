"""All torch statements before all Python statements: this ignores that torch can use what Python computes."""


def fewest_graphs(statements):
    return sorted(range(len(statements)), key=lambda number: statements[number][0] == "python")
