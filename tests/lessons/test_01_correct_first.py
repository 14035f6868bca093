import torch
from sessions import MadeUp

LESSON = MadeUp("01_correct_first")


def test_the_bound_accepts_any_order_of_the_sum_and_nothing_beyond_rounding() -> None:
    for dtype in (torch.bfloat16, torch.float32, torch.float64):
        a, b = torch.randn(2, 50, 63).to(dtype)
        for order in (torch.arange(63), torch.randperm(63), torch.arange(63).flip(0)):
            got = LESSON.mul_sum(a[:, order], b[:, order])
            assert LESSON.three_checks(got, a, b).bound
        magnitude = (a.double() * b.double()).abs().sum(-1)
        beyond = (a.double() * b.double()).sum(-1) + 70 * torch.finfo(dtype).eps * magnitude
        assert not LESSON.three_checks(beyond, a, b).bound
