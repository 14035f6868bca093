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


def test_a_careful_look_names_what_is_wrong() -> None:
    a, b = torch.rand(2, 5, 8)
    mul_sum = LESSON.mul_sum
    assert LESSON.look(mul_sum, a, b) == ("ok", True)
    assert LESSON.look(lambda a, b: mul_sum(a, b).double(), a, b)[0] == "shape"
    assert LESSON.look(lambda a, b: mul_sum(a, b)[:, None].expand(5, 5), a, b)[0] == "shape"
    assert LESSON.look(lambda a, b: mul_sum(a, b) + 1, a, b) == ("wrong", False)
    assert LESSON.look(LESSON.in_place, a, b) == ("alters", True)
