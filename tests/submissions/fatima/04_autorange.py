import statistics


def blocked_autorange(run, clock, min_run_time):
    samples = []
    for i in range(10)
        start = clock()
        run(100)
        samples.append((clock() - start) / 100)
    return 100, samples, statistics.median(samples), 0
