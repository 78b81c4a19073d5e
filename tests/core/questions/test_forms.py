"""Questions of published sets and of evaluation tools, in rows of their exact schemas."""

from __future__ import annotations

import json

import pytest

from core.corpus import import_documents, import_question_set
from core.questions import GOLD_KEYS, read_question_file


def questions(folder, rows, name="q.jsonl", **how):
    text = rows if isinstance(rows, str | bytes) else "".join(f"{json.dumps(r)}\n" for r in rows)
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_question_file(folder / name, gold=GOLD_KEYS, **how).questions


SPAN = {"text": "Ann Lee", "answer_start": 0}
SQUAD = {
    "version": "v2.0",
    "data": [
        {
            "title": "Gull",
            "paragraphs": [
                {
                    "context": "Ann Lee keeps the Gull.",
                    "qas": [
                        {"id": "7", "question": "Who keeps it?", "answers": [SPAN, SPAN]},
                        {"id": "8", "question": "Who?", "answers": [], "is_impossible": True},
                    ],
                }
            ],
        }
    ],
}


@pytest.mark.parametrize("indent", [None, 2])
def test_squad_as_it_is_published(tmp_path, indent):
    (found,) = questions(tmp_path, json.dumps(SQUAD, indent=indent), "squad.json")
    assert (found.id, found.text, found.answers, found.aliases) == (
        "7",
        "Who keeps it?",
        ("Ann Lee",),
        (),
    )


TRIVIA = {"value": "Ann Lee", "aliases": ["A. Lee"], "normalized_value": "ann lee"}


@pytest.mark.parametrize(
    "answer, answers, names",
    [
        ({"answers": {"text": ["Ann Lee", "Lee"], "answer_start": [0, 4]}}, ("Ann Lee",), 2),
        ({"answers": [{"text": "Ann Lee", "tokens": ["Ann"]}, {"text": "Lee"}]}, ("Ann Lee",), 2),
        ({"answers": {"text": [], "answer_start": []}}, (), 0),
        ({"answer": TRIVIA}, ("Ann Lee",), 2),
        ({"answer": [{"name": "Ann Lee"}, {"name": "Bo"}]}, ("Ann Lee", "Bo"), 0),
        ({"answer": True}, ("yes",), 0),
        ({"answer": False}, ("no",), 0),
    ],
)
def test_answers_that_are_objects_or_yes_and_no(tmp_path, answer, answers, names):
    (found,) = questions(tmp_path, [{"question": {"text": "Who keeps it?"}} | answer])
    assert found.text == "Who keeps it?" and found.answers == answers
    assert sum(map(len, found.aliases)) == names


CONTEXT = "Ann Lee keeps the Gull."
ROWS = {
    "ragas": {"user_input": "Who?", "reference": "Ann", "reference_contexts": [CONTEXT]},
    "ragas hops": {
        "user_input": "Who?",
        "reference": "Ann",
        "reference_contexts": [f"<1-hop>\n\n{CONTEXT}"],
    },
    "deepeval": {
        "input": "Who?",
        "actual_output": None,
        "expected_output": "Ann",
        "context": [CONTEXT],
    },
    "langsmith": {"inputs": {"question": "Who?"}, "outputs": {"answer": "Ann"}},
    "langfuse": {"input": {"query": "Who?"}, "expectedOutput": {"response": "Ann"}},
    "langfuse texts": {"input": "Who?", "expectedOutput": "Ann", "metadata": {}},
    "mlflow": {"inputs": {"question": "Who?"}, "expectations": {"expected_response": "Ann"}},
    "openai": {"input": [{"role": "user", "content": "Who?"}], "ideal": "Ann"},
}


@pytest.mark.parametrize("tool", ROWS)
def test_rows_of_tools_that_evaluate(tmp_path, tool):
    (found,) = questions(tmp_path, [ROWS[tool]])
    assert (found.text, found.answers) == ("Who?", ("Ann",))
    contexts = "reference_contexts" in ROWS[tool] or "context" in ROWS[tool]
    assert found.gold == ((f"\n{CONTEXT}",) if contexts else ())


TABLES = [
    "id,inputs.question,outputs.answer\n7,Who?,Ann\n",
    "input,actual_output,expected_output\nWho?,,Ann\n",
    "user_input,reference_contexts,reference\nWho?,\"['Ann keeps it.']\",Ann\n",
    'input,expected_output\n"{""question"": ""Who?""}","{""answer"": ""Ann""}"\n',
    "sep=;\nquestion;answers\nWho?;Ann\n",
]


@pytest.mark.parametrize("table", TABLES)
def test_tables_of_tools_that_evaluate(tmp_path, table):
    (found,) = questions(tmp_path, table, "q.csv")
    assert (found.text, found.answers) == ("Who?", ("Ann",))
    assert found.gold == (("\nAnn keeps it.",) if "contexts" in table else ())


@pytest.mark.parametrize("indent", [None, 4])
def test_sets_of_llama_index(tmp_path, indent):
    rag = {
        "examples": [{"query": "Who?", "reference_contexts": [CONTEXT], "reference_answer": "Ann"}]
    }
    (found,) = questions(tmp_path, json.dumps(rag, indent=indent), "r.json")
    assert (found.text, found.answers, found.gold) == ("Who?", ("Ann",), (f"\n{CONTEXT}",))
    pairs = {"queries": {"q": "Who?"}, "corpus": {"n": CONTEXT}, "relevant_docs": {"q": ["n"]}}
    (found,) = questions(tmp_path, json.dumps(pairs, indent=indent), "e.json")
    assert (found.id, found.text, found.gold) == ("q", "Who?", (f"\n{CONTEXT}",))


def test_a_context_names_the_passage_with_its_text(tmp_path):
    for name, text in (("may.txt", "A calm day."), ("june.txt", f"Rain.\n{CONTEXT} Wind.")):
        (tmp_path / name).write_text(text, "utf-8")
    import_documents("log", [tmp_path / "may.txt", tmp_path / "june.txt"])
    rows = [ROWS["ragas"], ROWS["ragas"] | {"user_input": "Else?", "reference_contexts": ["Snow."]}]
    (tmp_path / "q.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    brought = import_question_set("log", tmp_path / "q.jsonl")
    first, second = brought.corpus.questions("log")
    assert first.gold == (f"june.txt\n{CONTEXT}",) and second.gold == ("\nSnow.",)
    assert any("Snow." in note for note in brought.notes)


QUERIES = "q1\tWho keeps the Gull?\nq2\tWho mends nets?\n"
TOPICS = """<top>
<num> Number: 301
<title> The Gull
<desc> Description:
Who keeps it?
</top>
<top>
<num> Number: 302
<desc> Description:
Who mends nets?
</top>
"""
XML = '<topics>\n<topic number="9">\n<query>the gull</query>\n</topic>\n</topics>\n'


@pytest.mark.parametrize(
    "text, found",
    [
        (QUERIES, [("q1", "Who keeps the Gull?"), ("q2", "Who mends nets?")]),
        ("1\t谁看守海鸥号？\n2\t谁补网？\n", [("1", "谁看守海鸥号？"), ("2", "谁补网？")]),
        (TOPICS, [("301", "The Gull"), ("302", "Who mends nets?")]),
        (XML, [("9", "the gull")]),
    ],
)
def test_queries_with_ids_have_no_answers(tmp_path, text, found):
    known = questions(tmp_path, text, "q.tsv")
    assert [(one.id, one.text) for one in known] == found
    assert not any(one.answers for one in known)


def test_questions_with_answers_are_no_queries_with_ids(tmp_path):
    (first, _) = questions(tmp_path, "who keeps [it]?\tAnn Lee\nwho else?\tBo Lee\n", "q.txt")
    assert first.answers == ("Ann Lee",)
    (first, _) = questions(tmp_path, "why\tof the rain\nwhy\tof the wind\n", "q.txt")
    assert first.answers == ("of the rain",)
