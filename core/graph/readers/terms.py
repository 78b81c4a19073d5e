"""Reader of a large N-Triples file in blocks of bytes.

Each term is a slice of its block. Compiled loops find the terms of ordinary lines. Only unusual
lines are parsed by pyoxigraph. All terms are in canonical form, so that equal terms have equal
bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.errors import BadInput
from core.graph.readers.blocks import Block, BlockPosition, encode_parts, whole_lines
from core.graph.readers.ntriples import statements, syntax_fault
from core.graph.readers.source import TripleSource
from core.graph.readers.term_loops import split_terms


@dataclass
class TermBlocks:
    """Reader of an N-Triples file in blocks, whose parts are terms.

    A bad line raises BadInput, or is counted in the tally if bad lines may be left out.
    """

    source: TripleSource
    size: int  # bytes of text in a block

    def read(self, position: BlockPosition) -> Iterator[Block]:
        """Yield the blocks from a position on, about `size` bytes each."""
        with self.source.open_text() as source:
            source.skip(position.offset)
            for text in whole_lines(source, self.size):
                block = self._read_block(text, position)
                position = block.after
                yield block

    def _read_block(self, text: bytes, position: BlockPosition) -> Block:
        data = np.frombuffer(bytearray(text), np.uint8)
        max_lines = int(np.count_nonzero(data == 10)) + 1
        starts, lengths = np.empty(3 * max_lines, np.int64), np.empty(3 * max_lines, np.int64)
        numbers, odd = np.empty(max_lines, np.int64), np.empty((max_lines, 3), np.int64)
        n_triples, n_odd, lines = split_terms(data, _is_utf8(data), starts, lengths, numbers, odd)
        parts: list[str] = []
        odd_lines: list[int] = []
        for line, start, end in odd[:n_odd].tolist():
            number = position.line + line + 1
            for terms in self._parse_line(data[start:end].tobytes(), number):
                parts += terms
                odd_lines.append(line)
        starts, lengths = starts[: 3 * n_triples], lengths[: 3 * n_triples]
        numbers = numbers[:n_triples]
        if odd_lines:
            # The terms of odd lines are appended to the block, and all triples sorted by line.
            odd_bytes, sizes = encode_parts(parts)
            starts = np.concatenate([starts, len(data) + np.cumsum(sizes) - sizes])
            lengths, data = np.concatenate([lengths, sizes]), np.concatenate([data, odd_bytes])
            numbers = np.concatenate([numbers, odd_lines])
            order = np.argsort(numbers, kind="stable")
            starts, lengths = (values.reshape(-1, 3)[order].ravel() for values in (starts, lengths))
            numbers = numbers[order]
        return Block(
            data,
            starts,
            lengths,
            numbers + position.line + 1,
            BlockPosition(position.offset + len(text), position.line + lines),
        )

    def _parse_line(self, line: bytes, number: int) -> list[tuple[str, str, str]]:
        """Return the terms of the statements in one line.

        There are none in an empty line or a comment.
        """
        try:
            return list(statements(line))
        except SyntaxError as error:
            fault = syntax_fault(self.source.name, number, error)
        except BadInput as error:
            fault = error
        self.source.report_bad_line("not N-Triples", number, fault)
        return []


def _is_utf8(data: np.ndarray) -> bool:
    try:
        str(data.data, "utf-8")
        return True
    except UnicodeDecodeError:
        return False
