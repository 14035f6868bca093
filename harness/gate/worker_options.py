"""The arguments of pytest in the workers: the files of the benchmarks, and those of the user's options that matter."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import pytest

_LEFT_OUT: Final = (  # with a list of strings instead, each would have its own line
    "--rootdir --config-file --basetemp --cache-clear --cache-show --lf --last-failed --ff --failed-first --nf "
    "--new-first --lfnf --last-failed-no-failures --sw --stepwise --sw-skip --stepwise-skip --deselect --co "
    "--collect-only --maxfail --exitfirst --pdb --pdbcls --trace --setup-only --setup-show --setup-plan --capture "
    "--verbose --quiet --tb --color --durations --durations-min --junit-xml --junitxml --junit-prefix --junitprefix "
    "--report-log --html --self-contained-html --cov --cov-report --cov-config --cov-append --cov-branch "
    "--cov-fail-under --no-cov --numprocesses --maxprocesses --dist --tx --max-worker-restart --timeout "
    "--timeout-method --session-timeout"
)
"""Options that select tests or report on them, or that would disturb the measurements."""

_LEFT_OUT_BEGINNINGS: Final = ("--duel", "--benchmark-")
_LEFT_OUT_LETTERS: Final = "cknmqvsxrl"


def worker_options(config: pytest.Config, files: Iterable[Path]) -> tuple[str, ...]:
    """Return the arguments of pytest in a worker, whose current folder is the root folder of its tree."""
    root = config.rootpath
    options = ["--rootdir", ".", "--import-mode", str(config.option.importmode), "-p", "no:cacheprovider"]
    if config.inipath is not None:
        options += ["-c", os.path.relpath(config.inipath, root)]
    if folder := config.getoption("duel_asv"):
        options += ["--duel-asv", os.path.relpath(config.invocation_params.dir / folder, root)]
    kept = passed_on([str(each) for each in config.invocation_params.args], config.option.file_or_dir)
    return (*options, *kept, *(os.path.relpath(file, root) for file in dict.fromkeys(files)))


def passed_on(arguments: Sequence[str], tests: Iterable[str]) -> list[str]:
    """Return the options that workers get, too, such as `-p NAME` or the options that a conftest.py defines.

    `tests` are those of the arguments that are not options: the names of files, folders and tests.
    """
    kept: list[str] = []
    remaining, is_kept = list(tests), False
    for argument in arguments:
        if argument.startswith("--"):
            is_kept = argument.partition("=")[0] not in _LEFT_OUT.split() and not argument.startswith(
                _LEFT_OUT_BEGINNINGS
            )
        elif argument.startswith("-"):
            is_kept = argument[1:2] not in _LEFT_OUT_LETTERS
        elif argument in remaining:
            remaining.remove(argument)
            continue
        if is_kept:
            kept.append(argument)
    return kept
