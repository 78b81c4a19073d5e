"""First phase of a long build: reading triples, block by block, into spill files."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from core.graph.large.journal import GrowingArray, Journal, write_array
from core.graph.large.name_numbers import code_relations, spill_names
from core.graph.large.sources import NumberSource, TextSource
from core.graph.readers.blocks import Block, BlockPosition
from core.watch import NO_WATCH, Watch


class SourceReader:
    """Reader that writes the triples of a source to spill files.

    Of numbered nodes, ids are written to `heads-BLOCK`, `kinds-BLOCK` (the relations) and
    `tails-BLOCK`. Of named nodes, the names are written by `spill_names`, and numbers of relations
    to `kinds-BLOCK`. The number of the next block is the count of finished parts of the phase
    `read`.
    """

    def __init__(
        self, source: NumberSource | TextSource, journal: Journal, watch: Watch = NO_WATCH
    ):
        self.source, self.journal, self._watch = source, journal, watch
        self.numbered = isinstance(source, NumberSource) or source.numbered
        self._relation_count = 0  # number of relations so far that are not excluded

    def read_missing_blocks(self) -> None:
        """Read the blocks of the source that were not read before an interruption."""
        if self.journal.get_fact("read"):
            return
        if isinstance(self.source, NumberSource):
            self._read_numbers(self.source)
        else:
            self._read_text(self.source)
        self.journal.record_progress("read", self.journal.n_finished("read"), read=True)

    def _read_numbers(self, source: NumberSource) -> None:
        fact = self.journal.get_fact
        for columns in source.read_from(fact("triples", 0)):
            self._watch.check()
            self._spill_numbers(self.journal.n_finished("read"), columns)
            self._watch.step(fact("triples") / max(1, source.count))

    def _spill_numbers(self, number: int, columns: tuple[np.ndarray, ...], **facts) -> None:
        """Write the heads, relations and tails of a block.

        Its counts and `facts` are recorded.
        """
        fact = self.journal.get_fact
        for key, values in zip(("heads", "kinds", "tails"), columns):
            write_array(self.journal.spill_file(f"{key}-{number}"), values)
        n_heads, n_relations, n_tails = (int(values.max(initial=-1)) + 1 for values in columns)
        self.journal.record_progress(
            "read",
            number + 1,
            nodes=max(fact("nodes", 0), n_heads, n_tails),
            relations=max(fact("relations", 0), n_relations),
            triples=fact("triples", 0) + len(columns[0]),
            **facts,
        )

    def _read_text(self, source: TextSource) -> None:
        fact = self.journal.get_fact
        ids = self._read_relation_ids()
        output = GrowingArray(
            self.journal.spill_file("relations"), np.uint8, fact("relation_bytes", 0)
        )
        counts = fact("counts", [])
        for block in source.blocks(BlockPosition(**fact("place", {})), fact("block"), self._watch):
            self._watch.check()
            number = self.journal.n_finished("read")
            facts: dict[str, Any] = {"place": vars(block.after), "tally": source.tally.state()}
            if self.numbered:
                self._spill_numbers(number, source.parse_id_columns(block), **facts)
                continue
            block, relation_ids = self._drop_excluded(source, block, ids, output)
            write_array(self.journal.spill_file(f"kinds-{number}"), relation_ids)
            counts.append(spill_names(self.journal, number, block, fact("parts"), fact("seed")))
            facts |= {
                "counts": counts,
                "triples": fact("triples", 0) + len(relation_ids),
                "relation_bytes": output.length,
                "relations": self._relation_count,
            }
            self.journal.record_progress("read", number + 1, **facts)
        output.close()

    def _drop_excluded(
        self, source: TextSource, block: Block, ids: dict[str, int], output: GrowingArray
    ) -> tuple[Block, np.ndarray]:
        """Drop the triples of excluded relations from a block.

        Returns the block and the relation ids of its triples. New relations get an id in `ids`, and
        their texts are appended to `output`, one JSON string a line.
        """
        codes, block_relations = code_relations(block, self.journal.get_fact("seed"))
        new_relations = [relation for relation in block_relations if relation not in ids]
        for relation in new_relations:
            self._assign_id(source, relation, ids)
        output.add(
            np.frombuffer(
                "".join(json.dumps(relation) + "\n" for relation in new_relations).encode(),
                np.uint8,
            )
        )
        output.sync()
        relation_ids = np.array([ids[relation] for relation in block_relations], np.int32)
        if (relation_ids < 0).any():
            for relation, id, count in zip(
                block_relations,
                relation_ids.tolist(),
                np.bincount(codes, minlength=len(block_relations)).tolist(),
            ):
                if id < 0:
                    source.tally.drop(
                        source.exclusion_pattern(source.relation_name(relation)), count
                    )
            is_included = relation_ids[codes] >= 0
            cells = np.repeat(is_included, 3)
            block = Block(
                block.data,
                block.starts[cells],
                block.lengths[cells],
                block.lines[is_included],
                block.after,
            )
            codes = codes[is_included]
        return block, relation_ids[codes]

    def _assign_id(self, source: TextSource, relation: str, ids: dict[str, int]) -> None:
        """Add a relation to `ids` with the next id.

        An excluded relation gets -1.
        """
        is_excluded = bool(source.exclusion_pattern(source.relation_name(relation)))
        ids[relation] = -1 if is_excluded else self._relation_count
        self._relation_count += not is_excluded

    def _read_relation_ids(self) -> dict[str, int]:
        """Return the ids of the relations read so far, -1 for excluded ones.

        Keys are the relations' texts in the file.
        """
        source = self.source
        path = self.journal.spill_file("relations")
        size = self.journal.get_fact("relation_bytes", 0)
        assert isinstance(source, TextSource)  # numbered relations have no names
        ids: dict[str, int] = {}
        self._relation_count = 0
        for line in path.read_bytes()[:size].splitlines() if size else []:
            self._assign_id(source, json.loads(line), ids)
        return ids

    def relation_names(self) -> list[str]:
        """Return the names of the relations, ordered by id."""
        source = self.source
        if isinstance(source, NumberSource) or source.numbered:
            return [str(number) for number in range(self.journal.get_fact("relations"))]
        ids = self._read_relation_ids()
        return [source.relation_name(relation) for relation, id in ids.items() if id >= 0]
