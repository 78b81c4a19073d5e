"""Files brought on the Texts screen, what is refused, and taking documents away again."""

from __future__ import annotations

import json

import pytest

from core.corpus import corpora, open_corpus
from core.io.hub_sets import saved_set_path
from core.sources import CorpusSource
from pages.parts.shared.session_state import DEFAULT_SOURCE
from tests.core.corpus.readers.test_converted import saved, sheets
from tests.core.corpus.readers.test_hostile import SLOW
from tests.core.corpus.readers.test_marked import made_pdf
from tests.pages.bringing.zone_kit import choice, choose, chosen, drop, name_it, zipped
from tests.pages.texts.texts_kit import HOSTILE, button, labels, opened, texts, until

ADD = "Add"


def bring(*files, name="small"):
    at = drop(opened(name, texts_open=ADD), *files)
    return at if chosen(at).startswith("set/") else choose(at, "documents")


def read(at):
    button(at, "Add documents").click().run()
    return until(at, lambda: at.success or at.error)


def test_files_become_texts_that_are_looked_at(small):
    at = bring(("My notes.md", f"# One\n\n{HOSTILE}".encode()), ("two.txt", b"Two."))
    at.selectbox(key="texts_into").set_value("").run()
    read(at)
    assert "2 documents added" in texts(at) and "my-notes" in corpora()
    # they are the ones that “Ask about it” asks about
    assert at.session_state["source_wanted"] == CorpusSource("my-notes")
    assert HOSTILE in open_corpus("my-notes").document("My notes.md").text
    button(at, "Continue to its graph").click().run()
    assert not at.exception and at.session_state["source_wanted"] == CorpusSource("my-notes")


def test_files_are_added_to_texts_of_ones_own(small):
    at = read(bring(("more.txt", b"More of it.")))
    assert "1 document added" in texts(at) and "more.txt" in open_corpus("small")


def test_what_cannot_be_read_is_told_and_the_rest_is_kept(small):
    at = read(
        bring(
            ("good.txt", b"Good."),
            ("bad.pdf", b"%PDF-1.4 nothing"),
            ("mixed.zip", zipped(**{"a.txt": "A.", "b.exe": "no"})),
        )
    )
    assert "2 documents added" in texts(at) and "bad.pdf" in texts(at) and "b.exe" in texts(at)


@pytest.mark.parametrize(
    "file, content, told",
    [
        ("empty.txt", b" ", "empty.txt is empty"),
        ("no.zip", b"PK no", "damaged or no zip"),
        ("empty.pdf", b"", "empty.pdf is empty"),
        ("scan.pdf", made_pdf("", ""), "it looks scanned. Recognise its text (OCR) first."),
        ("locked.pdf", made_pdf("x", password="secret"), "locked with a password"),
        ("bomb.zip", zipped(**{"a.txt": "0" * 5000}), "bomb.zip would unpack to more than"),
    ],
)
def test_nothing_to_read_is_a_sentence(small, monkeypatch, file, content, told):
    monkeypatch.setattr("core.corpus.readers.file_sources.MAX_ZIP_BYTES", 4000)
    at = read(bring((file, content)))
    assert (
        told in texts(at)
        and "Nothing was saved" in texts(at)
        and open_corpus("small").n_documents == 2
    )


@pytest.mark.parametrize(
    "file, content, text",
    [
        (
            "old.txt",
            "Zoé dîne à Genève avec Éric. L'été est très chaud à Malmö.".encode("latin-1"),
            "Zoé dîne à Genève avec Éric.",
        ),
        (
            "tags.txt",
            b"<script>alert(1)</script> {braces} {{x}}",
            "<script>alert(1)</script> {braces} {{x}}",
        ),
        ("aes.pdf", made_pdf("Some words", cipher="AES-256"), "Some words"),
        ("zh.txt", "李白乘舟将欲行。".encode(), "李白乘舟将欲行。"),
    ],
)
def test_what_is_odd_but_text_is_read_as_it_stands(small, file, content, text):
    at = read(bring((file, content)))
    assert "1 document added" in texts(at) and text in open_corpus("small").document(file).text


def test_an_encoding_that_was_guessed_is_told(small):
    at = read(bring(("old.txt", "Zoé dîne à Genève.".encode("latin-1"))))
    said = "old.txt is not UTF-8; it was read as cp1252 (Western Europe), which it looks like. Name its encoding where letters are wrong."
    assert said in texts(at)
    at = opened(texts_open="Documents", texts_document=("small", "old.txt"))
    assert said in texts(at)


def test_an_encoding_that_is_not_sure_is_chosen_by_how_it_reads(small):
    data = "Москва".encode("cp1251")
    assert "its encoding is not sure" in texts(read(bring(("old.txt", data))))
    at = bring(("old.txt", data))
    choice = next(one for one in at.selectbox if one.label.startswith("Encoding"))
    assert "cp1251, Cyrillic, Windows: Москва" in choice.options
    choice.set_value("cp1251").run()
    read(at)
    assert open_corpus("small").document("old.txt").text == "Москва"


def test_documents_in_utf_8_offer_no_encoding(small):
    at = bring(("new.txt", "Москва".encode()), ("a.pdf", made_pdf("x")))
    assert not any(one.label.startswith("Encoding") for one in at.selectbox)


def test_rows_that_a_table_no_longer_has_are_named_and_removed_on_demand(small):
    read(bring(("t.csv", b"id,text\n1,One.\n2,Two.\n")))
    at = read(bring(("t.csv", b"id,text\n1,One.\n")))
    assert ": t.csv:2." in texts(at)
    assert "t.csv:2" in open_corpus("small")
    at.button(key="texts_missing").click().run()
    assert (
        "t.csv:2" not in open_corpus("small")
        and not at.exception
        and "no longer in them" not in texts(at)
    )


def test_a_title_that_is_no_name_or_taken_is_a_sentence(small):
    at = bring(("small.txt", b"Small."))
    at.selectbox(key="texts_into").set_value("").run()
    button(at, "Add documents").click().run()
    assert "Texts called “small” already exist" in texts(at)
    next(one for one in at.text_input if one.label == "Title").set_value(" ").run()
    button(at, "Add documents").click().run()
    assert "a title" in texts(at) and not at.success


def test_a_title_in_other_letters_gets_a_name_with_a_number(small):
    at = bring(("书.txt", "李白乘舟将欲行。".encode()))
    at.selectbox(key="texts_into").set_value("").run()
    read(at)
    assert open_corpus("texts-1").title == "书"


def test_a_document_and_then_the_texts_are_removed(small):
    at = opened(
        texts_open="Documents",
        texts_document=("small", "town"),
        source=CorpusSource("small"),
    )
    at.query_params["corpus"] = "small"
    until(at, lambda: at.get("html"))
    at.button(key="texts_remove_one").click().run()
    assert not at.exception and "town" not in open_corpus("small")
    at.button(key="texts_remove").click().run()
    assert not at.exception and "small" not in corpora()
    assert at.session_state.source == DEFAULT_SOURCE and not at.warning and not at.error


def test_shipped_texts_are_not_removed(small):
    at = opened("christmas-carol", texts_open="Documents")
    assert "Yes, remove it" not in labels(at) and not at.exception


def test_a_table_without_a_header_is_asked_about(small):
    at = bring(("t.csv", b"1,Ann kept the book.\n2,Bo sailed in May.\n"))
    (box,) = [one for one in at.checkbox if one.label == "The first row names the columns"]
    assert box.value is False
    assert next(one for one in at.selectbox if one.label == "Column: Text").options == ["1", "2"]
    read(at)
    assert {open_corpus("small").document(f"t.csv:{row}").text for row in (1, 2)} == {
        "Ann kept the book.",
        "Bo sailed in May.",
    }
    at = bring(("u.csv", b"1,Ann kept the book.\n2,Bo sailed in May.\n"))
    at.checkbox[0].set_value(True).run()
    read(at)
    assert "u.csv:2" not in open_corpus("small") and open_corpus("small").document(
        "u.csv:1"
    ).text.endswith("Bo sailed in May.")


def test_columns_of_a_table_are_chosen(small):
    at = bring(("mails.csv", b"No,Re,Message,Body\n7,Hello,The first,x\n8,Bye,The second,y\n"))
    chosen = {one.label: one for one in at.selectbox if one.label.startswith("Column")}
    assert {label: one.value for label, one in chosen.items()} == {
        "Column: Text": "Body",
        "Column: Title": "",
        "Column: Id": "",
    }
    for label, name in (("Column: Text", "Message"), ("Column: Title", "Re"), ("Column: Id", "No")):
        next(one for one in at.selectbox if one.label == label).set_value(name).run()
    read(at)
    document = open_corpus("small").document("mails.csv:7")
    assert (document.text, document.title) == (
        "The first",
        "Hello",
    ) and "2 documents added" in texts(at)


def test_fields_of_json_rows_are_chosen_and_none_may_be_the_title(small):
    at = bring(
        ("rows.jsonl", b'{"title": "T", "said": "Some words."}\n{"said": "More.", "when": 3}\n')
    )
    assert next(one for one in at.selectbox if one.label == "Column: Text").options == [
        "none: each row as a sentence",
        "title",
        "said",
        "when",
    ]
    next(one for one in at.selectbox if one.label == "Column: Text").set_value("said").run()
    next(one for one in at.selectbox if one.label == "Column: Title").set_value("").run()
    read(at)
    assert open_corpus("small").document("rows.jsonl:1").title == "rows"


def test_a_table_without_a_column_of_texts_is_read_row_by_row(small):
    at = bring(("fares.csv", b"route,adult\nVarberg-Grenaa,42\n"))
    chosen = next(one for one in at.selectbox if one.label == "Column: Text")
    assert (chosen.value, chosen.options[0]) == ("", "none: each row as a sentence")
    read(at)
    shown = texts(at)
    assert open_corpus("small").document("fares.csv:1").text == "route: Varberg-Grenaa; adult: 42"
    assert "each row is a sentence" in shown and "text=" not in shown and "--" not in shown


def test_a_field_within_others_is_found_where_none_is_chosen(small):
    read(bring(("rows.jsonl", b'{"data": {"text": "One.", "n": 1}}\n')))
    assert open_corpus("small").document("rows.jsonl:1").text == "One."


def test_columns_of_a_workbook_are_chosen(small):
    at = bring(("mails.xlsx", saved(sheets(A=[["No", "Re", "Said"], [7, "Hello", "The first"]]))))
    chosen = next(one for one in at.selectbox if one.label == "Column: Text")
    assert chosen.value == "" and chosen.options == [
        "none: one document per workbook",
        "No",
        "Re",
        "Said",
    ]
    chosen.set_value("Said").run()
    read(at)
    assert open_corpus("small").document("mails.xlsx:1").text == "The first"
    at = bring(("whole.xlsx", saved(sheets(A=[["No", "Re"], [7, "Hello"]]))))
    read(at)
    assert open_corpus("small").document("whole.xlsx").text == "No | Re\n7 | Hello"


def test_a_workbook_that_cannot_be_read_offers_no_columns(small):
    at = bring(("broken.xlsx", b"PK nothing"))
    assert not [one for one in at.selectbox if one.label == "Column: Text"]
    read(at)
    assert "damaged or no workbook" in texts(at)


def test_a_set_is_brought_by_its_id_with_its_questions(small):
    folder = saved_set_path("irds:toy/docs")
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(
        '{"_id": "d1", "title": "Rome", "text": "Ann lives in Rome."}\n'
    )
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "Where does Ann live?"}\n')
    (folder / "qrels" / "docs.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    at = name_it(opened("small", texts_open=ADD), "irds:toy/docs")
    until(at, lambda: "Add documents" in labels(at))
    at.selectbox(key="texts_into").set_value("").run()
    read(at)
    corpus = open_corpus("irds-toy-docs")
    assert corpus.ids == ("d1",) and [
        one.gold for name in corpus.sets for one in corpus.questions(name)
    ] == [("d1",)]
    assert (
        next(one for one in at.text_input if one.label == "Path, address or dataset ID").value == ""
    )


def test_tables_without_a_column_in_common_are_not_chosen_from(small):
    at = bring(("a.csv", b"text\nA.\n"), ("b.csv", b"words\nB.\n"))
    assert "no column in common" in texts(at) and not [
        one for one in at.selectbox if one.label.startswith("Column")
    ]
    assert "2 documents added" in texts(read(at))


def test_cancel_ends_the_reading_of_a_long_file(small):
    at = bring(("long.html", SLOW.encode()))
    button(at, "Add documents").click().run()
    until(at, lambda: "Cancel" in labels(at))
    button(at, "Cancel").click().run()
    until(at, lambda: "Cancelled. Nothing was saved." in texts(at))
    assert open_corpus("small").n_documents == 2


def ask(content, file="asked.jsonl"):
    at = drop(opened(texts_open=ADD), (file, content), brought_as="questions")
    if "Save the questions" in labels(at):
        button(at, "Save the questions").click().run()
    assert not at.exception
    return at


def test_questions_with_known_answers_are_a_set_that_is_asked_and_counted_by(small):
    row = {
        "question": "Where does Olof Lind live?",
        "answers": ["Turku"],
        "gold": ["The town", "nowhere"],
    }
    at = ask(json.dumps(row).encode())
    assert "1 question saved: 1 with correct answers, 1 with evidence" in texts(
        at
    ) and "does not have: “nowhere”" in texts(at)
    (asked,) = open_corpus("small").questions("small")
    assert (asked.answers, asked.gold) == (
        ("Turku",),
        ("town", "nowhere"),
    )
    at = drop(at, ("asked.jsonl", json.dumps(row)), brought_as="questions")
    assert "Already here: small texts (1)" in texts(at)
    assert (
        "small" in corpora()["small"].sets
        and open_corpus("small").questions("small")[0].text == row["question"]
    )


def test_ten_questions_in_csv_are_looked_at_and_kept(small):
    rows = "".join(f"Where, {number}?;Turku;The town;x\n" for number in range(10))
    at = drop(opened(texts_open=ADD), ("asked.csv", f"question;answers;gold;remark\n{rows}"))
    assert "10 questions, 10 with answers, 10 with evidence. The first 8:" in texts(
        at
    ) and "asked.csv: “remark”" in texts(at)
    assert list(at.dataframe[0].value) == ["Question", "Answers", "Evidence"]
    button(at, "Save the questions").click().run()
    assert "10 questions saved: 10 with correct answers, 10 with evidence" in texts(at)
    assert {question.gold for question in open_corpus("small").questions("small")} == {("town",)}


@pytest.mark.parametrize(
    "content, told",
    [
        (b"not json", "asked.jsonl"),
        (b'{"answer": "x"}', "question"),
        (b"[]", "asked.jsonl holds no questions"),
        (b'{"question": "Who?"}', "None of them has a correct answer or evidence"),
    ],
)
def test_a_file_that_holds_no_such_questions_is_a_sentence(small, content, told):
    assert told in texts(ask(content))


def test_shipped_texts_take_no_questions(small):
    at = drop(opened("christmas-carol", texts_open=ADD), ("q.csv", "question,answers\nwho,B\n"))
    box = next(one for one in at.selectbox if one.label == "Questions of")
    assert not any("Christmas" in title for title in box.options)


HOTPOT = {
    "_id": "5a8b",
    "question": "Of what town is Ann?",
    "answer": "Turku",
    "supporting_facts": [["Ann", 0]],
    "context": [["Ann", ["Ann is of Turku.", " She sails."]], ["Bo <b>", ["Bo is here."]]],
    "type": "bridge",
    "level": "easy",
}


def test_a_published_set_is_read_as_it_is_with_its_questions(small):
    at = bring(("hotpot_dev.json", json.dumps([HOTPOT]).encode()))
    assert "Questions with their passages" in choice(at).options[0]
    assert not [label for label in labels(at) if label.startswith("Column:")]  # nothing to choose
    at.selectbox(key="texts_into").set_value("").run()
    read(at)
    assert "2 documents added" in texts(at)
    (question,) = open_corpus("hotpot-dev").questions("hotpot-dev")
    assert (question.answers, question.gold) == (("Turku",), ("Ann",))


def test_a_zip_of_beir_brings_its_judgements_and_says_what_was_left_out(small):
    files = {
        "nf/corpus.jsonl": '{"_id": "d1", "title": "A", "text": "A is."}\n',
        "nf/queries.jsonl": '{"_id": "q1", "text": "a?"}\n',
    }
    at = bring(
        (
            "nf.zip",
            zipped(
                **files,
                **{"nf/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\nq9\td1\t1\n"},
            ),
        )
    )
    at.selectbox(key="texts_into").set_value("").run()
    read(at)
    assert "1 judgement of a query that the folder does not have, such as “q9”" in texts(at)
    assert open_corpus("nf").questions("nf-test")[0].gold == ("d1",)


def test_questions_without_a_known_column_name_what_was_found(small):
    content = json.dumps({"question": "Where?", "passage_key": "x"})
    at = drop(opened("small", texts_open=ADD), ("q.jsonl", content), brought_as="questions")
    until(at, lambda: at.error)
    assert "It has the columns question, passage_key. Looked for answer" in texts(at)
