"""How the time that something takes grows with its size, on machines that do other things too."""

import time

ATTEMPTS = 5


def grows_less(run, small, large, factor):
    """Whether the large size takes less than so many times the processor's time of the small one.

    Other processes make single measurements too long, never each of them by as much as a wrong order of growth does.

    Args:
        run: prepares the work of a size, and returns the function to time.
        small: a size.
        large: another one.
        factor: between the growth that there should be and the next worse.
    """
    run(small)()
    return any(_seconds(run(large)) < factor * _seconds(run(small)) for _ in range(ATTEMPTS))


def _seconds(work):
    started = time.process_time()
    work()
    return time.process_time() - started
