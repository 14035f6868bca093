"""Claims that hold on any machine, however busy: what a run makes of these is no matter of weather."""

CERTAIN: dict[str, set[str]] = {
    "02_timeit_vs_timer": {
        "autorange-steps",
        "prints-the-best",
        "timer-warms-up",
        "timer-one-thread",
        "one-sample",
        "no-spread",
        "profile-says-where",
    },
    "04_autorange": {"run-is-long", "search-is-dear", "one-run-no-spread", "slow-gives-one", "nobody-warns"},
    "05_compare": {
        "plain-one-decimal",
        "trim-four-digits",
        "naps-warned",
        "file-holds-codes",
        "duel-undecided",
    },
    "06_ab_testing": {
        "pickle-equal",
        "counts-unequal",
        "counts-same",
        "line-equal",
        "merged",
        "told-apart",
        "prints-differ",
    },
    "15_instruction_suite": {
        "a-product",
        "all-differ",
        "global-setup-kept",
        "timer-takes-it",
        "names-are-whole",
        "a-line-a-case",
        "a-model-called",
        "others-go-on",
        "faults-are-told",
        "a-core-a-thread",
        "goes-on",
    },
}
