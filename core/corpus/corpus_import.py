"""Import of documents and questions into a person's own corpus.

They come from files or a published set. The command line and the pages both use it. Gold passages
of the questions are named by the ids of the corpus's documents.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from core.corpus.catalogue import SAFE_NAME, corpora, new_folder, own_corpus
from core.corpus.corpus import Corpus, TitledSet, write_corpus
from core.corpus.document import Document, DocumentOrigin
from core.corpus.file_content import FILES_FORM, read_content
from core.corpus.quotations import comparable_text, passage_name, single_line, split_passage_name
from core.corpus.readers import ReadingResult
from core.corpus.readers.options import Columns, count_with_noun
from core.errors import BadInput, shorten
from core.questions import GOLD_KEYS, read_question_file
from core.types import Question
from core.watch import NO_WATCH, Watch

MAX_NAMED_DOCUMENTS = 3  # documents named in a sentence


@dataclass(frozen=True)
class CorpusImport:
    """The result of importing documents into a corpus.

    Parameters
    ----------
    n_added, n_changed, n_unchanged : numbers of documents that are new, changed, or unchanged.
    notes : a sentence for each thing that was left out or deserves attention.
    missing : ids of documents that the files no longer have, but the corpus still has.
    summary : text shown instead of these numbers, if more than documents were imported.
    """

    corpus: Corpus
    n_added: int
    n_changed: int
    n_unchanged: int
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    summary: str = ""

    def missing_sentence(self) -> str:
        """Return the sentence on documents that the files no longer have; empty without any."""
        number = len(self.missing)
        if not number:
            return ""
        shown_ids = [shorten(id, 40) for id in self.missing[:MAX_NAMED_DOCUMENTS]]
        if number > MAX_NAMED_DOCUMENTS:
            shown_ids.append("…")
        return (
            f"{count_with_noun(number, 'document')} of an earlier state of these files "
            f"{'is' if number == 1 else 'are'} no longer in them: {', '.join(shown_ids)}."
        )


def import_documents(
    name: str,
    files: Sequence[str | Path],
    title: str = "",
    columns: Columns | None = None,
    format: str = FILES_FORM,
    questions: str | Path = "",
    watch: Watch = NO_WATCH,
    encoding: str = "",
    replace_files: bool = False,
) -> CorpusImport:
    """Add the documents of files to a corpus, or create it.

    A document replaces the one with its id. If anything fails, nothing is saved.

    Parameters
    ----------
    name : name of the corpus.
    files : files, folders or zips.
    title : title of the corpus; empty keeps the old one, or takes the name.
    columns : the columns of tables; None guesses them.
    format : “files” to recognise the format of each file, or one of
        `core.corpus.published_corpora.FORM_READERS` for one published file or folder. The questions
        of a published corpus become sets of this corpus. A BEIR folder, or a zip of one, may also
        hold links in `links.tsv`.
    questions : a file of questions in any format, saved as the set of the corpus's name.
    watch : receives the progress and may raise RunCancelled.
    encoding : the encoding of texts that are not UTF-8.
    replace_files : True to remove documents that the same files, folders or zips had earlier and no
        longer have. Otherwise their ids are returned as `missing`.

    Returns
    -------
    The corpus, with the numbers of new, changed and unchanged documents, and notes on the files.

    Raises
    ------
    BadInput
        If the name is not allowed, the corpus ships with Hopscope, or the files hold no document.
    StoreError
        If the corpus is damaged or cannot be written.
    """
    current = own_corpus(name)
    content = read_content(name, files, columns, format, questions, watch, encoding)
    documents = content.documents
    sets = content.sets
    notes = content.notes
    plain_files = content.plain_files
    missing = _missing_ids(current, plain_files)
    watch.report("Writing the corpus", 1.0)
    finder = GoldDocumentFinder([*(current or ()), *documents])
    question_sets: dict[str, TitledSet] = {
        key: (_title(key, name, title), finder.resolve_gold(file.questions))
        for key, file in sets.items()
    }
    notes += filter(None, (file.note() for file in sets.values()))
    if current is None:
        corpus = write_corpus(
            new_folder(name),
            documents,
            title,
            sets=question_sets,
            watch=watch,
            links=content.links,
            origins=plain_files.origins,
        )
    else:
        removed = missing if replace_files else ()
        corpus = current.update(
            documents, watch, title, question_sets, content.links, plain_files.origins, removed
        )
    # `current` still has the documents from before the import.
    unique = {document.id: document for document in documents}
    existing = [current.document(id) for id in unique if current and id in current]
    n_same = sum(document == unique[document.id] for document in existing)
    if missing and replace_files:
        notes.append(
            f"{count_with_noun(len(missing), 'document')} that these files no longer have "
            f"{'was' if len(missing) == 1 else 'were'} removed."
        )
    all_notes = (*notes, *note_missing_gold(corpus, question_sets))
    return CorpusImport(
        corpus,
        len(unique) - len(existing),
        len(existing) - n_same,
        n_same,
        all_notes,
        () if replace_files else tuple(missing),
    )


def _missing_ids(current: Corpus | None, reading: ReadingResult) -> list[str]:
    """Return the ids of documents that are no longer in their files.

    Either their file was read again and lacks them, or their folder was read again and lacks the
    file. A file that could not be read counts as unchanged.
    """
    if current is None:
        return []
    ids = {document.id for document in reading.documents}
    folders = {origin.folder for origin in reading.origins.values()} - {""}
    sources = current.table.texts("source")
    reread = set(reading.origins)
    for source in set(sources) - set(reading.failed):
        if current.origins.get(source, DocumentOrigin()).folder in folders:
            reread.add(source)
    pairs = zip(current.ids, sources)
    return [id for id, source in pairs if source in reread and id not in ids]


@dataclass(frozen=True)
class QuestionImport:
    """The result of importing questions: the corpus, the set and its numbers.

    Parameters
    ----------
    set_name : the name of the set.
    n_questions, n_with_answers, n_with_gold : numbers of questions, of those with answers, and of
        those with gold documents.
    notes : a sentence for each thing that does not fit or was not read.
    """

    corpus: Corpus
    set_name: str
    n_questions: int
    n_with_answers: int
    n_with_gold: int
    notes: tuple[str, ...] = ()


def import_question_set(
    name: str,
    file: str | Path,
    title: str = "",
    set: str = "",
    format: str = "auto",
    columns: str = "",
    encoding: str = "",
) -> QuestionImport:
    """Save the questions of a file as a set of a person's own corpus.

    A set of the same name is replaced.

    Parameters
    ----------
    name : name of the corpus.
    title : title of the set; empty takes that of the corpus, or the name of the set.
    set : the name of the set; empty takes that of the corpus.
    format, columns, encoding : as in `core.questions.read_question_file`.

    Returns
    -------
    The corpus with that set, the number of questions, and notes.

    Raises
    ------
    BadInput
        If there is no such corpus, or the file holds no question.
    StoreError
        If the corpus is damaged or cannot be written.
    """
    current = own_corpus(name)
    if current is None:
        raise BadInput(f"There is no corpus “{name}” of your own; add its documents first.")
    question_file = read_question_file(
        file, set or name, format=format, columns=columns, gold=GOLD_KEYS, encoding=encoding
    )
    question_file.check_known()
    questions = GoldDocumentFinder(current).resolve_gold(question_file.questions)
    set = _check_set_name(current, set or name)
    question_sets: dict[str, TitledSet] = {
        set: (title or (current.title if set == name else set), questions)
    }
    corpus = current.update((), sets=question_sets)
    n_answered = sum(bool(question.answers) for question in questions)
    n_gold = sum(bool(question.gold) for question in questions)
    notes = [question_file.note(), *note_missing_gold(corpus, question_sets)]
    if not n_answered and not n_gold:
        notes.insert(0, "None of them has a correct answer or evidence, so nothing can be scored.")
    return QuestionImport(
        corpus, set, len(questions), n_answered, n_gold, tuple(filter(None, notes))
    )


def _title(set: str, name: str, title: str) -> str:
    """Return a question set's title, made from the corpus's title and the set's name.

    The set “tales-dev” of the corpus “tales” with the title “Tales” gets the title “Tales, dev”.
    """
    return f"{title or name}{set.removeprefix(name).replace('-', ', ', 1)}"


def _check_set_name(corpus: Corpus, name: str) -> str:
    """Return the name of a question set of a corpus.

    Raises BadInput if the name is not allowed, or another corpus has a set of that name.
    """
    if not SAFE_NAME.fullmatch(name):
        raise BadInput(
            f"“{shorten(name)}” cannot be a set's name; give one of small letters, digits "
            "and dashes, 40 at most."
        )
    for owner, entry in corpora().items():
        if owner != corpus.name and name in entry.sets:
            raise BadInput(
                f"The corpus “{owner}” has a question set “{name}” already; choose another name."
            )
    return name


class GoldDocumentFinder:
    """Finder of the documents of gold passages that are named in other ways.

    A passage may be named by a document's id or title, or by the id of a row without its file if
    one file alone has it. The passage's text, or a part of it, may follow on the next line. The
    text alone names the first document that holds it.
    """

    def __init__(self, documents: Iterable[Document]):
        self._documents = documents
        self._ids: set[str] = set()
        self._ids_by_title: dict[str, str] = {}  # also by the id of a row, if one file alone has it
        self._ids_by_name: dict[str, str] = {}  # by title or id without case and typography
        self._ids_by_text: dict[tuple[str, str], str] = {}  # by title and digest of the text
        rows: dict[str, set[str]] = {}  # ids of documents by the part after the file's name
        for document in documents:
            self._ids.add(document.id)
            if document.source and document.id.startswith(f"{document.source}:"):
                rows.setdefault(document.id[len(document.source) + 1 :], set()).add(document.id)
            self._ids_by_title.setdefault(document.title, document.id)
            for name in filter(None, (document.id, document.title)):
                self._ids_by_name.setdefault(comparable_text(name), document.id)
            self._ids_by_text.setdefault((document.title, _digest(document.text)), document.id)
        unique_rows = {row: min(ids) for row, ids in rows.items() if len(ids) == 1}
        self._ids_by_title = unique_rows | self._ids_by_title

    def resolve_gold(self, questions: Iterable[Question]) -> list[Question]:
        """Return the questions with their gold passages named by document ids.

        A name that is not found stays unchanged.
        """
        return [
            replace(question, gold=tuple(dict.fromkeys(map(self._resolve_name, question.gold))))
            for question in questions
        ]

    def _resolve_name(self, name: str) -> str:
        """Return a gold passage's name with its document's id; unchanged if unknown."""
        if name in self._ids:
            return name
        title, text = split_passage_name(name)
        if not text:
            return self._find_by_title(name)
        document = title if title in self._ids else self._find_by_title(title)
        document = document or self._find_holder(text)
        return self._ids_by_text.get((title, _digest(text))) or passage_name(document, text)

    def _find_by_title(self, title: str) -> str:
        """Return the id of a title's document; the title if there is none."""
        return self._ids_by_title.get(title) or self._ids_by_name.get(comparable_text(title), title)

    def _find_holder(self, text: str) -> str:
        """Return the id of the first document with a text; empty without one.

        Blanks between words are ignored.
        """
        starts, ids, texts = self._texts
        offset = texts.find(single_line(text))
        return ids[bisect_right(starts, offset) - 1] if offset >= 0 else ""

    @cached_property
    def _texts(self) -> tuple[list[int], list[str], str]:
        """The offset of each document's text, the documents' ids, and the joined texts."""
        ids: list[str] = []
        texts: list[str] = []
        for document in self._documents:
            ids.append(document.id)
            texts.append(single_line(document.text))
        starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
        return starts[:-1], ids, "\n".join(texts)


def _digest(text: str) -> str:
    """Return the SHA-256 digest of a text without differences in blanks."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()


def note_missing_gold(corpus: Corpus, sets: Mapping[str, TitledSet]) -> list[str]:
    """Return a sentence on gold documents that the corpus does not have."""
    missing: list[str] = []
    for _, questions in sets.values():
        for question in questions:
            missing += [id for id in question.gold if not corpus.has_passage(id)]
    if not missing:
        return []
    return [
        "The questions name documents as evidence that the corpus does not have: "
        f"“{shorten(missing[0])}”, {len(missing):,} in all."
    ]
