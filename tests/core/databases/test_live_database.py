"""Live queries to a real SPARQL endpoint on small graphs, by hand.

They show the found entities, the fetched edges, and the bounds.
"""

from __future__ import annotations

import pytest

from core.databases import sparql, sparql_lookup
from core.databases.address import address_of
from core.databases.graph_copy import copy_graph
from core.databases.limits import CopyLimits
from core.databases.live_database import LIVE_FILE, LiveDatabase, LiveSettings, open_live, save_live
from core.errors import BadInput, RunCancelled, StoreError, UnknownEntity
from core.graph.building.build import build_in_memory
from core.watch import Watch
from tests.core.databases.endpoint import endpoint
from tests.core.databases.test_sparql import FILMS, PREFIXES, chain
from tests.notes import NoteWith

FIVE = PREFIXES + (
    ':a :r :b . :b :r :c . :c :r :d . :d :r :e . :a rdfs:label "Ann" . :b rdfs:label "Bob"@en . '
    ':c rdfs:label "Cleo"@de . :d rdfs:label "Dan <b>"@en . :e rdfs:label "Eve"@en , "Éva"@hu .'
)


@pytest.fixture
def served():
    with endpoint() as one:
        yield one


def live(served, **how):
    return LiveDatabase("films", LiveSettings(served.url, **how))


def triples(graph):
    return set(graph.triple_texts(range(graph.n_edges)))


ALL_OF_FIVE = {"Ann -> r -> Bob", "Bob -> r -> Cleo", "Cleo -> r -> Dan <b>", "Dan <b> -> r -> Eve"}


@pytest.mark.parametrize(
    "hops, found",
    [
        (1, {"Ann -> r -> Bob", "Bob -> r -> Cleo"}),
        (2, ALL_OF_FIVE - {"Dan <b> -> r -> Eve"}),
        (4, ALL_OF_FIVE),
    ],
)
def test_edges_within_the_hops_are_fetched_in_both_directions(served, hops, found):
    served.load(FIVE)
    near = live(served, hops=hops).fetch_graph("what does Bob know?")
    assert triples(near) == found and near.fetched.starts == ("Bob",)
    assert near.fetched.sentences[0].startswith(
        f"Asked live: {len(found)} triples within {hops} hop"
    )


@pytest.mark.parametrize(
    "name, called",
    [
        ("Ann", "Ann"),
        ("aNN", "Ann"),
        ("Dan <b>", "Dan <b>"),
        ("Éva", "Eve"),
        ("http://x/c", "Cleo"),
        ("<http://x/c>", "Cleo"),
        ("Eve (http://x/e)", "Eve"),
    ],
)
def test_an_entity_is_found_by_any_label_or_its_iri(served, name, called):
    served.load(FIVE)
    assert live(served).fetch_graph("", [name]).fetched.starts == (called,)


@pytest.mark.parametrize(
    "question",
    [
        "Who directed Inception?",
        "who directed inception",
        "who directed [Inception]",
        "WHO DIRECTED INCEPTION",
    ],
)
def test_entities_are_found_in_a_question(served, question):
    served.load(FILMS)
    assert live(served).fetch_graph(question).fetched.starts == ("Inception",)


def test_a_name_with_signs_is_found_in_a_question(served):
    served.load(FIVE)
    assert live(served).fetch_graph("who knows Dan <b>?").fetched.starts == ("Dan <b>",)


@pytest.mark.parametrize(
    ("label", "typed"),
    [
        ("Jo’Ann O’Neil", "Jo'Ann O'Neil"),
        ("Jo'Ann O'Neil", "jo’ann o’neil"),
        ("Stone–Hill", "Stone\u2011Hill"),
        ("Kru\u0308ger", "Krüger"),
    ],
)
def test_a_label_in_other_typography_is_found(served, label, typed):
    served.load(PREFIXES + f':a :r :b . :a rdfs:label "{label}" . :b rdfs:label "Bob" .')
    assert live(served).fetch_graph("", [typed]).fetched.starts == (label,)
    assert live(served).fetch_graph(f"who knows {typed}?").fetched.starts == (label,)


def test_a_thing_without_a_label_is_found_by_the_end_of_its_iri(served):
    served.load(FILMS)
    assert live(served).fetch_graph("", ["f2"]).fetched.starts == ("f2",)
    assert live(served, language="none").fetch_graph("", ["p1"]).fetched.starts == ("p1",)


@pytest.mark.parametrize(
    "name", ['Nobody", <x>) } ; DROP ALL #', "<http://x/a> . ?s ?p ?o", "\\", "\x00", "Nobody\n"]
)
def test_unknown_entities_give_an_error_and_change_no_data(served, name):
    served.load(FIVE)
    with pytest.raises(UnknownEntity, match="was not found by its name"):
        live(served).fetch_graph("", [name])
    assert len(served.store) == 10


def test_a_question_without_entities_gives_an_error_sentence(served):
    served.load(FIVE)
    with pytest.raises(UnknownEntity, match="No entity of 127"):
        live(served).fetch_graph("who is it?")


def test_of_equal_names_the_one_with_most_triples_is_taken_with_a_note(served):
    served.load(FIVE + ' :other rdfs:label "Ann" . :other :r :x , :y .')
    near = live(served, hops=1).fetch_graph("", ["Ann"])
    assert triples(near) == {"Ann -> r -> x", "Ann -> r -> y"}
    assert any(
        "2 things are called “Ann”" in one and "<http://x/other>" in one
        for one in near.fetched.sentences
    )


def star(leaves):
    return (
        PREFIXES
        + ':hub rdfs:label "Hub" . '
        + "".join(f":hub :to :out{at} . :in{at} :to :hub . " for at in range(leaves))
    )


def test_edges_of_a_hub_are_limited_per_direction_with_a_note(served):
    served.load(star(7))
    near = live(served, hops=1, each=3).fetch_graph("", ["Hub"])
    assert near.n_edges == 6 and near.degrees(near_of(near, "Hub"), "out").tolist() == [3]
    assert NoteWith(1, "entity", "3 triples", "left out") in near.fetched.sentences
    whole = live(served, hops=1, each=7).fetch_graph("", ["Hub"])
    assert whole.n_edges == 14 and not any("left out" in one for one in whole.fetched.sentences)


def near_of(graph, name):
    import numpy as np

    return np.array(graph.nodes_named(name))


def test_the_total_of_edges_is_limited_with_a_note(served):
    served.load(chain(30))
    near = live(served, hops=6, edges=4).fetch_graph("", ["n15"])
    assert near.n_edges == 4 and any(
        "4 edges are the most that are fetched" in one for one in near.fetched.sentences
    )


def test_no_request_begins_after_the_time_limit(served, monkeypatch):
    served.load(chain(30))
    monkeypatch.setattr(
        "core.databases.neighbourhood.time.monotonic", iter(range(0, 1000, 2)).__next__
    )
    near = live(served, hops=6, seconds=3.0).fetch_graph("", ["n15"])
    assert near.n_edges < 12 and any("3 s had passed" in one for one in near.fetched.sentences)


def test_smaller_requests_follow_when_a_server_limits_its_rows(served):
    served.load(chain(9))
    served.most = 6
    assert live(served, hops=6).fetch_graph("", ["n4"]).n_edges == 9


def test_a_node_with_only_some_edges_returned_is_noted_as_cut(served):
    served.load(star(7))
    served.most = 6
    assert "1 entity has more than" in live(served, hops=1).fetch_graph("", ["Hub"]).fetched.text


def test_named_graphs_are_used_if_the_default_one_is_empty(served):
    from pyoxigraph import RdfFormat

    served.load(
        "<http://x/a> <http://x/r> <http://x/b> <http://g/1> .\n<http://x/a> <http://x/r>"
        " <http://x/b> <http://g/2> .\n"
        '<http://x/a> <http://www.w3.org/2000/01/rdf-schema#label> "Ann" <http://g/3> .',
        RdfFormat.N_QUADS,
    )
    assert triples(live(served, each=1).fetch_graph("", ["Ann"])) == {"Ann -> r -> b"}


def test_paths_end_at_blank_nodes_with_a_note(served):
    served.load(PREFIXES + ':a :r [ :r :b ] . :a rdfs:label "Ann" .')
    near = live(served, hops=3).fetch_graph("", ["Ann"])
    assert near.n_edges == 1 and any(
        one.startswith("1 thing without a name") for one in near.fetched.sentences
    )


@pytest.mark.parametrize("literals", ["triples", "attributes", "leave-out"])
def test_with_wide_limits_the_result_equals_the_copy(served, tmp_path, literals):
    served.load(FILMS)
    file = copy_graph(address_of(served.url), tmp_path, CopyLimits(), literals=literals)
    triples = list(file.read())
    copy = build_in_memory(triples, "films", "both", file.attributes)
    near = live(served, hops=6, literals=literals).fetch_graph("", ["Inception"])
    assert near.digest == copy.digest and near.columns.digest == copy.columns.digest


def test_fetched_edges_are_cached_until_forgotten(served):
    served.load(FIVE)
    asked = live(served)
    first, before = asked.fetch_graph("", ["Ann"]), len(served.queries)
    assert asked.fetch_graph("", ["Ann"]) is first and len(served.queries) == before
    served.load(FIVE + ":a :r :new .")
    asked.clear_cache()
    assert asked.fetch_graph("", ["Ann"]).digest != first.digest


@pytest.mark.parametrize(
    "reply, said",
    [
        ((401, {}, b""), "wants a name and password"),
        (
            (500, {"Content-Type": "text/plain"}, b"out of <b>memory"),
            "refuses the query (500): out of memory",
        ),
        ((200, {"Content-Type": "text/html"}, b"<html>"), "answers with a web page"),
        (
            (200, {"Content-Type": "application/sparql-results+json"}, b'{"head": {"vars": ["s"'),
            "cannot be read",
        ),
        (
            (200, {"Content-Type": "application/sparql-results+json", "cut": "1"}, b"{" * 100),
            "cannot be r",
        ),
    ],
)
@pytest.mark.parametrize("when", ["first", "later"])
def test_a_failing_database_gives_an_error_sentence_and_caches_nothing(served, reply, said, when):
    import re

    served.load(FIVE)
    asked = live(served)
    bad = lambda query, number: (
        (reply[0], dict(reply[1]), reply[2]) if when == "first" or "UNION" in query else None
    )
    served.instead = bad
    with pytest.raises(BadInput, match=re.escape(said)):
        asked.fetch_graph("", ["Ann"])
    served.instead = lambda query, number: None
    assert asked.fetch_graph("", ["Ann"]).n_edges == 2


def test_an_unreachable_database_gives_an_error_sentence():
    with pytest.raises(BadInput, match="cannot be reached"):
        LiveDatabase("gone", LiveSettings("sparql+http://127.0.0.1:9/sparql")).fetch_graph(
            "", ["Ann"]
        )


def test_a_slow_database_times_out_and_can_be_cancelled(served, monkeypatch):
    served.load(FIVE)
    monkeypatch.setattr(sparql, "PIECE_WAIT_SECONDS", 0.2)
    served.instead = lambda query, number: (
        200,
        {"Content-Type": "application/sparql-results+json", "cut": "slow"},
        b" " * 1000,
    )
    with pytest.raises(BadInput, match="did not answer within|broke off"):
        live(served).fetch_graph("", ["Ann"])
    served.instead = lambda query, number: None

    def stop():
        raise RunCancelled

    with pytest.raises(RunCancelled):
        live(served).fetch_graph("", ["Ann"], Watch(stop))


def test_batches_equal_single_requests(served, monkeypatch):
    served.load(FILMS)
    together = live(served, hops=3).fetch_graph("", ["Inception"])
    monkeypatch.setattr(sparql_lookup, "THINGS_PER_REQUEST", 1)
    assert live(served, hops=3).fetch_graph("", ["Inception"]).digest == together.digest


def test_a_key_comes_from_its_variable_and_is_in_no_file(served, tmp_path, monkeypatch):
    served.load(FIVE)
    served.key = "ann:secret-word"
    monkeypatch.setenv("HOPSCOPE_KEY_MINE", f"{served.url} ann:secret-word")
    settings = LiveSettings(served.url, key="HOPSCOPE_KEY_MINE")
    save_live(tmp_path / "g", settings)
    assert "secret" not in (tmp_path / "g" / LIVE_FILE).read_text().replace("No secret", "")
    graph = open_live(tmp_path / "g")
    assert graph.live.settings == settings and graph.live.fetch_graph("", ["Ann"]).n_edges == 2
    monkeypatch.delenv("HOPSCOPE_KEY_MINE")
    with pytest.raises(Exception, match="HOPSCOPE_KEY_MINE"):
        open_live(tmp_path / "g").live.fetch_graph("", ["Ann"])


def test_a_shared_hopscope_does_not_use_the_file_of_keys(served, tmp_path, monkeypatch):
    from core.models.api_keys import save_key

    served.load(FIVE)
    served.key = "ann:secret-word"
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    save_key(served.url, "ann:secret-word")
    assert live(served).fetch_graph("", ["Ann"]).n_edges == 2
    monkeypatch.setenv("HOPSCOPE_SHARED", "1")
    with pytest.raises(BadInput, match="wants a name and password"):
        live(served).fetch_graph("", ["Ann"])


@pytest.mark.parametrize(
    "text, said",
    [
        ('address = "http://x/"\nhop = 2', "there is no setting “hop”. Did you mean “hops”"),
        ('address = "http://x/"\nhops = "2"', "hops cannot be '2'"),
        ('address = "http://x/"\nhops = true', "hops cannot be True"),
        ('address = "http://x/"\nhops = 0', "hops is a number from 1 to 6"),
        ('address = "http://x/"\nseconds = 1e9', "seconds is a number from 1 to 600"),
        ('address = "http://ann:secret-word@x/"', "holds no name and no password"),
        ("hops = 2", "address"),
        ("address = ", "cannot be read"),
    ],
)
def test_a_damaged_description_gives_an_error_sentence(tmp_path, text, said):
    (tmp_path / LIVE_FILE).write_text(text)
    with pytest.raises(StoreError, match=said.replace("?", "\\?")) as refused:
        open_live(tmp_path)
    assert "secret-word" not in str(refused.value)
