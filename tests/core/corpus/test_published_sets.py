"""Two or three rows of each published set in its exact schema, with results by hand.

Sources of the schemas: HotpotQA, the authors' README and `hotpotqa/hotpot_qa` on HuggingFace;
2WikiMultihopQA, Alab-NII/2wikimultihop; MuSiQue, StonyBrookNLP/musique; HippoRAG,
OSU-NLP-Group/HippoRAG `main.py` and `reproduce/dataset`; MultiHop-RAG, yixuantt/MultiHopRAG;
UltraDomain, TommyChien/UltraDomain; ALCE, princeton-nlp/ALCE; QuALITY, nyu-mll/quality v1.0.1 and
`emozilla/quality`; PopQA, `akariasai/PopQA` test.tsv; BSARD, maastrichtlawtech/bsard; CRAG,
facebookresearch/CRAG docs/dataset.md; SciFact, allenai/scifact; BEIR, beir-cellar/beir;
GraphRAG-Bench, GraphRAG-Bench/GraphRAG-Bench.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import shutil
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from core.corpus import import_documents, import_question_set, open_corpus
from core.datasets.own_sets import save_set
from core.datasets.sets import QuestionSet
from core.errors import BadInput
from core.graph.building.build import build
from core.questions import GOLD_KEYS, read_questions
from core.types import Question
from tests.notes import NoteWith
from tests.triples import read_triples

FORMS = ("json", "jsonl", "jsonl.gz", "jsonl.bz2", "jsonl.zst", "parquet", "arrow")


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))


def write_rows(folder: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    """Write the rows as a file in the form of its suffix."""
    file, form = folder / name, name.partition(".")[2]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    table = lambda: pa.Table.from_pylist(rows)
    match form:
        case "json":
            file.write_text(json.dumps(rows, indent=1), "utf-8")
        case "parquet":
            pq.write_table(table(), file)
        case "arrow":  # The form in which `datasets` saves a set.
            with pa.ipc.new_stream(str(file), table().schema) as stream:
                stream.write_table(table())
        case _:
            pack = {
                "jsonl": bytes,
                "jsonl.gz": gzip.compress,
                "jsonl.bz2": bz2.compress,
                "jsonl.zst": zstandard.compress,
            }[form]
            file.write_bytes(pack(lines))
    return file


def write_table(folder: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    """Write the rows as a table, as pandas saves it."""
    text = io.StringIO()
    writer = csv.DictWriter(
        text, list(rows[0]), delimiter="\t" if name.endswith(".tsv") else ",", lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(rows)
    (folder / name).write_text(text.getvalue(), "utf-8")
    return folder / name


@dataclass(frozen=True)
class PublishedCase:
    """Rows of a set that includes its passages, with the expected documents and questions.

    Documents are texts by id.
    """

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
        "context": [
            ["Ann Lee", ["Ann Lee is of Turku.", " She sails."]],
            ["Bo Ek", ["Bo Ek is old.", " He is of Turku."]],
        ],
        "type": "comparison",
        "level": "hard",
    },
    {
        "_id": "5a8c7595",
        "answer": "Cy",
        "question": "Who built Ann Lee's ship?",
        "supporting_facts": [["Ship", 0]],
        "context": [
            ["Ship", ["Cy built the ship of Ann Lee."]],
            ["Ann Lee", ["Ann Lee is of Turku.", " She sails."]],
        ],
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
    Question(
        "Were Ann Lee and Bo Ek of one town?",
        "5a8b57f2",
        answers=("yes",),
        gold=("Ann Lee", "Bo Ek"),
    ),
    Question("Who built Ann Lee's ship?", "5a8c7595", answers=("Cy",), gold=("Ship",)),
]


def in_columns(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of HotpotQA in HuggingFace's form, where lists of pairs are objects of lists."""
    facts, context = row["supporting_facts"], row["context"]
    return {
        **{key: row[key] for key in ("question", "answer", "type", "level")},
        "id": row["_id"],
        "supporting_facts": {
            "title": [title for title, _ in facts],
            "sent_id": [number for _, number in facts],
        },
        "context": {
            "title": [title for title, _ in context],
            "sentences": [sentences for _, sentences in context],
        },
    }


WIKI2 = [
    {
        "_id": "8813f87c",
        "type": "compositional",
        "question": "Who is the mother of the director of Up (Film)?",
        "context": [
            ["Up (film)", ["Up is a film.", "Bo directed it."]],
            ["Bo", ["Bo is a son of Eve."]],
            ["Cy", ["Cy is here."]],
        ],
        "supporting_facts": [["Up (film)", 1], ["Bo", 0]],
        "evidences": [["Up", "director", "Bo"], ["Bo", "mother", "Eve"]],
        "answer": "Eve",
    }
]
WIKI2_TEXTS = {
    "Up (film)": "Up is a film. Bo directed it.",
    "Bo": "Bo is a son of Eve.",
    "Cy": "Cy is here.",
}
WIKI2_ASKED = [
    Question(
        "Who is the mother of the director of Up (Film)?",
        "8813f87c",
        answers=("Eve",),
        gold=("Up (film)", "Bo"),
    )
]
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
            {
                "id": 1,
                "question": "Ann >> place of birth",
                "answer": "Oslo",
                "paragraph_support_idx": 2,
            },
            {
                "id": 2,
                "question": "By what does #1 lie?",
                "answer": "a fjord",
                "paragraph_support_idx": 1,
            },
        ],
        "answer": "a fjord",
        "answer_aliases": ["fjord", "a fiord"],
        "answerable": True,
    },
    {
        "id": "2hop__1_2",
        "paragraphs": PARAGRAPHS[:2],
        "question": "By what does the birthplace of Ann lie?",
        "question_decomposition": [
            {
                "id": 1,
                "question": "Ann >> place of birth",
                "answer": "Oslo",
                "paragraph_support_idx": None,
            }
        ],
        "answer": "a fjord",
        "answer_aliases": ["fjord", "a fiord"],
        "answerable": False,
    },
]
MUSIQUE_TEXTS = {
    "Oslo": "Oslo is a name.",
    "Oslo (2)": "Oslo lies by a fjord.",
    "Ann": "Ann was born in Oslo.",
}
FJORD = (("a fjord", "fjord", "a fiord"),)
MUSIQUE_ASKED = [
    Question(
        "By what does the birthplace of Ann lie?",
        "2hop__1_2",
        answers=("a fjord",),
        gold=("Oslo (2)", "Ann"),
        aliases=FJORD,
    )
]
ALCE = [
    {
        "sample_id": "-7013890438520559398",
        "question": "Who has the most goals?",
        "qa_pairs": [
            {
                "context": "...",
                "question": "for men?",
                "short_answers": ["Daei", "Ali Daei"],
                "wikipage": "Goals",
            },
            {
                "context": "...",
                "question": "for all?",
                "short_answers": ["Bican"],
                "wikipage": None,
            },
        ],
        "wikipages": [{"title": "Goals", "url": "https://en.wikipedia.org/wiki/Goals"}],
        "annotations": [
            {"knowledge": [{"content": "...", "wikipage": "Goals"}], "long_answer": "Daei held it."}
        ],
        "docs": [
            {
                "id": "7",
                "title": "Goals",
                "text": "Daei scored 108.",
                "score": 8.7,
                "answers_found": [1, 0],
            },
            {
                "id": "8",
                "title": "Goals",
                "text": "Bican scored more.",
                "score": 8.5,
                "answers_found": [0, 1],
            },
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
QUESTION = {
    "writer_label": 2,
    "difficult": 0,
    "validation": [{"untimed_annotator_id": "0001", "untimed_answer": 2}],
}
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
            {
                "question": "Who?",
                "question_unique_id": "60995_1",
                "options": ["Cy", "Ann", "Bo", "Eve"],
                "gold_label": 1,
                **QUESTION,
            }
        ],
    },
]
LETTERS = "Options: (A) Bo (B) Ann (C) Cy (D) Eve"
OPTIONS = ("Bo", "Ann", "Cy", "Eve")
QUALITY_ASKED = [
    Question(
        f"Who went up? {LETTERS}", "52845_1", answers=("Ann",), gold=("52845",), options=OPTIONS
    ),
    Question(
        f"Who stayed? {LETTERS}", "52845_2", answers=("Bo",), gold=("52845",), options=OPTIONS
    ),
    Question(
        "Who? Options: (A) Cy (B) Ann (C) Bo (D) Eve",
        "60995_1",
        answers=("Cy",),
        gold=("60995",),
        options=("Cy", "Ann", "Bo", "Eve"),
    ),
]
EMOZILLA = [
    {
        "article": "Ann went up.",
        "question": "Who went up?",
        "options": list(OPTIONS),
        "answer": 1,
        "hard": False,
    },
    {
        "article": "Ann went up.",
        "question": "Who did not?",
        "options": list(OPTIONS),
        "answer": 0,
        "hard": True,
    },
    {
        "article": "Cy went down.",
        "question": "Who went down?",
        "options": list(OPTIONS),
        "answer": 2,
        "hard": False,
    },
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
PAGE = (
    "<!DOCTYPE html><html><head><title>x</title><script>no()</script></head><body><p>Up is a "
    "film of 2009.</p></body></html>"
)
RESULT = {
    "page_url": "https://up.example",
    "page_snippet": "A film.",
    "page_last_modified": "Fri, 15 Mar 2024",
}
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
    "hotpotqa": PublishedCase(
        HOTPOT,
        HOTPOT_TEXTS,
        HOTPOT_ASKED,
        forms=tuple(form for form in FORMS if form not in ("parquet", "arrow")),
    ),
    "hotpotqa on HuggingFace": PublishedCase(
        [in_columns(row) for row in HOTPOT], HOTPOT_TEXTS, HOTPOT_ASKED
    ),
    "2wikimultihopqa": PublishedCase(WIKI2, WIKI2_TEXTS, WIKI2_ASKED, forms=("json", "jsonl")),
    "2wikimultihopqa in columns": PublishedCase(
        [in_columns({**WIKI2[0], "level": "hard"})], WIKI2_TEXTS, WIKI2_ASKED
    ),
    "2wikimultihopqa, JSON in columns": PublishedCase(
        [
            {
                **WIKI2[0],
                **{
                    key: json.dumps(WIKI2[0][key])
                    for key in ("context", "supporting_facts", "evidences")
                },
            }
        ],
        WIKI2_TEXTS,
        WIKI2_ASKED,
    ),
    "musique": PublishedCase(
        MUSIQUE, MUSIQUE_TEXTS, MUSIQUE_ASKED, ("1 question that is marked as unanswerable.",)
    ),
    "hipporag": PublishedCase(
        [
            {
                "question": "Where?",
                "answer": ["Oslo"],
                "paragraphs": [{"title": "Ann", "text": "Ann is of Oslo.", "is_supporting": True}],
            }
        ],
        {"Ann": "Ann is of Oslo."},
        [Question("Where?", "set", answers=("Oslo",), gold=("Ann",))],
    ),
    "hipporag, contexts": PublishedCase(
        [
            {
                "id": "x",
                "question": "Where?",
                "answer": "Oslo",
                "contexts": [{"title": "Ann", "text": "Of Oslo.", "is_supporting": True}],
            }
        ],
        {"Ann": "Of Oslo."},
        [Question("Where?", "x", answers=("Oslo",), gold=("Ann",))],
    ),
    "alce, asqa": PublishedCase(
        ALCE,
        {"Goals": "Daei scored 108.", "Goals (2)": "Bican scored more."},
        [
            Question(
                "Who has the most goals?",
                "-7013890438520559398",
                answers=("Daei", "Bican"),
                aliases=(("Daei", "Ali Daei"), ("Bican",)),
            )
        ],
    ),
    "alce, qampari": PublishedCase(
        QAMPARI,
        {"Ann": "Ann wrote Up."},
        [
            Question(
                "What did Ann write?",
                "56__wikidata_simple__dev",
                answers=("Up", "Heat"),
                aliases=(("Up",), ("Heat", "Heat (novel)")),
            )
        ],
    ),
    "quality": PublishedCase(
        QUALITY, {"52845": "Ann went up.\nBo stayed.", "60995": "Cy went down."}, QUALITY_ASKED
    ),
    "quality on HuggingFace": PublishedCase(
        EMOZILLA,
        {"set": "Ann went up.", "set (2)": "Cy went down."},
        [
            Question(
                f"{row['question']} {LETTERS}",
                "set",
                answers=(answer,),
                gold=(gold,),
                options=OPTIONS,
            )
            for row, answer, gold in zip(EMOZILLA, ("Ann", "Bo", "Cy"), ("set", "set", "set (2)"))
        ],
    ),
    "ultradomain": PublishedCase(
        ULTRADOMAIN,
        {"bf1b": "Bees make honey of nectar.", "c2aa": "Wax is of bees too."},
        [
            Question("How is honey made?", "a1", answers=("By bees, of nectar.",), gold=("bf1b",)),
            Question("What do bees make?", "a2", answers=("Honey.",), gold=("bf1b",)),
            Question("What is wax?", "a3", answers=("Of bees too.",), gold=("c2aa",)),
        ],
    ),
    "crag": PublishedCase(
        CRAG,
        {"Up - film": "Up is a film of 2009.", "Short": "A film."},
        [
            Question(
                "when did up come out?",
                "7bb29eb4",
                answers=("2009",),
                aliases=(("2009", "in 2009", "may 2009"),),
            ),
            Question("who is the king of france?", "8cc3", answers=("invalid question",)),
        ],
        ("1 page without a text.",),
        ("jsonl", "jsonl.bz2", "parquet"),
    ),
}


@pytest.mark.parametrize(
    "set, form", [(name, form) for name, case in CASES.items() for form in case.forms]
)
def test_a_set_with_its_passages_is_imported(tmp_path, set, form):
    """The set is recognised without a given format, in every form that rows are published in."""
    case = CASES[set]
    brought = import_documents("set", [write_rows(tmp_path, f"set.{form}", case.rows)])
    assert {one.id: one.text for one in brought.corpus} == case.documents
    assert [_numbered(one) for one in brought.corpus.questions("set")] == case.questions
    assert all(any(note in said for said in brought.notes) for note in case.notes)
    assert not any("does not have" in said for said in brought.notes)


def _numbered(question: Question) -> Question:
    """Return the question without an id that was made from its line number.

    That id depends on the form of the file.
    """
    return replace(question, id="set") if question.id.startswith("set-") else question


NEWS = [
    {
        "title": "Up opens",
        "author": "Ann",
        "source": "Wire",
        "published_at": "2023-10-01",
        "category": "film",
        "url": "u1",
        "body": "Up  opens. It is new.",
    },
    {
        "title": "Up closes",
        "author": None,
        "source": "Post",
        "published_at": "2023-11-01",
        "category": "film",
        "url": "u2",
        "body": "Up closes today.",
    },
]
MULTIHOP = [
    {
        "query": "Did Up open before it closed?",
        "answer": "Yes",
        "question_type": "temporal_query",
        "evidence_list": [
            {
                "title": "Up opens",
                "author": "Ann",
                "url": "u1",
                "source": "Wire",
                "category": "film",
                "published_at": "2023",
                "fact": "Up opens.",
            },
            {
                "title": "Up closes",
                "author": "",
                "url": "u2",
                "source": "Post",
                "category": "film",
                "published_at": "2023",
                "fact": "Up closes today.",
            },
        ],
    },
    {
        "query": "What of Down?",
        "answer": "Insufficient information.",
        "question_type": "null_query",
        "evidence_list": [],
    },
]


@pytest.mark.parametrize("form", ["json", "jsonl", "parquet"])
def test_multihop_rag(tmp_path, form):
    """The facts are quoted from the bodies of the documents.

    As in the authors' evaluation, the gold is the part of a document that holds the sentence.
    """
    found = import_documents(
        "news",
        [write_rows(tmp_path, f"corpus.{form}", NEWS)],
        questions=write_rows(tmp_path, f"MultiHopRAG.{form}", MULTIHOP),
    )
    first, second = found.corpus.questions("news")
    own = {one.title: one.id for one in found.corpus}
    assert (first.text, first.answers) == ("Did Up open before it closed?", ("Yes",))
    assert first.gold == (f"{own['Up opens']}\nUp opens.", own["Up closes"]) and second.gold == ()
    assert not any("does not have" in said for said in found.notes)


def test_popqa(tmp_path):
    """The possible answers are a JSON list in one cell.

    They are names of one answer; the object of the triple is the first of them.
    """
    row = {
        "id": 4222362,
        "subj": "George Rankin",
        "prop": "occupation",
        "obj": "politician",
        "subj_id": 1850297,
        "prop_id": 22,
        "obj_id": 2834605,
    }
    row |= {
        "s_aliases": '["George James Rankin"]',
        "o_aliases": '["political leader","pol"]',
        "s_uri": "http://q",
        "o_uri": "http://o",
    }
    row |= {
        "s_wiki_title": "George Rankin",
        "o_wiki_title": "Politician",
        "s_pop": 142,
        "o_pop": 25692,
    }
    row |= {
        "question": "What is George Rankin's occupation?",
        "possible_answers": '["politician", "political leader", "pol"]',
    }
    names = ("politician", "political leader", "pol")
    for name in ("test.tsv", "popqa.csv"):
        (question,) = read_questions(write_table(tmp_path, name, [row]))
        assert question == Question(
            row["question"], "4222362", ("George Rankin",), ("politician",), aliases=(names,)
        )
    for form in ("jsonl", "parquet"):
        (question,) = read_questions(write_rows(tmp_path, f"popqa.{form}", [row]))
        # The title of the object's page is one of the names.
        assert question.aliases == (("politician", "political leader", "pol", "Politician"),)


def test_bsard(tmp_path):
    """Articles and questions are tables.

    A question names its articles in one cell, by number.
    """
    articles = [
        {
            "id": number,
            "reference": f"Art. {number}",
            "code": "Code Civil",
            "article": f"L'article {number} dit tout, ou rien.",
        }
        for number in (7, 8, 9)
    ]
    asked = [
        {
            "id": 1,
            "question": "Puis-je, ou non ?",
            "category": "Argent",
            "subcategory": "Dettes",
            "extra_description": "",
            "article_ids": "7,9",
        },
        {
            "id": 2,
            "question": "Quand ?",
            "category": "Argent",
            "subcategory": "Dettes",
            "extra_description": "",
            "article_ids": "8",
        },
    ]
    found = import_documents(
        "bsard",
        [write_table(tmp_path, "articles.csv", articles)],
        questions=write_table(tmp_path, "questions_test.csv", asked),
    )
    assert [one.text for one in found.corpus][0] == "L'article 7 dit tout, ou rien."
    assert [one.gold for one in found.corpus.questions("bsard")] == [
        ("articles.csv:7", "articles.csv:9"),
        ("articles.csv:8",),
    ]


def test_hipporags_corpora_and_questions(tmp_path):
    passages = [{"title": one["title"], "text": one["paragraph_text"]} for one in PARAGRAPHS]
    found = import_documents(
        "musique",
        [write_rows(tmp_path, "musique_corpus.json", passages)],
        questions=write_rows(tmp_path, "musique.json", MUSIQUE[:1]),
    )
    (question,) = found.corpus.questions("musique")
    texts = {one.id: one.text for one in found.corpus}
    assert [texts[id] for id in question.gold] == ["Oslo lies by a fjord.", "Ann was born in Oslo."]


def test_scifact_as_its_authors_publish_it(tmp_path):
    abstracts = [
        {"doc_id": 4983, "title": "Of A", "abstract": ["A is.", "B is not."], "structured": False}
    ]
    abstracts += [{"doc_id": 5, "title": "Of C", "abstract": ["C is."], "structured": True}]
    claims = [
        {
            "id": 1,
            "claim": "A is.",
            "evidence": {"4983": [{"sentences": [0], "label": "SUPPORT"}]},
            "cited_doc_ids": [4983],
        }
    ]
    claims += [{"id": 3, "claim": "D is.", "evidence": {}, "cited_doc_ids": [5]}]
    found = import_documents(
        "claims",
        [write_rows(tmp_path, "corpus.jsonl", abstracts)],
        questions=write_rows(tmp_path, "claims_dev.jsonl", claims),
    )
    assert {one.id: one.text for one in found.corpus} == {
        "corpus.jsonl:4983": "A is. B is not.",
        "corpus.jsonl:5": "C is.",
    }
    assert [(one.text, one.gold) for one in found.corpus.questions("claims")] == [
        ("A is.", ("corpus.jsonl:4983",)),
        ("D is.", ("corpus.jsonl:5",)),
    ]


@pytest.mark.parametrize("form", ["json", "jsonl", "parquet"])
def test_graphrag_bench(tmp_path, form):
    novels = [
        {"corpus_name": name, "context": f"{name} went on."} for name in ("Novel-1", "Novel-2")
    ]
    asked = [
        {
            "id": "Novel-73586ddc",
            "source": "Novel-2",
            "question": "Who went on?",
            "answer": "Novel-2.",
            "question_type": "Fact Retrieval",
            "evidence": ["It went on."],
            "evidence_relations": "it: went on",
        }
    ]
    found = import_documents(
        "novels",
        [write_rows(tmp_path, f"novel.{form}", novels)],
        questions=write_rows(tmp_path, f"questions.{form}", asked),
    )
    assert found.corpus.questions("novels") == (
        Question("Who went on?", "Novel-73586ddc", answers=("Novel-2.",), gold=("Novel-2",)),
    )


DOCUMENTS = [
    {"_id": "MED-1", "title": "Of A", "text": "A is."},
    {"_id": "MED-2", "title": "Of B", "text": ""},
]
QUERIES = [
    {"_id": "PLAIN-1", "text": "a?", "metadata": {"url": "u"}},
    {"_id": "PLAIN-2", "text": "b?", "metadata": {"url": "v"}},
]
JUDGED = [
    ("PLAIN-1", "MED-1", 2),
    ("PLAIN-1", "MED-2", 0),
    ("PLAIN-2", "MED-2", 1),
    ("PLAIN-9", "MED-1", 1),
    ("PLAIN-2", "MED-9", 1),
]


def beir(folder: Path, form: str) -> Path:
    """Write a BEIR folder as the authors, HuggingFace or MTEB publish it."""
    for name, rows in (("corpus", DOCUMENTS), ("queries", QUERIES)):
        (folder / "set" / name).mkdir(parents=True)
        if form == "parquet":
            write_rows(folder / "set" / name, "part-00000-of-00001.parquet", rows)
        else:
            write_rows(folder / "set", f"{name}.jsonl{'.gz' if form == 'packed' else ''}", rows)
    (folder / "set" / "qrels").mkdir()
    if form == "rows":
        write_rows(
            folder / "set" / "qrels",
            "test.jsonl",
            [dict(zip(("query-id", "corpus-id", "score"), one)) for one in JUDGED],
        )
    elif form == "trec":
        (folder / "set" / "qrels" / "test.qrels").write_text(
            "".join(f"{query} 0 {document} {score}\n" for query, document, score in JUDGED)
        )
    else:
        lines = "".join(f"{query}\t{document}\t{score}\n" for query, document, score in JUDGED)
        (folder / "set" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + lines)
    return folder / "set"


@pytest.mark.parametrize("form", ["plain", "packed", "parquet", "rows", "trec"])
def test_a_folder_of_beir(tmp_path, form):
    """Judgements of a missing query or a missing document are left out and counted.

    NFCorpus judges a missing query. The rest is read.
    """
    found = import_documents("nf", [beir(tmp_path, form)])
    assert {one.id: one.text for one in found.corpus} == {"MED-1": "A is.", "MED-2": "Of B"}
    assert [(one.id, one.gold) for one in found.corpus.questions("nf-test")] == [
        ("PLAIN-1", ("MED-1",)),
        ("PLAIN-2", ("MED-2",)),
    ]
    said = " ".join(found.notes)
    assert "1 judgement of a query that the folder does not have, such as “PLAIN-9”" in said
    assert "1 judgement of a document that the folder does not have, such as “MED-9”" in said


def test_rows_that_begin_with_a_list_under_data_are_rows(tmp_path):
    """Each line is one object.

    A single object with a list of objects under `data` is a file of rows only where nothing follows
    it.
    """
    rows = [
        {"data": [{"n": number}], "question": f"who {number}?", "answer": "Ann"}
        for number in (1, 2)
    ]
    for count in (1, 2):
        found = read_questions(write_rows(tmp_path, "q.jsonl", rows[:count]))
        assert [one.text for one in found] == ["who 1?", "who 2?"][:count]
        texts = [{"data": [{"n": number}], "text": f"Text {number}."} for number in (1, 2)]
        assert (
            len(
                import_documents(
                    f"texts-{count}", [write_rows(tmp_path, "t.jsonl", texts[:count])]
                ).corpus
            )
            == count
        )
        graphs = [
            {"data": [{"n": number}], "graph": [["Ann", "knows", f"Bo {number}"]]}
            for number in (1, 2)
        ]
        assert len(list(read_triples(write_rows(tmp_path, "g.jsonl", graphs[:count])))) == count


ROG = [
    {
        "id": "WebQTest-0",
        "question": "what does jamaican people speak",
        "answer": ["Jamaican English", "Patois"],
        "q_entity": ["Jamaica"],
        "a_entity": ["Jamaican English", "Patois"],
        "graph": [
            ["Jamaica", "location.country.languages_spoken", "Patois"],
            ["Jamaica", "common.topic.image", "m.1"],
        ],
        "choices": [],
    },
    {
        "id": "WebQTest-1",
        "question": "what did james k polk do",
        "answer": ["President"],
        "q_entity": ["James K. Polk"],
        "a_entity": [],
        "graph": [["James K. Polk", "government.position", "President"]],
        "choices": [],
    },
]


@pytest.mark.parametrize("form", FORMS)
def test_rog(tmp_path, form):
    """Questions with their entities and answers, each with the triples of its row.

    All triples together are a graph.
    """
    file = write_rows(tmp_path, f"webqsp.{form}", ROG)
    known = QuestionSet("webqsp", "", file, graph_scope="question")
    first, second = known.questions()
    assert (first.text, first.entities, first.answers) == (
        ROG[0]["question"],
        ("Jamaica",),
        ("Jamaican English", "Patois"),
    )
    assert known.has_graphs() and known.question_triples(second.id) == [
        ("James K. Polk", "government.position", "President")
    ]
    built = build(file, tmp_path / "graph", "rog")
    assert (built.n_nodes, built.n_edges) == (5, 3)
    kept = save_set(file, "mine", "", "rog", (), graphs="question")
    assert (
        kept.questions()[0].answers == first.answers
        and kept.question_triples(first.id)[0][2] == "Patois"
    )


def test_grailqa_on_huggingface(tmp_path):
    nodes = {
        "nid": [0, 1],
        "node_type": ["class", "entity"],
        "id": ["m.0", "m.01"],
        "class": ["x", "y"],
        "friendly_name": ["System", "g"],
    }
    row = {
        "qid": "2100",
        "question": "g is part of what system?",
        "function": "none",
        "num_node": 2,
        "num_edge": 1,
        "domains": ["m"],
    }
    row |= {
        "answer": {
            "answer_type": ["Entity", "Value"],
            "answer_argument": ["m.0", "4"],
            "entity_name": ["SI", ""],
        }
    }
    row |= {
        "graph_query": {
            "nodes": nodes,
            "edges": {"start": [0], "end": [1], "relation": ["r"], "friendly_name": ["R"]},
        }
    }
    for form in ("jsonl", "parquet"):
        (question,) = read_questions(write_rows(tmp_path, f"grail.{form}", [row]))
        assert (question.id, question.entities, question.answers) == ("2100", ("g",), ("SI", "4"))


def test_questions_without_answers_and_gold_are_refused(tmp_path):
    """Answers in a column with an unusual name are an error, rather than a score of 0."""
    import_documents(
        "towns",
        [write_rows(tmp_path, "towns.json", [{"title": "Oslo", "text": "Oslo lies by a fjord."}])],
    )
    rows = [{"question": "Where?", "passage_key": "Oslo"}]
    with pytest.raises(
        BadInput,
        match=(
            "has no answers and no evidence.*columns question, passage_key.*Looked for "
            "answer, .*gold, gold_titles"
        ),
    ):
        import_question_set("towns", write_rows(tmp_path, "asked.jsonl", rows))
    for column in GOLD_KEYS:
        import_question_set(
            "towns", write_rows(tmp_path, "asked.jsonl", [{"question": "Where?", column: ["Oslo"]}])
        )
        assert open_corpus("towns").questions("towns")[0].gold == ("towns.json:1",), column


def test_a_zip_of_a_folder_of_beir(tmp_path):
    """The authors publish one folder in a zip of the same name."""
    folder = beir(tmp_path, "plain")
    with zipfile.ZipFile(tmp_path / "nfcorpus.zip", "w") as packed:
        for file in folder.rglob("*.*"):
            packed.write(file, f"nfcorpus/{file.relative_to(folder)}")
    found = import_documents("nf", [tmp_path / "nfcorpus.zip"])
    assert [one.id for one in found.corpus] == ["MED-1", "MED-2"] and [
        one.gold for one in found.corpus.questions("nf-test")
    ][0] == ("MED-1",)
    assert found.notes[0] == NoteWith("nfcorpus.zip", "“beir”")
    shutil.rmtree(folder / "qrels")
    assert (
        NoteWith("no judgements", "qrels/NAME.tsv", "left out")
        in import_documents("nf-2", [folder]).notes
    )


def test_two_files_of_questions_with_passages_are_two_sets(tmp_path):
    files = [
        write_rows(tmp_path, f"{part}.jsonl", [row])
        for part, row in zip(("Train", "Dev_1"), HOTPOT)
    ]
    found = import_documents("hot", files)
    assert {
        name: [one.id for one in found.corpus.questions(name)] for name in found.corpus.sets
    } == {
        "hot": ["5a8b57f2"],
        "hot-dev-1": ["5a8c7595"],
    }


def test_a_named_column_makes_a_table_of_a_file(tmp_path):
    file = write_rows(tmp_path, "a.jsonl", ULTRADOMAIN)
    # One document for each row.
    assert len(import_documents("one", [file], columns={"text": "context"}).corpus) == 3
    assert len(import_documents("two", [file], columns={"text": "Body"}).corpus) == 2
