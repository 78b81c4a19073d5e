"""Stage “merge”: a passage graph, in which chunks are joined by the entities that they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from core.builds.base import BuildContext, BuildOperator, Made
from core.builds.facts import Facts
from core.builds.naming import READINGS, folded
from core.graph.building.text_graph import assemble
from core.parameters import param

SHARES = "shares entity"
SHOWN = 10  # shared entities that an edge names


@dataclass(frozen=True, repr=False)
class PassageGraph(BuildOperator):
    """A node for each chunk, called by its id, and an edge between two that share at least `min_shared` entities; its weight is how many,
    its description their names (KGP's graph).

    An entity that is in more than `common` chunks joins none, so that one which is everywhere does not join everything. The in-depth
    analysis sets no such bound (its passage graphs join chunks that share enough entities, whichever): `passage-paper` has 1,000.
    """

    stage = "merge"
    title = "passages that share entities"
    reads, writes = ("chunks", "facts"), ("graph",)

    min_shared: int = param(1, "Shared entities", "How many entities two chunks share at least.", low=1, high=1000)
    common: int = param(50, "Too common", "An entity in more chunks than this joins none.", low=2, high=1000)
    reading: str = param("unicode", "Names", "Whether all letters count in names, or a-z and 0-9 alone as in the code.", choices=READINGS)

    def apply(self, made: Made, ctx: BuildContext) -> Made:
        assert made.chunks is not None and made.facts is not None  # a line without them is refused
        ids, shared = made.chunks.texts("id"), self._shared(made.facts, ctx)
        triples = [(ids[a], SHARES, ids[b]) for a, b in shared]
        graph = assemble(
            made.corpus.name,
            ids,
            triples,
            {
                "type": ["chunk"] * len(ids),
                "description": [""] * len(ids),
                "level": [0] * len(ids),
                "chunks": [[row] for row in range(len(ids))],
            },
            {
                "description": [", ".join(names[:SHOWN]) for names in shared.values()],
                "weight": [float(len(names)) for names in shared.values()],
                "chunks": [list(pair) for pair in shared],
            },
            made.chunks,
        )
        return made.replace(graph=graph)

    def words(self) -> str:
        return f"passages that share {self.min_shared} {'entity' if self.min_shared == 1 else 'entities'}"

    def _shared(self, facts: Sequence[Facts], ctx: BuildContext) -> dict[tuple[int, int], list[str]]:
        """The names that each two rows share, for those that share enough."""
        rows: dict[str, dict[int, None]] = {}
        spellings: dict[str, Counter[str]] = {}
        for row, one in enumerate(facts):
            for entity in one.entities:
                key = folded(entity.name, self.reading)
                if key:
                    rows.setdefault(key, {})[row] = None
                    spellings.setdefault(key, Counter())[entity.name] += entity.times
        everywhere = [key for key, found in rows.items() if len(found) > self.common]
        if everywhere:
            names = [min(spellings[key], key=lambda name: (-spellings[key][name], name)) for key in everywhere]
            listed = ", ".join(sorted(names, key=lambda name: (-len(rows[folded(name, self.reading)]), name))[:SHOWN])
            ctx.report.note(f"{len(everywhere):,} entities are in more than {self.common} chunks and join none: {listed}.")
        shared: dict[tuple[int, int], list[str]] = {}
        for key in sorted(rows.keys() - set(everywhere)):
            ctx.check()
            name = min(spellings[key], key=lambda name: (-spellings[key][name], name))
            for pair in combinations(sorted(rows[key]), 2):
                shared.setdefault(pair, []).append(name)
        return {pair: names for pair, names in sorted(shared.items()) if len(names) >= self.min_shared}
