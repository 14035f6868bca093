"""Using the top of the stack as the left operand of a comparison gives these wrong answers. compare(stack.pop(),
stack.pop()) does this. The top is the right operand: a < b loads a, then b.
"""

from tier1_closures import BINARY
from wrong_copies_the_top import executed

TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def run(code, arguments):
    return executed(code, arguments, BINARY | {symbol: BINARY[other] for symbol, other in TURNED.items()})
