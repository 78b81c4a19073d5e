"""Merges of a corpus's entities that have several names.

They are saved with the corpus and applied again to each graph that is built from it.
"""

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
MOST = 5_000  # merges per corpus


@dataclass(frozen=True)
class Mends:
    """The merges of a corpus in their order, and the refused pairs of names.

    Refused pairs are known to differ, so they are not suggested again.
    """

    edits: tuple[Edit, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()

    @property
    def digest(self) -> str:
        """A short hash of the merges; empty if there are none."""
        if not self.edits:
            return ""
        return hashlib.sha256(
            json.dumps([edit.written() for edit in self.edits]).encode()
        ).hexdigest()[:16]

    def accepted(self, edits: Iterable[Edit]) -> Mends:
        """Return these with more merges, whose names are no longer refused.

        Raises BadInput if there are too many.
        """
        more = list(edits)
        every = tuple(dict.fromkeys([*self.edits, *more]))
        if len(every) > MOST:
            raise BadInput(f"At most {MOST:,} merges of one corpus, please.")
        return replace(self, edits=every).allowing([edit.names for edit in more])

    def without(self, edits: Iterable[Edit]) -> Mends:
        """Return these without some of the merges."""
        forgotten = set(edits)
        return replace(self, edits=tuple(edit for edit in self.edits if edit not in forgotten))

    def refusing(self, names: Iterable[Sequence[str]]) -> Mends:
        """Return these with more refused pairs of names, and without the merges of these names."""
        more = [pair(name, other) for name, other in names]
        edits = tuple(
            edit
            for edit in self.edits
            if edit.names not in {*more, *((other, name) for name, other in more)}
        )
        return replace(self, edits=edits, refused=tuple(dict.fromkeys([*self.refused, *more])))

    def allowing(self, names: Iterable[Sequence[str]]) -> Mends:
        """Return these without some of the refused pairs."""
        allowed = {pair(name, other) for name, other in names}
        return replace(self, refused=tuple(one for one in self.refused if one not in allowed))


def pair(name: str, other: str) -> tuple[str, str]:
    """Return two names in a fixed order."""
    return (name, other) if name < other else (other, name)


def mends_of(corpus: Corpus) -> Mends:
    """Return the merges that are saved for a corpus. Raises StoreError for a damaged file."""
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
    """Change the saved merges of a corpus and return them.

    Raises BadInput, StoreError, and NotAllowed if the corpus belongs to another person.
    """
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
