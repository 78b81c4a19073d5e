"""Measure tokens a second of a vLLM that Hopscope starts, by requests at once.

It is run by `python -m tests.vllm.speed FOLDER [options of vllm serve]`.

The weights may be random ones (`--load-format dummy` with a folder that has a configuration and a
tokenizer): the speed is the same.
"""

from __future__ import annotations

import shlex
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from core.models.declarations import make_row

AT_ONCE = (1, 8, 64, 256)
TOKENS = 256  # of each reply
ROUNDS = 2  # replies that each sender asks for, one after another


def model(folder: Path, options: str) -> Any:
    """The client of a model whose weights lie there."""
    values = {
        "kind": "chat",
        "backend": "vllm",
        "weights": str(folder),
        "context": 4096,
        "options": options,
        "at_once": max(AT_ONCE),
    }
    made = make_row("speed", values, "models.toml")
    return made.settings.make(made, {"speed": made}, lambda name: None)


def speed(chat: Any, at_once: int) -> tuple[float, float]:
    """Tokens a second of all replies together, and seconds until the first words of the replies, on average."""
    firsts: list[float] = []

    def ask(number: int) -> int:
        began, seen = time.perf_counter(), list[float]()
        question = f"Write a long story about the number {number} of {at_once}."
        reply = chat.reply(
            [{"role": "user", "content": question}],
            max_tokens=TOKENS,
            on_text=lambda text: seen.append(time.perf_counter()),
        )
        firsts.append((seen or [time.perf_counter()])[0] - began)
        return int(reply.tokens_out)

    began = time.perf_counter()
    with ThreadPoolExecutor(at_once) as pool:
        tokens = sum(pool.map(ask, range(at_once * ROUNDS)))
    return tokens / (time.perf_counter() - began), sum(firsts) / len(firsts)


def main(folder: Path, options: str) -> None:
    chat = model(folder, options)
    began = time.perf_counter()
    chat.load()
    print(f"ready after {time.perf_counter() - began:.0f} s", flush=True)
    try:
        speed(chat, 2)
        for at_once in AT_ONCE:
            tokens, first = speed(chat, at_once)
            print(
                f"{at_once} at once: {tokens:,.0f} tokens a second, first words after {first:.2f} s",
                flush=True,
            )
    finally:
        chat.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), shlex.join(sys.argv[2:]))
