"""Documents brought into a corpus of a person's own, from files or a published set, by the command line or a page."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from core.corpus.catalogue import SAFE_NAME, corpora, new_folder, own_corpus
from core.corpus.corpus import Asked, Corpus, write
from core.corpus.document import Document, Origin
from core.corpus.found import FILES, found_in
from core.corpus.quoted import alike, parts_of, passage_name, squeezed
from core.corpus.readers import Read
from core.corpus.readers.options import Columns, counted
from core.errors import BadInput, shorten
from core.questions import GOLD, read_file
from core.types import Question
from core.watch import NO_WATCH, Watch

NAMED = 3  # documents that a sentence names


@dataclass(frozen=True)
class Brought:
    """What came of bringing documents: the corpus, how many documents are new, changed, or were there already, a sentence for each
    thing that was left out or is odd, and `more`, what to say instead of these numbers where more than documents came."""

    corpus: Corpus
    added: int
    changed: int
    known: int
    notes: tuple[str, ...] = ()
    missing: tuple[
        str, ...
    ] = ()  # ids of documents that files had earlier and no longer have, and the corpus still has
    more: str = ""

    def on_missing(self) -> str:
        """The sentence on documents that the files no longer have; empty where there are none."""
        number = len(self.missing)
        shown = ", ".join(shorten(id, 40) for id in self.missing[:NAMED]) + (
            ", …" if number > NAMED else ""
        )
        return (
            f"{counted(number, 'document')} of an earlier state of these files {'is' if number == 1 else 'are'} no longer in them: {shown}."
            * bool(number)
        )


def bring(
    name: str,
    files: Sequence[str | Path],
    title: str = "",
    columns: Columns | None = None,
    format: str = FILES,
    questions: str | Path = "",
    watch: Watch = NO_WATCH,
    encoding: str = "",
    replace_files: bool = False,
) -> Brought:
    """The corpus of that name with the documents of these files: made where there is none, else each document added, or put in the place of
    the one of its id.

    `format` is `files`, as `read_files` reads them, or one of `core.corpus.published.FORMATS` for one published file or folder, whose
    questions come along as sets of the corpus, and from a folder of BEIR, or a zip of one, the links in its `links.tsv`. Of `files` those
    that `form_of` recognises are read so. `questions` is a file of them in any format that becomes the set of the corpus's name, `encoding`
    that of texts which are not UTF-8. Documents that the same files, folders or zips had earlier and no longer have are `missing`, or
    removed with `replace_files`. All is saved or nothing. Raises BadInput for a name that cannot be, a corpus that ships, or where no
    document came of the files; StoreError.
    """
    before = own_corpus(name)
    found = found_in(name, files, columns, format, questions, watch, encoding)
    documents, sets, notes, missing = (
        found.documents,
        found.sets,
        found.notes,
        _missing(before, found.plain),
    )
    watch.report("Writing the corpus", 1.0)
    by_id = _ById([*(before or ()), *documents])
    asked: dict[str, Asked] = {
        set: (_title(set, name, title), by_id.put(found.questions)) for set, found in sets.items()
    }
    notes += filter(None, (found.note() for found in sets.values()))
    if before is None:
        corpus = write(
            new_folder(name),
            documents,
            title,
            sets=asked,
            watch=watch,
            links=found.links,
            origins=found.plain.origins,
        )
    else:
        removed = missing if replace_files else ()
        corpus = before.put(
            documents, watch, title, asked, found.links, found.plain.origins, removed
        )
    unique = {document.id: document for document in documents}
    there = [before.document(id) for id in unique if before and id in before]
    same = sum(document == unique[document.id] for document in there)
    if missing and replace_files:
        notes.append(
            f"{counted(len(missing), 'document')} that these files no longer have {'was' if len(missing) == 1 else 'were'} removed."
        )
    odd = (*notes, *_lacking(corpus, asked))
    return Brought(
        corpus,
        len(unique) - len(there),
        len(there) - same,
        same,
        odd,
        () if replace_files else tuple(missing),
    )


def _missing(before: Corpus | None, found: Read) -> list[str]:
    """The ids of documents whose files were read again and no longer have them, or whose folders were and no longer have their files."""
    if before is None:
        return []
    ids, folders = (
        {document.id for document in found.documents},
        {origin.folder for origin in found.origins.values()} - {""},
    )
    again = lambda source: (
        source in found.origins
        or (source not in found.failed and before.origins.get(source, Origin()).folder in folders)
    )
    of = {source: again(source) for source in set(before.table.texts("source"))}
    return [
        id
        for id, source in zip(before.ids, before.table.texts("source"))
        if of[source] and id not in ids
    ]


@dataclass(frozen=True)
class BroughtQuestions:
    """What came of bringing questions: the corpus and the name of their set, how many they are, how many of them have answers and gold
    documents, and a sentence for what of them does not fit or was not read."""

    corpus: Corpus
    set: str
    number: int
    answered: int
    gold: int
    notes: tuple[str, ...] = ()


def bring_questions(
    name: str,
    file: str | Path,
    title: str = "",
    set: str = "",
    format: str = "auto",
    columns: str = "",
    encoding: str = "",
) -> BroughtQuestions:
    """The questions of a file, kept as a set of a corpus of one's own, in the place of the one before; its name is that of the corpus where
    none is given. `format`, `columns` and `encoding` are as `core.questions.read_file` has them. Raises BadInput where there is no such corpus or
    the file holds no question, StoreError."""
    before = own_corpus(name)
    if before is None:
        raise BadInput(f"There is no corpus “{name}” of your own; bring its documents first.")
    found = read_file(
        file, set or name, format=format, columns=columns, gold=GOLD, encoding=encoding
    )
    found.check_known()
    questions = _ById(before).put(found.questions)
    set = _set_of(before, set or name)
    asked: dict[str, Asked] = {set: (title or (before.title if set == name else set), questions)}
    corpus = before.put((), sets=asked)
    answered, gold = (
        sum(bool(values) for values in column)
        for column in zip(*((one.answers, one.gold) for one in questions))
    )
    notes = []
    if not answered and not gold:
        notes = ["None of them has a known answer or a gold document, so nothing can be scored."]
    return BroughtQuestions(
        corpus,
        set,
        len(questions),
        answered,
        gold,
        (*notes, *filter(None, [found.note()]), *_lacking(corpus, asked)),
    )


def _title(set: str, name: str, title: str) -> str:
    """A question set's title: that of its corpus, and which part it is."""
    return f"{title or name}{set.removeprefix(name).replace('-', ', ', 1)}"


def _set_of(corpus: Corpus, name: str) -> str:
    """The name of a set of a corpus. Raises BadInput where it cannot be, or is that of a set of another corpus."""
    if not SAFE_NAME.fullmatch(name):
        raise BadInput(
            f"“{shorten(name)}” cannot be a set's name; give one of small letters, digits and dashes, 40 at most."
        )
    owner = next(
        (
            other
            for other, known in corpora().items()
            if other != corpus.name and name in known.sets
        ),
        "",
    )
    if owner:
        raise BadInput(
            f"The corpus “{owner}” has a question set “{name}” already; choose another name."
        )
    return name


class _ById:
    """The passages that are named by ids of documents, by their titles, by ids of rows without their file where one file has them, or by id
    or title and the text, or a part of it, on the next line; without either by the text alone, in the first document that holds it."""

    def __init__(self, documents: Iterable[Document]):
        self._documents = documents
        self._ids: set[str] = set()
        self._titles: dict[str, str] = {}
        self._alike: dict[str, str] = {}  # ids and titles without case and typography
        self._passages: dict[tuple[str, str], str] = {}
        rows: dict[str, set[str]] = {}
        for document in documents:
            self._ids.add(document.id)
            if document.source and document.id.startswith(f"{document.source}:"):
                rows.setdefault(document.id[len(document.source) + 1 :], set()).add(document.id)
            self._titles.setdefault(document.title, document.id)
            for name in filter(None, (document.id, document.title)):
                self._alike.setdefault(alike(name), document.id)
            self._passages.setdefault((document.title, _digest(document.text)), document.id)
        self._titles = {
            row: next(iter(ids)) for row, ids in rows.items() if len(ids) == 1
        } | self._titles

    def put(self, questions: Iterable[Question]) -> list[Question]:
        """The questions with their gold passages by the id of the document; a name that is none of them stays as it is."""
        return [
            replace(question, gold=tuple(dict.fromkeys(map(self._id, question.gold))))
            for question in questions
        ]

    def _id(self, name: str) -> str:
        if name in self._ids:
            return name
        title, text = parts_of(name)
        if not text:
            return self._document(name)
        document = title if title in self._ids else self._document(title)
        document = document or self._holding(text)
        return self._passages.get((title, _digest(text))) or passage_name(document, text)

    def _document(self, title: str) -> str:
        """Return the id of the document of a title; the title where there is none."""
        return self._titles.get(title) or self._alike.get(alike(title), title)

    def _holding(self, text: str) -> str:
        """The first document that holds a text, whatever blanks are between its words; empty where none does."""
        starts, ids, texts = self._texts
        at = texts.find(squeezed(text))
        return ids[bisect_right(starts, at) - 1] if at >= 0 else ""

    @cached_property
    def _texts(self) -> tuple[list[int], list[str], str]:
        """Where the text of each document begins, the documents' ids, and their texts one behind the other."""
        starts, ids, texts, size = list[int](), list[str](), list[str](), 0
        for document in self._documents:
            starts.append(size)
            ids.append(document.id)
            texts.append(" ".join(document.text.split()))
            size += len(texts[-1]) + 1
        return starts, ids, "\n".join(texts)


def _digest(text: str) -> str:
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()


def _lacking(corpus: Corpus, asked: Mapping[str, Asked]) -> list[str]:
    """Tells of gold documents that the corpus does not have."""
    gold = [
        id
        for _, questions in asked.values()
        for question in questions
        for id in question.gold
        if not corpus.has_passage(id)
    ]
    if not gold:
        return []
    return [
        f"The questions name gold documents that the corpus does not have: “{shorten(gold[0])}”, {len(gold):,} in all."
    ]
