"""Translates the program to Python, one line for each instruction. The values of the stack are in variables."""

import json

JUMPS = ("JUMP", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE")
UNARY = {"UNARY_NEGATIVE": "-", "UNARY_INVERT": "~", "UNARY_NOT": "not "}


def line(name, argument, depth):
    top, next_one = f"s{depth - 1}", f"s{depth}"
    if name == "LOAD_FAST":
        return f"{next_one} = v_{argument}", depth + 1
    if name == "LOAD_CONST":
        return f"{next_one} = {argument!r}", depth + 1
    if name in ("BINARY_OP", "COMPARE_OP"):
        return f"s{depth - 2} = s{depth - 2} {argument} {top}", depth - 1
    if name in UNARY:
        return f"{top} = {UNARY[name]}{top}", depth
    if name == "STORE_FAST":
        return f"v_{argument} = {top}", depth - 1
    if name == "COPY":
        return f"{next_one} = s{depth - argument}", depth + 1
    if name == "SWAP":
        return f"{top}, s{depth - argument} = s{depth - argument}, {top}", depth
    return "pass", depth - 1


def translated(parameters, rows):
    begins = {0}
    for at, (name, argument) in enumerate(rows):
        if name in JUMPS:
            begins |= {argument, at + 1}
    depths, waiting, blocks = {0: 0}, [0], {}
    while waiting:
        at = start = waiting.pop()
        if start in blocks:
            continue
        depth, lines = depths[start], []
        while True:
            name, argument = rows[at]
            if name == "RETURN_VALUE":
                lines.append(f"return s{depth - 1}")
                break
            if name in JUMPS:
                after = [argument] if name == "JUMP" else [argument, at + 1]
                if name == "JUMP":
                    lines.append(f"block = {argument}")
                else:
                    yes, no = (argument, at + 1) if name == "POP_JUMP_IF_TRUE" else (at + 1, argument)
                    depth -= 1
                    lines.append(f"block = {yes} if s{depth} else {no}")
            else:
                text, depth = line(name, argument, depth)
                lines.append(text)
                at += 1
                if at not in begins:
                    continue
                after = [at]
                lines.append(f"block = {at}")
            for each in after:
                depths[each] = depth
                waiting.append(each)
            break
        blocks[start] = lines
    text = [f"def program({', '.join(f'v_{name}' for name in parameters)}):", " block = 0", " while True:"]
    for start in sorted(blocks):
        text.append(f"  if block == {start}:")
        text += [f"   {each}" for each in blocks[start]]
    return "\n".join(text)


def run(code, arguments):
    names = {}
    exec(translated(code["parameters"], list(map(json.loads, code["instructions"]))), names)
    return names["program"](*arguments)
