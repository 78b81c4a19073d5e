"""A training of three numbers in a separate program, so that a test can kill it.

Run it by `python -m tests.core.finetune.lesson FOLDER`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import torch

from core.finetune.loop import Schedule, Training
from core.watch import NO_WATCH


def lesson(folder, slow=0.0, key="k", watch=NO_WATCH, steps=12):
    weights = {"w": torch.nn.Parameter(torch.zeros(3, dtype=torch.float32))}

    def step(number):
        time.sleep(slow)
        loss = (
            (weights["w"] + torch.randn(3) - number % 3) ** 2
        ).sum()  # Every step draws random numbers.
        loss.backward()
        return float(loss.detach())

    schedule = Schedule(steps, 0.1, measure_steps=4, patience=9, save_seconds=0.0)
    measure = lambda: -float((weights["w"].detach() - 1).abs().sum())
    return weights, Training(weights, schedule, step, measure, Path(folder), key, watch=watch).run(
        7
    )


if __name__ == "__main__":
    lesson(sys.argv[1], slow=0.2)
