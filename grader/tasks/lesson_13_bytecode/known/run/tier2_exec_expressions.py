"""Needs few opcodes. Decompiles each basic block to expressions, finds the next block by binary search, and runs the
text with exec.
"""

import json

UNARY = {"UNARY_NEGATIVE": "-", "UNARY_INVERT": "~", "UNARY_NOT": "not "}


def run(code, arguments):
    rows = list(map(json.loads, code["instructions"]))
    starts = {0}
    for i, (name, argument) in enumerate(rows):
        if name == "JUMP":
            starts.add(argument)
        elif name in ("POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE"):
            starts.add(argument)
            starts.add(i + 1)

    local = {}
    for name in code["parameters"]:
        local[name] = f"v{len(local)}"
    for name, argument in rows:
        if name in ("LOAD_FAST", "STORE_FAST") and argument not in local:
            local[argument] = f"v{len(local)}"
    constants = {}

    def translate(start, height):
        """Return the lines of a block, and (start, height) of the blocks that follow it."""
        lines = []
        stack = [f"s{j}" for j in range(height)]

        def settle(*extra):
            """Assign every value of the stack to its own variable, and make other assignments in the same statement."""
            pairs = [(f"s{j}", text) for j, text in enumerate(stack) if text != f"s{j}"]
            pairs += extra
            if pairs:
                lines.append(", ".join(to for to, _ in pairs) + " = " + ", ".join(text for _, text in pairs))
            stack[:] = [f"s{j}" for j in range(len(stack))]

        i = start
        while True:
            name, argument = rows[i]
            if name == "LOAD_FAST":
                stack.append(local[argument])
            elif name == "LOAD_CONST":
                constants[f"k{i}"] = argument
                stack.append(f"k{i}")
            elif name == "STORE_FAST":
                value = stack.pop()
                settle((local[argument], value))
            elif name in ("BINARY_OP", "COMPARE_OP"):
                right = stack.pop()
                left = stack.pop()
                stack.append(f"({left} {argument} {right})")
                if len(stack[-1]) > 120:
                    settle()
            elif name in UNARY:
                stack.append(f"({UNARY[name]}{stack.pop()})")
                if len(stack[-1]) > 120:
                    settle()
            elif name == "COPY":
                if not stack[-argument].isalnum():
                    settle()
                stack.append(stack[-argument])
            elif name == "SWAP":
                stack[-1], stack[-argument] = stack[-argument], stack[-1]
            elif name == "POP_TOP":
                stack.pop()
            elif name == "JUMP":
                settle()
                lines.append(f"b = {argument}")
                return lines, [(argument, len(stack))]
            elif name in ("POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE"):
                test = stack.pop()
                if any(text != f"s{j}" for j, text in enumerate(stack)):
                    settle(("t", test))
                    test = "t"
                yes, no = (i + 1, argument) if name == "POP_JUMP_IF_FALSE" else (argument, i + 1)
                lines.append(f"b = {yes} if {test} else {no}")
                return lines, [(yes, len(stack)), (no, len(stack))]
            elif name == "RETURN_VALUE":
                lines.append(f"return {stack.pop()}")
                return lines, []
            i += 1
            if i in starts:
                settle()
                lines.append(f"b = {i}")
                return lines, [(i, len(stack))]

    blocks = {}
    todo = [(0, 0)]
    while todo:
        start, height = todo.pop()
        if start not in blocks:
            blocks[start], following = translate(start, height)
            todo += following

    source = []

    def emit(some, indent):
        if len(some) == 1:
            source.extend(indent + line for line in blocks[some[0]])
            return
        middle = len(some) // 2
        source.append(f"{indent}if b < {some[middle]}:")
        emit(some[:middle], indent + " ")
        source.append(f"{indent}else:")
        emit(some[middle:], indent + " ")

    emit(sorted(blocks), "  ")
    head = ", ".join([local[name] for name in code["parameters"]] + [f"{k}={k}" for k in constants])
    namespace = dict(constants)
    exec("\n".join([f"def program({head}):", " b = 0", " while True:", *source]), namespace)
    return namespace["program"](*arguments)
