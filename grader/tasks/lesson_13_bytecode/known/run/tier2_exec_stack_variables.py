"""Writes a Python function with a variable for each level of the stack and an if statement for each basic block. Runs it
with exec.

Trade: The translation is simple: one line for each row. The program still copies values from variable to variable.
"""

import json

EFFECT = {
    "LOAD_FAST": 1,
    "LOAD_CONST": 1,
    "COPY": 1,
    "STORE_FAST": -1,
    "POP_TOP": -1,
    "BINARY_OP": -1,
    "COMPARE_OP": -1,
    "POP_JUMP_IF_FALSE": -1,
    "POP_JUMP_IF_TRUE": -1,
    "RETURN_VALUE": -1,
}
UNARY = {"UNARY_NEGATIVE": "-", "UNARY_INVERT": "~", "UNARY_NOT": "not "}


def run(code, arguments):
    rows = list(map(json.loads, code["instructions"]))

    # the depth of the stack before each reachable row, and the first rows of blocks
    height = {0: 0}
    starts = {0}
    todo = [0]
    while todo:
        i = todo.pop()
        name, argument = rows[i]
        following = []
        if name.startswith("POP_JUMP"):
            following = [i + 1, argument]
        elif name == "JUMP":
            following = [argument]
        elif name != "RETURN_VALUE":
            following = [i + 1]
        if "JUMP" in name:
            starts.update(following)
        for j in following:
            if j not in height:
                height[j] = height[i] + EFFECT.get(name, 0)
                todo.append(j)

    local = {name: f"v{i}" for i, name in enumerate(code["parameters"])}
    constants = {}
    lines = []
    for i in sorted(height):
        name, argument = rows[i]
        h = height[i]
        top, new = f"s{h - 1}", f"s{h}"
        if i in starts:
            lines.append(f"  if block == {i}:")
        falls_through = True
        if name == "LOAD_FAST":
            text = f"{new} = {local.setdefault(argument, f'v{len(local)}')}"
        elif name == "LOAD_CONST":
            constants[f"k{i}"] = argument
            text = f"{new} = k{i}"
        elif name == "STORE_FAST":
            text = f"{local.setdefault(argument, f'v{len(local)}')} = {top}"
        elif name in ("BINARY_OP", "COMPARE_OP"):
            text = f"s{h - 2} = s{h - 2} {argument} {top}"
        elif name in UNARY:
            text = f"{top} = {UNARY[name]}{top}"
        elif name == "COPY":
            text = f"{new} = s{h - argument}"
        elif name == "SWAP":
            text = f"{top}, s{h - argument} = s{h - argument}, {top}"
        elif name == "POP_TOP":
            text = "pass"
        elif name == "JUMP":
            text = f"block = {argument}; continue"
            falls_through = False
        elif name == "POP_JUMP_IF_FALSE":
            text = f"block = {i + 1} if {top} else {argument}; continue"
            falls_through = False
        elif name == "POP_JUMP_IF_TRUE":
            text = f"block = {argument} if {top} else {i + 1}; continue"
            falls_through = False
        else:
            text = f"return {top}"
            falls_through = False
        lines.append("    " + text)
        if falls_through and i + 1 in starts:
            lines.append(f"    block = {i + 1}")

    parameters = [local[name] for name in code["parameters"]] + [f"{k}={k}" for k in constants]
    source = f"def program({', '.join(parameters)}):\n block = 0\n while True:\n" + "\n".join(lines)
    namespace = dict(constants)
    exec(source, namespace)
    return namespace["program"](*arguments)
