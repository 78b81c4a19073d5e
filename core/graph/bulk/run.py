"""The phases of a long build, each in parts that are finished one by one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path as FilePath

import numpy as np

from core.graph.bulk.edges import STARTS, Inward, Packing, checked_counts, sort_range
from core.graph.bulk.folding import names_of, write_folded
from core.graph.bulk.journal import HEADER, STORE, Growing, Journal, get, put
from core.graph.bulk.naming import RECORD, number_block, ranks, resolve
from core.graph.bulk.reading import Reading
from core.graph.bulk.renaming import rename
from core.graph.bulk.sources import Numbers, TextSource
from core.graph.bytes.byte_order import in_order
from core.graph.storage.write import release
from core.graph.store import LARGE

LAYOUT = 3  # of what is spilled; another number starts unfinished builds anew
BLOCK = 32 << 20  # bytes of text read at a time, less where memory is scarce
MOST_PARTS, SLOT = 1024, 16  # parts of the hashes at most; bytes of text a name takes at least, for a first guess
WEIGHTS = {"read": 30, "resolve": 10, "number": 15, "out": 12, "in": 13, "names": 15}
Tell = Callable[[str, float], None]


class Build:
    """A build in `folder` from a source, within about `memory` bytes. `run` leaves the files of a store in `journal.store`."""

    def __init__(self, source: Numbers | TextSource, folder: FilePath, memory: int, tell: Tell, check: Callable[[], None]):
        self.source, self.check, self._tell = source, check, tell
        self.journal = Journal(folder, {"layout": LAYOUT, "source": source.identity()})
        self.numbered = isinstance(source, Numbers) or source.numbered

        self.share = memory // 2  # what one part of a phase may hold
        self._reading = Reading(source, self.journal, lambda share: self._advance("read", "Reading triples", share), check)
        if self.journal.fact("seed") is None:
            block = max(1 << 10, min(BLOCK, memory // 64))
            slots = 0 if isinstance(source, Numbers) or source.numbered else source.text_bytes() // SLOT
            parts = 1 << min(MOST_PARTS.bit_length() - 1, (slots * RECORD // max(1, self.share)).bit_length())
            self.journal.mark("read", 0, seed=int.from_bytes(os.urandom(8), "little"), block=block, parts=parts)
        source.tally.restore(self.journal.fact("tally", {"bad": {}, "dropped": {}}))

    def run(self) -> list[str]:
        """All phases; the names of the relations."""
        self._reading.run()
        if not self.numbered:
            self._resolve()
        self._number()
        self._out()
        self._in()
        self._rename()
        self._names()
        return self._reading.relations()

    def _advance(self, phase: str, text: str, share: float) -> None:
        phases = [one for one in WEIGHTS if one not in ("resolve", "names") or not self.numbered]
        before = sum(WEIGHTS[one] for one in phases[: phases.index(phase)])
        self._tell(text, (before + WEIGHTS[phase] * share) / sum(WEIGHTS[one] for one in phases))

    def _resolve(self) -> None:
        counts, parts = self.journal.fact("counts", []), self.journal.fact("parts")
        if not self.journal.fact("ready"):
            put(self.journal.spill("fresh"), np.zeros(sum(counts) // 64 + 1, np.uint64))
            for block, count in enumerate(counts):
                with open(self.journal.spill(f"first-{block}"), "wb") as stream:
                    stream.truncate(8 * count)
            self.journal.mark("resolve", 0, ready=True)
        for part in range(self.journal.done("resolve"), parts):
            self.check()
            self._advance("resolve", "Finding each name's first place", part / parts)
            resolve(self.journal, part, counts, self.share)
            self.journal.mark("resolve", part + 1)
        self._remove("hash", "more", "cuts")

    def _packing(self) -> Packing:
        fact = self.journal.fact
        return Packing(fact("nodes"), fact("relations"), fact("triples"), self.journal.fact("share"))

    def _number(self) -> None:
        fact, blocks = self.journal.fact, self.journal.done("read")
        fresh = before = None
        if not self.numbered:
            fresh = get(self.journal.spill("fresh"), np.uint64)
            before = ranks(fresh)
            self.journal.mark("number", self.journal.done("number"), nodes=int(before[-1]))
        checked_counts(fact("nodes", 0), fact("relations", 0), fact("triples", 0))
        if fact("share") is None:
            self.journal.mark("number", 0, share=self.share)
        packing, bases = self._packing(), np.concatenate([[0], np.cumsum(fact("counts", []))]).astype(np.int64)
        names, ends = self._name_files("terms-" if self._of_terms() else "", fact("name_bytes", 0), fact("named", 0))
        for block in range(self.journal.done("number"), blocks):
            self.check()
            self._advance("number", "Numbering nodes", block / blocks)
            relations = get(self.journal.spill(f"kinds-{block}"), np.int32)
            if self.numbered:
                heads, tails = (get(self.journal.spill(f"{key}-{block}"), np.int32) for key in ("heads", "tails"))
            else:
                assert fresh is not None and before is not None  # both were read above
                heads, tails, data, sizes = number_block(self.journal, block, int(bases[block]), fresh, before)
                ends.add(names.length + np.cumsum(sizes))
                names.add(data)
            packing.spill(self.journal, block, heads, relations, tails)
            names.sync()
            ends.sync()
            self.journal.mark("number", block + 1, name_bytes=names.length, named=ends.length)
        names.close()
        ends.close()
        self._remove("heads", "tails", "kinds", "codes", "bytes", "sizes", "order", "first")

    def _name_files(self, prefix: str, size: int, named: int) -> tuple[Growing, Growing]:
        """The files of the names' bytes and of their ends, `size` bytes and `named` ends of which hold."""
        where = self.journal.spill if prefix else self.journal.store
        ends = Growing(where(f"{prefix}name_offsets.npy"), np.int64, named, HEADER)
        if not named:
            ends.add(np.zeros(1, np.int64))
        return Growing(where(f"{prefix}names.bin"), np.uint8, size), ends

    def _of_terms(self) -> bool:
        """Whether names are those that terms of N-Triples are given."""
        return isinstance(self.source, TextSource) and self.source.of_terms

    def _rename(self) -> None:
        """Gives the terms of N-Triples their readable names."""
        if not self._of_terms() or self.journal.done("rename"):
            return
        names, ends = self._name_files("", 0, 0)
        data = np.memmap(self.journal.spill("terms-names.bin"), np.uint8, "r")
        offsets = np.load(self.journal.spill("terms-name_offsets.npy"), mmap_mode="r")
        self._advance("names", "Finding readable names", 0.0)
        rename(self.journal, data, offsets, names, ends, self.journal.fact("seed"), self.check)
        names.close()
        ends.close()
        self.journal.mark("rename", 1)

    def _out(self) -> None:
        fact, packing = self.journal.fact, self._packing()
        lengths = fact("lengths", {"heads": 0, "relations": 0, "tails": 0, "starts": 0})
        dtypes = {"heads": np.int32, "tails": np.int32, "relations": relation_dtype(fact("relations"))}
        columns = {key: Growing(self.journal.store(f"{key}.npy"), dtype, lengths[key], HEADER) for key, dtype in dtypes.items()}
        columns["starts"] = Growing(self.journal.spill(STARTS), np.int64, lengths["starts"])
        if not lengths["starts"]:
            columns["starts"].add(np.zeros(1, np.int64))
        inward = Inward(fact("nodes"), fact("triples"), fact("share"), fact("pieces", 0))
        for part in range(self.journal.done("out"), packing.ranges):
            self.check()
            self._advance("out", "Sorting triples by head", part / packing.ranges)
            sort_range(self.journal, packing, part, self.journal.done("read"), columns, inward, fact("share"))
            for column in columns.values():
                column.sync()
            self.journal.mark("out", part + 1, lengths={key: column.length for key, column in columns.items()}, pieces=inward.pieces)
        for column in columns.values():
            column.close()
        self._remove("keys", "ranges")

    def _in(self) -> None:
        fact = self.journal.fact
        nodes, edges = fact("nodes"), fact("lengths")["tails"]
        inward = Inward(nodes, fact("triples"), fact("share"), fact("pieces"))
        shapes = {"offsets": (np.int64, (nodes + 1, 2)), "in_edges": (edge_kind(edges), (edges,)), "in_heads": (np.int32, (edges,))}
        if not self.journal.done("in"):
            for key, (dtype, size) in shapes.items():
                np.lib.format.open_memmap(self.journal.store(f"{key}.npy"), "w+", dtype, size)
        maps = {key: np.lib.format.open_memmap(self.journal.store(f"{key}.npy"), "r+") for key in shapes}
        for part in range(self.journal.done("in"), inward.ranges):
            self.check()
            self._advance("in", "Sorting triples by tail", part / inward.ranges)
            inward.place(self.journal, part, maps["offsets"], maps["in_edges"], maps["in_heads"])
            for values in maps.values():
                release(values)
            self.journal.mark("in", part + 1)
        self._remove("in", "incuts", "starts")

    def _names(self) -> None:
        if self.numbered:
            np.save(self.journal.store("name_order.npy"), np.empty(0, np.int32))
            return
        data, offsets = names_of(self.journal.folder / STORE)
        if not self.journal.done("names"):
            self._advance("names", "Ordering names", 0.0)
            order = Growing(self.journal.store("name_order.npy"), np.int32, 0, HEADER)
            for share, ids in in_order(data, offsets, self.share, self.check):
                self._advance("names", "Ordering names", share / 3)
                order.add(ids)
            order.close()
            self.journal.mark("names", 1)
        if len(offsets) > LARGE and self.journal.done("names") < 2:
            advance = lambda share: self._advance("names", "Ordering names without case", (1 + 2 * share) / 3)
            write_folded(data, offsets, self.journal.folder / STORE, self.share, advance, self.check)
            self.journal.mark("names", 2)

    def _remove(self, *keys: str) -> None:
        """Removes the spilled files of these keys."""
        for path in list(self.journal.spill("x").parent.iterdir()):
            if path.name.rpartition("-")[0] in keys:
                path.unlink()


def relation_dtype(relations: int):
    """The type that relations are stored in."""
    return np.int16 if relations <= np.iinfo(np.int16).max else np.int32


def edge_kind(edges: int):
    """The type that edges are stored in."""
    return np.int32 if edges <= np.iinfo(np.int32).max else np.int64
