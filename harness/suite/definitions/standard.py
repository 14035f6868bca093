"""The default benchmarks of the suite. They use very small tensors, so that they measure mainly torch's overhead."""

import functools

from harness.suite.api import GroupedModules, GroupedStmts, GroupedVariants
from harness.suite.definitions.setup import Setup
from harness.suite.types import FlatIntermediateDefinition
from harness.suite.utils import flatten, iter_parsed_lines, parse_stmts

_on_a_matrix = functools.partial(GroupedStmts, setup=Setup.MATRIX.value)
_on_operands = functools.partial(GroupedStmts, setup=Setup.OPERANDS.value)
_compiled = functools.partial(GroupedStmts, setup=Setup.OPERANDS.value, compiled=True)
_trained = functools.partial(GroupedStmts, setup=Setup.WEIGHTS.value, compiled=True, autograd=True)

BENCHMARKS: FlatIntermediateDefinition = flatten({
    "New": {
        "empty": GroupedStmts("torch.empty((8,))", "torch::empty({8});"),
        "zeros": GroupedStmts("torch.zeros((8,))", "torch::zeros({8});"),
        "clone": _on_a_matrix("x.clone()", "x.clone();"),
    },
    ("Pointwise", "add"): {
        None: _compiled("z = x + y", "auto z = x + y;", signature="f(x, y) -> z"),
        "in place": _on_operands("x += y", "x += y;"),
        "a number": _on_operands("x + 1.0", "x + 1.0;"),
        "broadcast": _on_operands("x + row", "x + row;"),
        "other dtype": _on_operands("x + whole", "x + whole;"),
    },
    "Pointwise": {
        "multiply": _compiled("z = x * y", "auto z = x * y;", signature="f(x, y) -> z"),
        "compare": _on_operands("x > y", "x > y;"),
        "three in a row": _compiled(
            "z = torch.sigmoid(x * y + row)", "auto z = torch::sigmoid(x * y + row);", signature="f(x, y, row) -> z"
        ),
    },
    "Reduce": {
        "sum": _compiled("z = x.sum()", "auto z = x.sum();", signature="f(x) -> z"),
        "mean of rows": _compiled("z = x.mean(1)", "auto z = x.mean(1);", signature="f(x) -> z"),
        "argmax": _on_operands("x.argmax()", "x.argmax();"),
    },
    "Index": {
        python: GroupedStmts(
            f"x{python} = 1", f"x.index_put_({cpp}, 1);", setup=Setup.PLACES.value
        )
        for python, cpp in iter_parsed_lines(r"""
            Python                                   | C++
            ---------------------------------------- | ----------------------------------------
            [0]                                      | {0}
            [0, 0]                                   | {0, 0}
            [:, 2]                                   | {Slice(None, None, None), 2}
            [mask]                                   | {mask}
            [rows]                                   | {rows}
        """)
    },
    "View": GroupedVariants(
        py_block=r"""
            # @setup
            x = torch.ones((8, 8))

            # @reshape
            x.view(-1)
            x.view(4, 16)

            # @transpose
            x.t()

            # @part
            x[2]
            x.narrow(0, 2, 4)
        """,
        cpp_block=r"""
            // @setup
            auto x = torch::ones({8, 8});

            // @reshape
            x.view({-1});
            x.view({4, 16});

            // @transpose
            x.t();

            // @part
            x.select(0, 2);
            x.narrow(0, 2, 4);
        """,
    ),
    "Multiply matrices": {
        "mm": _compiled("z = torch.mm(x, y)", "auto z = torch::mm(x, y);", signature="f(x, y) -> z"),
        "matmul of a row": _on_operands("row @ x", "torch::matmul(row, x);"),
        "mm and a row": _on_operands("torch.addmm(row, x, y)", "torch::addmm(row, x, y);"),
    },
    "Module": {
        python.partition("(")[0]: GroupedModules(
            f"model = torch.nn.{python}",
            f"auto model = torch::nn::{cpp or python};",
            setup=setup.value,
            signature="f(x) -> y",
            compiled=True,
        )
        for setup, python, cpp in (
            (Setup.MATRIX, "Linear(8, 4)", ""),
            (Setup.MATRIX, "ReLU()", ""),
            (Setup.MATRIX, "LayerNorm(8)", "LayerNorm(torch::nn::LayerNormOptions({8}))"),
            (Setup.IMAGES, "Conv2d(4, 4, 1)", ""),
            (Setup.IMAGES, "BatchNorm2d(4)", ""),
            (Setup.IMAGES, "MaxPool2d(2)", ""),
        )
    },
    "Train": {
        "one weight": _trained(
            "loss = (x @ w0).sum()", "auto loss = torch::matmul(x, w0).sum();", signature="f(x, w0) -> loss"
        ),
        "two layers": _trained(
            *parse_stmts(r"""
                Python                                   | C++
                ---------------------------------------- | ----------------------------------------
                hidden = torch.relu(torch.mm(x, w0))     | auto hidden = torch::relu(torch::mm(x, w0));
                guess = torch.mm(hidden, w1) + bias      | auto guess = torch::mm(hidden, w1) + bias;
                loss = (guess - goal).pow(2).mean()      | auto loss = (guess - goal).pow(2).mean();
            """),
            signature="f(x, w0, w1, bias, goal) -> loss",
            num_threads=(1, 2),
        ),
        "classes": _trained(
            *parse_stmts(r"""
                Python                                   | C++
                ---------------------------------------- | ----------------------------------------
                scores = torch.mm(x, w1) + bias          | auto scores = torch::mm(x, w1) + bias;
                log_p = torch.log_softmax(scores, 1)     | auto log_p = torch::log_softmax(scores, 1);
                loss = -(log_p * goal).sum(1).mean()     | auto loss = -(log_p * goal).sum(1).mean();
            """),
            signature="f(x, w1, bias, goal) -> loss",
        ),
    },
})  # fmt: skip
