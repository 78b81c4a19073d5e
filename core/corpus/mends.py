"""Entities of a corpus's graphs that are the same under several names: merges that are saved beside the corpus and done again on each graph
that is built of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from core.corpus.corpus import OWNED_AS, Corpus
from core.corpus.stored import locked
from core.errors import BadInput, damage
from core.graph.edits import Edit
from core.io import digests
from core.io.durable import write_whole
from core.sharing import check_may_change

FILE = "mends.json"
MOST = 5_000  # merges of a corpus


@dataclass(frozen=True)
class Mends:
    """The merges of a corpus in their order, and the pairs of names that are not the same, so that they are not suggested again."""

    edits: tuple[Edit, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()

    @property
    def digest(self) -> str:
        """A short hash of the merges; empty where there are none."""
        if not self.edits:
            return ""
        return hashlib.sha256(
            json.dumps([edit.written() for edit in self.edits]).encode()
        ).hexdigest()[:16]

    def accepted(self, edits: Iterable[Edit]) -> Mends:
        """With some merges more, whose names are no longer said not to be the same. Raises BadInput where there are too many."""
        more = list(edits)
        every = tuple(dict.fromkeys([*self.edits, *more]))
        if len(every) > MOST:
            raise BadInput(f"At most {MOST:,} merges of one corpus, please.")
        return replace(self, edits=every).allowing([edit.names for edit in more])

    def without(self, edits: Iterable[Edit]) -> Mends:
        """Without some of the merges."""
        forgotten = set(edits)
        return replace(self, edits=tuple(edit for edit in self.edits if edit not in forgotten))

    def refusing(self, names: Iterable[Sequence[str]]) -> Mends:
        """With some pairs of names that are not the same, and without the merges of these."""
        more = [pair(name, other) for name, other in names]
        edits = tuple(
            edit
            for edit in self.edits
            if edit.names not in {*more, *((other, name) for name, other in more)}
        )
        return replace(self, edits=edits, refused=tuple(dict.fromkeys([*self.refused, *more])))

    def allowing(self, names: Iterable[Sequence[str]]) -> Mends:
        """Without some of the pairs of names that are not the same."""
        allowed = {pair(name, other) for name, other in names}
        return replace(self, refused=tuple(one for one in self.refused if one not in allowed))


def pair(name: str, other: str) -> tuple[str, str]:
    """Two names in the order that both directions share."""
    return (name, other) if name < other else (other, name)


def mends_of(corpus: Corpus) -> Mends:
    """The merges that are saved for a corpus; none where there is no file. Raises StoreError for a damaged one."""
    file = corpus.folder / FILE
    try:
        saved = digests.check_marked(json.loads(file.read_text("utf-8")))
        return Mends(
            tuple(map(Edit.read, saved["edits"])),
            tuple((one, other) for one, other in saved["refused"]),
        )
    except FileNotFoundError:
        return Mends()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, BadInput) as error:
        instead = "remove that file to go on without them"
        raise damage(f"The merges in {file} are", error, instead) from None


def mend(corpus: Corpus, change: Callable[[Mends], Mends]) -> Mends:
    """What is saved after a change of the merges of a corpus. Raises BadInput, StoreError, NotAllowed where the corpus is another's."""
    if corpus.own:
        check_may_change(OWNED_AS, corpus.name)
    with locked(corpus.folder):
        changed = change(mends_of(corpus))
        text = json.dumps(
            digests.marked(
                {
                    "edits": [edit.written() for edit in changed.edits],
                    "refused": [list(names) for names in changed.refused],
                }
            ),
            ensure_ascii=False,
            indent=1,
        )
        write_whole(corpus.folder / FILE, lambda temporary: temporary.write_text(text, "utf-8"))
    return changed
