"""Which snippets are counted together in one program, and which in a program of their own."""

from dataclasses import replace

from harness.callgrind import Snippet

CPP = Snippet("x * y;", 'auto n = std::atol(std::getenv("N"));', language="cpp", environment={"N": "1"})


def test_snippets_that_differ_only_in_the_environment_share_a_program_and_have_their_own_counts() -> None:
    other = replace(CPP, environment={"N": "128"}, runs=2)
    assert other.program == CPP.program
    assert other.key != CPP.key


def test_different_code_is_a_different_program() -> None:
    assert replace(CPP, stmt="x + y;").program != CPP.program
    assert replace(CPP, setup="").program != CPP.program


def test_python_statements_never_share_a_program_because_nothing_is_compiled() -> None:
    python = Snippet("x * y", environment={"N": "1"})
    assert replace(python, environment={"N": "128"}).program != python.program
