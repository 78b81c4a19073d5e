"""Work that tests do in a subprocess, which imports this alone."""

import os
import signal
import time

from core.errors import BadInput


def doubled(number, watch):
    watch.report("Doubling", 0.5)
    return 2 * number, os.getpid()


def refused(watch):
    raise BadInput("That is no number.")


def asleep(watch):
    watch.report(str(os.getpid()))
    time.sleep(600)


def killed(watch):
    os.kill(os.getpid(), signal.SIGKILL)


def greedy(watch):
    held = [b"x" * (1 << 24) for _ in range(100)]
    time.sleep(600)
    return len(held)


def printing(watch):
    print("This is no report.", flush=True)
    return os.getpid()


def busy(watch):
    while True:
        pass


def returned(data, watch):
    return data


def busy_for(seconds, watch):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    return os.getpid()
