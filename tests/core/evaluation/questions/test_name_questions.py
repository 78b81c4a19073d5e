"""Questions made from names, worked out by hand on a few sentences."""

from __future__ import annotations

import pytest

from core.builds.facts import ChunkEntity, Facts
from core.corpus import Document, new_folder, write_corpus
from core.corpus.chunks import chunk_by_sentences, documents_as_chunks
from core.corpus.quotations import passage_name
from core.errors import RunCancelled
from core.evaluation.questions.name_questions import (
    BRIDGE_KIND,
    CLOZE_KIND,
    NAMES_TOGETHER,
    NO_LINK,
    NO_RARE_NAME,
    NO_SINGLE_NAME,
    REPEATED_QUESTION,
    REPEATED_SENTENCE,
    SAID_ELSEWHERE,
    SEVERAL_ANSWERS,
    SHARED_KIND,
    UNFIT_SENTENCE,
    kind_of,
    make_bridge,
    make_cloze,
    make_shared,
    questions_from_names,
    rejection_sentences,
)
from core.evaluation.questions.named_sentences import SentenceTable
from core.watch import Watch

BUILT = "Ann Lee built the harbour of Oban in 1881."
MARRIED = "Later in life Ann Lee married Tom Reid of Ayr in secret."
WROTE = "Bo Hart wrote many letters to the bishop in Rome."
TEXTS = {"ayr": MARRIED, "oban": f"{BUILT} It rained all day there.", "rome": WROTE}
NAMES = ("Ann Lee", "Oban", "Tom Reid", "Ayr", "Bo Hart", "Rome")


@pytest.fixture
def table(tmp_path, monkeypatch):
    """`table(texts, names)`: the table of the sentences of these texts.

    Each text is a chunk, or with `cut` each sentence is. All names are known everywhere.
    """
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    numbers = iter(range(100))

    def make(texts=TEXTS, names=NAMES, cut=False, **kinds):
        corpus = write_corpus(
            new_folder(f"t{next(numbers)}"), [Document(id, text) for id, text in texts.items()]
        )
        chunks = chunk_by_sentences(corpus, 14) if cut else documents_as_chunks(corpus)
        entities = tuple(
            ChunkEntity(name, kinds.get(name.split()[0].lower(), "person")) for name in names
        )
        return SentenceTable.from_corpus(corpus, chunks, [Facts(entities)] * len(chunks))

    return make


def of(table, start: str):
    return next(sentence for sentence in table.named.values() if sentence.text.startswith(start))


def test_a_gap_is_the_first_name_of_a_sentence_that_another_rare_name_makes_known(table):
    found = make_cloze(table(), of(table(), "Ann"))
    assert found.text == "Which name is missing in “_____ built the harbour of Oban in 1881.”?"
    assert (found.answers, found.gold, found.hops) == (("Ann Lee",), ("oban",), 1)


def test_a_shared_name_joins_a_name_of_each_of_two_passages(table):
    found = make_shared(table(), of(table(), "Ann"))
    assert (
        found.text
        == "Which name is mentioned together with “Oban” in one sentence, and together with “Tom Reid” in another?"
    )
    assert (found.answers, found.gold, found.hops) == (("Ann Lee",), ("oban", "ayr"), 2)
    assert make_shared(table(), of(table(), "Later")).text == found.text


def test_a_bridge_leaves_out_the_name_that_leads_to_the_other_passage(table):
    """The bridge leads from Ayr to Oban, the one other name beside Ann Lee.

    It does not lead back, where there are two other names.
    """
    found = make_bridge(table(), of(table(), "Later"))
    assert found.text.startswith(
        "In “Later in life _____ married Tom Reid of Ayr in secret.” a name is missing. Which other name"
    )
    assert "Ann" not in found.text and "Oban" not in found.text
    assert (found.answers, found.gold, found.hops) == (("Oban",), ("ayr", "oban"), 2)
    assert make_bridge(table(), of(table(), "Ann")) == SEVERAL_ANSWERS


def test_all_kinds_are_made_and_what_was_left_out_is_counted(table):
    made = questions_from_names(table(), 20)
    assert made.counts() == {CLOZE_KIND: 3, SHARED_KIND: 1, BRIDGE_KIND: 1}
    assert {kind: dict(reasons) for kind, reasons in made.rejections.items()} == {
        CLOZE_KIND: {},
        SHARED_KIND: {REPEATED_QUESTION: 1, NO_LINK: 1},
        BRIDGE_KIND: {SEVERAL_ANSWERS: 1, NO_LINK: 1},
    }
    assert sorted(one.id for one in made.all_questions()) == [
        "bridge-1",
        "cloze-1",
        "cloze-2",
        "cloze-3",
        "shared-1",
    ]
    assert [kind_of(one) for one in made.questions[SHARED_KIND]] == [SHARED_KIND]
    assert (
        rejection_sentences(made.rejections)[1]
        == f"Of 2 candidates for two-hop questions no question was made: {SEVERAL_ANSWERS} (1), {NO_LINK} (1)."
    )


def test_the_same_seed_makes_the_same_questions_and_another_one_another_order(table):
    texts = {f"d{i}": f"Person{i} Lee walked the long way home to Town{i} again." for i in range(9)}
    names = [name for i in range(9) for name in (f"Person{i} Lee", f"Town{i}")]
    one, same, other = (
        questions_from_names(table(texts, names), 4, seed).all_questions() for seed in (0, 0, 1)
    )
    assert len(one) == 4 and one == same and {q.text for q in one} != {q.text for q in other}


def test_a_passage_of_a_long_document_is_named_by_its_sentence(table):
    long = table({"book": f"{BUILT} {MARRIED}"}, cut=True)
    assert make_cloze(long, of(long, "Ann")).gold == (passage_name("book", BUILT),)
    assert make_shared(long, of(long, "Ann")).gold == (
        passage_name("book", BUILT),
        passage_name("book", MARRIED),
    )


@pytest.mark.parametrize(
    ("text", "names", "reason"),
    [
        ("Ann Lee and Oban.", ("Ann Lee", "Oban"), UNFIT_SENTENCE),
        ("and so Ann Lee came to the harbour of Oban.", ("Ann Lee", "Oban"), UNFIT_SENTENCE),
        ("Ann Lee came to the harbour of Oban and", ("Ann Lee", "Oban"), UNFIT_SENTENCE),
        ("Ann Lee came to the old harbour on foot.", ("Ann Lee",), NO_RARE_NAME),
        (
            "Ann Lee met another Lee at the old harbour of Oban where Oban ends.",
            ("Ann Lee", "Oban"),
            NO_SINGLE_NAME,
        ),
        (
            "Nobody saw the old harbour of oban again that year.",
            ("oban", "harbour"),
            NO_SINGLE_NAME,
        ),
    ],
)
def test_no_gap_is_made_where_it_could_not_be_filled(table, text, names, reason):
    one = table({"d": text}, names)
    assert make_cloze(one, of(one, text[:3])) == reason


def test_a_sentence_that_is_there_twice_is_not_asked_about(table):
    twice = table(TEXTS | {"copy": f"They say: {BUILT.lower()}"})
    assert make_cloze(twice, of(twice, "Ann")) == REPEATED_SENTENCE


def test_a_name_that_many_sentences_hold_makes_no_sentence_known(table):
    """Beside Oban alone Ann Lee cannot be told; beside Ann Lee, whom two sentences name, Oban can."""
    many = table(TEXTS | {f"d{i}": f"It was in {i} that Oban had snow." for i in range(5)})
    assert len(many.rows_with("Oban")) == 6 and make_cloze(many, of(many, "Ann")).answers == (
        "Oban",
    )


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (
            "Tom Reid once sailed alone to the isle and Oban.",
            NAMES_TOGETHER,
        ),  # a sentence holds both names
        (
            "Ann Lee left the town of Oban for good in May.",
            SAID_ELSEWHERE,
        ),  # a second passage for the first pair
        (
            "Tom Reid had a brother whose name was Bo Hart. Bo Hart lived near Oban for years.",
            SEVERAL_ANSWERS,
        ),  # joins them too
    ],
)
def test_two_names_of_which_the_texts_say_more_are_no_pair(table, more, reason):
    one = table(TEXTS | {"more": more}, ("Ann Lee", "Oban", "Tom Reid", "Bo Hart"))
    assert make_shared(one, of(one, "Ann")) == reason


def test_two_sentences_of_one_chunk_are_no_two_passages(table):
    one = table({"d": f"{BUILT} {MARRIED}"})
    assert (
        make_shared(one, of(one, "Ann")) == NO_LINK
        and make_bridge(one, of(one, "Later")) == NO_LINK
    )


def test_groups_and_phrases_are_no_names(table):
    one = table(TEXTS, NAMES, oban="group", ann="concept")
    assert of(one, "Bo").names == ("Bo Hart", "Rome") and not any(
        "Oban" in row.names for row in one.named.values()
    )


def test_names_are_found_as_whole_words_in_any_case(table):
    one = table({"d": "OBAN, Obanite or Loban: only one of them is Oban."}, ("Oban",))
    assert one.rows_with("oban") == {0} and of(one, "OBAN").name_counts == (2,)


def test_markup_in_texts_stays_text(table):
    one = table(
        {"d": "<script>alert('Ann Lee')</script> is what Bo Hart wrote in Oban."},
        ("Ann Lee", "Bo Hart", "Oban"),
    )
    row = next(iter(one.named.values()))
    assert row.names == ("Ann Lee", "Bo Hart", "Oban") and make_cloze(one, row) == UNFIT_SENTENCE


def test_no_texts_give_no_questions_and_cancel_ends_it(table):
    assert questions_from_names(table({"d": "Nothing here."}), 10).all_questions() == ()

    def cancelled():
        raise RunCancelled()

    with pytest.raises(RunCancelled):
        questions_from_names(table(), 10, watch=Watch(cancelled))
