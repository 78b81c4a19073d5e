"""Small copies of published corpora: documents, questions and their gold documents."""

from __future__ import annotations

import gzip
import json

import pytest

from core.corpus.file_content import read_content
from core.corpus.published_corpora import read_published, without_trivial_gold
from core.corpus.titled_documents import TitledDocuments
from core.errors import BadInput
from core.io.plain_data import from_plain, to_plain
from core.questions import GOLD_KEYS, read_questions
from core.types import Question

HOTPOT = [
    {
        "_id": "q1",
        "question": "Where was Ann's friend born?",
        "answer": "Rome",
        "supporting_facts": [["Ann", 0], ["Bo", 1], ["Ann", 1]],
        "context": [
            ["Ann", ["Ann knows Bo.", " They are friends."]],
            ["Bo", ["Bo is tall.", " He was born in Rome."]],
            ["Cy", ["Cy is here."]],
        ],
    },
    {
        "_id": "q2",
        "question": "Is Cy here?",
        "answer": "yes",
        "supporting_facts": [["Cy", 0]],
        "context": [["Cy", ["Cy is here."]]],
    },
]


def write_rows(path, rows, array=False):
    data = json.dumps(rows, indent=1) if array else "\n".join(map(json.dumps, rows))
    path.write_bytes(gzip.compress(data.encode()) if path.suffix == ".gz" else data.encode())
    return path


@pytest.mark.parametrize(
    "name, array", [("h.jsonl", False), ("h.json", True), ("h.jsonl.gz", False)]
)
def test_a_paragraph_of_hotpotqa_is_a_document_by_its_title(tmp_path, name, array):
    documents, sets = read_published(
        "hotpotqa", write_rows(tmp_path / name, HOTPOT, array), {"h": None}
    )
    assert [(d.id, d.text) for d in documents] == [
        ("Ann", "Ann knows Bo. They are friends."),
        ("Bo", "Bo is tall. He was born in Rome."),
        ("Cy", "Cy is here."),
    ]
    first, second = sets["h"].questions
    assert (first.id, first.text, first.answers, first.gold) == (
        "q1",
        HOTPOT[0]["question"],
        ("Rome",),
        ("Ann", "Bo"),
    )
    assert (second.answers, second.gold) == (("yes",), ("Cy",))


def test_a_question_of_hotpotqa_keeps_its_blanks(tmp_path):
    """Saved answers are found again by the exact text of their question."""
    row = HOTPOT[0] | {"question": "Which  of them is tall? "}
    _, sets = read_published("hotpotqa", write_rows(tmp_path / "h.json", [row], True), {"h": None})
    assert sets["h"].questions[0].text == "Which  of them is tall? "


def test_passages_come_by_title_and_questions_by_gold_titles(tmp_path):
    passages = write_rows(
        tmp_path / "corpus.json",
        [{"title": "A", "text": "One."}, {"title": "B", "text": "Two."}],
        array=True,
    )
    asked = write_rows(
        tmp_path / "q.jsonl",
        [{"question": "Which?", "gold_titles": ["A", "B"], "multihop_list": False}],
    )
    documents, sets = read_published("passages", passages, {"p": asked})
    assert [(d.id, d.title, d.text) for d in documents] == [("A", "A", "One."), ("B", "B", "Two.")]
    (question,) = sets["p"].questions
    assert (question.id, question.answers, question.gold) == ("p-1", (), ("A", "B"))


def test_two_texts_of_one_title_are_two_documents_and_one_text_is_one(tmp_path):
    rows = [
        {"title": "A", "text": "One."},
        {"title": "A", "text": "Two."},
        {"title": "A", "text": "One."},
    ]
    documents, _ = read_published("passages", write_rows(tmp_path / "c.json", rows, array=True), {})
    assert [(d.id, d.title, d.text) for d in documents] == [
        ("A", "A", "One."),
        ("A (2)", "A", "Two."),
    ]


def test_several_texts_of_a_title_make_the_source_of_a_question_its_gold(tmp_path):
    asked = write_rows(
        tmp_path / "q.json",
        [{"id": "1", "source": "B", "question": "Q?", "answer": "x", "question_type": "Fact"}],
        array=True,
    )
    for rows, gold in (
        ([{"corpus_name": "B", "context": "t"}], ()),  # every method finds the only document
        ([{"corpus_name": name, "context": name} for name in "AB"], ("B",)),
    ):
        builder = TitledDocuments()
        corpus_file = write_rows(tmp_path / "c.json", rows, array=True)
        documents, sets = read_published(
            "graphrag-bench", corpus_file, {"g": asked}, builder=builder
        )
        assert [d.id for d in documents] == [row["corpus_name"] for row in rows]
        sets = without_trivial_gold(sets, documents, builder)
        assert [(one.answers, one.gold) for one in sets["g"].questions] == [(("x",), gold)]


def whole_text(id):
    return {"_id": id, "context": f"The text of {id}.", "question": f"Who is {id}?", "answer": "x"}


def test_files_of_one_corpus_keep_their_sets_and_gold(tmp_path):
    """The stems of the files are alike, and each file holds one whole text."""
    files = [tmp_path / folder / "dev.json" for folder in "abc"]
    for file in files:
        file.parent.mkdir()
        write_rows(file, [whole_text(file.parent.name)], array=True)
    content = read_content("c", files, None, "files", "")
    documents = [document.id for document in content.documents]
    assert len(documents) == 3 and list(content.sets) == ["c", "c-dev", "c-dev-2"]
    questions = [question for file in content.sets.values() for question in file.questions]
    assert [question.gold for question in questions] == [(id,) for id in documents]
    alone = read_content("c", files[:1], None, "files", "")
    assert alone.sets["c"].questions[0].gold == ()
    row = {
        "question": "Who?",
        "answers": ["x"],
        "gold": ["notes.txt"],
    }  # of a document there before
    own = write_rows(tmp_path / "own.jsonl", [row])
    asked = read_content("c", files[:1], None, "files", own)
    assert asked.sets["c"].questions[0].gold == ("notes.txt",)


def test_file_whose_pages_have_no_text_is_noted_after_another(tmp_path):
    page = "<html><body>{}</body></html>"
    files = []
    for name, body in (("a", "A text about Ann."), ("b", "<script>1</script>")):
        results = [{"page_name": name, "page_url": name, "page_result": page.format(body)}]
        row = {"query": f"Who is {name}?", "answer": "x", "search_results": results}
        files.append(write_rows(tmp_path / f"{name}.jsonl", [row]))
    content = read_content("c", files, None, "files", "")
    assert len(content.documents) == 1 and list(content.sets) == ["c", "c-b"]
    assert content.sets["c-b"].reading_notes == ("Left out of b.jsonl: 1 page without a text.",)


def test_file_without_passages_is_refused_also_after_another(tmp_path):
    builder = TitledDocuments()
    first = write_rows(tmp_path / "a.json", [whole_text("a")], array=True)
    read_published("rows", first, {"a": None}, builder=builder)
    row = {"question": "Who?", "answer": "x", "context": []}
    second = write_rows(tmp_path / "b.json", [row], array=True)
    with pytest.raises(BadInput, match="b.json: no row brings passages"):
        read_published("rows", second, {"b": None}, builder=builder)


@pytest.fixture
def beir(tmp_path):
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    write_rows(
        folder / "corpus.jsonl.gz",
        [
            {"_id": "1", "title": "T", "text": "One.", "metadata": {}},
            {"_id": "2", "title": "", "text": "Two."},
        ],
    )
    write_rows(
        folder / "queries.jsonl", [{"_id": "q", "text": "Which?"}, {"_id": "r", "text": "Who?"}]
    )
    (folder / "qrels" / "train.tsv").write_text(
        "query-id\tcorpus-id\tscore\nr\t2\t2\nq\t1\t1\nr\t1\t1\nr\t2\t1\n"
    )
    (folder / "qrels" / "test.tsv").write_text("q\t1\t1\nq\t2\t0\n")
    return folder


def test_each_file_of_judgements_is_a_set_with_the_documents_above_zero(beir):
    documents, sets = read_published("beir", beir, {})
    assert [(d.id, d.title, d.text) for d in documents] == [("1", "T", "One."), ("2", "", "Two.")]
    assert {
        name: [(q.id, q.text, q.gold) for q in asked.questions] for name, asked in sets.items()
    } == {
        "test": [("q", "Which?", ("1",))],
        "train": [("r", "Who?", ("2", "1")), ("q", "Which?", ("1",))],
    }
    assert list(read_published("beir", beir, {"test": None})[1]) == ["test"]


@pytest.mark.parametrize(
    "file, text, sentence",
    [
        ("qrels/test.tsv", "q 1 1\n", "test.tsv, line 1: expected query, document and score"),
        (
            "qrels/test.tsv",
            "z\t1\t1\nq\t9\t1\nq\t1\t0\n",
            "test.tsv judges no document of this folder above 0",
        ),
        (
            "qrels/test.tsv",
            "q\t1\tmuch\nq\t1\tmore\n",
            "test.tsv, line 2: the row is not of the form",
        ),
        ("queries.jsonl", '{"text": "Which?"}\n', "queries.jsonl, line 1: the row has no '_id'"),
    ],
)
def test_a_folder_of_another_form_is_refused_with_the_place(beir, file, text, sentence):
    (beir / file).write_text(text)
    with pytest.raises(BadInput, match=sentence):
        read_published("beir", beir, {})


def test_a_folder_without_a_required_file_is_refused(tmp_path):
    with pytest.raises(BadInput, match="holds no corpus.jsonl, plain or packed"):
        read_published("beir", tmp_path, {})


@pytest.mark.parametrize(
    "format, row, sentence",
    [
        (
            "hotpotqa",
            {"question": "Q?", "answer": "x"},
            "c.jsonl: no row brings passages. Looked for context, .*; the rows have question, answer",
        ),
        (
            "hotpotqa",
            {"context": [["A"]], "supporting_facts": []},
            "c.jsonl, line 1: the row is not of the form",
        ),
        ("passages", {"title": "A"}, "the row has no 'text'"),
        ("passages", {"title": "A", "text": None}, "None is no text"),
        ("passages", {"title": "A", "text": ["a", "b"]}, "is no text"),
        ("graphrag-bench", {"context": "A"}, "the row has no 'corpus_name'"),
    ],
)
def test_a_row_of_another_form_is_refused_with_the_place(tmp_path, format, row, sentence):
    with pytest.raises(BadInput, match=sentence):
        read_published(format, write_rows(tmp_path / "c.jsonl", [row]), {"set": None})


def test_a_book_is_one_document(tmp_path):
    (tmp_path / "my-book.txt.gz").write_bytes(gzip.compress(b"Once, {then} <b>."))
    documents, sets = read_published("book", tmp_path / "my-book.txt.gz", {})
    assert [(d.id, d.text, d.source) for d in documents] == [
        ("my-book", "Once, {then} <b>.", "my-book.txt.gz")
    ] and sets == {}


def test_answers_and_gold_are_texts_whatever_the_row_holds(tmp_path):
    rows = [{"question": "When?", "answer": 1843, "gold": [7]}, {"question": "No answer?"}]
    first, second = read_questions(write_rows(tmp_path / "q.jsonl", rows), "s", gold=GOLD_KEYS)
    assert (first.id, first.answers, first.gold) == ("s-1", ("1843",), ("7",)) and (
        second.id,
        second.answers,
    ) == ("s-2", ())


def test_the_names_of_an_answer_are_a_group_and_come_back_from_json(tmp_path):
    pairs = [{"short_answers": ["Daei", "Ali Daei"]}, {"short_answers": ["Bican"]}]
    rows = [{"question": "Who?", "sample_id": "-7", "answer": "A long one.", "qa_pairs": pairs}]
    rows += [
        {"question": "Which?", "answer": "Daei", "answer_aliases": ["Ali Daei"]},
        {"question": "Where?", "answers": ["A", ["B", "b"]]},
    ]
    found = read_questions(write_rows(tmp_path / "q.jsonl", rows), "s", gold=GOLD_KEYS)
    assert [(one.answers, one.aliases) for one in found] == [
        (("Daei", "Bican"), (("Daei", "Ali Daei"), ("Bican",))),
        (("Daei",), (("Daei", "Ali Daei"),)),
        (("A", "B"), (("A",), ("B", "b"))),
    ]
    assert found[0].id == "-7" and [
        from_plain(Question, json.loads(json.dumps(to_plain(one)))) for one in found
    ] == list(found)
