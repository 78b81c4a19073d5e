"""The sets of the papers and boards in exactly their schema, two or three rows of each: what must come out, worked out by hand.

Where a schema is from: HotpotQA, the authors' README and `hotpotqa/hotpot_qa` on HuggingFace; 2WikiMultihopQA, Alab-NII/2wikimultihop; MuSiQue,
StonyBrookNLP/musique; HippoRAG, OSU-NLP-Group/HippoRAG `main.py` and `reproduce/dataset`; MultiHop-RAG, yixuantt/MultiHopRAG; UltraDomain,
TommyChien/UltraDomain; ALCE, princeton-nlp/ALCE; QuALITY, nyu-mll/quality v1.0.1 and `emozilla/quality`; PopQA, `akariasai/PopQA` test.tsv; BSARD,
maastrichtlawtech/bsard; CRAG, facebookresearch/CRAG docs/dataset.md; SciFact, allenai/scifact; BEIR, beir-cellar/beir; GraphRAG-Bench,
GraphRAG-Bench/GraphRAG-Bench.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from core.corpus import bring
from core.types import Question

FORMS = ("json", "jsonl", "jsonl.gz", "jsonl.bz2", "jsonl.zst", "parquet", "arrow")


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))


def written(folder: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    """The rows as a file of the form that its name says."""
    file, form = folder / name, name.partition(".")[2]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    table = lambda: pa.Table.from_pylist(rows)
    match form:
        case "json":
            file.write_text(json.dumps(rows, indent=1), "utf-8")
        case "parquet":
            pq.write_table(table(), file)
        case "arrow":  # as `datasets` saves it
            with pa.ipc.new_stream(str(file), table().schema) as stream:
                stream.write_table(table())
        case _:
            pack = {"jsonl": bytes, "jsonl.gz": gzip.compress, "jsonl.bz2": bz2.compress, "jsonl.zst": zstandard.compress}[form]
            file.write_bytes(pack(lines))
    return file


def tabled(folder: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    """The rows as a table, as pandas saves it."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter="\t" if name.endswith(".tsv") else ",", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    (folder / name).write_text(text.getvalue(), "utf-8")
    return folder / name


@dataclass(frozen=True)
class Case:
    """Rows of a set that bring their passages along, and what they are: documents by id with their texts, and questions."""

    rows: list[dict[str, Any]]
    documents: dict[str, str]
    questions: list[Question]
    notes: tuple[str, ...] = ()
    forms: tuple[str, ...] = FORMS


HOTPOT = [
    {
        "_id": "5a8b57f2",
        "answer": "yes",
        "question": "Were Ann Lee and Bo Ek of one town?",
        "supporting_facts": [["Ann Lee", 0], ["Bo Ek", 0], ["Bo Ek", 1]],
        "context": [["Ann Lee", ["Ann Lee is of Turku.", " She sails."]], ["Bo Ek", ["Bo Ek is old.", " He is of Turku."]]],
        "type": "comparison",
        "level": "hard",
    },
    {
        "_id": "5a8c7595",
        "answer": "Cy",
        "question": "Who built Ann Lee's ship?",
        "supporting_facts": [["Ship", 0]],
        "context": [["Ship", ["Cy built the ship of Ann Lee."]], ["Ann Lee", ["Ann Lee is of Turku.", " She sails."]]],
        "type": "bridge",
        "level": "hard",
    },
]
HOTPOT_TEXTS = {
    "Ann Lee": "Ann Lee is of Turku. She sails.",
    "Bo Ek": "Bo Ek is old. He is of Turku.",
    "Ship": "Cy built the ship of Ann Lee.",
}
HOTPOT_ASKED = [
    Question("Were Ann Lee and Bo Ek of one town?", "5a8b57f2", answers=("yes",), gold=("Ann Lee", "Bo Ek")),
    Question("Who built Ann Lee's ship?", "5a8c7595", answers=("Cy",), gold=("Ship",)),
]


def in_columns(row: dict[str, Any]) -> dict[str, Any]:
    """A row of HotpotQA as HuggingFace has it: lists of pairs as objects of lists."""
    facts, context = row["supporting_facts"], row["context"]
    return {
        **{key: row[key] for key in ("question", "answer", "type", "level")},
        "id": row["_id"],
        "supporting_facts": {"title": [title for title, _ in facts], "sent_id": [number for _, number in facts]},
        "context": {"title": [title for title, _ in context], "sentences": [sentences for _, sentences in context]},
    }


WIKI2 = [
    {
        "_id": "8813f87c",
        "type": "compositional",
        "question": "Who is the mother of the director of Up (Film)?",
        "context": [["Up (film)", ["Up is a film.", "Bo directed it."]], ["Bo", ["Bo is a son of Eve."]], ["Cy", ["Cy is here."]]],
        "supporting_facts": [["Up (film)", 1], ["Bo", 0]],
        "evidences": [["Up", "director", "Bo"], ["Bo", "mother", "Eve"]],
        "answer": "Eve",
    }
]
WIKI2_TEXTS = {"Up (film)": "Up is a film. Bo directed it.", "Bo": "Bo is a son of Eve.", "Cy": "Cy is here."}
WIKI2_ASKED = [Question("Who is the mother of the director of Up (Film)?", "8813f87c", answers=("Eve",), gold=("Up (film)", "Bo"))]
PARAGRAPHS = [
    {"idx": 0, "title": "Oslo", "paragraph_text": "Oslo is a name.", "is_supporting": False},
    {"idx": 1, "title": "Oslo", "paragraph_text": "Oslo lies by a fjord.", "is_supporting": True},
    {"idx": 2, "title": "Ann", "paragraph_text": "Ann was born in Oslo.", "is_supporting": True},
]
MUSIQUE = [
    {
        "id": "2hop__1_2",
        "paragraphs": PARAGRAPHS,
        "question": "By what does the birthplace of Ann lie?",
        "question_decomposition": [
            {"id": 1, "question": "Ann >> place of birth", "answer": "Oslo", "paragraph_support_idx": 2},
            {"id": 2, "question": "By what does #1 lie?", "answer": "a fjord", "paragraph_support_idx": 1},
        ],
        "answer": "a fjord",
        "answer_aliases": ["fjord", "a fiord"],
        "answerable": True,
    },
    {
        "id": "2hop__1_2",
        "paragraphs": PARAGRAPHS[:2],
        "question": "By what does the birthplace of Ann lie?",
        "question_decomposition": [{"id": 1, "question": "Ann >> place of birth", "answer": "Oslo", "paragraph_support_idx": None}],
        "answer": "a fjord",
        "answer_aliases": ["fjord", "a fiord"],
        "answerable": False,
    },
]
MUSIQUE_TEXTS = {"Oslo": "Oslo is a name.", "Oslo (2)": "Oslo lies by a fjord.", "Ann": "Ann was born in Oslo."}
FJORD = (("a fjord", "fjord", "a fiord"),)
MUSIQUE_ASKED = [
    Question("By what does the birthplace of Ann lie?", "2hop__1_2", answers=("a fjord",), gold=("Oslo (2)", "Ann"), aliases=FJORD)
]
ALCE = [
    {
        "sample_id": "-7013890438520559398",
        "question": "Who has the most goals?",
        "qa_pairs": [
            {"context": "...", "question": "for men?", "short_answers": ["Daei", "Ali Daei"], "wikipage": "Goals"},
            {"context": "...", "question": "for all?", "short_answers": ["Bican"], "wikipage": None},
        ],
        "wikipages": [{"title": "Goals", "url": "https://en.wikipedia.org/wiki/Goals"}],
        "annotations": [{"knowledge": [{"content": "...", "wikipage": "Goals"}], "long_answer": "Daei held it."}],
        "docs": [
            {"id": "7", "title": "Goals", "text": "Daei scored 108.", "score": 8.7, "answers_found": [1, 0]},
            {"id": "8", "title": "Goals", "text": "Bican scored more.", "score": 8.5, "answers_found": [0, 1]},
        ],
        "answer": "Daei held it.",
    }
]
QAMPARI = [
    {
        "id": "56__wikidata_simple__dev",
        "question": "What did Ann write?",
        "answers": [["Up"], ["Heat", "Heat (novel)"]],
        "docs": [{"id": "9", "title": "Ann", "text": "Ann wrote Up.", "score": 1.5}],
        "answer": "Up, Heat.",
    }
]
QUESTION = {"writer_label": 2, "difficult": 0, "validation": [{"untimed_annotator_id": "0001", "untimed_answer": 2}]}
QUALITY = [
    {
        "article_id": "52845",
        "set_unique_id": "52845_75VB1ISR",
        "batch_num": "23",
        "writer_id": "1023",
        "source": "Gutenberg",
        "title": "Up",
        "author": "Bo",
        "topic": "Science fiction",
        "url": "http://aleph.gutenberg.org/5/2/8/4/52845/",
        "license": "PD",
        "article": "<html><body><p>Ann went up.</p><p>Bo stayed.</p></body></html>",
        "questions": [
            {
                "question": "Who went up?",
                "question_unique_id": "52845_1",
                "options": ["Bo", "Ann", "Cy", "Eve"],
                "gold_label": 2,
                **QUESTION,
            },
            {
                "question": "Who stayed?",
                "question_unique_id": "52845_2",
                "options": ["Bo", "Ann", "Cy", "Eve"],
                "gold_label": 1,
                **QUESTION,
            },
        ],
    },
    {
        "article_id": "60995",
        "title": "Down",
        "article": "Cy went down.",
        "questions": [
            {"question": "Who?", "question_unique_id": "60995_1", "options": ["Cy", "Ann", "Bo", "Eve"], "gold_label": 1, **QUESTION}
        ],
    },
]
LETTERS = "Options: (A) Bo (B) Ann (C) Cy (D) Eve"
OPTIONS = ("Bo", "Ann", "Cy", "Eve")
QUALITY_ASKED = [
    Question(f"Who went up? {LETTERS}", "52845_1", answers=("Ann",), gold=("52845",), options=OPTIONS),
    Question(f"Who stayed? {LETTERS}", "52845_2", answers=("Bo",), gold=("52845",), options=OPTIONS),
    Question(
        "Who? Options: (A) Cy (B) Ann (C) Bo (D) Eve", "60995_1", answers=("Cy",), gold=("60995",), options=("Cy", "Ann", "Bo", "Eve")
    ),
]
EMOZILLA = [
    {"article": "Ann went up.", "question": "Who went up?", "options": list(OPTIONS), "answer": 1, "hard": False},
    {"article": "Ann went up.", "question": "Who did not?", "options": list(OPTIONS), "answer": 0, "hard": True},
    {"article": "Cy went down.", "question": "Who went down?", "options": list(OPTIONS), "answer": 2, "hard": False},
]
ULTRADOMAIN = [
    {
        "input": "How is honey made?",
        "answers": ["By bees, of nectar."],
        "context": "Bees make honey of nectar.",
        "length": 5,
        "context_id": "bf1b",
        "_id": "a1",
        "label": "agriculture",
        "meta": {"title": "Of Bees", "authors": "Ann"},
    },
    {
        "input": "What do bees make?",
        "answers": ["Honey."],
        "context": "Bees make honey of nectar.",
        "length": 5,
        "context_id": "bf1b",
        "_id": "a2",
        "label": "agriculture",
        "meta": {"title": "Of Bees", "authors": "Ann"},
    },
    {
        "input": "What is wax?",
        "answers": ["Of bees too."],
        "context": "Wax is of bees too.",
        "length": 5,
        "context_id": "c2aa",
        "_id": "a3",
        "label": "agriculture",
        "meta": {"title": "Of Wax", "authors": "Bo"},
    },
]
PAGE = "<!DOCTYPE html><html><head><title>x</title><script>no()</script></head><body><p>Up is a film of 2009.</p></body></html>"
RESULT = {"page_url": "https://up.example", "page_snippet": "A film.", "page_last_modified": "Fri, 15 Mar 2024"}
CRAG = [
    {
        "interaction_id": "7bb29eb4",
        "query_time": "02/28/2024, 08:10:09 PT",
        "domain": "movie",
        "question_type": "simple",
        "static_or_dynamic": "static",
        "query": "when did up come out?",
        "answer": "2009",
        "alt_ans": ["in 2009", "may 2009"],
        "split": 0,
        "popularity": "head",
        "search_results": [
            {"page_name": "Up - film", "page_result": PAGE, **RESULT},
            {"page_name": "Empty", "page_result": "<html><script>1</script></html>", **RESULT},
            {"page_name": "Short", "page_result": "", **RESULT},
        ],
    },
    {
        "interaction_id": "8cc3",
        "query_time": "02/28/2024, 08:10:09 PT",
        "domain": "open",
        "question_type": "false_premise",
        "static_or_dynamic": "static",
        "query": "who is the king of france?",
        "answer": "invalid question",
        "alt_ans": [],
        "split": 1,
        "popularity": None,
        "search_results": [],
    },
]

CASES = {
    "hotpotqa": Case(HOTPOT, HOTPOT_TEXTS, HOTPOT_ASKED, forms=tuple(form for form in FORMS if form not in ("parquet", "arrow"))),
    "hotpotqa on HuggingFace": Case([in_columns(row) for row in HOTPOT], HOTPOT_TEXTS, HOTPOT_ASKED),
    "2wikimultihopqa": Case(WIKI2, WIKI2_TEXTS, WIKI2_ASKED, forms=("json", "jsonl")),
    "2wikimultihopqa in columns": Case([in_columns({**WIKI2[0], "level": "hard"})], WIKI2_TEXTS, WIKI2_ASKED),
    "2wikimultihopqa, JSON in columns": Case(
        [{**WIKI2[0], **{key: json.dumps(WIKI2[0][key]) for key in ("context", "supporting_facts", "evidences")}}], WIKI2_TEXTS, WIKI2_ASKED
    ),
    "musique": Case(MUSIQUE, MUSIQUE_TEXTS, MUSIQUE_ASKED, ("1 question that is marked as unanswerable left out",)),
    "hipporag": Case(
        [{"question": "Where?", "answer": ["Oslo"], "paragraphs": [{"title": "Ann", "text": "Ann is of Oslo.", "is_supporting": True}]}],
        {"Ann": "Ann is of Oslo."},
        [Question("Where?", "set", answers=("Oslo",), gold=("Ann",))],
    ),
    "hipporag, contexts": Case(
        [{"id": "x", "question": "Where?", "answer": "Oslo", "contexts": [{"title": "Ann", "text": "Of Oslo.", "is_supporting": True}]}],
        {"Ann": "Of Oslo."},
        [Question("Where?", "x", answers=("Oslo",), gold=("Ann",))],
    ),
    "alce, asqa": Case(
        ALCE,
        {"Goals": "Daei scored 108.", "Goals (2)": "Bican scored more."},
        [
            Question(
                "Who has the most goals?", "-7013890438520559398", answers=("Daei", "Bican"), aliases=(("Daei", "Ali Daei"), ("Bican",))
            )
        ],
    ),
    "alce, qampari": Case(
        QAMPARI,
        {"Ann": "Ann wrote Up."},
        [Question("What did Ann write?", "56__wikidata_simple__dev", answers=("Up", "Heat"), aliases=(("Up",), ("Heat", "Heat (novel)")))],
    ),
    "quality": Case(QUALITY, {"52845": "Ann went up.\nBo stayed.", "60995": "Cy went down."}, QUALITY_ASKED),
    "quality on HuggingFace": Case(
        EMOZILLA,
        {"set": "Ann went up.", "set (2)": "Cy went down."},
        [
            Question(f"{row['question']} {LETTERS}", "set", answers=(answer,), gold=(gold,), options=OPTIONS)
            for row, answer, gold in zip(EMOZILLA, ("Ann", "Bo", "Cy"), ("set", "set", "set (2)"))
        ],
    ),
    "ultradomain": Case(
        ULTRADOMAIN,
        {"bf1b": "Bees make honey of nectar.", "c2aa": "Wax is of bees too."},
        [
            Question("How is honey made?", "a1", answers=("By bees, of nectar.",), gold=("bf1b",)),
            Question("What do bees make?", "a2", answers=("Honey.",), gold=("bf1b",)),
            Question("What is wax?", "a3", answers=("Of bees too.",), gold=("c2aa",)),
        ],
    ),
    "crag": Case(
        CRAG,
        {"Up - film": "Up is a film of 2009.", "Short": "A film."},
        [
            Question("when did up come out?", "7bb29eb4", answers=("2009",), aliases=(("2009", "in 2009", "may 2009"),)),
            Question("who is the king of france?", "8cc3", answers=("invalid question",)),
        ],
        ("1 page without a text left out",),
        ("jsonl", "jsonl.bz2", "parquet"),
    ),
}


@pytest.mark.parametrize("set, form", [(name, form) for name, case in CASES.items() for form in case.forms])
def test_a_set_that_brings_its_passages_along(tmp_path, set, form):
    """Recognised without a word on its format, in every form that rows are published in."""
    case = CASES[set]
    brought = bring("set", [written(tmp_path, f"set.{form}", case.rows)])
    assert {one.id: one.text for one in brought.corpus} == case.documents
    assert [_numbered(one) for one in brought.corpus.questions("set")] == case.questions
    assert all(any(note in said for said in brought.notes) for note in case.notes)
    assert not any("does not have" in said for said in brought.notes)


def _numbered(question: Question) -> Question:
    """Without the line in the id of a question whose row has none, as it depends on the form."""
    return replace(question, id="set") if question.id.startswith("set-") else question
