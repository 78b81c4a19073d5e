"""Readers of corpora in the formats of published benchmarks, and recognition of their files.

| sets | read by | schema from |
|---|---|---|
| HotpotQA, 2WikiMultihopQA, MuSiQue, HippoRAG's copies of them | `read_question_rows` | `core.questions.gold` |
| ALCE, QuALITY, UltraDomain, CRAG | `read_question_rows` | `core.questions.gold` |
| HippoRAG's corpora, MultiHop-RAG's, BSARD's articles | `read_passage_rows` | titles and texts |
| GraphRAG-Bench | `read_graphrag_bench` | github.com/GraphRAG-Bench/GraphRAG-Benchmark |
| BEIR, MTEB | `read_beir` | `core.corpus.beir` |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path as FilePath

from core.corpus.beir import QuestionSetFiles, is_beir, read_beir
from core.corpus.document import Document
from core.corpus.readers.file_sources import MemoryFile
from core.corpus.readers.reader_process import SeparateReader
from core.corpus.readers.table import guess_roles
from core.corpus.readers.text import decode_file
from core.corpus.titled_documents import MAX_PUBLISHED_BYTES, RowErrors, TitledDocuments
from core.errors import BadInput, shorten
from core.io.files import open_unpacked
from core.questions import GOLD_KEYS, QuestionFile, read_question_file
from core.questions.collector import QuestionCollector
from core.questions.gold import PASSAGE_KEYS, Passage, passages
from core.questions.question_files import MAX_QUESTION_ROW_BYTES, questions_of_row
from core.questions.rows import ROW_QUESTION_KEYS
from core.questions.values import UnfitRow
from core.runtime.row_files import ARROW_SUFFIXES, COLUMNAR_SUFFIXES, file_rows, holds_rows
from core.watch import NO_WATCH, Watch

# documents, and the questions of each set by its name
PublishedContent = tuple[list[Document], dict[str, QuestionFile]]
PUBLISHED_SUFFIXES = (".json", ".jsonl", ".ndjson", ".bz2", ".gz", ".zst", *COLUMNAR_SUFFIXES)
RECOGNITION_ROWS = 3  # rows by which a file is recognised
ROWS_FORM = "rows"
GRAPHRAG_BENCH_FORM = "graphrag-bench"
BEIR_FORM = "beir"
PASSAGES_FORM = "passages"
BOOK_FORM = "book"


def read_published(
    format: str,
    path: FilePath,
    sets: QuestionSetFiles,
    watch: Watch = NO_WATCH,
    builder: TitledDocuments | None = None,
) -> PublishedContent:
    """Read the documents and question sets of a published corpus.

    Parameters
    ----------
    format : one of `FORM_READERS`.
    path : the published file or folder.
    sets : for each set its own file of questions, or None if the corpus's file holds them.
    watch : receives the share that was read.
    builder : collector with the documents of earlier files of the same corpus, which are not
        returned again; None for a new one.

    Returns
    -------
    The new documents, and the questions of each set by its name.

    Raises
    ------
    BadInput
        If something cannot be read; the message names file and line.
    """
    builder = builder or TitledDocuments()
    start, builder.source = len(builder.documents), path.name
    documents, files = FORM_READERS[format](path, sets, watch, builder)
    # Some readers return all documents of the collector, others only new ones.
    return (documents[start:] if documents is builder.documents else documents), files


def without_trivial_gold(
    sets: Mapping[str, QuestionFile], documents: Sequence[Document], builder: TitledDocuments
) -> dict[str, QuestionFile]:
    """Return question sets without gold if one whole text is all of the corpus.

    Every method would find the gold of such a corpus.
    """
    if len(documents) != 1 or documents[0].id not in builder.whole_texts:
        return dict(sets)
    return {
        name: replace(
            file, questions=tuple(replace(question, gold=()) for question in file.questions)
        )
        for name, file in sets.items()
    }


def published_form(path: FilePath, columns: Mapping[str, str] | None = None) -> str:
    """Return the format of a published file or folder.

    It is recognised by names and by the keys of the first rows.

    Parameters
    ----------
    path : the file or folder.
    columns : columns by role, as a person names them; a file with the named column of texts is a
        table of documents and has no published format.

    Returns
    -------
    One of `FORM_READERS`; empty if it has none of these, or cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from core.corpus.published_corpora import published_form
    >>> published_form(Path("notes.md"))
    ''
    """
    if path.is_dir():
        return BEIR_FORM if is_beir(path) else ""
    if path.suffix.lower() not in PUBLISHED_SUFFIXES or not path.is_file():
        return ""
    try:
        if not holds_rows(path):
            return ""
        rows = file_rows(path, max_bytes=MAX_PUBLISHED_BYTES, max_line_bytes=MAX_QUESTION_ROW_BYTES)
        first_rows = [row for _, row in islice(rows, RECOGNITION_ROWS)]
    except BadInput:
        return ""  # the reader of the file reports the fault
    if columns and any(columns.get("text") in row for row in first_rows):
        return ""
    return form_of_rows(path.suffix.lower(), first_rows)


def form_of_rows(suffix: str, rows: Sequence[Mapping]) -> str:
    """Return the format of a file by its first rows.

    Parameters
    ----------
    suffix : suffix of the file in small letters, with its dot.
    rows : its first rows.

    Returns
    -------
    One of `FORM_READERS`; empty for another format.
    """
    if any({"corpus_name", "context"} <= row.keys() for row in rows):
        return GRAPHRAG_BENCH_FORM
    question_keys = {*ROW_QUESTION_KEYS[:-1], "questions"}
    has_questions = any(not question_keys.isdisjoint(row) for row in rows)
    if has_questions and passages_of_rows(rows):
        return ROWS_FORM
    # Only Arrow files are taken for passages; others may be ordinary tables of documents.
    return PASSAGES_FORM if suffix in ARROW_SUFFIXES else ""


def passages_of_rows(rows: Sequence[Mapping]) -> list[Passage]:
    """Return the passages in rows, without those of an unknown form."""
    all_passages: list[Passage] = []
    for row in rows:
        with suppress(UnfitRow):
            all_passages += passages(row)
    return all_passages


def read_question_rows(
    path: FilePath, sets: QuestionSetFiles, watch: Watch, builder: TitledDocuments
) -> PublishedContent:
    """Read questions in rows that hold their passages.

    Passages are found by `core.questions.gold.passages`.

    Sets of this form are HotpotQA and 2WikiMultihopQA (`context`), MuSiQue (`paragraphs`),
    HippoRAG's copies of them, ALCE (`docs`), CRAG (“search_results”), UltraDomain (`context`) and
    QuALITY (“article”, for several `questions`).

    A passage becomes a document with its title as id, or its own id if it has no title. Different
    texts of one title are numbered. The gold documents of a question are its supporting passages if
    they are marked. A question about one whole text has that text as gold. Web pages are read as
    HTML; pages without a text are left out and counted. A set without a file of its own has the
    questions of these rows.

    Parameters
    ----------
    path : the file.
    sets : file of each question set by name; None for the questions of these rows.
    watch : receives the share read and may raise RunCancelled.
    builder : receives the documents.

    Returns
    -------
    The documents, and the questions of each set.

    Raises
    ------
    BadInput : no row holds a passage, or a row cannot be read.
    """
    collector = QuestionCollector(path.name, next(iter(sets), path.name.split(".")[0]), None)
    collector.read_keys |= {*PASSAGE_KEYS, "questions"}
    has_passages = False
    with ExitStack() as stack:
        page_text = _PageTexts(stack)
        for where, row in file_rows(
            path, watch, MAX_PUBLISHED_BYTES, ("graph",), MAX_QUESTION_ROW_BYTES
        ):
            whole_document: tuple[str, ...] = ()  # id of the one text that the row is about
            with RowErrors(path, where):
                for passage in passages(row):
                    text = page_text(passage) if passage.is_html else passage.text
                    has_passages = True
                    if text:
                        id = _add_passage(builder, passage, text)
                        whole_document = (id,) if passage.is_only_text else ()
                        builder.whole_texts.update(whole_document)
            for position, question in questions_of_row(
                row, path.name, where, collector, gold=GOLD_KEYS
            ):
                text = _published_text(row, question.text)
                gold = whole_document or question.gold
                collector.add(position, replace(question, text=text, gold=gold))
    if not has_passages or not builder.documents:
        fields = ", ".join(list(collector.present_keys)[:12])
        raise BadInput(
            f"{path.name}: no row brings passages. Looked for {', '.join(PASSAGE_KEYS)}; the "
            f"rows have {shorten(fields, 200)}."
        )
    left_out = (*collector.left_out_notes(), *page_text.left_out(path.name))
    question_file = QuestionFile(
        tuple(collector.questions), path.name, collector.ignored_keys(), left_out
    )
    return builder.documents, {
        name: _read_questions(file, name) if file else question_file for name, file in sets.items()
    }


def _published_text(row: Mapping, text: str) -> str:
    """Return a question's text with its blanks as published.

    Saved results of the question have this text as key.
    """
    raw = row.get("question")
    return raw if isinstance(raw, str) and " ".join(raw.split()) == text else text


def _add_passage(builder: TitledDocuments, passage: Passage, text: str) -> str:
    """Add a passage as a document and return its id.

    Of the passage's title and its own id, the title is preferred as id, but for a whole text its
    own id. Without both, the id is the file's name.
    """
    names = (passage.id, passage.title) if passage.is_only_text else (passage.title, passage.id)
    id = next(filter(None, names), builder.source.split(".")[0])
    return builder.add(id, text, passage.title or None)


class _PageTexts:
    """Reader of the texts of HTML pages in another process.

    It counts the pages without a text.
    """

    def __init__(self, stack: ExitStack):
        self._stack = stack
        self._n_empty = 0
        self._reader: SeparateReader | None = None

    def __call__(self, page: Passage) -> str:
        """Return the text of a page; empty if it has none."""
        self._reader = self._reader or self._stack.enter_context(SeparateReader())
        name = shorten(page.title or page.id, 40) + ".html"
        file = MemoryFile(name, page.text.encode("utf-8", "replace"))
        try:
            (document,), _ = self._reader.read(name, file)
        except BadInput:
            self._n_empty += 1
            return ""
        return document.text

    def left_out(self, name: str) -> tuple[str, ...]:
        """Return a sentence on pages that were left out; empty without any."""
        if not self._n_empty:
            return ()
        noun = "page" if self._n_empty == 1 else "pages"
        return (f"Left out of {name}: {self._n_empty:,} {noun} without a text.",)


def read_passage_rows(
    path: FilePath, sets: QuestionSetFiles, watch: Watch, builder: TitledDocuments
) -> PublishedContent:
    """Read rows with a title and a text as documents.

    Each row is a document with its title as id. HippoRAG's corpora and MultiHop-RAG's have this
    form. The id of a row without a title is that of its id column. Columns are found by their usual
    names. Questions come from a separate file, else from the same rows: `question`, `answer` or
    `answers` if known, and the gold documents.

    Parameters
    ----------
    path : the file.
    sets : file of each question set by name; None for the questions of these rows.
    watch : receives the share read and may raise RunCancelled.
    builder : receives the documents.

    Returns
    -------
    The documents, and the questions of each set.

    Raises
    ------
    BadInput : a row cannot be read.
    """
    for where, row in file_rows(path, watch, MAX_PUBLISHED_BYTES):
        with RowErrors(path, where):
            roles = guess_roles([key for key, value in row.items() if value is not None])
            text = row[roles.get("text", "text")]
            builder.add(str(row[roles.get("title") or roles.get("id") or "title"]), text)
    return builder.documents, _read_sets(path, sets)


def read_graphrag_bench(
    path: FilePath, sets: QuestionSetFiles, watch: Watch, builder: TitledDocuments
) -> PublishedContent:
    """Read the texts and questions of GraphRAG-Bench.

    Each row with `corpus_name` and `context` is a document. Questions have `answer` and `source`,
    the name of their gold document.

    Parameters
    ----------
    path : the file.
    sets : file of each question set by name; None for the questions of these rows.
    watch : receives the share read and may raise RunCancelled.
    builder : receives the documents.

    Returns
    -------
    The documents, and the questions of each set.

    Raises
    ------
    BadInput : a row cannot be read.

    Notes
    -----
    Xiang et al., 2025.
    """
    for where, row in file_rows(
        path, watch, MAX_PUBLISHED_BYTES, max_line_bytes=MAX_QUESTION_ROW_BYTES
    ):
        with RowErrors(path, where):
            builder.whole_texts.add(builder.add(row["corpus_name"], row["context"]))
    return builder.documents, _read_sets(path, sets, gold_keys=("source",))


def read_book(
    path: FilePath, sets: QuestionSetFiles, watch: Watch, builder: TitledDocuments
) -> PublishedContent:
    """Read one plain text as a document with its file's name as id.

    Questions are rows with `question` and `answer` or `answers`.

    Parameters
    ----------
    path : the file.
    sets : file of each question set by name.
    watch : receives the share read and may raise RunCancelled.
    builder : not used; a parameter of all readers of published forms.

    Returns
    -------
    One document, and the questions of each set.

    Raises
    ------
    BadInput : the file is too large or no text.
    """
    with open_unpacked(path, watch, MAX_PUBLISHED_BYTES) as source:
        text = decode_file(path.name, source.read())
    name = path.name.split(".")[0]
    return [Document(name, text, source=path.name)], _read_sets(path, sets)


FORM_READERS: Mapping[str, Callable[..., PublishedContent]] = {
    ROWS_FORM: read_question_rows,
    **dict.fromkeys(
        ("hotpotqa", "2wikimultihopqa", "musique", "alce", "crag", "quality", "ultradomain"),
        read_question_rows,
    ),
    PASSAGES_FORM: read_passage_rows,
    GRAPHRAG_BENCH_FORM: read_graphrag_bench,
    BEIR_FORM: read_beir,
    BOOK_FORM: read_book,
}
FORM_TITLES = {
    ROWS_FORM: "questions with their passages; both are read",
    PASSAGES_FORM: "passages with their titles",
    GRAPHRAG_BENCH_FORM: "texts in the form of GraphRAG-Bench",
    BEIR_FORM: "documents, queries and judgements in the form of BEIR",
    BOOK_FORM: "one plain text, a document by its file's name",
}
"""Words for the content of a file of each form that is recognised."""
# formats whose rows hold both passages and questions
QUESTION_FORMS = frozenset(
    name for name, form in FORM_READERS.items() if form is read_question_rows
)


def _read_sets(
    path: FilePath, sets: QuestionSetFiles, gold_keys: Sequence[str] = ()
) -> dict[str, QuestionFile]:
    """Read the questions of each set.

    They come from the set's own file, else from the corpus's file at `path`. Their gold documents
    are found under the usual keys and under further `gold_keys`.
    """
    return {name: _read_questions(file or path, name, gold_keys) for name, file in sets.items()}


def _read_questions(path: FilePath, name: str, gold_keys: Sequence[str] = ()) -> QuestionFile:
    return read_question_file(
        path, name, max_bytes=MAX_PUBLISHED_BYTES, gold=(*GOLD_KEYS, *gold_keys)
    )
