"""Search over millions of vectors: build time, memory, recall and search time.

    python -m tests.benchmarks neighbours [--vectors 200000,2800000] [--part 200000] [--whole]
        [--folder DIR]

The relations of a large graph have that many vectors. Here they are synthetic: each is the sum of
as many random words as a relation has, drawn by rank with density 1 / rank, so that many share
words. `--whole` makes a single index instead of parts, and `--part` sets the vectors of a part;
there are parts only where there are more vectors than that. Times are processor time. One search is
that of HippoRAG 2 and LightRAG (the 2,016 nearest, of which 1,000 are shown before the cut), the
other that of the single nearest. Both leave out one vector in fifty, as edges of similar names are
left out.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from core.indexes import vectors
from core.indexes.index_storage import write_atomically
from core.indexes.vector_blocks import BLOCK_TEXTS, VectorBlocks, block_file
from tests.benchmarks.documents_scale import SIZE, WORDS, _forget_peak, _peak

# Words of a synthetic text, searches of each kind, and the interval of left-out vectors.
LETTERS, SEARCHES, LEFT_OUT = (9, 20, 50)


class SyntheticBlocks(VectorBlocks):
    """Blocks of synthetic vectors, as many as `graph` says."""

    def total(self) -> int:
        return int(self.graph)  # type: ignore[call-overload]

    def write(self) -> None:
        """Make the missing blocks."""
        words = np.random.default_rng(11).standard_normal((WORDS, SIZE)).astype(np.float32)
        for number in self.missing_blocks():
            rng = np.random.default_rng([7, number])
            drawn = words[
                (WORDS ** rng.random((len(self.items(number)), LETTERS))).astype(int) - 1
            ].sum(axis=1)
            drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
            write_atomically(
                block_file(self.folder, number),
                partial(np.save, arr=drawn.astype(np.float16)),
                durable=False,
            )


def main(argv: list[str]) -> None:
    """Print a row for each number of vectors."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks neighbours", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--vectors", default="200000", metavar="N,N...")
    parser.add_argument("--part", type=int, default=vectors.VECTOR_INDEX.part_vectors)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args(argv)
    for items in map(int, options.vectors.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            blocks = SyntheticBlocks(items, "relations", options.folder or Path(folder))  # type: ignore[arg-type]
            blocks.folder.mkdir(parents=True, exist_ok=True)
            blocks.write()
            print(row(blocks, items if options.whole else options.part), flush=True)


def row(blocks: SyntheticBlocks, part: int) -> str:
    """Measurements of vectors in parts of this size."""
    vectors.VECTOR_INDEX.max_whole_index_vectors = vectors.VECTOR_INDEX.part_vectors = part
    vectors.VECTOR_INDEX.max_exact_vectors = 0
    _forget_peak()
    start = time.process_time()
    index, kind, _ = vectors.build_search_index(blocks)
    parts, made, memory = len(getattr(index, "parts", ())), time.process_time() - start, _peak()
    recall = vectors.recall_of(index, blocks)
    facts = {"kind": kind, "items": blocks.total(), "dimension": index.d}
    one, times = vectors.VectorIndex(index, facts), {1000: list[float](), 1: list[float]()}
    without = np.arange(0, blocks.total(), LEFT_OUT)
    for number in np.linspace(1, blocks.total() - 1, SEARCHES).astype(int).tolist():
        vector = blocks.read(number // BLOCK_TEXTS)[number % BLOCK_TEXTS].astype(np.float32)
        for k, spent in times.items():
            start = time.process_time()
            one.nearest(vector, k, without)
            spent.append(time.process_time() - start)
    of = {
        k: f"{1000 * statistics.median(spent):.1f} ms, {1000 * max(spent):.1f} at most"
        for k, spent in times.items()
    }
    return (
        f"{blocks.total():10,} vectors  {parts or 'not in':>6} parts  made {made:8.1f} s "
        f"({1000 * made / blocks.total():.3f} ms each)  "
        f"{memory / 2**20:8,.0f} MB at most  recall {recall:.3f}  a search: of 1,000 {of[1000]}; "
        f"of one {of[1]}"
    )
