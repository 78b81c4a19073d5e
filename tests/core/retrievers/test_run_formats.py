"""Finished runs in each supported file format, with automatic detection of the format."""

import gzip
import json

import pytest

from core.errors import BadInput
from core.retrievers.reply import ReplyDocument
from core.retrievers.runs.formats import TREC_FORMAT, read_run_file
from core.retrievers.runs.trec import read_qrels
from tests.notes import NoteWith

OTLP = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "traceId": "t1",
                            "spanId": "a",
                            "startTimeUnixNano": "1",
                            "attributes": [
                                {
                                    "key": "openinference.span.kind",
                                    "value": {"stringValue": "CHAIN"},
                                },
                                {
                                    "key": "input.value",
                                    "value": {"stringValue": '{"query": "who?"}'},
                                },
                                {"key": "output.value", "value": {"stringValue": "Ann"}},
                            ],
                        },
                        {
                            "traceId": "t1",
                            "spanId": "b",
                            "parentSpanId": "a",
                            "startTimeUnixNano": "2",
                            "attributes": [
                                {
                                    "key": "openinference.span.kind",
                                    "value": {"stringValue": "RETRIEVER"},
                                },
                                {
                                    "key": "retrieval.documents.1.document.content",
                                    "value": {"stringValue": "second"},
                                },
                                {
                                    "key": "retrieval.documents.0.document.id",
                                    "value": {"stringValue": "d1"},
                                },
                                {
                                    "key": "retrieval.documents.0.document.content",
                                    "value": {"stringValue": "first"},
                                },
                                {
                                    "key": "retrieval.documents.0.document.score",
                                    "value": {"doubleValue": 0.5},
                                },
                            ],
                        },
                    ]
                }
            ]
        }
    ]
}
PHOENIX = [
    {
        "context.trace_id": "t1",
        "span_kind": "RETRIEVER",
        "parent_id": "root",
        "start_time": "2026-01-01T00:00:01",
        "attributes.retrieval.documents": [
            {"document.content": "first", "document.id": "d1", "document.score": 0.5}
        ],
        "attributes.input.value": "rewritten",
    },
    {
        "context.trace_id": "t1",
        "span_kind": "CHAIN",
        "parent_id": None,
        "start_time": "2026-01-01T00:00:00",
        "attributes.input.value": "who?",
        "attributes.output.value": "Ann",
    },
]
LANGFUSE = {
    "id": "t1",
    "timestamp": "2026-01-01",
    "input": {"question": "who?"},
    "output": {"answer": "Ann"},
    "observations": [
        {
            "type": "RETRIEVER",
            "name": "search",
            "input": "who?",
            "output": [{"pageContent": "first", "metadata": {"id": "d1"}, "score": 0.5}],
        },
        {
            "type": "GENERATION",
            "name": "llm",
            "input": [{"role": "user", "content": "..."}],
            "output": {"role": "assistant", "content": "Ann!"},
        },
    ],
}
FIRST = ReplyDocument("d1", text="first", score=0.5)
RAGAS = {
    "user_input": "who?",
    "retrieved_contexts": ["first"],
    "retrieved_context_ids": ["d1"],
    "response": "Ann",
    "reference": "Ann Lee",
}
HIPPORAG = {
    "question": "who?",
    "answer": "Ann",
    "gold_answers": ["Ann Lee"],
    "docs": ["first"],
    "doc_scores": [0.5],
    "gold_docs": None,
}
BENCH = {
    "id": "7",
    "question": "who?",
    "context": ["first"],
    "evidence": "e",
    "generated_answer": "Ann",
    "ground_truth": "Ann Lee",
}
DPR = {
    "question": "who?",
    "answers": ["Ann Lee"],
    "ctxs": [{"id": "d1", "title": "T", "text": "first", "score": "0.5"}],
}
TITLES = (ReplyDocument(title="T"), ReplyDocument(title="U"))
IDS = (ReplyDocument(named="d1", score=2.0), ReplyDocument(named="d2", score=1.0))
# Contents and format of each file, then the id, question, documents and answer of its only row.
CASES = {
    "openinference-otlp": (
        OTLP,
        "openinference",
        "",
        "who?",
        (FIRST, ReplyDocument(text="second")),
        "Ann",
    ),
    "openinference-phoenix": (PHOENIX, "openinference", "", "who?", (FIRST,), "Ann"),
    "langfuse": (LANGFUSE, "langfuse", "", "who?", (FIRST,), "Ann"),
    "ragas": ([RAGAS], "ragas", "", "who?", (ReplyDocument("d1", text="first"),), "Ann"),
    "ragas-early": (
        [{"question": "who?", "contexts": ["first"], "answer": "Ann", "ground_truth": "Ann Lee"}],
        *("rows", "", "who?", (ReplyDocument(named="first"),), "Ann"),
    ),
    "hipporag": (
        [HIPPORAG],
        "hipporag",
        "",
        "who?",
        (ReplyDocument(named="first", score=0.5),),
        "Ann",
    ),
    "graphrag-bench": (
        [BENCH],
        "graphrag-bench",
        "7",
        "who?",
        (ReplyDocument(named="first"),),
        "Ann",
    ),
    "benchmark-qed": (
        [{"question_id": "7", "question_text": "who?", "answer": "Ann"}],
        "benchmark-qed",
        "7",
        "who?",
        (),
        "Ann",
    ),
    "answers-alone": ([{"id": 7, "prediction": "Ann"}], "rows", "7", "", (), "Ann"),
    "ids-alone": (
        [{"qid": "7", "doc_ids": ["d1", "d2"], "scores": [2, 1]}],
        "rows",
        "7",
        "",
        IDS,
        None,
    ),
    "dpr": ([DPR], "rows", "", "who?", (ReplyDocument("d1", "T", "first", 0.5),), None),
    "rog": (
        [
            {
                "id": "7",
                "question": "who?",
                "prediction": "Ann",
                "ground_truth": ["Ann"],
                "input": "x",
            }
        ],
        "rog",
        "7",
        "who?",
        (),
        "Ann",
    ),
    "tog": (
        [{"question": "who?", "results": "Ann", "reasoning_chains": []}],
        "tog",
        "",
        "who?",
        (),
        "Ann",
    ),
    "hotpotqa": (
        {"answer": {"7": "Ann"}, "sp": {"7": [["T", 0], ["T", 2], ["U", 0]]}},
        "hotpotqa",
        "7",
        "",
        TITLES,
        "Ann",
    ),
    "squad": ({"7": "Ann"}, "hotpotqa", "7", "", (), "Ann"),
}


@pytest.mark.parametrize("name", CASES)
def test_row_of_each_format_is_read(tmp_path, name):
    data, format, id, question, documents, answer = CASES[name]
    file = tmp_path / "run.json"
    file.write_text(json.dumps(data), "utf-8")
    found = read_run_file(file)
    assert found.format == format and len(found.rows) == 1 and not found.notes
    (row,) = found.rows
    assert (row.id, row.question, row.documents, row.answer) == (id, question, documents, answer)


def test_known_answers_are_read(tmp_path):
    for name in ("ragas", "ragas-early", "hipporag", "graphrag-bench"):
        file = tmp_path / f"{name}.jsonl"
        file.write_text("\n".join(map(json.dumps, CASES[name][0])), "utf-8")
        assert read_run_file(file).rows[0].references == ("Ann Lee",)


def test_trec_run_is_sorted_as_by_trec_eval(tmp_path):
    """d1 and d3 have equal scores: the larger id comes first, whatever their ranks."""
    file = tmp_path / "run.txt.gz"
    lines = [
        "q2 Q0 d9 1 1.0 mine",
        "q1 Q0 d1 1 0.5 mine",
        "q1\tQ0\td2\t3\t0.9\tmine",
        "",
        "q1 Q0 d3 2 0.5 mine",
    ]
    file.write_bytes(gzip.compress("\n".join(lines).encode()))
    found = read_run_file(file)
    assert found.format == TREC_FORMAT and [row.id for row in found.rows] == ["q2", "q1"]
    assert [(one.id, one.score) for one in found.rows[1].documents] == [
        ("d2", 0.9),
        ("d3", 0.5),
        ("d1", 0.5),
    ]


def test_lists_in_tables_are_texts(tmp_path):
    file = tmp_path / "run.csv"
    file.write_text(
        'user_input,retrieved_contexts,response\n"who?","[\'first\', ""it\'s""]",Ann\n', "utf-8"
    )
    (row,) = read_run_file(file).rows
    assert (
        row.documents == (ReplyDocument(named="first"), ReplyDocument(named="it's"))
        and row.answer == "Ann"
    )
    import pyarrow as pa
    import pyarrow.parquet as parquet

    parquet.write_table(
        pa.table({"question": ["who?"], "contexts": [["first"]], "answer": ["Ann"]}),
        tmp_path / "run.parquet",
    )
    assert read_run_file(tmp_path / "run.parquet").rows[0].documents == (
        ReplyDocument(named="first"),
    )


def test_empty_and_repeated_rows_are_counted(tmp_path):
    file = tmp_path / "run.jsonl"
    rows = [
        {"question": "a", "answer": "1"},
        {"question": "A ", "answer": "2"},
        {"question": "b"},
        {"answer": "3"},
    ]
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    found = read_run_file(file)
    assert [row.answer for row in found.rows] == ["1"]
    assert found.notes == (
        NoteWith("no question", "id", "1 row"),
        NoteWith("no documents, paths or answer", "1 row"),
        NoteWith("earlier row", "1 row"),
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "holds no|no finished run"),
        ("q1 0 d1 1\nq1 0 d2 0\n", "judgements of relevance rather than a run"),
        ("hello\nworld\n", "no finished run that is known here"),
        (
            '[{"colour": "red"}]',
            "“colour”, and “question” or “id” and “contexts”, “paths” or “answer” is missing",
        ),
        ("qid,text\n1,a\n", "“qid”, “text”, and “contexts”, “paths” or “answer” is missing"),
        ("docs,text\n1,a\n", "“docs”, “text”, and “question” or “id” is missing"),
        ('{"a": [1, 2', "JSON|no finished run"),
        ("[]", "no finished run"),
        ("q1 Q0 d1 1 0.5 mine\nq1 Q0 d2\n", "line 2: expected question, Q0, document"),
        ("\x00\xff\x00", "no finished run|cannot"),
        ("<script>alert(1)</script>", "no finished run"),
    ],
)
def test_invalid_run_is_a_readable_error(tmp_path, text, why):
    file = tmp_path / "run.txt"
    file.write_bytes(text.encode("utf-8"))
    with pytest.raises(BadInput, match=why):
        read_run_file(file)


def test_unknown_format_names_the_nearest(tmp_path):
    with pytest.raises(BadInput, match="Did you mean “ragas”"):
        read_run_file(tmp_path / "run.json", "raggas")


def test_qrels_have_three_or_four_columns(tmp_path):
    file = tmp_path / "qrels"
    file.write_text("1 0 d1 1\n1 0 d2 2\n1 0 d3 0\n2 0 d1 0\n", "utf-8")
    assert read_qrels(file) == {"1": ("d2", "d1"), "2": ()}
    file.write_text("query-id\tcorpus-id\tscore\n1\td 1\t1\n", "utf-8")
    assert read_qrels(file) == {"1": ("d 1",)}
    for wrong, why in (("1 0 d1\n", "line 1"), ("", "no judgements"), ("1 0 d1 high\n", "line 1")):
        file.write_text(wrong, "utf-8")
        with pytest.raises(BadInput, match=why):
            read_qrels(file)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_other_text_encodings_are_read(tmp_path, encoding):
    (tmp_path / "r.trec").write_bytes("q1 Q0 möwe.txt 1 2.0 x\n".encode(encoding))
    found = read_run_file(tmp_path / "r.trec")
    assert found.rows[0].documents[0].id == "möwe.txt"
    assert any(encoding in note for note in found.notes) == (encoding == "utf-16")
    (tmp_path / "qrels.txt").write_bytes("q1 0 möwe.txt 1\n".encode(encoding))
    assert read_qrels(tmp_path / "qrels.txt") == {"q1": ("möwe.txt",)}
