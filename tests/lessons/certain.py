"""The claims that hold in each run on each machine, also on a busy machine."""

from harness.compilers import torchscript_support, unsupported
from harness.extensions import lacking
from harness.memory import lacking_memray

CERTAIN: dict[str, str] = {
    "01_correct_first": """
        yet-close within-the-bound errors-follow-eps defaults-accept-wrong defaults-reject-right bound-is-right
        usual-finds-none unusual-finds-all right-everywhere nan-is-not-nan allclose-misses
    """,
    "02_timeit_vs_timer": """
        autorange-steps prints-the-best timer-warms-up timer-one-thread one-sample no-spread profile-says-where
        nothing-finite soon-infinite
    """,
    "03_cuda_sync": """
        plain-clock-is-fooled
    """,
    "04_autorange": """
        run-is-long search-is-dear one-run-no-spread slow-gives-one nobody-warns torch-omits-median
    """,
    "05_compare": """
        plain-one-decimal trim-four-digits naps-warned file-holds-codes duel-undecided row-per-shape
        pickled-same
    """,
    "06_ab_testing": """
        pickle-equal counts-unequal counts-same line-equal merged told-apart prints-differ
    """,
    "07_fuzzing": """
        uniform-is-large log-is-even custom-is-kept within-bounds alias-or-one one-dimension-is-spared
        steps-spoil-it seed-repeats parameters-lie layout-is-hidden density-lies all-five-draw
    """,
    "09_cprofile": """
        profile-stays-small trace-grows main-has-all main-does-nothing own-adds-up cumulative-does-not
        recursion-in-two-numbers callers-add-up o-prints-nothing s-sorts same-calls it-learned many-calls
        page-is-served both-pictures kept-page-is-whole server-ended
    """,
    "10_memory": """
        boxed getsizeof-is-shallow count-frees-at-once cycle-stays tracemalloc-is-blind bytes-are-traced
    """,
    "11_torch_profiler": """
        it-learned own-adds-up total-does-not conv2d-passes-on wall-clock keys-disagree calls-are-not-time
        one-row-is-many shapes-add-up flops-by-hand nonzero-takes-memory stack-names-the-line same-count
        empty-unasked stacks-fold modules-are-frames file-agrees no-event-across arrows modules-need-script
        as-planned a-file-a-cycle named-after-worker handler-sees-all all-kept by-hand loads-seen
        loads-of-workers-unseen loads-in-files only-one-thread all-threads
    """,
    "12_jit_fusion": """
        once-per-type nothing-done graph-is-whole branch-refused unused-dropped float-is-cut export-is-whole
        export-answers export-refuses export-keeps-size same-again any-size-then dtype-anew branch-breaks
        less-moved three-at-once same-answer trace-forgets script-keeps
    """,
    "13_bytecode": """
        pairs-of-bytes folded magic-first same-code stale-pyc one-for-all not-as-before model-agrees depth-known
        names-gone counts-repeat no-loop-left starts-plain for-integers by-what-it-meets one-code found-late
        boxes-are-large as-many-opcodes while-one
    """,
    "14_extensions": """
        same-answers nothing-to-look-into compiles-all-the-same init-by-its-name no-row-no-function
        null-wants-an-error jit-per-type extension-sees-bytes same-by-ctypes nothing-is-checked
        declared-is-right
    """,
    "15_instruction_suite": """
        a-product all-differ global-setup-kept timer-takes-it names-are-whole a-line-a-case a-model-called
        others-go-on faults-are-told a-core-a-thread goes-on
    """,
    "17_peaks_and_leaks": """
        tracemalloc-misses cycles-leak cycles-are-collected plain-is-freed no-hits keeps-both bounded
        one-per-layer inference-is-small four-save more-is-not-less runs-again memray-sees-the-peak
        memray-sees-all memray-counts-requests few-pieces each-block joined-copies filled-once peak-hides-it
        live-sees live-forgets leak-is-named
    """,
    "18_threads": """
        nothing-lost hits-unprotected total-protected
    """,
    "19_compile": """
        python-is-frozen torch-is-drawn count-is-lost range-is-checked branch-needs-range fixed-is-guarded
        two-breaks still-right one-break-left no-break-left same-numbers full-refuses loop-skipped
        after-is-whole numbers-are-free others-compile stops-at-limit then-no-graph tensor-needs-one
        learns-the-size mark-saves-one static-needs-each mark-refuses nothing-compiled known-sizes-run
        unknown-sizes-fail timer-compiles same-threads-reuse compile-takes-all export-never-errs script-refuses
        trace-errs
    """,
}

MAY_SKIP: dict[str, bool] = {
    "12_jit_fusion": bool(torchscript_support().reason),
    "14_extensions": bool(lacking()),
    "17_peaks_and_leaks": bool(lacking_memray()),
    "19_compile": bool(unsupported() or torchscript_support().reason),
}
"""Whether this machine lacks a part that some of these claims need, by lesson. A lesson skips such claims."""
