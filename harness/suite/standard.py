"""The default benchmarks of the suite. They use very small tensors, so that they measure mainly torch's overhead."""

from functools import partial

from harness.suite.api import GroupedModules, GroupedSetup, GroupedStmts, GroupedVariants
from harness.suite.types import Definition
from harness.suite.utils import iter_parsed_lines, parse_stmts

MATRIX = GroupedSetup("x = torch.ones((8, 8))", "auto x = torch::ones({8, 8});")
IMAGES = GroupedSetup("x = torch.ones((2, 4, 8, 8))", "auto x = torch::ones({2, 4, 8, 8});")
OPERANDS = GroupedSetup(
    *parse_stmts(r"""
        Python                                   | C++
        ---------------------------------------- | ----------------------------------------
        torch.manual_seed(15)                    | torch::manual_seed(15);
        x = torch.rand((8, 8))                   | auto x = torch::rand({8, 8});
        y = torch.rand((8, 8))                   | auto y = torch::rand({8, 8});
        row = torch.rand((1, 8))                 | auto row = torch::rand({1, 8});
        whole = torch.ones(                      | auto whole = torch::ones({8, 8}, at::kInt);
            (8, 8), dtype=torch.int32)           |
    """)
)
PLACES = GroupedSetup(
    *parse_stmts(r"""
        Python                                   | C++
        ---------------------------------------- | ----------------------------------------
                                                 | using namespace torch::indexing;
        x = torch.zeros((8, 8))                  | auto x = torch::zeros({8, 8});
        mask = torch.eye(8) > 0                  | auto mask = torch::eye(8) > 0;
        rows = torch.tensor([6, 1, 4])           | auto rows = torch::tensor({6, 1, 4});
    """)
)
WEIGHTS = GroupedSetup(
    *parse_stmts(r"""
        Python                                   | C++
        ---------------------------------------- | ----------------------------------------
        torch.manual_seed(15)                    | torch::manual_seed(15);
        x = torch.rand((8, 8))                   | auto x = torch::rand({8, 8});
        goal = torch.rand((8, 4))                | auto goal = torch::rand({8, 4});
        w0 = torch.rand(                         | auto w0 = torch::rand({8, 8});
            (8, 8), requires_grad=True)          | w0.set_requires_grad(true);
        w1 = torch.rand(                         | auto w1 = torch::rand({8, 4});
            (8, 4), requires_grad=True)          | w1.set_requires_grad(true);
        bias = torch.zeros(                      | auto bias = torch::zeros({4});
            (4,), requires_grad=True)            | bias.set_requires_grad(true);
    """)
)

_on_operands = partial(GroupedStmts, setup=OPERANDS)
_compiled = partial(GroupedStmts, setup=OPERANDS, compiled=True)
_trained = partial(GroupedStmts, setup=WEIGHTS, compiled=True, autograd=True)

# fmt: off
BENCHMARKS: Definition = {
    "New": {
        "empty": GroupedStmts("torch.empty((8,))", "torch::empty({8});"),
        "zeros": GroupedStmts("torch.zeros((8,))", "torch::zeros({8});"),
        "clone": GroupedStmts("x.clone()", "x.clone();", MATRIX),
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
        python: GroupedStmts(f"x{python} = 1", f"x.index_put_({cpp}, 1);", PLACES)
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
        name: GroupedModules(
            f"model = torch.nn.{name}({python})", f"auto model = torch::nn::{name}({cpp});",
            setup=setup, signature="f(x) -> y", compiled=True,
        )
        for setup, name, python, cpp in (
            (MATRIX, "Linear", "8, 4", "8, 4"),
            (MATRIX, "ReLU", "", ""),
            (MATRIX, "LayerNorm", "8", "torch::nn::LayerNormOptions({8})"),
            (IMAGES, "Conv2d", "4, 4, 1", "4, 4, 1"),
            (IMAGES, "BatchNorm2d", "4", "4"),
            (IMAGES, "MaxPool2d", "2", "2"),
        )
    },
    "Train": {
        "one weight": _trained(
            "loss = (x @ w0).sum()", "auto loss = torch::matmul(x, w0).sum();", signature="f(x, w0) -> loss"
        ),
        "two layers": _trained(*parse_stmts(r"""
            Python                                   | C++
            ---------------------------------------- | ----------------------------------------
            hidden = torch.relu(torch.mm(x, w0))     | auto hidden = torch::relu(torch::mm(x, w0));
            guess = torch.mm(hidden, w1) + bias      | auto guess = torch::mm(hidden, w1) + bias;
            loss = (guess - goal).pow(2).mean()      | auto loss = (guess - goal).pow(2).mean();
        """), signature="f(x, w0, w1, bias, goal) -> loss", num_threads=(1, 2)),
        "classes": _trained(*parse_stmts(r"""
            Python                                   | C++
            ---------------------------------------- | ----------------------------------------
            scores = torch.mm(x, w1) + bias          | auto scores = torch::mm(x, w1) + bias;
            log_p = torch.log_softmax(scores, 1)     | auto log_p = torch::log_softmax(scores, 1);
            loss = -(log_p * goal).sum(1).mean()     | auto loss = -(log_p * goal).sum(1).mean();
        """), signature="f(x, w1, bias, goal) -> loss"),
    },
}
# fmt: on
