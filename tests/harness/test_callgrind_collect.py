"""Which snippets are one program, and which have counts of their own."""

from dataclasses import replace

from harness.callgrind import Snippet

CPP = Snippet("x * y;", 'auto n = std::atol(std::getenv("N"));', language="cpp", environment={"N": "1"})


def test_what_differs_in_its_environment_alone_is_one_program_with_counts_of_its_own() -> None:
    other = replace(CPP, environment={"N": "128"}, runs=2)
    assert other.program == CPP.program
    assert other.key != CPP.key


def test_other_code_is_another_program() -> None:
    assert replace(CPP, stmt="x + y;").program != CPP.program
    assert replace(CPP, setup="").program != CPP.program


def test_a_statement_of_python_is_never_counted_with_another_for_nothing_of_it_is_compiled() -> None:
    python = Snippet("x * y", environment={"N": "1"})
    assert replace(python, environment={"N": "128"}).program != python.program
