"""Build of a graph that is larger than memory, in phases.

After a stop, the phases can be continued. The phases, by their keys in the journal, are:

- read: read the source in blocks, and write triples and names to spill files;
- resolve: find the first appearance of each name, part by part of the hashes;
- collect: write each name once, by first appearance;
- order: sort the names, which gives the ids of the nodes;
- number: replace names by ids, and pack the triples of each block;
- out: sort the triples by head, range by range;
- in: sort the triples by tail, range by range;
- fold: write the folded names.

A phase is divided into parts (blocks, ranges). A part is recorded in the journal when it is
finished.
"""

from __future__ import annotations

import os
from pathlib import Path as FilePath

import numpy as np

from core.graph.columns import row_offsets
from core.graph.large.edges import (
    OUT_STARTS_FILE,
    InwardEdges,
    TripleCodec,
    check_counts,
    sort_range,
)
from core.graph.large.folding import write_folded
from core.graph.large.journal import (
    NPY_HEADER_BYTES,
    STORE_FOLDER,
    GrowingArray,
    Journal,
    read_array,
    write_array,
)
from core.graph.large.name_files import NameFiles, read_names, write_in_order
from core.graph.large.name_numbers import (
    RECORD_BYTES,
    cumulate_bits,
    number_block,
    read_new_names,
    resolve_names,
)
from core.graph.large.source_reader import SourceReader
from core.graph.large.sources import NumberSource, TextSource
from core.graph.large.term_names import write_term_names
from core.graph.order import in_name_order
from core.graph.storage.store_files import release_map
from core.graph.store import DISK_SEARCH_NAMES, NAMES_FILE
from core.watch import NO_WATCH, Watch

# Version of the spill files; unfinished builds of another version start over.
SPILL_VERSION = 4
# Largest number of bytes of text that are read at a time.
MAX_BLOCK_BYTES = 32 << 20
# Largest number of parts into which the hashes of names are divided.
MAX_HASH_PARTS = 1024
# A low estimate of the bytes of text per name. It gives the number of parts of the hashes.
MIN_NAME_BYTES = 16
# Share of each phase in the progress of a build, in the order in which they run.
PHASE_WEIGHTS = {
    "read": 30,
    "resolve": 10,
    "collect": 5,
    "order": 10,
    "number": 10,
    "out": 12,
    "in": 13,
    "fold": 10,
}
# Phases that are skipped if nodes have numbers instead of names.
NAME_PHASES = ("resolve", "collect", "order", "fold")
# Spill file with the node id of each name, int32, in the order of first appearance.
NAME_IDS_FILE = "places"


class LargeBuild:
    """Build of a graph from a source, within about `memory` bytes.

    Its journal and spill files are in `folder`. `run` leaves the files of the store in the
    subfolder `STORE_FOLDER`.
    """

    def __init__(
        self,
        source: NumberSource | TextSource,
        folder: FilePath,
        memory: int,
        watch: Watch = NO_WATCH,
    ):
        self.source, self._watch = source, watch
        self.journal = Journal(folder, {"layout": SPILL_VERSION, "source": source.identity()})
        self.numbered = isinstance(source, NumberSource) or source.numbered
        self.phase_memory = memory // 2  # memory for one part of a phase
        self._reader = SourceReader(
            source, self.journal, self._watch_phase("read", "Reading triples")
        )
        # Settings that must stay the same when the build continues are chosen once and recorded.
        if self.journal.get_fact("seed") is None:
            block_bytes = max(1 << 10, min(MAX_BLOCK_BYTES, memory // 64))
            max_names = 0
            if isinstance(source, TextSource) and not source.numbered:
                max_names = source.text_bytes() // MIN_NAME_BYTES
            parts = 1 << min(
                MAX_HASH_PARTS.bit_length() - 1,
                (max_names * RECORD_BYTES // max(1, self.phase_memory)).bit_length(),
            )
            seed = int.from_bytes(os.urandom(8), "little")
            self.journal.record_progress("read", 0, seed=seed, block=block_bytes, parts=parts)
        source.tally.restore(self.journal.get_fact("tally", {"bad": {}, "dropped": {}}))

    def run(self) -> list[str]:
        """Run all phases, and return the names of the relations."""
        self._reader.read_missing_blocks()
        if not self.numbered:
            self._resolve_names()
        check_counts(*(self.journal.get_fact(key, 0) for key in ("nodes", "relations", "triples")))
        relations, relation_ids = self._order_relations()
        if not self.numbered:
            self._collect_names()
            self._order_names()
        self._pack_triples(relation_ids)
        self._sort_by_head()
        self._sort_by_tail()
        if self.numbered:
            self._write_empty_names()
        else:
            self._fold_names()
        return relations

    def _order_relations(self) -> tuple[list[str], np.ndarray]:
        """Return the names of the relations by id.

        The second result is the id by the number used while reading.
        """
        names = self._reader.relation_names()
        if self.numbered:
            return names, np.arange(len(names), dtype=np.int32)
        ordered, ids = in_name_order(names)
        return ordered, ids.astype(np.int32)

    def _watch_phase(self, phase: str, text: str) -> Watch:
        """Return the watch of a phase.

        It maps the progress of the phase to that of the build.
        """
        weights = {
            key: weight
            for key, weight in PHASE_WEIGHTS.items()
            if not (self.numbered and key in NAME_PHASES)
        }
        total_weight = sum(weights.values())
        phases = list(weights)
        done_weight = sum(weights[key] for key in phases[: phases.index(phase)])
        end_weight = done_weight + weights[phase]
        return self._watch.part(done_weight / total_weight, end_weight / total_weight, text)

    def _resolve_names(self) -> None:
        """Find the first appearance of every name, and count the nodes."""
        counts, parts = self.journal.get_fact("counts", []), self.journal.get_fact("parts")
        if not self.journal.get_fact("ready"):
            write_array(
                self.journal.spill_file("fresh"), np.zeros(sum(counts) // 64 + 1, np.uint64)
            )
            for block, count in enumerate(counts):
                with open(self.journal.spill_file(f"first-{block}"), "wb") as stream:
                    stream.truncate(8 * count)
            self.journal.record_progress("resolve", 0, ready=True)
        for part in range(self.journal.n_finished("resolve"), parts):
            self._watch_phase("resolve", "Finding each name's first place").step(part / parts)
            resolve_names(self.journal, part, counts, self.phase_memory)
            self.journal.record_progress("resolve", part + 1)
        nodes = int(cumulate_bits(read_array(self.journal.spill_file("fresh"), np.uint64))[-1])
        self.journal.record_progress("resolve", parts, nodes=nodes)
        self._remove_spills("hash", "more", "cuts")

    def _collect_names(self) -> None:
        """Write each name once to spill files, in the order of first appearance."""
        fact = self.journal.get_fact
        bases = row_offsets(fact("counts"))
        blocks = self.journal.n_finished("read")
        if self.journal.n_finished("collect") == blocks:
            return
        names = NameFiles(*self._name_files("met"), fact("name_bytes", 0), fact("named", 0))
        for block in range(self.journal.n_finished("collect"), blocks):
            self._watch_phase("collect", "Collecting names").step(block / blocks)
            names.add(*read_new_names(self.journal, block, int(bases[block])))
            names.sync()
            self.journal.record_progress(
                "collect", block + 1, name_bytes=names.text.length, named=names.ends.length
            )
        names.close()
        self._remove_spills("bytes", "sizes")

    def _order_names(self) -> None:
        """Write the names in the order of their bytes.

        This order gives the node ids. `NAME_IDS_FILE` gets the id of each name, in the order of
        first appearance.
        """
        if self.journal.n_finished("order"):
            return
        kind = "met"
        # Terms of N-Triples get readable names.
        if isinstance(self.source, TextSource) and self.source.has_term_names:
            kind = "readable"
            self._watch_phase("order", "Finding readable names").step(0.0)
            readable = NameFiles(*self._name_files(kind))
            write_term_names(
                self.journal,
                *read_names(*self._name_files("met")),
                readable,
                self.journal.get_fact("seed"),
                self._watch,
            )
            readable.close()
        nodes, n_ordered = self.journal.get_fact("nodes"), 0
        names = NameFiles(
            self.journal.store_file(NAMES_FILE), self.journal.store_file("name_offsets.npy")
        )
        order = GrowingArray(
            self.journal.store_file("name_order.npy"), np.int32, 0, NPY_HEADER_BYTES
        )
        name_ids = np.memmap(self.journal.spill_file(NAME_IDS_FILE), np.int32, "w+", shape=(nodes,))
        data, offsets = read_names(*self._name_files(kind))
        watch = self._watch_phase("order", "Ordering names")
        for part in write_in_order(data, offsets, names, self.phase_memory, watch):
            ids = np.arange(n_ordered, n_ordered + len(part), dtype=np.int32)
            name_ids[part] = ids
            order.add(ids)
            n_ordered += len(part)
        name_ids.flush()
        names.close()
        order.close()
        self.journal.record_progress("order", 1)
        self._remove_spills("met", "readable")

    def _name_files(self, kind: str) -> tuple[FilePath, FilePath]:
        """Return the spill files with the bytes and the ends of names.

        `kind` is "met" for names as in the source, or "readable".
        """
        return self.journal.spill_file(f"{kind}-{NAMES_FILE}"), self.journal.spill_file(
            f"{kind}-offsets.npy"
        )

    def _make_codec(self) -> TripleCodec:
        fact = self.journal.get_fact
        return TripleCodec(fact("nodes"), fact("relations"), fact("triples"), fact("share"))

    def _pack_triples(self, relation_ids: np.ndarray) -> None:
        """Replace nodes and relations by their ids, and pack the triples.

        This is done block by block.
        """
        blocks = self.journal.n_finished("read")
        if self.journal.get_fact("share") is None:
            # The memory is recorded, because the ranges of the later phases depend on it.
            self.journal.record_progress("number", 0, share=self.phase_memory)
        codec = self._make_codec()
        if not self.numbered and self.journal.n_finished("number") < blocks:
            fresh = read_array(self.journal.spill_file("fresh"), np.uint64)
            base = cumulate_bits(fresh)
            name_ids = np.memmap(self.journal.spill_file(NAME_IDS_FILE), np.int32, "r")
        for block in range(self.journal.n_finished("number"), blocks):
            self._watch_phase("number", "Numbering nodes").step(block / blocks)
            relations = relation_ids[
                read_array(self.journal.spill_file(f"kinds-{block}"), np.int32)
            ]
            if self.numbered:
                heads, tails = (
                    read_array(self.journal.spill_file(f"{key}-{block}"), np.int32)
                    for key in ("heads", "tails")
                )
            else:
                heads, tails = number_block(self.journal, block, fresh, base, name_ids)
            codec.spill(self.journal, block, heads, relations, tails)
            self.journal.record_progress("number", block + 1)
        self._remove_spills("heads", "tails", "kinds", "codes", "order", "first")

    def _sort_by_head(self) -> None:
        """Write the columns of the edges, and spill the edges by tail.

        The columns are in the order of edge ids.
        """
        fact, codec = self.journal.get_fact, self._make_codec()
        lengths = fact("lengths", {"heads": 0, "relations": 0, "tails": 0, "starts": 0})
        dtypes = {
            "heads": np.int32,
            "tails": np.int32,
            "relations": relation_dtype(fact("relations")),
        }
        columns = {
            key: GrowingArray(
                self.journal.store_file(f"{key}.npy"), dtype, lengths[key], NPY_HEADER_BYTES
            )
            for key, dtype in dtypes.items()
        }
        columns["starts"] = GrowingArray(
            self.journal.spill_file(OUT_STARTS_FILE), np.int64, lengths["starts"]
        )
        if not lengths["starts"]:
            columns["starts"].add(np.zeros(1, np.int64))
        inward = InwardEdges(fact("nodes"), fact("triples"), fact("share"), fact("pieces", 0))
        blocks = self.journal.n_finished("read")
        for part in range(self.journal.n_finished("out"), codec.n_ranges):
            self._watch_phase("out", "Sorting triples by head").step(part / codec.n_ranges)
            sort_range(self.journal, codec, part, blocks, columns, inward, fact("share"))
            for column in columns.values():
                column.sync()
            self.journal.record_progress(
                "out",
                part + 1,
                lengths={key: column.length for key, column in columns.items()},
                pieces=inward.n_pieces,
            )
        for column in columns.values():
            column.close()
        self._remove_spills("keys", "ranges")

    def _sort_by_tail(self) -> None:
        """Write the edges in the order of their tails.

        The offsets of the nodes are written, too.
        """
        fact = self.journal.get_fact
        nodes, edges = fact("nodes"), fact("lengths")["tails"]
        inward = InwardEdges(nodes, fact("triples"), fact("share"), fact("pieces"))
        shapes = {
            "offsets": (np.int64, (nodes + 1, 2)),
            "in_edges": (edge_dtype(edges), (edges,)),
            "in_heads": (np.int32, (edges,)),
        }
        if not self.journal.n_finished("in"):
            for key, (dtype, shape) in shapes.items():
                np.lib.format.open_memmap(self.journal.store_file(f"{key}.npy"), "w+", dtype, shape)
        maps = {
            key: np.lib.format.open_memmap(self.journal.store_file(f"{key}.npy"), "r+")
            for key in shapes
        }
        for part in range(self.journal.n_finished("in"), inward.n_ranges):
            self._watch_phase("in", "Sorting triples by tail").step(part / inward.n_ranges)
            inward.fill_range(self.journal, part, maps)
            for values in maps.values():
                release_map(values)
            self.journal.record_progress("in", part + 1)
        self._remove_spills("in", "incuts", "starts")

    def _fold_names(self) -> None:
        """Write the folded names if the graph is searched by them.

        A graph is searched by them if it is large.
        """
        if self.journal.get_fact("nodes") >= DISK_SEARCH_NAMES and not self.journal.n_finished(
            "fold"
        ):
            data, offsets = read_names(
                self.journal.store_file(NAMES_FILE), self.journal.store_file("name_offsets.npy")
            )
            write_folded(
                data,
                offsets,
                self.journal.folder / STORE_FOLDER,
                self.phase_memory,
                self._watch_phase("fold", "Ordering names without case"),
            )
            self.journal.record_progress("fold", 1)

    def _write_empty_names(self) -> None:
        """Write the empty name files of a store of numbered nodes."""
        np.save(self.journal.store_file("name_order.npy"), np.empty(0, np.int32))
        np.save(self.journal.store_file("name_offsets.npy"), np.zeros(1, np.int64))
        self.journal.store_file(NAMES_FILE).touch()

    def _remove_spills(self, *keys: str) -> None:
        """Remove the spill files KEY-SUFFIX with any of these keys and any suffix."""
        for path in list(self.journal.spill_file("x").parent.iterdir()):
            if path.name.rpartition("-")[0] in keys:
                path.unlink()


def relation_dtype(relations: int):
    """Return the smallest type for the relation ids of a store."""
    return np.int16 if relations <= np.iinfo(np.int16).max else np.int32


def edge_dtype(edges: int):
    """Return the smallest type for the edge ids of a store."""
    return np.int32 if edges <= np.iinfo(np.int32).max else np.int64
