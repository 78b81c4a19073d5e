"""On a shared Hopscope only its maker and the administrator change or delete a thing.

This holds for each kind of thing.
"""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from core import sharing
from core.cases import (
    cases,
    delete,
    delete_rating,
    duplicate,
    edit,
    export,
    get_case,
    is_rated_up,
    load,
    rate,
)
from core.corpus import Document, import_documents, import_question_set, open_corpus, remove_corpus
from core.datasets import add_graph, add_question_set, open_graph, question_set
from core.datasets.own_graphs import own_folder, remove_graph
from core.datasets.own_sets import added_sets, remove_set
from core.environment import Environment
from core.errors import BadInput, BadParameter, NotAllowed, StoreError
from core.evaluation.metrics.outcome import Outcome, SubgraphSizes
from core.evaluation.runs.plan import DrawnQuestion
from core.evaluation.runs.store import Store, evaluations_file
from core.indexes import index_state
from core.indexes.index_kinds import INDEX_KINDS
from core.io.home import home_folder
from core.methods.catalogue import catalogue, find_method, save_method
from core.methods.catalogue import delete_method as delete_method
from core.models.hosts import check_host
from core.models.registry import Registry
from core.runtime.jobs import Job, Jobs
from core.sharing import (
    LOCAL_ADMINISTRATOR,
    NO_PERSON,
    acting_as,
    change_refusal,
    check_may_change,
    current_person,
    owner_of,
    owner_words,
    person_of_email,
    person_of_visit,
    record_owner,
    set_person_source,
    shared,
)
from core.sources import GraphSource
from core.types import Question, Rating

ANN, BOB = person_of_email("ann@example.com"), person_of_email("bob@example.com")
TRIPLES = [("One", "by", "Ann"), ("Two", "by", "Bob"), ("One", "genre", "Drama")]
SPEC = {"instances": [{"id": "a", "name": "A"}], "sample": 1, "seed": 0}
DRAWN = (DrawnQuestion(Question("what", "q-1"), "set", GraphSource("films")),)
FIRST = ("digest", "who", "Answer()", "Ann")
LINE = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"


@pytest.fixture(autouse=True)
def room(tmp_path, monkeypatch):
    """A home that people share, and an administrator."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    monkeypatch.setenv("HOPSCOPE_SHARED", "1")
    monkeypatch.setenv("HOPSCOPE_ADMINS", " Root@Example.com, other@example.com")
    monkeypatch.delenv("HOPSCOPE_ALLOWED_HOSTS", raising=False)
    monkeypatch.setattr(sharing, "_person_source", lambda: NO_PERSON)
    return tmp_path


@dataclass
class Thing:
    """One kind of thing that people make.

    `make` makes one and gives its name. `changes` are the ways of changing or deleting it. `state`
    gives its state, None once it is gone.
    """

    make: object
    changes: tuple
    state: object


def _case() -> str:
    return duplicate(next(case.id for case in cases() if case.example)).id


def _corpus() -> str:
    (home_folder() / "a.txt").write_text("Scrooge was a man.")
    (home_folder() / "b.txt").write_text("Marley was dead.")
    return import_documents(
        "texts", [home_folder() / "a.txt", home_folder() / "b.txt"], "Texts"
    ).corpus.name


def _more() -> object:
    (home_folder() / "c.txt").write_text("Another text.")
    return home_folder() / "c.txt"


def _questions() -> object:
    (home_folder() / "q.jsonl").write_text('{"question": "who", "answers": ["Marley"]}')
    return home_folder() / "q.jsonl"


def _set() -> str:
    (home_folder() / "q.csv").write_text("question,answers\nwho made One,Ann\n")
    return add_question_set(home_folder() / "q.csv", "mine", "Mine", "metaqa").name


def _run() -> str:
    return str(Store(evaluations_file()).begin_run(SPEC, DRAWN).id)


def _corpus_state(name: str):
    try:
        found = open_corpus(name)
    except BadInput:
        return None
    return found.digest, found.title, dict(found.sets)


def _graph() -> str:
    return add_graph(TRIPLES, "films").name


THINGS = {
    "case": Thing(
        _case,
        (lambda key: edit(key, notes="Bob was here"), lambda key: edit(key, tags=["x"]), delete),
        lambda key: next((case for case in cases() if case.id == key), None),
    ),
    "corpus": Thing(
        _corpus,
        (
            lambda name: import_documents(name, [_more()]),
            lambda name: import_question_set(name, _questions()),
            lambda name: open_corpus(name).add([Document("d", "text")]),
            lambda name: open_corpus(name).change([Document("a.txt", "another")]),
            lambda name: open_corpus(name).update([Document("d", "text")], title="Bob's"),
            lambda name: open_corpus(name).with_questions(
                {"bobs": ("Bob's", [Question("who", "1")])}
            ),
            lambda name: open_corpus(name).remove(["a.txt"]),
            remove_corpus,
        ),
        _corpus_state,
    ),
    "graph": Thing(_graph, (remove_graph,), own_folder),
    "question set": Thing(_set, (remove_set,), lambda name: added_sets().get(name)),
    "method": Thing(
        lambda: save_method("Mine", find_method(LINE).line).id,
        (delete_method,),
        lambda key: catalogue().get(key),
    ),
    "evaluation": Thing(
        _run,
        (lambda run: Store(evaluations_file()).delete(int(run)),),
        lambda run: next(
            (one for one in Store(evaluations_file()).runs() if one.id == int(run)), None
        ),
    ),
    "rating": Thing(
        lambda: rate(Rating("who", "digest", "Answer()", "Ann", True)) or "",
        (
            lambda _: rate(Rating("who", "digest", "Answer()", "Ann", False)),
            lambda _: delete_rating("digest", "who", "Answer()", "Ann"),
        ),
        lambda _: is_rated_up("digest", "who", "Answer()", "Ann"),
    ),
}


@pytest.mark.parametrize("kind", THINGS)
@pytest.mark.parametrize(
    "other", [BOB, person_of_visit("b"), NO_PERSON], ids=["another", "a visitor", "nobody"]
)
def test_another_person_changes_and_deletes_nothing(kind, other):
    thing = THINGS[kind]
    with acting_as(ANN):
        name = thing.make()
    before = thing.state(name)
    for change in thing.changes:
        with (
            acting_as(other),
            pytest.raises(
                NotAllowed,
                match=f"^This {kind} belongs to ann@example.com; ",
            ),
        ):
            change(name)
        assert thing.state(name) == before is not None


@pytest.mark.parametrize("kind", THINGS)
@pytest.mark.parametrize(
    "email", [ANN.id, "ANN@Example.COM", "root@example.com", "the command line"]
)
def test_its_owner_and_the_administrator_change_and_delete_it(kind, email):
    thing, one = (
        THINGS[kind],
        LOCAL_ADMINISTRATOR if email == "the command line" else person_of_email(email),
    )
    with acting_as(ANN):
        name = thing.make()
    before = thing.state(name)
    with acting_as(one):
        for change in thing.changes[:-1]:
            change(name)
        assert thing.state(name) != before or len(thing.changes) == 1
        thing.changes[-1](name)
    assert thing.state(name) is None


@pytest.mark.parametrize("kind", THINGS)
def test_what_is_made_anew_under_a_name_belongs_to_who_made_it(kind, monkeypatch):
    thing = THINGS[kind]
    with acting_as(ANN):
        name = thing.make()
        thing.changes[-1](name)
    with acting_as(BOB):
        assert thing.make() is not None
    monkeypatch.delenv("HOPSCOPE_SHARED")
    if kind != "case":  # whose names never come again
        thing.changes[-1](name)
        assert thing.make() == name
        monkeypatch.setenv("HOPSCOPE_SHARED", "1")
        with (
            acting_as(BOB),
            pytest.raises(NotAllowed, match=f"This {kind} belongs to the administrator"),
        ):
            thing.changes[-1](name)


def test_a_visitor_owns_what_this_visit_made_and_no_other_visit_does():
    with acting_as(person_of_visit("a")):
        key = _case()
        edit(key, notes="mine")
    with (
        acting_as(person_of_visit("b")),
        pytest.raises(NotAllowed, match="belongs to a visitor"),
    ):
        delete(key)
    with acting_as(person_of_visit("a")):
        delete(key)


def test_what_was_there_before_people_shared_is_the_administrator_s(monkeypatch):
    monkeypatch.delenv("HOPSCOPE_SHARED")
    key = _case()
    edit(key, notes="one person, no owner")
    assert not (home_folder() / "owners.sqlite").exists()
    monkeypatch.setenv("HOPSCOPE_SHARED", "1")
    with (
        acting_as(ANN),
        pytest.raises(
            NotAllowed,
            match="belongs to the administrator",
        ),
    ):
        delete(key)
    with acting_as(person_of_email("other@example.com")):
        delete(key)


def test_a_copy_and_an_import_belong_to_who_made_them():
    with acting_as(ANN):
        key = _case()
    with acting_as(BOB):
        copy = duplicate(key).id
        assert load(export([key])).n_known == 1  # as it is here already, nothing is added
        delete(copy)
    with acting_as(ANN):
        packed = export([key])
        edit(key, notes="changed since")
    with acting_as(BOB):
        (added,) = load(packed).added
        assert added.id != key and get_case(key).notes == "changed since"
        delete(added.id)


def test_a_graph_takes_nobody_s_place():
    with acting_as(ANN):
        name = _graph()
    digest = open_graph(name).digest
    for one in (BOB, ANN, LOCAL_ADMINISTRATOR):
        with acting_as(one), pytest.raises(BadInput, match="There is already a graph “films”"):
            add_graph([("x", "y", "z")], name)
        with acting_as(one), pytest.raises(BadInput, match="already a graph"):
            add_graph([("x", "y", "z")], "../films")
    assert open_graph(name).digest == digest and owner_of("graph", name) == ANN.id


def test_an_evaluation_of_another_is_opened_when_finished_and_never_gone_on_with():
    store = Store(evaluations_file())
    with acting_as(ANN):
        run = store.begin_run(SPEC, DRAWN)
        assert store.begin_run(SPEC, DRAWN).id == run.id
    with acting_as(BOB):
        assert (bobs := store.begin_run(SPEC, DRAWN)).id != run.id
        store.delete(bobs.id)
    store.save_row(run.id, "a", "q-1", Outcome(1, SubgraphSizes(1, 1, 1, 1)), None, None)
    with acting_as(BOB):
        assert store.begin_run(SPEC, DRAWN).id == run.id  # nothing is left to do in it


def test_an_index_is_deleted_and_made_anew_by_who_made_it():
    kind, jobs = INDEX_KINDS["communities"], Jobs()
    graph, env = (
        add_graph(TRIPLES, "films"),
        Environment(SimpleNamespace(signature=lambda name: name)),
    )
    with acting_as(ANN):
        job = index_state.start_index_job(jobs, graph, kind, env)
    assert job.wait(60) and job.error is None
    for act in (
        lambda: index_state.start_index_job(jobs, graph, kind, env),
        lambda: index_state.delete_index(jobs, graph, kind),
    ):
        with (
            acting_as(BOB),
            pytest.raises(NotAllowed, match="This index belongs to ann@example.com"),
        ):
            act()
    left = SimpleNamespace(path=home_folder() / "nothing")
    with (
        acting_as(ANN),
        pytest.raises(NotAllowed, match="only the administrator"),
    ):
        index_state.delete_leftover(graph, left)
    with acting_as(ANN):
        assert index_state.start_index_job(jobs, graph, kind, env).wait(60)
        index_state.delete_index(jobs, graph, kind)
    assert owner_of("index", index_state.index_job_key(graph, kind)) == ""


def test_only_the_administrator_changes_the_models():
    registry = Registry()
    role = registry.roles["encoder"]
    changes = {
        "add models": lambda: registry.add(
            "mine", "chat", "openai", url="http://localhost:1/v1", model="m"
        ),
        "remove models": lambda: registry.remove("mine"),
        "choose which model does what": lambda: registry.set_role("encoder", role),
        "fetch models": lambda: registry.fetch("answer"),
        "unload models": lambda: registry.unload("encoder"),
    }
    for one in (ANN, person_of_visit("a"), NO_PERSON):
        for what, change in changes.items():
            with (
                acting_as(one),
                pytest.raises(NotAllowed, match=f"only the administrator may {what}"),
            ):
                change()
    assert not (home_folder() / "models.toml").exists()
    with acting_as(person_of_email("root@example.com")):
        changes["add models"]()
        changes["choose which model does what"]()
        changes["remove models"]()


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/v1",
        "http://169.254.169.254/latest",
        "http://localhost@example.com/v1",
        "http://example.com\\@localhost/v1",
        "http://localhost.example.com/v1",
        "http://10.0.0.1/v1",
        "file:///etc/passwd",
        "http://[::2]/v1",
        "http://localhost:x/v1",
        "http://0.0.0.0/v1",
        "http:// localhost/v1",
    ],
)
def test_servers_stand_on_this_computer_unless_others_are_named(url):
    with (
        acting_as(LOCAL_ADMINISTRATOR),
        pytest.raises(BadParameter, match="Model servers are allowed on|The address of a server"),
    ):
        Registry().add("mine", "chat", "openai", url=url, model="m")


def test_the_hosts_that_are_named_are_the_hosts_that_are_allowed(monkeypatch):
    for url in (
        "http://localhost:8000/v1",
        "http://127.0.0.2/v1",
        "http://[::1]:1/v1",
        "https://LOCALHOST./v1",
    ):
        check_host(url)
    monkeypatch.setenv("HOPSCOPE_ALLOWED_HOSTS", "Models.example.com, 10.0.0.7:8000")
    for url in (
        "https://models.example.com/v1",
        "http://MODELS.example.com:9/v1",
        "http://10.0.0.7:8000/v1",
    ):
        check_host(url)
    for url in (
        "http://localhost/v1",
        "http://10.0.0.7/v1",
        "http://10.0.0.7:80/v1",
        "http://models.example.com.evil.org/v1",
    ):
        with pytest.raises(
            BadParameter,
            match="Model servers are allowed on models.example.com, 10.0.0.7:8000 alone",
        ):
            check_host(url)


def test_a_job_works_for_who_began_it_and_is_cancelled_by_nobody_else():
    jobs = Jobs()
    with acting_as(ANN):
        job = jobs.start("a", lambda: Job("a", lambda job: current_person()))
    assert job.wait(120) and job.result == ANN
    with acting_as(ANN):
        long = Job("b")
    with (
        acting_as(BOB),
        pytest.raises(
            NotAllowed, match="begun by ann@example.com, and only they and the administrator"
        ),
    ):
        long.cancel()
    assert not long.is_cancelled
    with acting_as(LOCAL_ADMINISTRATOR):
        long.cancel()
    assert long.is_cancelled


def test_a_thread_that_nobody_is_known_for_may_change_nothing():
    with acting_as(ANN):
        key = _case()
    with ThreadPoolExecutor(1) as pool, pytest.raises(NotAllowed):
        pool.submit(delete, key).result()
    set_person_source(lambda: ANN)
    delete(key)


def test_nobody_names_a_file_or_folder_of_this_computer_from_a_browser(room):
    (room / "q.csv").write_text("question,answers\nwho made One,Ann\n")
    elsewhere = room / "elsewhere" / "films"
    with acting_as(LOCAL_ADMINISTRATOR):
        graph = add_graph(TRIPLES, "films")
        assert len(question_set(room / "q.csv").questions()) == 1
        graph.folder.parent.rename(room / "elsewhere")
        assert open_graph(elsewhere).n_nodes == 5
    for one in (ANN, NO_PERSON, person_of_email("root@example.com")):
        with acting_as(one), pytest.raises(BadInput, match="There is no question set"):
            question_set(room / "q.csv")
        for name in (elsewhere, "../elsewhere/films"):
            with acting_as(one), pytest.raises(BadInput, match="There is no graph"):
                open_graph(name)


def test_a_damaged_file_of_owners_lets_nobody_in_but_the_administrator(room):
    with acting_as(ANN):
        key = _case()
    (room / "owners.sqlite").write_bytes(b"no database " * 100)
    with acting_as(ANN), pytest.raises(StoreError, match="The owners in .* cannot be used"):
        delete(key)
    assert (room / "owners.sqlite").read_bytes().startswith(b"no database")


def test_people_who_are_nobody_and_names_that_only_look_alike():
    assert (
        person_of_email(" Ann@Example.com ") == ANN
        and person_of_email("ROOT@example.com").administrator
    )
    for odd in (
        "",
        "ann",
        "ann@b@c",
        "visit 123@x",
        "ann @example.com",
        "@",
        "ann@",
        "Root@Example.com,other@example.com",
    ):
        assert person_of_email(odd) == NO_PERSON
    kelvin = person_of_email(
        "\u212aate@example.com"
    )  # the sign for kelvin, which Python makes a small k
    assert kelvin != person_of_email("kate@example.com") and not kelvin.administrator
    assert (
        person_of_visit("a") != person_of_visit("b") and "token" not in person_of_visit("token").id
    )
    with acting_as(person_of_email("<script>alert(1)</script>@example.com")):
        record_owner("case", "<b>'; DROP TABLE owners; --")
    assert owner_of("case", "<b>'; DROP TABLE owners; --").startswith("<script>")
    assert owner_words(person_of_visit("a").id) == "a visitor who did not sign in"


@pytest.mark.parametrize("value", ["", ",", " , ", "@"])
def test_no_administrator_is_named_by_emptiness(monkeypatch, value):
    monkeypatch.setenv("HOPSCOPE_ADMINS", value)
    assert (
        not person_of_email("").administrator
        and not person_of_email("@").administrator
        and not ANN.administrator
    )
    monkeypatch.delenv("HOPSCOPE_ADMINS")
    assert not person_of_email("").administrator


def test_where_nothing_is_shared_there_is_one_person_and_nothing_is_written(monkeypatch):
    for value in (None, "", "0"):
        monkeypatch.delenv("HOPSCOPE_SHARED") if value is None else monkeypatch.setenv(
            "HOPSCOPE_SHARED", value
        )
        with acting_as(NO_PERSON):
            assert (
                not shared()
                and current_person() == LOCAL_ADMINISTRATOR
                and change_refusal("case", "x") == ""
            )
            record_owner("case", "x")
            check_may_change("case", "x")
            check_host("http://example.com")
        monkeypatch.setenv("HOPSCOPE_SHARED", "0")
    assert not (home_folder() / "owners.sqlite").exists()


def test_owners_are_kept_by_several_processes_at_once(room):
    with acting_as(ANN), ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: _made(str(number)), range(40)))
    with sqlite3.connect(room / "owners.sqlite") as database:
        assert database.execute(
            "SELECT count(*), min(owner), max(owner) FROM owners"
        ).fetchone() == (40, ANN.id, ANN.id)


def _made(name: str) -> None:
    with acting_as(ANN):
        record_owner("case", name)
