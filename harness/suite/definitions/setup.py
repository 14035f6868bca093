"""The setup code of the default benchmarks. Tensors are small, so that benchmarks measure mainly torch's overhead."""

import enum

from harness.suite.api import GroupedSetup
from harness.suite.utils import parse_stmts


class Setup(enum.Enum):
    """The names of the default benchmarks' setups, each with its setup code."""

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
