def blocked_autorange(run, clock, min_run_time):
    # same idea as timeit: double until it takes long enough
    number = 1
    while True:
        t0 = clock()
        run(number)
        elapsed = clock() - t0
        if elapsed >= min_run_time:
            break
        number *= 2
    per_run = elapsed / number
    return number, [per_run], per_run, 0.0
