"""Merged names and dropped terms, by hand on facts of a few chunks."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from core.builds import build_status, find_build, open_graph, run_build
from core.builds.base import BuildContext, BuildState
from core.builds.facts import ChunkEntity, ChunkRelation, Facts
from core.builds.report import NameMerge, NameMerges, NearMerge, name_merges
from core.builds.resolve.corpus_names import key_of_name
from core.builds.resolve.names import ResolveNames
from core.builds.resolve.terms import TermWeights
from core.builds.run import BUILT_FILE, EARLIER_VERSION_NOTE, RENAMED_NOTE, build_folder, graph_note
from core.corpus.entity_merges import change_merges
from core.errors import BadParameter
from core.graph.columns import Table
from core.indexes.index_storage import write_atomically
from core.io.digests import check_own_digest
from tests.core.builds.kit import LetterModels, Texts


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))


def resolve_facts(tmp_path, *chunks, operator=None, texts=None, titles=None):
    """Facts after resolving, and the report.

    Each chunk is given as (document, [(name, type)], relations).
    """
    documents = [document for document, *_ in chunks]
    facts = [
        Facts(tuple(ChunkEntity(*one) for one in names), tuple(ChunkRelation(*one) for one in rest))
        for _, names, rest in chunks
    ]
    table = Table.from_columns(
        id=[f"{document}#{row}" for row, document in enumerate(documents)],
        document=documents,
        title=titles or [""] * len(chunks),
        place=[""] * len(chunks),
        text=texts or [" and ".join(name for name, *_ in names) for _, names, _ in chunks],
        tokens=[1] * len(chunks),
    )
    ctx = BuildContext(LetterModels())
    made = (operator or ResolveNames(least=-9)).apply(
        BuildState(Texts(tmp_path), table, facts), ctx
    )
    return list(made.facts), ctx.report


def names(facts):
    return {one.name: (one.type, one.times) for one in facts.entities}


def test_a_part_of_a_name_is_joined_with_the_only_full_name_of_its_document(tmp_path):
    chunks = [
        (
            "call",
            [("Amy Hood", "person"), ("Azure", "product")],
            [("Amy Hood", "Azure", "presents")],
        ),
        (
            "call",
            [("Amy", "person"), ("Hood", "concept"), ("Azure", "product")],
            [("Amy", "Azure", "sells")],
        ),
    ]
    facts, report = resolve_facts(tmp_path, *chunks)
    assert names(facts[1]) == {"Amy Hood": ("person", 2), "Azure": ("product", 1)}
    assert [(one.head, one.name, one.tail) for one in facts[1].relations] == [
        ("Amy Hood", "sells", "Azure")
    ]
    merges = name_merges(report.to_plain())
    assert {(one.name, one.into, one.rule, one.documents) for one in merges.made} == {
        ("Amy", "Amy Hood", "part of a name", ("call",)),
        ("Hood", "Amy Hood", "part of a name", ("call",)),
    }


def test_a_part_of_two_names_stays_and_is_reported(tmp_path):
    chunks = [
        (
            "carol",
            [("Bob Cratchit", "person"), ("Tim Cratchit", "person"), ("Cratchit", "person")],
            [],
        )
    ]
    facts, report = resolve_facts(tmp_path, *chunks)
    assert len(facts[0].entities) == 3
    (near,) = name_merges(report.to_plain()).near
    assert (near.name, near.candidates, near.documents) == (
        "Cratchit",
        ("Bob Cratchit", "Tim Cratchit"),
        ("carol",),
    )


def test_a_place_is_not_part_of_a_person(tmp_path):
    facts, _ = resolve_facts(
        tmp_path, ("d", [("George Washington", "person"), ("Washington", "place")], [])
    )
    assert set(names(facts[0])) == {"George Washington", "Washington"}


def test_a_first_name_makes_another_person_but_a_middle_name_does_not(tmp_path):
    facts, _ = resolve_facts(
        tmp_path,
        ("d", [("Kasper Peter Schmeichel", "person"), ("Kasper Schmeichel", "person")], []),
    )
    assert set(names(facts[0])) == {"Kasper Peter Schmeichel"}
    facts, _ = resolve_facts(
        tmp_path, ("d", [("Kasper Schmeichel", "person"), ("Peter Schmeichel", "person")], [])
    )
    assert set(names(facts[0])) == {"Kasper Schmeichel", "Peter Schmeichel"}


def test_an_acronym_is_joined_with_its_long_form_and_type(tmp_path):
    chunks = [
        (
            "d",
            [
                ("acute myeloid leukemia", "concept"),
                ("AML", "organisation"),
                ("IBM", "organisation"),
            ],
            [],
        )
    ]
    facts, _ = resolve_facts(tmp_path, *chunks)
    assert names(facts[0]) == {"acute myeloid leukemia": ("concept", 2), "IBM": ("organisation", 1)}


def test_parts_are_joined_elsewhere_after_two_documents_agree(tmp_path):
    full, part = ("Amy Hood", "person"), ("Amy", "person")
    known = [("one", [full, part], []), ("two", [full, part], [])]
    facts, _ = resolve_facts(tmp_path, *known, ("three", [part], []))
    assert set(names(facts[2])) == {"Amy Hood"}
    facts, _ = resolve_facts(tmp_path, known[0], ("three", [part], []))
    assert set(names(facts[1])) == {"Amy"}  # One document is not enough.
    facts, _ = resolve_facts(
        tmp_path, *known, ("other", [("Amy Adams", "person")], []), ("three", [part], [])
    )
    assert set(names(facts[3])) == {"Amy"}
    facts, _ = resolve_facts(
        tmp_path, *known, ("three", [part], []), operator=ResolveNames(least=-9, everywhere=False)
    )
    assert set(names(facts[2])) == {"Amy"}


def test_spellings_are_joined_under_the_most_frequent_one(tmp_path):
    chunks = [
        (
            "d",
            [
                ("Pelé", "person", "", 3),
                ("Pele", "person"),
                ("U.S.", "place"),
                ("US", "place", "", 2),
            ],
            [],
        )
    ]
    facts, _ = resolve_facts(tmp_path, *chunks)
    assert names(facts[0]) == {"Pelé": ("person", 4), "US": ("place", 3)}
    assert key_of_name("Williams", "person") != key_of_name("William", "person")
    assert key_of_name("lymph nodes", "concept") == key_of_name("Lymph node", "concept")


def test_the_type_is_that_of_most_mentions(tmp_path):
    chunks = [
        ("d", [("Azure", "concept", "", 9)], []),
        ("d", [("Azure", "product", "", 2)], []),
        ("e", [("Azure", "place")], []),
    ]
    facts, _ = resolve_facts(tmp_path, *chunks)
    assert [names(one)["Azure"][0] for one in facts] == ["product"] * 3


def test_common_phrases_are_no_entities_and_terms_are(tmp_path):
    named = [
        ("difficult thing", "concept"),
        ("new type", "concept"),
        ("melanoma", "concept", "", 2),  # Named twice by its chunk.
        ("lymph node", "concept"),
        ("Thing", "concept"),
    ]
    chunks = [("d", named, [("melanoma", "new type", "is"), ("melanoma", "lymph node", "in")])]
    facts, report = resolve_facts(tmp_path, *chunks, operator=ResolveNames())
    assert set(names(facts[0])) == {"melanoma", "lymph node"}
    assert [(one.head, one.tail) for one in facts[0].relations] == [("melanoma", "lymph node")]
    assert report.counts["common phrases"] == 3


def test_a_term_weighs_more_if_its_words_are_frequent():
    # In 1,000 words, “cloud” 20 times has a Zipf value of 7.3, which is 2.8 above its value of 4.5
    # in the language. The weight is 2.8 / 4 - (4.5 - 4) = 0.2. Four mentions in each chunk that has
    # the word add 1.5 * 2.
    assert round(TermWeights({"cloud": 20, "the": 980}).weight("cloud"), 1) == 0.2
    assert round(TermWeights({"cloud": 20, "the": 980}).weight("cloud", 4.0), 1) == 3.2
    # A single occurrence says nothing.
    assert round(TermWeights({"cloud": 1, "the": 999}).weight("cloud"), 1) == -0.5
    assert TermWeights({}).weight("12") == float("-inf")


def test_a_title_in_the_text_is_the_subject_of_the_document(tmp_path):
    chunks = [
        (
            "1",
            [
                ("Giuseppe Fortunino Verdi", "person", "Giuseppe Fortunino Verdi composed."),
                ("Milan", "place"),
                ("Verdi", "person"),
            ],
            [],
        ),
        ("2", [("Kiss", "concept"), ("Tell", "concept"), ("Corliss", "person")], []),
    ]
    texts = ["Giuseppe Fortunino Verdi composed in Milan.", "Kiss and Tell is a film with Corliss."]
    facts, report = resolve_facts(
        tmp_path, *chunks, texts=texts, titles=["Giuseppe Verdi", "Kiss and Tell (1945 film)"]
    )
    assert names(facts[0]) == {"Giuseppe Verdi": ("person", 2), "Milan": ("place", 1)}
    assert [(one.head, one.tail) for one in facts[0].relations] == [("Giuseppe Verdi", "Milan")]
    assert set(names(facts[1])) == {"Kiss and Tell", "Corliss"}
    assert ("Giuseppe Fortunino Verdi", "Giuseppe Verdi", "title of the document") in {
        (one.name, one.into, one.rule) for one in name_merges(report.to_plain()).made
    }
    facts, _ = resolve_facts(tmp_path, *chunks, texts=texts, titles=["Notes of a meeting", ""])
    assert "Notes of a meeting" not in names(facts[0])


def test_relations_to_the_subject_replace_shared_sentences(tmp_path):
    names_of = [("Verdi", "person"), ("Milan", "place"), ("Rome", "place"), ("Puccini", "person")]
    relations = [
        ("Milan", "Rome", "appears with"),
        ("Puccini", "Rome", "lived in"),
        ("Verdi", "Milan", "appears with"),
    ]
    facts, _ = resolve_facts(
        tmp_path, ("1", names_of, relations), texts=["Verdi"], titles=["Verdi"]
    )
    assert {(one.head, one.name, one.tail) for one in facts[0].relations} == {
        ("Verdi", "appears with", "Milan"),
        ("Verdi", "appears with", "Rome"),
        ("Verdi", "appears with", "Puccini"),
        ("Puccini", "lived in", "Rome"),
    }
    # Without a title the relations stay.
    assert len(resolve_facts(tmp_path, ("1", names_of, relations))[0][0].relations) == 3


def test_a_surname_or_longer_title_joins_no_person_with_a_title(tmp_path):
    brothers = [
        ("1", [("Champ Bailey", "person")], []),
        ("2", [("Champ Bailey", "person"), ("Boss Bailey", "person")], []),
    ]
    texts = ["Champ Bailey", "Champ Bailey is a brother of Boss Bailey."]
    facts, report = resolve_facts(
        tmp_path, *brothers, texts=texts, titles=["Champ Bailey", "Boss Bailey"]
    )
    assert set(names(facts[1])) == {"Champ Bailey", "Boss Bailey"}
    chunk = ("1", [("Jerry Glanville", "person")], [])
    facts, report = resolve_facts(
        tmp_path, chunk, titles=["Portland State Vikings football under Jerry Glanville"]
    )
    assert set(names(facts[0])) == {"Jerry Glanville"} and not name_merges(report.to_plain()).made


@pytest.mark.parametrize(
    ("head", "label", "tail", "into"),
    [
        (
            ("Edson do Nascimento", "person"),
            "also called",
            ("Pelé", "person"),
            "Edson do Nascimento",
        ),
        (("B cells", "concept"), "also called", ("B lymphocytes", "concept"), "B cells"),
        (
            ("primary care physician", "concept"),
            "in brackets",
            ("PCP", "organisation"),
            "primary care physician",
        ),
        (
            ("NSCLC", "organisation"),
            "in brackets",
            ("non-small cell lung cancer", "concept"),
            "non-small cell lung cancer",
        ),
        (("pembrolizumab", "concept"), "in brackets", ("Keytruda", "place"), "pembrolizumab"),
        # This is mostly the end of a longer term.
        (("area", "concept"), "also called", ("Battle Park", "concept"), None),
        (("Kenya", "place"), "also called", ("Embassy Nairobi", "organisation"), None),
        (("Ann Lee", "person"), "in brackets", ("Rome", "place"), None),
        # A common word is no drug.
        (("quarterback", "concept"), "in brackets", ("Broncos", "organisation"), None),
        (("anesthesia", "concept"), "in brackets", ("EUA", "organisation"), None),
    ],
)
def test_alternative_names_in_the_text_are_joined_if_plausible(tmp_path, head, label, tail, into):
    facts, report = resolve_facts(tmp_path, ("d", [head, tail], [(head[0], tail[0], label)]))
    if into:
        assert set(names(facts[0])) == {into} and not facts[0].relations
    else:
        assert (
            set(names(facts[0])) == {head[0], tail[0]} and not name_merges(report.to_plain()).made
        )
        assert facts[0].relations[0].name == (
            "also called" if label == "also called" else "appears with"
        )


def test_a_name_in_brackets_after_several_belongs_to_the_most_frequent(tmp_path):
    two = (
        [("nivolumab", "concept"), ("Opdivo", "product")],
        [("nivolumab", "Opdivo", "in brackets")],
    )
    other = (
        [("ipilimumab", "concept"), ("Opdivo", "product")],
        [("ipilimumab", "Opdivo", "in brackets")],
    )
    facts, _ = resolve_facts(tmp_path, ("d", *two), ("d", *two), ("d", *other))
    assert set(names(facts[2])) == {"ipilimumab", "nivolumab"}
    facts, _ = resolve_facts(tmp_path, ("d", *two), ("d", *other))
    assert set(names(facts[1])) == {"ipilimumab", "Opdivo"}


def test_a_role_with_a_surname_is_no_full_name(tmp_path):
    facts, _ = resolve_facts(
        tmp_path, ("d", [("Fezziwig", "person"), ("Mrs. Fezziwig", "person")], [])
    )
    assert set(names(facts[0])) == {"Fezziwig", "Mrs. Fezziwig"}
    once = ("d", [("Cytarabine", "product")], [])
    facts, _ = resolve_facts(
        tmp_path, ("d", [("Cytarabine Cytarabine", "product")], []), once, once
    )
    assert set(names(facts[0])) == {"Cytarabine"}
    facts, _ = resolve_facts(tmp_path, ("d", [("Duran Duran", "organisation")], []))
    assert set(names(facts[0])) == {"Duran Duran"}


def test_initials_need_an_explanation_in_a_long_document(tmp_path):
    chunks = [("d", [("breast cancer gene", "concept"), ("BCG", "organisation")], [])]
    assert set(names(resolve_facts(tmp_path, *chunks)[0][0])) == {"breast cancer gene"}
    assert set(names(resolve_facts(tmp_path, *chunks * 9)[0][0])) == {"breast cancer gene", "BCG"}


def test_mostly_lower_case_names_are_terms(tmp_path):
    facts, _ = resolve_facts(
        tmp_path,
        ("d", [("time", "organisation"), ("Ann Lee", "person")], []),
        operator=ResolveNames(),
    )
    assert set(names(facts[0])) == {"Ann Lee"}


def test_hostile_and_empty_names_are_handled(tmp_path):
    facts, _ = resolve_facts(
        tmp_path,
        ("d", [("<script>", "person"), ("...", "person"), ("", ""), ("’s", "concept")], []),
    )
    assert set(names(facts[0])) == {"<script>", "’s"}
    assert resolve_facts(tmp_path, ("d", [], []))[0] == [Facts()]


def test_names_marked_as_different_stay_apart(tmp_path):
    chunks = [("d", [("Amy Hood", "person"), ("Amy", "person")], [])]
    corpus = Texts(tmp_path)
    corpus.own = False
    change_merges(corpus, lambda now: now.with_refusals([("Amy", "Amy Hood")]))
    assert set(names(resolve_facts(tmp_path, *chunks)[0][0])) == {"Amy", "Amy Hood"}
    change_merges(corpus, lambda now: now.without_refusals([("Amy Hood", "Amy")]))
    assert set(names(resolve_facts(tmp_path, *chunks)[0][0])) == {"Amy Hood"}


def test_a_line_without_facts_is_refused():
    with pytest.raises(BadParameter, match="reads what chunks tell"):
        find_build("TokenChunks() >> ResolveNames() >> Merge()")


def test_a_graph_by_names_reports_joined_names(tmp_path):
    texts = {
        "a": "Angela Merkel lives in Berlin. Merkel met Barack Obama.",
        "b": "Angela Merkel and Barack Obama visited Paris.",
    }
    corpus = Texts(tmp_path / "one", **texts)
    graph = run_build(corpus, "kg-names", LetterModels())
    assert set(graph.names(range(graph.n_nodes))) == {
        "Angela Merkel",
        "Barack Obama",
        "Berlin",
        "Paris",
    }
    assert "Angela Merkel -> met -> Barack Obama" in graph.triple_texts(range(graph.n_edges))
    assert [
        (one.name, one.into) for one in name_merges(build_status(corpus, "kg-names").report).made
    ] == [("Merkel", "Angela Merkel")]
    afresh = run_build(Texts(tmp_path / "two", **texts), "kg-names", LetterModels())
    assert open_graph(corpus, "kg-names").digest == afresh.digest


HOODS = {
    "a": "Amy Hood lives in Berlin. Hood met Barack Obama.",
    "b": "Barack Obama visited Paris.",
}


def test_a_graph_with_later_marked_names_is_outdated_but_usable(tmp_path):
    corpus = Texts(tmp_path / "one", **HOODS)
    corpus.own = False
    first = run_build(corpus, "kg-names", LetterModels())
    # The build never joined this pair.
    change_merges(corpus, lambda now: now.with_refusals([("Paris", "Berlin")]))
    assert build_status(corpus, "kg-names").is_current
    change_merges(corpus, lambda now: now.with_refusals([("Hood", "Amy Hood")]))
    now = build_status(corpus, "kg-names")
    assert (now.is_current, now.has_renamed, now.can_be_opened, now.outdated) == (
        False,
        True,
        True,
        RENAMED_NOTE,
    )
    same = open_graph(corpus, "kg-names")
    assert same.digest == first.digest and graph_note(same) == RENAMED_NOTE
    change_merges(corpus, lambda now: now.without_refusals([("Hood", "Amy Hood")]))
    assert build_status(corpus, "kg-names").is_current
    change_merges(corpus, lambda now: now.with_refusals([("Hood", "Amy Hood")]))
    apart = run_build(corpus, "kg-names", LetterModels())
    assert {"Hood", "Amy Hood"} <= set(apart.names(range(apart.n_nodes)))
    assert (
        build_status(corpus, "kg-names").is_current
        and graph_note(open_graph(corpus, "kg-names")) == ""
    )
    change_merges(corpus, lambda now: now.without_refusals([("Hood", "Amy Hood")]))
    assert build_status(corpus, "kg-names").has_renamed
    assert (
        run_build(corpus, "kg-names", LetterModels()).digest == first.digest
        and build_status(corpus, "kg-names").is_current
    )
    (corpus.folder / "mends.json").write_text("{")
    # An unreadable file marks nothing. The page reports the damage.
    assert build_status(corpus, "kg-names").is_current


@pytest.mark.parametrize("earlier", [{}, {"NamesAndTerms": 2}, {"ResolveNames": 2}])
def test_a_graph_that_joined_names_by_earlier_rules_is_outdated(earlier, tmp_path):
    corpus = Texts(tmp_path, **HOODS)
    run_build(corpus, "kg-names", LetterModels())
    file = build_folder(corpus, find_build("kg-names")) / BUILT_FILE
    record = check_own_digest(json.loads(file.read_text()))
    assert record["editions"] == {"NamesAndTerms": 3, "ResolveNames": 2}
    write_atomically(
        file, lambda stream: stream.write(json.dumps({**record, "editions": earlier}).encode())
    )
    assert (
        not build_status(corpus, "kg-names").is_current
        and build_status(corpus, "kg-names").outdated == EARLIER_VERSION_NOTE
    )


def test_joined_names_differ_with_the_marked_pairs():
    near = NearMerge("Berg", ("Anna Berg", "Olof Berg"), 1, ("c",))
    merges = NameMerges.from_merges(
        [NameMerge("Hood", "Amy Hood", "part of a name", 1, ("c",))],
        [near],
        {("Ek", "Karin Ek")},
        {("Ek", "Karin Ek")},
    )
    marked = {("Ek", "Karin Ek")}
    assert not merges.would_differ(marked)
    assert merges.would_differ(set())  # Ek would be joined again.
    assert merges.would_differ(marked | {("Amy Hood", "Hood")})
    assert merges.would_differ(marked | {("Anna Berg", "Berg")})  # Only Olof Berg is left for Berg.
    assert not merges.would_differ(marked | {("Anna Berg", "Berg"), ("Berg", "Olof Berg")})
    # The report does not list all merges, so this cannot be decided.
    more = replace(merges, made_in_all=2)
    assert not more.would_differ(marked) and more.would_differ(marked | {("a", "b")})


def test_different_names_are_not_joined_indirectly_or_by_a_title(tmp_path):
    corpus = Texts(tmp_path)
    corpus.own = False
    chain = [("d", [("Ada Byron King", "person"), ("Ada King", "person"), ("Ada", "person")], [])]
    assert set(names(resolve_facts(tmp_path, *chain)[0][0])) == {"Ada Byron King"}
    change_merges(corpus, lambda now: now.with_refusals([("Ada", "Ada Byron King")]))
    assert {"Ada", "Ada Byron King"} <= set(names(resolve_facts(tmp_path, *chain)[0][0]))
    film = [("d", [("Bill Oakley Senior", "person"), ("Ohio", "place")], [])]
    text = ["Bill Oakley Senior of Ohio"]
    facts, report = resolve_facts(tmp_path, *film, texts=text, titles=["Bill Senior"])
    (made,) = name_merges(report.to_plain()).made
    assert (made.name, made.into) == ("Bill Oakley Senior", "Bill Senior")
    change_merges(corpus, lambda now: now.with_refusals([("Bill Oakley Senior", "Bill Senior")]))
    facts, report = resolve_facts(tmp_path, *film, texts=text, titles=["Bill Senior"])
    assert not name_merges(report.to_plain()).made and "Bill Oakley Senior" in names(facts[0])
    assert name_merges(report.to_plain()).separated == (("Bill Oakley Senior", "Bill Senior"),)
