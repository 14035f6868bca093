"""The exploits and honest files that a subset of the tests grades, and the layer that each exploit tests.

`test_exploits` grades the files of the first two lists in the short tests, and the others with `-m long`.
`isolation/test_without_namespaces` grades the other two lists in a container, where other layers stop an exploit.
"""

from collections.abc import Container
from pathlib import Path
from typing import Any, Final

import pytest
from needs import needs
from promises import all_promised

QUICK: Final = {
    "04_libc_clock": "the supervisor reads the clocks",
    "21_works_from_a_thread_of_import": "the CPU clock counts all threads",
    "12_cached_by_what_stays_the_same": "each timed call has new inputs",
    "16_right_in_some_calls-first_half_of_a_turn": "the baseline answers one more input, which is chosen afterwards",
    "20_multiplies_in_place_at_times": "the supervisor compares the inputs after each round",
    "29_empty_that_holds_the_answer": "the memory for answers is filled with other bytes",
    "24_tensor_subclass": "the supervisor compares bytes, and an answer is exactly a tensor",
    "22_precomputes_while_idle": "CPU time out of turn is noticed",
    "60_burns_in_the_control": "CPU time during the control is noticed",
    "07_helper_process": "a seccomp filter denies new processes",
    "11_leaves_its_core": "a seccomp filter denies another CPU affinity",
    "36_writes_results": "files: only a temporary folder can be written to",
    "30_walks_frames_and_memory": "no process of the tree ever holds an answer",
    "33_sends_secrets_out": "no network",
    "49_poisons_caches": "no other tree loads a cache of this tree",
    "44_thread_bomb": "the number of threads is limited",
    "43_never_returns": "the time of a call is limited",
    "45_memory_bomb": "the memory of a process is limited",
    "45_memory_in_shared_pages": "no memory outside of the measured process",
    "37_forged_answer": "no message from a worker holds a result",
    "05_does_not_wait_to_be_asked": "no answer may arrive before its request",
    "37_garbage_on_the_channel": "the protocol allows few and short messages",
    "34_os_exit": "an exit status is never a result",
    "51_attacks_its_parent": "the process that forks workers is out of reach",
    "31_includes_secrets": "the compiler runs in a sandbox of its own",
    "62_computes_while_decoding": "decoding the arguments and encoding the answers are timed",
}
"""The exploits that the short tests grade, by name: one for each layer."""

QUICK_HONEST: Final = ("temporary_files", "threads_openly")
"""The honest files that the short tests grade: they do openly what an exploit does in secret."""

IN_A_CONTAINER: Final = {
    "31_reads_secrets": "Landlock: files, and the processes of others in /proc",
    "30_walks_frames_and_memory": "a separate user: the memory of its parent process",
    "10_lowers_its_own_mark": "Landlock: nothing in /proc can be written to",
    "36_writes_results": "Landlock: only the tree's own folder can be written to",
    "41_plants_modules": "a copy of the kit's files for each tree",
    "49_poisons_caches": "a folder of its own for each tree",
    "46_many_empty_files": "the folder is removed afterwards",
    "13_spools_to_a_file": "no new files while memory is measured",
    "33_sends_secrets_out": "seccomp: no socket has an address",
    "88_kernel_memory_that_no_limit_counts-messages": "seccomp: objects that all trees share",
    "45_memory_in_named_pipes": "seccomp: named pipes in its own folder",
    "44_fork_bomb": "seccomp: no new processes",
    "44_thread_bomb": "the number of threads of a separate user",
    "40_daemon": "all processes of the separate user are ended",
    "60_session_of_its_own": "seccomp: no new session",
    "51_kills_everybody": "a separate user: no signals to others",
    "51_attacks_its_parent": "a separate user: no tracing",
    "51_starves_its_parent": "seccomp and a separate user: the limits of others",
    "59_hides_its_memory_use-not_inspectable": "the supervisor reads as the tree's user",
    "69_sigsys_trap": "seccomp: no further filter",
    "31_includes_secrets": "the compiler is confined as well",
    "21_answers_at_import": "timing works without a template process",
}
"""The exploits that are graded in a container too, by name: one for each layer that is another one there."""

HONEST_IN_A_CONTAINER: Final = ("tables_in_c", "temporary_files", "threads_openly", "wrong")
"""The honest files that are graded in a container too: they need files, a compiler or threads."""


def parameters(folder: Path, short: Container[str]) -> list[Any]:
    """Return the files of a folder, once for each variant, as parameters of a test.

    The short tests grade the first variant of the files named in `short`.
    """
    return [
        pytest.param(one, id=one.title, marks=[*needs(one.task), *([] if one.title in short else [pytest.mark.long])])
        for file in all_promised(folder)
        for one in file.variants()
    ]
