"""Corpora as they are published, with their questions: HotpotQA, titled passages (2WikiMultihopQA of HippoRAG), GraphRAG-Bench, BEIR."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path as FilePath
from typing import Any

from core.corpus.document import Document, sound
from core.corpus.readers.text import text_of
from core.errors import BadInput, shorten
from core.io.files import lines, opened
from core.io.json_rows import json_rows
from core.questions import GOLD, QuestionFile, read_file
from core.types import Question

MAX_BYTES = 1 << 32  # bytes of text that a published file may hold
Sets = Mapping[str, FilePath | None]
Read = tuple[list[Document], dict[str, QuestionFile]]


def read(format: str, path: FilePath, sets: Sets) -> Read:
    """The documents of a published corpus and the questions of its sets, by name: each from its own file where one is told, else from
    the corpus's own. `format` is one of `FORMATS`. Raises BadInput, naming file and line, for what cannot be read."""
    return FORMATS[format](path, sets)


def hotpotqa(path: FilePath, sets: Sets) -> Read:
    """HotpotQA (Yang et al., EMNLP 2018): rows with `context`, lists of [title, sentences], and `supporting_facts`, lists of [title,
    sentence]. A paragraph is a document by its title, and the gold of a question are the titles of its supporting facts."""
    documents, questions = _Titled(path.name), []
    for where, row in json_rows(path, most=MAX_BYTES):
        with _row_errors(path, where):
            for title, sentences in row["context"]:
                documents.add(title, "".join(sentences))
            gold = tuple(dict.fromkeys(title for title, _ in row["supporting_facts"]))
            questions.append(
                Question(_text(row["question"]), str(row.get("_id") or row.get("id") or where), answers=(row["answer"],), gold=gold)
            )
    return documents.found, {name: QuestionFile(tuple(questions)) for name in sets}


def passages(path: FilePath, sets: Sets) -> Read:
    """Rows with `title` and `text`, a document each by its title, as HippoRAG gives its corpora; questions are rows with `question`,
    `answer` or `answers` where they are known, and `gold_titles`."""
    documents = _Titled(path.name)
    for where, row in json_rows(path, most=MAX_BYTES):
        with _row_errors(path, where):
            documents.add(row["title"], row["text"])
    return documents.found, {name: _questions(file or path, name) for name, file in sets.items()}


def graphrag_bench(path: FilePath, sets: Sets) -> Read:
    """GraphRAG-Bench (Xiang et al., 2025): rows with `corpus_name` and `context`, a document each; questions with `answer` and `source`,
    the name of their document, which is their gold where the corpus has several."""
    documents = _Titled(path.name)
    for where, row in json_rows(path, most=MAX_BYTES):
        with _row_errors(path, where):
            documents.add(row["corpus_name"], row["context"])
    sourced = ["source"] if len(documents.found) > 1 else []
    return documents.found, {name: _questions(file or path, name, *sourced) for name, file in sets.items()}


def beir(path: FilePath, sets: Sets) -> Read:
    """A folder in the form of BEIR (Thakur et al., NeurIPS 2021): `corpus.jsonl`, `queries*.jsonl` and `qrels/NAME.tsv`, plain or gzipped.

    A document without a text has its title for one. The questions of the set NAME are those judged there; their gold are the documents
    with a score above 0. A set may name its file of judgements; with no sets given, each file of judgements is one.
    """
    rows = json_rows(_one(path, "corpus.jsonl"), most=MAX_BYTES)
    documents = [_document(path, where, row) for where, row in rows]
    texts: dict[str, str] = {}
    for file in sorted(path.glob("queries*.jsonl*")):
        for where, row in json_rows(file, most=MAX_BYTES):
            with _row_errors(file, where):
                id, text = str(row["_id"]), row["text"]
                if texts.setdefault(id, text) != text:
                    raise BadInput(f"{file.name}, {where}: there is another query with the id “{id}”; each needs one of its own.")
    judged = {name: file or _one(path, f"qrels/{name}.tsv") for name, file in sets.items()}
    judged = judged or {file.name.split(".")[0]: file for file in sorted(path.glob("qrels/*.tsv*"))}
    return documents, {name: _judged(file, texts) for name, file in judged.items()}


def book(path: FilePath, sets: Sets) -> Read:
    """One plain text, a document by its file's name; questions are rows with `question` and `answer` or `answers`."""
    with opened(path, most=MAX_BYTES) as source:
        text = text_of(path.name, source.read())
    name = path.name.split(".")[0]
    return [Document(name, text, source=path.name)], {name: _questions(file or path, name) for name, file in sets.items()}


FORMATS: Mapping[str, Callable[[FilePath, Sets], Read]] = {
    "hotpotqa": hotpotqa,
    "passages": passages,
    "graphrag-bench": graphrag_bench,
    "beir": beir,
    "book": book,
}


def _questions(path: FilePath, name: str, *more: str) -> QuestionFile:
    """The questions of a file in any format, their gold documents under the usual keys or under `more` of them."""
    return read_file(path, name, most=MAX_BYTES, gold=(*GOLD, *more))


class _row_errors:
    """Says of which row something is lacking or of an unfit kind."""

    def __init__(self, path: FilePath, where: str):
        self.path, self.where = path, where

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, KeyError):
            raise BadInput(f"{self.path.name}, {self.where}: the row has no {error}.") from None
        if isinstance(error, (TypeError, ValueError, AttributeError)):
            raise BadInput(f"{self.path.name}, {self.where}: the row is not of the form that is known ({shorten(error)}).") from None


class _Titled:
    """Documents by their titles; one text under a title is kept once, other texts under it are numbered."""

    def __init__(self, source: str):
        self.source = source
        self.found: list[Document] = []
        self._texts: dict[str, list[str]] = {}

    def add(self, title: Any, text: Any) -> None:
        title, text = _text(title), _text(text)
        texts = self._texts.setdefault(title, [])
        if text not in texts:
            texts.append(text)
            self.found.append(Document(title if len(texts) == 1 else f"{title} ({len(texts)})", text, title, self.source))


def _text(value: Any) -> str:
    """The value, which must be a text. Raises TypeError where it is none."""
    if not isinstance(value, str):
        raise TypeError(f"{shorten(repr(value), 40)} is no text")
    return sound(value)


def _document(path: FilePath, where: str, row: Mapping[str, Any]) -> Document:
    with _row_errors(path, where):
        title = row.get("title") or ""
        return Document(str(row["_id"]), _text(row["text"]) or title, _text(title), path.name)
    raise AssertionError("what is wrong was told")


def _judged(file: FilePath, texts: Mapping[str, str]) -> QuestionFile:
    """The questions of a file of judgements: query, document and score a line, below a header or not."""
    gold: dict[str, list[str]] = {}
    for number, line in lines(file, most=MAX_BYTES):
        query, *rest = line.split("\t")
        if len(rest) != 2:
            raise BadInput(f"{file.name}, line {number}: expected query, document and score, separated by tabs; found “{shorten(line)}”.")
        if number == 1 and not rest[1].lstrip("-").isdecimal():
            continue
        with _row_errors(file, f"line {number}"):
            if float(rest[1]) > 0:
                gold.setdefault(query, []).append(rest[0])
    lacking = next((query for query in gold if query not in texts), None)
    if lacking is not None:
        raise BadInput(f"{file.name} judges the question “{shorten(lacking)}”, which no file of queries holds.")
    return QuestionFile(tuple(Question(texts[query], query, gold=tuple(dict.fromkeys(found))) for query, found in gold.items()))


def _one(folder: FilePath, name: str) -> FilePath:
    """A file of a folder, plain or gzipped. Raises BadInput where neither is there."""
    for file in (folder / name, folder / f"{name}.gz"):
        if file.is_file():
            return file
    raise BadInput(f"The folder {folder.name} holds no {name}, plain or gzipped.")
