"""Export of a corpus in the format of the BEIR benchmark: documents, questions and qrels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.corpus import Corpus
from core.corpus.quotations import split_passage_name
from core.errors import BadInput
from core.io.json_text import json_text


def write_beir(corpus: Corpus, folder: Path) -> dict[str, int]:
    """Write a corpus in BEIR's format.

    The files are `corpus.jsonl`, `queries.jsonl` and one tsv file in the folder `qrels` for each
    question set with gold documents. A gold passage counts as its document, with relevance 1. If a
    question has the id of one in an earlier set, the name of its own set is put before its id.

    Parameters
    ----------
    corpus : the corpus.
    folder : the folder, which is created if missing.

    Returns
    -------
    Number of rows by file, without the heading of a tsv file.

    Raises
    ------
    BadInput : the folder cannot be written.
    """
    counts: dict[str, int] = {}
    try:
        (folder / "qrels").mkdir(parents=True, exist_ok=True)
        with (folder / "corpus.jsonl").open("w", encoding="utf-8", newline="\n") as out:
            for document in corpus:
                row = {"_id": document.id, "title": document.title, "text": document.text}
                out.write(f"{json_text(row)}\n")
        counts["corpus.jsonl"] = len(corpus)
        used_ids: set[str] = set()
        with (folder / "queries.jsonl").open("w", encoding="utf-8", newline="\n") as out:
            for name in corpus.sets:
                judgements = []
                for question in corpus.questions(name):
                    id = question.id if question.id not in used_ids else f"{name}-{question.id}"
                    used_ids.add(id)
                    query: dict[str, Any] = {
                        "_id": id,
                        "text": question.text,
                        "metadata": {"set": name, "answers": list(question.answers)},
                    }
                    out.write(f"{json_text(query)}\n")
                    documents = (split_passage_name(passage)[0] for passage in question.gold)
                    for gold_id in dict.fromkeys(documents):
                        judgements.append(f"{_cell(id)}\t{_cell(gold_id)}\t1\n")
                if judgements:
                    text = "".join(("query-id\tcorpus-id\tscore\n", *judgements))
                    (folder / "qrels" / f"{name}.tsv").write_text(text, "utf-8", newline="\n")
                    counts[f"qrels/{name}.tsv"] = len(judgements)
        counts["queries.jsonl"] = len(used_ids)
    except OSError as error:
        raise BadInput(f"{folder} cannot be written: {error.strerror or error}.") from None
    return counts


def _cell(text: str) -> str:
    """Return a text that fits into a cell of a tsv file.

    It has no tabs or line breaks.
    """
    return " ".join(text.split())
