"""Every format of question files: results by hand, and errors of bad files."""

import gzip
import json
from dataclasses import replace

import pytest

from core.datasets import read_questions
from core.datasets.sets import QuestionSet
from core.errors import BadInput
from core.questions.question_files import text_without_brackets
from core.questions.rows import format_of_row
from core.types import Question


def write(tmp_path, text, name="q.jsonl"):
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return tmp_path / name


ROG = {
    "id": "W-1",
    "question": "who  is Ann",
    "answer": ["Bo", "Cy", "Bo"],
    "q_entity": ["Ann"],
    "a_entity": ["Bo"],
    "graph": [["Ann", "r", "Bo"]],
}
OWN = {"text": "who is Bo", "entities": "Bo", "answers": "Ann", "hops": 2}
WEBQSP = {
    "QuestionId": "WebQTest-0",
    "RawQuestion": "what does jamaican people speak?",
    "Parses": [
        {
            "TopicEntityName": "Jamaica",
            "TopicEntityMid": "m.03_r3",
            "InferentialChain": ["a.b", "c.d"],
            "Answers": [
                {
                    "AnswerType": "Entity",
                    "AnswerArgument": "m.01428y",
                    "EntityName": "Jamaican English",
                }
            ],
        },
        {
            "TopicEntityName": None,
            "TopicEntityMid": "m.1",
            "InferentialChain": None,
            "Answers": [{"AnswerArgument": "1999", "EntityName": None}],
        },
    ],
}
CWQ = {
    "ID": "W-7_a",
    "question": "What now?",
    "compositionality_type": "composition",
    "answers": [
        {"answer_id": "m.2", "answer": "Two", "aliases": []},
        {"answer_id": "m.3", "answer": None},
    ],
}
CWQ_TOG = {
    "ID": "W-8",
    "question": "And now?",
    "compositionality_type": "x",
    "topic_entity": {"m.1": "One", "m.9": ""},
    "answer": "Two",
}
GRAIL = {
    "qid": 42,
    "question": "g is part of what system?",
    "answer": [
        {"answer_type": "Entity", "answer_argument": "m.0", "entity_name": "SI"},
        {"answer_type": "Value", "answer_argument": "4"},
    ],
    "graph_query": {
        "nodes": [
            {"node_type": "class", "friendly_name": "System"},
            {"node_type": "entity", "id": "m.01", "friendly_name": "g"},
        ]
    },
}
SIMPLE = {
    "topic_entity": {"m.02": "Madam Satan"},
    "answer": "United States of America",
    "question": "where is madam satan",
    "relation": "country",
}
WEBQ = {
    "url": "http://www.freebase.com/view/en/jamaica",
    "question": "what language?",
    "answers": ["Patois", "English"],
}
WEBQ_OLD = {
    "url": "u",
    "utterance": "what name?",
    "targetValue": '(list (description "Jazmyn \\"J\\" Bieber") (description Jaxon))',
}

ALCE = {
    "sample_id": "7",
    "question": "Who has the most goals?",
    "answer": "Daei held the record until ...",
    "qa_pairs": [
        {"question": "for men?", "short_answers": ["Daei", "Ali Daei"], "context": "..."},
        {
            "question": "for all?",
            "short_answers": ["Bican", "Josef Bican", "Pepi Bican"],
            "context": "...",
        },
    ],
}
SHORT = {
    "question": "Who has?",
    "short_answers": [["Daei", "Ali Daei"], ["Bican", "Josef Bican", "Pepi Bican"]],
}
NAMED = {"question": "Who has?", "answers": ["Ann", ["Daei", "Ali Daei"]]}
ALIASED = {
    "id": "2hop__1",
    "question": "Who has?",
    "answer": "Daei",
    "answer_aliases": ["Ali Daei", "Daei"],
}
GROUPS = (("Daei", "Ali Daei"), ("Bican", "Josef Bican", "Pepi Bican"))

CASES = [
    (
        ALCE,
        "rows",
        Question("Who has the most goals?", "7", answers=("Daei", "Bican"), aliases=GROUPS),
    ),
    (SHORT, "rows", Question("Who has?", "q-1", answers=("Daei", "Bican"), aliases=GROUPS)),
    (
        NAMED,
        "rows",
        Question(
            "Who has?", "q-1", answers=("Ann", "Daei"), aliases=(("Ann",), ("Daei", "Ali Daei"))
        ),
    ),
    (
        ALIASED,
        "rows",
        Question("Who has?", "2hop__1", answers=("Daei",), aliases=(("Daei", "Ali Daei"),)),
    ),
    (ROG, "rows", Question("who is Ann", "W-1", ("Ann",), ("Bo", "Cy"))),
    (OWN, "rows", Question("who is Bo", "q-1", ("Bo",), ("Ann",), 2)),
    (
        WEBQSP,
        "webqsp",
        Question(
            "what does jamaican people speak?",
            "WebQTest-0",
            ("Jamaica", "m.1"),
            ("Jamaican English", "1999"),
            2,
        ),
    ),
    (CWQ, "cwq", Question("What now?", "W-7_a", (), ("Two", "m.3"))),
    (CWQ_TOG, "cwq", Question("And now?", "W-8", ("One", "m.9"), ("Two",))),
    (GRAIL, "grailqa", Question("g is part of what system?", "42", ("g",), ("SI", "4"))),
    (
        {**GRAIL, "topic_entity": {"m.01": "Gram"}},
        "grailqa",
        Question("g is part of what system?", "42", ("Gram",), ("SI", "4")),
    ),
    (
        SIMPLE,
        "simplequestions",
        Question("where is madam satan", "q-1", ("Madam Satan",), ("United States of America",), 1),
    ),
    (WEBQ, "webquestions", Question("what language?", "q-1", (), ("Patois", "English"))),
    (WEBQ_OLD, "webquestions", Question("what name?", "q-1", (), ('Jazmyn "J" Bieber', "Jaxon"))),
]


@pytest.mark.parametrize("row, format, question", CASES)
def test_a_row_of_every_format(tmp_path, row, format, question):
    assert format_of_row(row) == format
    line = write(tmp_path, json.dumps(row) + "\n")
    assert read_questions(line) == read_questions(line, "q", format=format) == (question,)
    array = write(tmp_path, json.dumps([row], indent=2), "q.json")
    packed = write(tmp_path, gzip.compress(json.dumps([row]).encode()), "q.json.gz")
    held = write(
        tmp_path, json.dumps({"Version": "1.0", "Questions": [row]}, indent=1), "held.json"
    )
    for file in (array, packed, held):
        (again,) = read_questions(file)
        assert replace(again, id="") == replace(question, id="")


PATH = "what is ann 's child 's sex ?\tmale(male/female/)\tann#child#bo#gender#male#<end>#male\n"
PQL = "the cast (x) ?\tTwo (film)(One/Two (film)/)\tann#plays#bo#in#cy#of#Two (film)\n"
SIMPLE_TEXT = (
    "www.freebase.com/m/04whkz5\twww.freebase.com/book/written_work/subjects\t"
    "www.freebase.com/m/01cj3p\twhat is it about?\n"
)


@pytest.mark.parametrize(
    "text, format, question",
    [
        (
            PATH,
            "pathquestion",
            Question("what is ann 's child 's sex ?", "q-1", ("ann",), ("male", "female"), 2),
        ),
        (
            PQL,
            "pathquestion",
            Question("the cast (x) ?", "q-1", ("ann",), ("One", "Two (film)"), 3),
        ),
        (
            SIMPLE_TEXT,
            "simplequestions-text",
            Question("what is it about?", "q-1", ("m.04whkz5",), ("m.01cj3p",), 1),
        ),
        ("who is [A B]?\tC|D|C\n", "metaqa", Question("who is A B?", "q-1", ("A B",), ("C", "D"))),
        ("[A] is what?\tC\n", "metaqa", Question("A is what?", "q-1", ("A",), ("C",))),
    ],
)
def test_a_line_of_every_text_format(tmp_path, text, format, question):
    file = write(tmp_path, text, "q.txt")
    assert read_questions(file) == read_questions(file, format=format) == (question,)


def test_ids_hops_and_marked_rows(tmp_path):
    rows = [
        {"id": "a", "question": "x"},
        {"question": "y", "good": True},
        {"id": "a", "question": "z", "good": True, "hops": 1},
    ]
    file = write(tmp_path, "\n\n".join(map(json.dumps, rows)))
    assert [q.id for q in read_questions(file, "set")] == ["a", "set-3", "a-set-5"]
    assert [(q.text, q.hops) for q in read_questions(file, hops=3, only="good")] == [
        ("y", 3),
        ("z", 1),
    ]
    with pytest.raises(BadInput, match="no questions"):
        read_questions(file, only="other")


HEAD = '{"question": "fine"}\n\n'


@pytest.mark.parametrize(
    "text, told",
    [
        (HEAD + "{", "q.jsonl, line 3: not JSON"),
        (HEAD + '{"question": ""}', "line 3: “question” is empty"),
        (HEAD + '{"answer": "x"}', "line 3: the key “question” is missing"),
        (HEAD + '{"question": ["x"]}', "line 3: “question” should be a text"),
        (HEAD + '{"question": "x", "answer": [{"a": 1}]}', "line 3: “answer” should be a text"),
        (HEAD + '{"question": "half \\ud800"}', "line 3: “question” holds half a letter"),
        (HEAD + '"text"', "line 3: expected a JSON object"),
        (
            HEAD + '{"Parses": {}, "RawQuestion": "x"}',
            "line 3: “Parses” should be a list of objects",
        ),
        ('[\n{"question": "fine"},\n{"question": }]', "line 3: not JSON"),
        ('[{"question": "fine"},\n\n{"question": 1},\n7]', "line 4: expected a JSON object"),
        ('[{"question": "fine"},\n', "line 2: not JSON"),
        ('[{"question": "fine"}]\n[]', "line 1: more text follows"),
        ("[" * 100_000, "q.jsonl, line 1"),
        ('{"a": ' * 100_000, "q.jsonl, line 1"),
        ('{\n"question": "fine"\n}', "one JSON object without a list of rows"),
        ("", "no questions"),
        (b"\xff\xfe{", "line 1: byte 1 is not UTF-8"),
    ],
)
def test_errors_in_rows_are_reported(tmp_path, text, told):
    with pytest.raises(BadInput, match=told):
        read_questions(write(tmp_path, text))


@pytest.mark.parametrize(
    "text, told",
    [
        (PATH + "what?\tmale\tann#child#bo\n", "line 2: expected question, answer"),
        (
            PATH + "what?\tmale(female/)\tann#child#bo#<end>#bo\n",
            "line 2: expected question, answer",
        ),
        (PATH + "what?\tbo(bo/)\tann#child\n", "line 2: expected question, answer"),
        (SIMPLE_TEXT + "a\tb\tc\n", "line 2: expected subject, relation, object and question"),
        ("who is [A]?\tB\nwho\n", "line 2: expected a question, a tab"),
    ],
)
def test_errors_in_text_are_reported(tmp_path, text, told):
    with pytest.raises(BadInput, match=told):
        read_questions(write(tmp_path, text, "q.txt"))


TRIPLES = "Ann\twrote\tHeat\nBo\tdirected\tUp\nCy\tstarred in\tIt\n"
WIDE = "q1\twho wrote [Heat]\tAnn\t1-hop\nq2\twho directed [Up]\tBo|Cy\t1-hop\n"


@pytest.mark.parametrize("text, count", [(TRIPLES, 3), (WIDE, 4), ("a [b]\tc\n" + WIDE, 4)])
def test_lines_of_other_columns_are_no_questions_of_metaqa(tmp_path, text, count):
    told = f"q.txt: most of its lines hold {count} columns that no format is known for; .*name them, as in question,answers,entities"
    for reading in (read_questions, text_without_brackets):
        with pytest.raises(BadInput, match=told):
            reading(write(tmp_path, text, "q.txt"))
    with pytest.raises(BadInput, match="expected a question, a tab"):
        read_questions(write(tmp_path, text, "q.txt"), format="metaqa")


def test_the_format_is_that_of_most_lines(tmp_path):
    metaqa = "who is [A]?\tB\nwho is [C]?\tD\n"
    with pytest.raises(BadInput, match="line 1: expected a question, a tab"):
        read_questions(write(tmp_path, "only one column\n" + metaqa, "q.txt"))
    with pytest.raises(BadInput, match="line 1: expected a question, a tab"):
        read_questions(write(tmp_path, PATH + metaqa, "q.txt"))
    with pytest.raises(BadInput, match="line 1: expected question, answer"):
        read_questions(write(tmp_path, "a\tb\n" + PATH + PATH, "q.txt"))


LIKE_ANSWERS = [
    "label",
    "Gold",
    "target",
    "ground_truths",
    "Answers",
    "final_answer",
    "correctAnswer",
    "short answers",
    "gold_label",
]
OTHERS = [
    {"has_answer": True},
    {"possible_answers": None},
    {"answer_type": "text"},
    {"answers_seen_by": 3},
]


@pytest.mark.parametrize("key", LIKE_ANSWERS)
def test_a_row_with_answers_under_another_key_is_refused(tmp_path, key):
    row = {"question": "who is Bo", "entities": ["Bo"], key: ["Ann"]}
    with pytest.raises(
        BadInput, match=f"q.jsonl, line 1: “{key}” seems to hold the answers; call it “answers”"
    ):
        read_questions(write(tmp_path, json.dumps(row)))
    assert read_questions(write(tmp_path, json.dumps(row | {"answer": "Ann"})))[0].answers == (
        "Ann",
    )
    assert read_questions(write(tmp_path, json.dumps(row | {"answers": []})))[0].answers == ()


@pytest.mark.parametrize("more", OTHERS, ids=str)
def test_other_keys_hold_no_answers(tmp_path, more):
    (question,) = read_questions(write(tmp_path, json.dumps({"question": "who is Bo"} | more)))
    assert question.answers == ()


def test_rows_that_begin_with_a_list_are_separate_questions(tmp_path):
    rows = [
        {"question": "who", "answers": ["B"], "data": [{"x": 1}]},
        {"question": "when", "answers": ["1985"], "data": []},
    ]
    found = read_questions(write(tmp_path, "".join(json.dumps(row) + "\n" for row in rows)))
    assert [(question.text, question.answers) for question in found] == [
        ("who", ("B",)),
        ("when", ("1985",)),
    ]


def test_unknown_formats_suggest_known_ones(tmp_path):
    with pytest.raises(BadInput, match="Did you mean “grailqa”"):
        read_questions(write(tmp_path, HEAD), format="grail")


def test_the_bare_text_of_a_file_of_questions(tmp_path):
    text = "who wrote [Up in  the Air]\tAnn|Bo\n\nwhat is\u00a0[It]\tCy\n"
    assert (
        text_without_brackets(write(tmp_path, text, "q.txt"))
        == "who wrote Up in the Air Ann|Bo what is It Cy"
    )
    assert text_without_brackets(
        write(tmp_path, gzip.compress(text.encode()), "q.txt.gz"), "metaqa"
    ).startswith("who wrote Up in the Air")
    # This format may escape its texts.
    assert text_without_brackets(write(tmp_path, json.dumps(OWN))) is None


def test_a_question_by_its_text(tmp_path):
    lines = write(
        tmp_path, "who wrote [Up in  the Air]\tAnn\nwhat is [It]\tCy\nwhat is [It]\tDi\n", "q.txt"
    )
    known = QuestionSet("q", "Q", lines)
    assert (
        known.find_question("who wrote Up in the Air").answers == ("Ann",)
        and known.find_question("what is It").id == "q-3"
    )
    assert (
        known.find_question("who wrote") is None
        and known.find_question("who wrote Up") is None
        and known.find_question("Ann") is None
    )
    rows = QuestionSet("r", "R", write(tmp_path, json.dumps(OWN)))
    assert (
        rows.find_question("who is Bo").answers == ("Ann",)
        and rows.find_question("who is Ann") is None
    )
