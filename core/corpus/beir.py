"""Reader of BEIR folders: documents, queries and relevance judgements (qrels)."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

from core.corpus.document import Document
from core.corpus.links import LINKS_NAME
from core.corpus.readers.file_sources import zip_members
from core.corpus.titled_documents import (
    MAX_PUBLISHED_BYTES,
    RowErrors,
    TitledDocuments,
    require_text,
)
from core.errors import BadInput, shorten
from core.io.files import PACKED_SUFFIXES, numbered_lines
from core.questions import QuestionFile
from core.runtime.row_files import COLUMNAR_SUFFIXES, file_rows
from core.types import Question
from core.watch import Watch

# the file of each question set by its name; None if the files of the documents hold it
QuestionSetFiles = Mapping[str, FilePath | None]
Judgement = tuple[str, str, float]  # query, document and score
ROW_FILE_SUFFIXES = (
    ".jsonl",
    *(f".jsonl{packed}" for packed in PACKED_SUFFIXES),
    *COLUMNAR_SUFFIXES,
)
JUDGEMENT_SUFFIXES = (
    *ROW_FILE_SUFFIXES,
    ".tsv",
    ".txt",
    ".qrels",
    ".trec",
    *(f".tsv{packed}" for packed in PACKED_SUFFIXES),
)
JUDGEMENT_COLUMNS = (
    ("query-id", "query_id", "qid"),
    ("corpus-id", "corpus_id", "docid", "doc_id"),
    ("score", "relevance", "rel"),
)


def read_beir(
    path: FilePath, sets: QuestionSetFiles, watch: Watch, builder: TitledDocuments
) -> tuple[list[Document], dict[str, QuestionFile]]:
    """Read the documents and question sets of a folder in BEIR's form.

    The form is that of Thakur et al., NeurIPS 2021 (github.com/beir-cellar/beir,
    “GenericDataLoader”): `corpus.jsonl`, `queries*.jsonl` and `qrels/NAME.tsv`, plain or packed.
    Parquet is read too, as sets on HuggingFace have it (`corpus/*.parquet`, `queries/*.parquet`),
    and so are judgements as rows (MTEB) or in TREC's four columns.

    A document without a text has its title as text. The set NAME holds the questions that are
    judged in its file; their gold documents are those with a score above 0. Judgements of queries
    or documents that the folder lacks are left out and counted.

    Parameters
    ----------
    path : the folder.
    sets : the file of judgements of each set by the set's name; None for the file in `qrels` of
        that name. If empty, each file in `qrels` is one set.
    watch : receives the share of the documents that was read.
    builder : not used; a parameter of all readers of published forms.

    Returns
    -------
    The documents, and the questions of each set by name.

    Raises
    ------
    BadInput : a file is missing or cannot be read, or two queries share an id.
    """
    documents: list[Document] = []
    for file in _files_named(path, "corpus"):
        for where, row in file_rows(file, watch, MAX_PUBLISHED_BYTES):
            documents.append(_document(file, where, row))
    texts: dict[str, str] = {}
    for file in _files_named(path, "queries"):
        for where, row in file_rows(file, max_bytes=MAX_PUBLISHED_BYTES):
            with RowErrors(file, where):
                id, text = str(row["_id"]), row["text"]
                if texts.setdefault(id, text) != text:
                    raise BadInput(
                        f"{file.name}, {where}: there is another query with the id “{id}”; "
                        "each needs one of its own."
                    )
    files = {name: file or _judgements(path, name) for name, file in sets.items()}
    if not files:
        files = {file.name.split(".")[0]: file for file in _judgement_files(path, "*")}
    ids = {document.id for document in documents}
    return documents, {name: _gold_questions(file, texts, ids) for name, file in files.items()}


def is_beir(path: FilePath) -> bool:
    """Return whether a folder has the documents and queries of BEIR's form."""
    return path.is_dir() and all(any(_files(path, name)) for name in ("corpus", "queries"))


def unpack_beir(file: FilePath, folder: FilePath) -> FilePath | None:
    """Unpack the BEIR folder of a zip, the form of published sets.

    Parameters
    ----------
    file : the zip.
    folder : receives the files.

    Returns
    -------
    The BEIR folder inside it; None if the zip has none.

    Raises
    ------
    BadInput : the zip is damaged or too large.
    """
    members, _ = zip_members(file)
    root = _root_folder(members)
    if root is None:
        return None
    prefix = f"{root}/" if root else ""
    target = folder / (root.rpartition("/")[2] or file.name.split(".")[0])
    for name, source in members.items():
        member = name.removeprefix(prefix)
        is_inside = name.startswith(prefix)
        if is_inside and member.startswith(("corpus", "queries", "qrels/", LINKS_NAME)):
            (target / member).parent.mkdir(parents=True, exist_ok=True)
            with source.open() as stream, open(target / member, "wb") as out:
                shutil.copyfileobj(stream, out)
    return target


def _root_folder(members: Iterable[str]) -> str | None:
    """Return the folder in a zip that has documents and queries.

    The result is None if there is none.
    """
    names = list(members)
    for name in names:
        folder, _, file_name = name.rpartition("/")
        queries = f"{folder}/queries".lstrip("/")
        if file_name.startswith("corpus.") and any(other.startswith(queries) for other in names):
            return folder
    return None


def _files(folder: FilePath, name: str) -> Iterator[FilePath]:
    """Yield the files of rows that a folder holds under a name.

    Their names begin with `name`, or they lie in a subfolder of that name.
    """
    for file in [*sorted(folder.glob(f"{name}*")), *sorted((folder / name).glob("*"))]:
        if file.is_file() and _has_suffix(file, ROW_FILE_SUFFIXES):
            yield file


def _files_named(folder: FilePath, name: str) -> list[FilePath]:
    files = list(_files(folder, name))
    if not files:
        raise BadInput(
            f"The folder {folder.name} holds no {name}.jsonl, plain or packed, and none as Parquet."
        )
    return files


def _judgements(folder: FilePath, name: str) -> FilePath:
    files = _judgement_files(folder, f"{name}.*")
    if not files:
        raise BadInput(f"The folder {folder.name} holds no qrels/{name}.tsv, plain or packed.")
    return files[0]


def _judgement_files(folder: FilePath, pattern: str) -> list[FilePath]:
    files = sorted((folder / "qrels").glob(pattern))
    return [file for file in files if _has_suffix(file, JUDGEMENT_SUFFIXES)]


def _has_suffix(file: FilePath, suffixes: tuple[str, ...]) -> bool:
    return file.name.lower().endswith(suffixes)


def _document(file: FilePath, where: str, row: Mapping[str, Any]) -> Document:
    with RowErrors(file, where):
        title = row.get("title") or ""
        text = require_text(row["text"]) or title
        return Document(str(row["_id"]), text, require_text(title), file.name)
    raise AssertionError("errors were raised")  # tells the type checker that nothing is returned


def _gold_questions(file: FilePath, texts: Mapping[str, str], documents: set[str]) -> QuestionFile:
    """Return the questions of a file of judgements.

    Its notes say what was left out. `texts` holds the text of each query by its id, and `documents`
    the ids of the documents.
    """
    gold: dict[str, list[str]] = {}
    unknown_ids: dict[str, list[str]] = {"query": [], "document": []}
    for query, document, score in _judgement_rows(file):
        if score <= 0:
            continue
        if query not in texts:
            unknown_ids["query"].append(query)
        elif document not in documents:
            unknown_ids["document"].append(document)
        else:
            gold.setdefault(query, []).append(document)
    questions = tuple(
        Question(texts[query], query, gold=tuple(dict.fromkeys(gold_ids)))
        for query, gold_ids in gold.items()
    )
    left_out = tuple(_unknown_note(file, kind, ids) for kind, ids in unknown_ids.items() if ids)
    if not questions:
        sentence = f"{file.name} judges no document of this folder above 0."
        raise BadInput(" ".join([sentence, *left_out]))
    return QuestionFile(questions, file.name, reading_notes=left_out)


def _unknown_note(file: FilePath, kind: str, ids: list[str]) -> str:
    """Return a sentence on judgements of queries or documents that a folder lacks."""
    judgements = f"{len(ids):,} judgements" if len(ids) > 1 else "1 judgement"
    return (
        f"Left out of {file.name}: {judgements} of a {kind} that the folder does not have, such as "
        f"“{shorten(ids[0], 40)}”."
    )


def _judgement_rows(file: FilePath) -> Iterator[Judgement]:
    """Yield the judgements in a file.

    The file holds rows, or tab-separated lines with or without a header, or TREC's four columns.
    """
    if _has_suffix(file, ROW_FILE_SUFFIXES):
        yield from _judgements_of_rows(file)
    else:
        yield from _judgements_of_lines(file)


def _judgements_of_rows(file: FilePath) -> Iterator[Judgement]:
    for where, row in file_rows(file, max_bytes=MAX_PUBLISHED_BYTES):
        with RowErrors(file, where):
            query, document, score = (_first_value(row, keys) for keys in JUDGEMENT_COLUMNS)
            if query is None or document is None:
                raise KeyError("query-id, corpus-id")
            yield str(query), str(document), float(1 if score is None else score)


def _first_value(row: Mapping[str, Any], keys: Sequence[str]) -> Any:
    """Return the value of the first key that a row has.

    The result is None if it has none.
    """
    for key in keys:
        if key in row:
            return row[key]
    return None


def _judgements_of_lines(file: FilePath) -> Iterator[Judgement]:
    for number, line in numbered_lines(file, max_bytes=MAX_PUBLISHED_BYTES):
        fields = _judgement_fields(line)
        if len(fields) != 3:
            raise BadInput(
                f"{file.name}, line {number}: expected query, document and score, separated "
                f"by tabs; found “{shorten(line)}”."
            )
        is_header = number == 1 and not fields[2].strip().lstrip("-").isdecimal()
        if is_header:
            continue
        with RowErrors(file, f"line {number}"):
            yield fields[0], fields[1], float(fields[2])


def _judgement_fields(line: str) -> list[str]:
    """Return the fields between tabs, or TREC's four columns without the second."""
    fields = line.split("\t")
    if len(fields) == 3:
        return fields
    columns = line.split()
    if len(columns) == 4:
        return [columns[0], *columns[2:]]
    return fields
