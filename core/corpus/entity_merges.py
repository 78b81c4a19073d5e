"""A person's merges of entities that occur in a corpus under several names.

They are saved with the corpus and applied again to each graph that is built from it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from core.corpus.corpus import CORPUS_OWNED_KIND, Corpus
from core.corpus.corpus_storage import lock_corpus
from core.errors import BadInput, damage_error
from core.graph.edits import Edit
from core.io import digests
from core.io.durable_files import write_whole
from core.sharing import check_may_change

MERGES_FILE = "mends.json"  # not named for merges, so that files saved so far are found
MAX_MERGES = 5_000  # merges per corpus


@dataclass(frozen=True)
class EntityMerges:
    """The merges of a corpus in their order, and the refused merges.

    `refused` holds pairs of names that a person marked as different, so they are not suggested
    again. The two names of a pair are in the order of `ordered_pair`.
    """

    edits: tuple[Edit, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()

    @property
    def digest(self) -> str:
        """A short hash of the merges; empty if there are none."""
        if not self.edits:
            return ""
        text = json.dumps([edit.to_text() for edit in self.edits])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def with_merges(self, edits: Iterable[Edit]) -> EntityMerges:
        """Return a copy with more merges, whose names are no longer refused.

        Raises BadInput if there are too many.
        """
        new_edits = list(edits)
        all_edits = tuple(dict.fromkeys([*self.edits, *new_edits]))
        if len(all_edits) > MAX_MERGES:
            raise BadInput(f"At most {MAX_MERGES:,} merges of one corpus, please.")
        return replace(self, edits=all_edits).without_refusals([edit.names for edit in new_edits])

    def without_merges(self, edits: Iterable[Edit]) -> EntityMerges:
        """Return a copy without some of the merges."""
        removed = set(edits)
        return replace(self, edits=tuple(edit for edit in self.edits if edit not in removed))

    def with_refusals(self, names: Iterable[Sequence[str]]) -> EntityMerges:
        """Return a copy with more refused pairs, and without merges of these."""
        new_pairs = [ordered_pair(name, other) for name, other in names]
        either_order = {*new_pairs, *((other, name) for name, other in new_pairs)}
        edits = tuple(edit for edit in self.edits if edit.names not in either_order)
        return replace(self, edits=edits, refused=tuple(dict.fromkeys([*self.refused, *new_pairs])))

    def without_refusals(self, names: Iterable[Sequence[str]]) -> EntityMerges:
        """Return a copy without some of the refused pairs."""
        pairs = {ordered_pair(name, other) for name, other in names}
        return replace(self, refused=tuple(pair for pair in self.refused if pair not in pairs))


def ordered_pair(name: str, other: str) -> tuple[str, str]:
    """Return two names in alphabetical order, the only form of a pair.

    Parameters
    ----------
    name, other : the names.

    Returns
    -------
    The names in the order of their code points.
    """
    return (name, other) if name < other else (other, name)


def read_merges(corpus: Corpus) -> EntityMerges:
    """Return the merges that are saved for a corpus. Raises StoreError for a damaged file."""
    file = corpus.folder / MERGES_FILE
    try:
        data = digests.check_own_digest(json.loads(file.read_text("utf-8")))
        return EntityMerges(
            tuple(map(Edit.from_text, data["edits"])),
            tuple((name, other) for name, other in data["refused"]),
        )
    except FileNotFoundError:
        return EntityMerges()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, BadInput) as error:
        instead = "remove that file to go on without them"
        raise damage_error(f"The merges in {file} are", error, instead) from None


def change_merges(corpus: Corpus, change: Callable[[EntityMerges], EntityMerges]) -> EntityMerges:
    """Change the saved merges of a corpus and return them.

    Parameters
    ----------
    corpus : the corpus.
    change : receives the saved merges and returns the new ones.

    Returns
    -------
    The new merges.

    Raises
    ------
    NotAllowed : the corpus belongs to another person.
    StoreError : the file cannot be read or written.
    BadInput : raised by `change`.
    """
    if corpus.own:
        check_may_change(CORPUS_OWNED_KIND, corpus.name)
    with lock_corpus(corpus.folder):
        changed = change(read_merges(corpus))
        data = {
            "edits": [edit.to_text() for edit in changed.edits],
            "refused": [list(names) for names in changed.refused],
        }
        text = json.dumps(digests.with_digest(data), ensure_ascii=False, indent=1)
        file = corpus.folder / MERGES_FILE
        write_whole(file, lambda temporary: temporary.write_text(text, "utf-8"))
    return changed
