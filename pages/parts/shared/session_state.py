"""What a browser session holds between two runs of a page: each key of `st.session_state` once, as
an attribute.

    session.question                                      the value, or the default where none was
    set session.question = "who directed Inception"           set del session.job
    dropped; no error where none was set st.text_input("Question", key=Session.question.name)  the
    widget whose value it is Session.cases_message.take()                          read once:
    dropped as it is read Session.case_shown.of(case.id, lambda: ...)           made once for each
    case, and anew for another Session.texts_build["rkg"].value = "rkg-described"    a key for each
    id, read and set by `value`

On the class an attribute is its `Key`, on `session` the value of that key. A name that is not
declared is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

import streamlit as st

from core.graph.edits import Edit
from core.sources import GraphSource, Source
from pages.parts.shared.edits import Received

if TYPE_CHECKING:
    from core.cases import Case
    from core.diagnosis.changes.adviser import SizeAdvice
    from core.diagnosis.curves import Curve
    from core.diagnosis.step_outcomes import StepOutcome
    from core.engine import Comparison
    from core.errors import HopscopeError
    from core.models.discovery import FoundServer
    from core.runtime.jobs import Job
    from pages.parts.board.payload import Board
    from pages.parts.bringing.database_copy import DatabaseForm
    from pages.parts.build.bench import Bench
    from pages.parts.build.trials import Trials
    from pages.parts.question.permalink import Link

USUAL = GraphSource("metaqa")  # what is chosen to begin with
T = TypeVar("T")


class Key(Generic[T]):
    """A key and its default. One that is made (`list`, `dict`) is kept when it is first read."""

    def __init__(self, default: T | Callable[[], T], name: str = ""):
        self.default, self.name = default, name

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name

    @property
    def value(self) -> T:
        """What was set, or the default."""
        if callable(self.default) and self.name not in st.session_state:
            st.session_state[self.name] = self.default()
        return st.session_state.get(self.name, self.default)

    @value.setter
    def value(self, value: T) -> None:
        st.session_state[self.name] = value

    def drop(self) -> None:
        """Forget what was set, if anything."""
        st.session_state.pop(self.name, None)

    def take(self) -> T:
        """What was set, or the default; it is dropped, as a message is that is said once."""
        value = self.value
        self.drop()
        return value

    def put(self, value: T) -> None:
        """Set it, as the callback of a button."""
        self.value = value

    @overload
    def __get__(self, session: None, owner: type) -> Self: ...
    @overload
    def __get__(self, session: object, owner: type) -> T: ...
    def __get__(self, session: object, owner: type) -> Self | T:
        return self if session is None else self.value

    def __set__(self, session: object, value: T) -> None:
        self.value = value

    def __delete__(self, session: object) -> None:
        self.drop()


class Widget(Key[T]):
    """The key of a widget that more than its own call reads or sets. Streamlit's rules: it is set
    before the widget is drawn in a run, and drops when a run does not draw the widget, as on
    another page, unless that was drawn with `persist_state="session"`."""


class Made(Key[tuple[Hashable, T] | None]):
    """The key of a value that is made of something, and made anew when that is another one."""

    def __init__(self) -> None:
        super().__init__(None)

    def of(self, what: Hashable, make: Callable[[], T]) -> T:
        """The value for `what`."""
        known = self.value
        if known is None or known[0] != what:
            known = self.value = (what, make())
        return known[1]


class Keys(Generic[T]):
    """Keys of a kind, one for each id: of `texts_build` and "rkg" it is `texts_build-rkg`, unless
    `name` says how it is written."""

    def __init__(self, default: T | Callable[[], T], name: str = ""):
        self.default, self.name = default, name

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name + "-{}"

    def __getitem__(self, id: object) -> Key[T]:
        return Key(self.default, self.name.format(id))


class Cells(Keys[Any]):
    """Keys of tables of which a cell can be clicked."""

    def __init__(self) -> None:
        super().__init__(None)

    def row(self, id: object, rows: int) -> int | None:
        """The row of the cell that was clicked in the table of that id; None where that is none of
        the first `rows`."""
        cells = self[id].value["selection"]["cells"]
        return cells[0][0] if cells and cells[0][0] < rows else None


class Session:
    """The keys of all pages, each below a line on what it holds and who sets it."""

    __slots__ = ()  # so that a misspelt name is refused

    # Every page
    # What a visit without a sign-in is known by; set when it is first asked for.
    visit: Key[str] = Key("")
    # The page on the screen; set by main.py before each run.
    page: Key[str] = Key("")
    # Whether the person came from another page; set with `page`, cleared by the page that read its
    # address.
    came: Key[bool] = Key(False)
    # Why what a button began could not be done; drawn once, above the page.
    problem: Key[str] = Key("")
    # What is chosen in the sidebar; set there, and through `choose` by what opens a source.
    source: Widget[Source | None] = Widget(None)
    # What an address asks to be chosen; the sidebar takes it, before it is drawn.
    source_wanted: Key[Source | None] = Key(None)
    # The graph chosen last, for pages that show no documents; set by the sidebar.
    last_graph: Key[Source] = Key(USUAL)

    # The language that a person chooses, by what is in it: a corpus or a graph.
    language: Keys[str] = Keys("")

    # Compare: the question
    # The question in the bar; set by an address, a case, an example or a set.
    question: Widget[str] = Widget("")
    # Whether a language model answers; set by the options, an address or a case.
    model: Widget[bool] = Widget(True)
    # Whether it is answered without one as well; set by the options, an address or a case.
    reader: Widget[bool] = Widget(True)
    # Whether a question waits until all vectors are there; set by the options.
    whole: Widget[bool] = Widget(False)
    # The seed of whatever is drawn at random; set by an address or a case.
    seed: Key[int] = Key(0)
    # Where the search starts; set by a set, a case, an address, a person, or found in the question.
    entities: Key[list[str]] = Key(list)
    # The known answers; set by a set, a case, an address or a person.
    answers: Key[list[str]] = Key(list)
    # How far the answers are away, where the set says; set with the question.
    hops: Key[int | None] = Key(None)
    # What is taken away, merged or renamed in the graph that is asked; set on the board, by an
    # address or a case.
    edits: Key[list[Edit]] = Key(list)
    # The job of the same question and lanes without `edits`; set when it is asked with some.
    before: Key[str] = Key("")
    # Question, model and reader as they were taken up last; `settle` compares them.
    settled: Key[tuple[str, bool, bool] | None] = Key(None)
    # Whether this run asks the question; set by `submit`, cleared once it is asked.
    submitted: Key[bool] = Key(False)
    # Whether only lanes were changed, so that those on the screen are taken over; set and cleared
    # with it.
    edited: Key[bool] = Key(False)
    # Whether Cancel was clicked: this run asks nothing.
    stopped: Key[bool] = Key(False)
    # Why the question could not be asked, or the case of the address not be opened.
    trouble: Key[HopscopeError | None] = Key(None)
    # Whether the example questions are unfolded; choosing one folds them.
    examples_open: Widget[bool] = Widget(False)
    # How many questions were drawn from sets: each draw gives another.
    draws: Key[int] = Key(0)
    # The box of known answers, by question; its lines become `answers`.
    known_answers: Keys[str] = Keys("")
    # What the browser says of entities and answers: edits, and what is typed.
    entitychips: Widget[Any] = Widget(None)
    # The browser's page and the number of its last edit that was done.
    chips_done: Key[Received] = Key(Received())
    # Whether an edit was done, so that the page is drawn anew.
    chips_changed: Key[bool] = Key(False)
    # The list that is typed into, and what was typed.
    chips_query: Key[tuple[str, str] | None] = Key(None)
    # The entities that the question may name, by graph and question.
    chips_links: Made[list[Any]] = Made()

    # Compare: the lanes
    # The instances of the lanes, by id or as text; set by an address, a case or the dialog.
    lanes: Key[list[str]] = Key(list)
    # The kind of source that `lanes` are for.
    lanes_for: Key[str] = Key(GraphSource.kind)
    # The lanes chosen last for each kind of source.
    lanes_of_kind: Key[dict[str, list[str]]] = Key(dict)
    # The lane that the dialog changes, and what of it; set by a lane's buttons.
    choosing: Key[tuple[int, str] | None] = Key(None)
    # The line of the lane in the dialog as it is changed, by lane and line.
    lane_bench: Made[Bench] = Made()
    # What the browser says of that line: edits, and what is chosen.
    lane_bricks: Widget[Any] = Widget(None)
    # The size that was suggested for the question, as long as question and feedback stay.
    advice: Key[dict[Any, SizeAdvice]] = Key(dict)

    # The board, wherever it is drawn
    # What each board has sent, by its key.
    board_received: Keys[Received] = Keys(Received())

    # Compare: what is on the screen
    # The job of the comparison on the screen; set when a question is asked.
    job: Key[str] = Key("")
    # The case on the screen; set when one is opened, dropped when a question is asked.
    case: Key[Case | None] = Key(None)
    # The comparison of `case`, by its id.
    case_shown: Made[Comparison] = Made()
    # What the session shows of an address; set last, when it is shown.
    address: Key[Link | None] = Key(None)
    # What the next run is to show, such as a case that was clicked.
    wanted: Key[Link | None] = Key(None)
    # What is on the screen, and the jobs whose vectors it awaits.
    encoded_for: Key[tuple[str, frozenset[str]]] = Key(("", frozenset()))
    # What draws a comparison, with it.
    drawing: Key[tuple[Comparison, Board] | None] = Key(None)
    # What the board was sent last: of what, in which version, the data.
    sent: Key[tuple[str, int, dict[str, Any]]] = Key(("", -1, {}))
    # The comparison on the screen, and the builds that it lacked.
    lacked: Key[tuple[str, frozenset[str]]] = Key(("", frozenset()))
    # What the head of the presentation has sent.
    presenter_received: Key[Received] = Key(Received())
    # The cases that are presented one after the other; set by Cases.
    present_cases: Key[list[str]] = Key(list)

    # Cases
    # The notes of the case to be saved; emptied once it is.
    case_notes: Widget[str] = Widget("")
    # The tags of the case to be saved; emptied once it is.
    case_tags: Widget[list[str]] = Widget(list)
    # The comparison that was saved last, and the id of its case.
    saved_case: Key[tuple[str, str]] = Key(("", ""))
    # What was done on Cases, said once.
    cases_message: Key[str] = Key("")
    # How many cases are listed, 0 as many as at first; more by a button.
    cases_shown: Key[int] = Key(0)
    # The comparison of the case on Cases, by its id.
    case_open: Made[Comparison] = Made()
    # What draws a finished comparison, on Cases and Evaluate, by a key for each.
    finished: Made[Board] = Made()

    # The question sets that the form begins with once; set by what leads to Evaluate.
    evaluate_sets: Key[list[str]] = Key(list)
    # The question sets chosen in the form, by source.
    evaluate_chosen: Keys[list[str]] = Keys(list)
    # The methods chosen in the form, by the kind of source.
    evaluate_methods: Keys[Sequence[str]] = Keys(())
    # The methods that the form adds once to those chosen: a run just brought.
    evaluate_brought: Key[list[str]] = Key(list)
    # Whether a language model answers; set where sets are judged by its answers alone.
    evaluate_model: Widget[bool] = Widget(False)
    # Of a working run, the answers that its figures were drawn of, and when.
    evaluate_drawn: Key[tuple[int, float]] = Key((0, 0.0))
    # The comparison of a question of a run, by run, question and lanes.
    evaluation_open: Made[Comparison] = Made()
    # The open tab of a run, in its address as well; set where a new run is begun from one.
    evaluate_part: Widget[str] = Widget("", name="part")
    # What was pressed in the picture of questions that flow from one method to another.
    evaluate_flow: Widget[Any] = Widget(None)
    # The band that is open, behind its run and two methods.
    evaluate_band: Key[tuple[Hashable, tuple[str, str]]] = Key(((), ("", "")))
    # The search for a method that was sent last in this session.
    search_last: Key[str] = Key("")
    # The line of a search that was saved last, and its title.
    search_saved: Key[tuple[str, str]] = Key(("", ""))

    # Texts
    # The documents that are looked at; set by an address, the sidebar, or files that were read.
    texts_corpus: Widget[str] = Widget("")
    # The documents that the next run is to show; set where files were read.
    texts_wanted: Key[str] = Key("")
    # What was chosen in the sidebar when the page was drawn last.
    texts_beside: Key[Source | None] = Key(None)
    # The documents that an address named and that are not here, said once.
    texts_missed: Key[str] = Key("")
    # The open tab.
    texts_tabs: Widget[str] = Widget("")
    # The tab that was open when the page was drawn last, for coming back.
    texts_open: Key[str] = Key("")
    # The documents for which a kind of graph was chosen to begin with.
    texts_begun: Key[str] = Key("")
    # The kind of graph that is looked at.
    texts_kind: Widget[str] = Widget("")
    # The build that is looked at, by kind of graph.
    texts_build: Keys[str] = Keys("")
    # The steps of the chosen build as they are changed, by corpus and build.
    texts_bench: Made[Bench] = Made()
    # What the browser says of these steps: edits, and what is chosen.
    texts_bricks: Widget[Any] = Widget(None)
    # Whether entities, communities, one chunk or another graph is looked at.
    texts_view: Widget[str] = Widget("")
    # The number of the chunk that is looked at, by graph.
    texts_chunk: Keys[int] = Keys(1)
    # The build that is beside the one looked at, by corpus.
    texts_other: Keys[str] = Keys("")
    # The type of entities that are listed.
    texts_type: Widget[str] = Widget("every type")
    # Whether documents or chunks are listed.
    texts_what: Widget[str] = Widget("")
    # The document that was opened, with its corpus.
    texts_document: Key[tuple[str, str] | None] = Key(None)
    # The page of the list of documents, by corpus.
    texts_document_page: Keys[int] = Keys(0)
    # The page of the list of chunks, by corpus.
    texts_chunk_page: Keys[int] = Keys(0)
    # The page of the table of entities, by graph.
    texts_entity_page: Keys[int] = Keys(0)
    # The page of an entity's relations.
    texts_near_page: Key[int] = Key(0)
    # The page of an entity's chunks.
    texts_passage_page: Key[int] = Key(0)
    # The page of a community's entities.
    texts_member_page: Key[int] = Key(0)
    # The entities that were looked at one after the other, by digest of the graph.
    texts_trails: Key[dict[str, list[int]]] = Key(dict)
    # The communities opened one within the other, by digest of the graph.
    texts_communities: Key[dict[str, list[int]]] = Key(dict)
    # The map of communities: `opened` is the one that was clicked.
    texts_map: Widget[Any] = Widget(None)
    # How many suggestions and merges are listed, 0 as many as at first; more by a button.
    mend_shown: Key[int] = Key(0)
    # Whether a language model answers in the evaluation before and after.
    mend_model: Widget[bool] = Widget(False)
    # The evaluation before and after that was begun last, by corpus.
    mend_run: Keys[int] = Keys(0)
    # The tables of which a cell can be clicked, by what they list.
    table_cells: Cells = Cells()

    # Graphs
    # The entity whose neighbourhood is shown of a database that is asked live.
    around: Widget[str] = Widget("")
    # The way that was walked, by digest of the graph.
    trails: Key[dict[str, list[int]]] = Key(dict)
    # What is typed to find an entity; emptied by a step.
    walk_search: Widget[str] = Widget("")
    # The relation and direction of the steps that are listed, as a number, -1 for all; by graph.
    walk_filter: Keys[int] = Keys(-1)
    # The page of the table of steps, by graph.
    walk_page: Keys[int] = Keys(0)
    # The graph, and the entity of an address that is not in it.
    walk_refused: Key[tuple[str, str] | None] = Key(None)
    # The picture of a neighbourhood: `walk` is the entity that was clicked.
    walk_picture: Widget[Any] = Widget(None)
    # The large graph that is to be counted, by digest.
    count_asked: Key[str] = Key("")
    # The page and query that a question set leads to, or why not; once.
    led_on: Key[str | tuple[str, dict[str, Any]] | None] = Key(None)
    # The graph that was opened once it was added: the first tab is open again.
    graph_opened: Key[str] = Key("")
    # The job that brings what was dropped last.
    bring_job: Key[Job | None] = Key(None)
    # The last such job whose end the page took up.
    bring_done: Key[Job | None] = Key(None)
    # How often something was brought: the drop zone is empty after each.
    bring_round: Key[int] = Key(0)
    # The job that looked at an uploaded file, with the file, by upload.
    looked: Keys[tuple[tuple | None, Job | None]] = Keys((None, None))
    # The database that is looked at before its graph is copied, without its key.
    database_asked: Key[DatabaseForm | None] = Key(None)
    # What of a file's questions does not fit a graph, by both.
    questions_fit: Made[str] = Made()

    # The model that is chosen for a role, by role.
    role: Keys[str] = Keys("")
    # The title of the model that was added, said once.
    model_added: Key[str] = Key("")
    # The model servers that were found on this computer, once looked for.
    servers_found: Key[tuple[FoundServer, ...] | None] = Key(None)
    # The server that was asked for its models, and their names.
    server_models: Key[tuple[str, tuple[str, ...]]] = Key(("", ()))
    # The model that is chosen from that list.
    server_pill: Widget[str | None] = Widget(None)
    # The name in the form of a server.
    server_name: Widget[str] = Widget("")
    # The address in the form of a server.
    server_url: Widget[str] = Widget("")
    # The model in the form of a server.
    server_model: Widget[str] = Widget("")
    # What the model in the form of a server is: chat, encoder or reranker.
    server_kind: Widget[str] = Widget("chat")
    # The key in the form of a server, emptied once it is saved.
    server_key: Widget[str] = Widget("")
    # The environment variable in the place of that key.
    server_variable: Widget[str] = Widget("")
    # The roles that the model in the form of a server takes over.
    server_roles: Widget[list[str]] = Widget(list)
    # Whether the form is to be emptied before it is drawn again.
    server_emptied: Key[bool] = Key(False)
    # The job that tries a model, by kind of trial.
    try_jobs: Keys[str] = Keys("")

    # Build
    # The line that is put together, with the way back; made when Build is first opened.
    bench: Key[Bench | None] = Key(None)
    # What the browser says of the line: edits, and what is chosen.
    bricks: Widget[Any] = Widget(None)
    # The method that is to be started from; emptied once it is taken over.
    build_start: Widget[str | None] = Widget(None)
    # The title of a method just saved, said once the whole page lists it.
    build_saved: Key[str] = Key("")
    # The question that Build tries a line on.
    try_question: Widget[str] = Widget("")
    # What `try_question` is asked of; another source brings a question of its own.
    try_source: Key[Source | None] = Key(None)
    # How many questions were drawn there: each draw gives another.
    try_draws: Key[int] = Key(0)
    # Whether a language model answers it.
    try_model: Widget[bool] = Widget(False)
    # The job that runs the line, and the line before the last change beside it.
    try_job: Key[str] = Key("")
    # What was run of the line: now, before the last change, and what need not be run again.
    trials: Key[Trials | None] = Key(None)
    # What values of the chosen brick's parameters do, by that job and the brick's place.
    try_curves: Made[Mapping[str, Curve]] = Made()
    # The job that asks the line before the last change and the line now over more questions.
    over_job: Key[str] = Key("")
    # What the last change did, as it is drawn, by that job.
    change: Made[dict[str, Any] | None] = Made()
    # What came of each step of that run, by the job and how far it is.
    try_outcomes: Made[Sequence[StepOutcome]] = Made()

    def submit(self) -> None:
        """Ask the question in the bar in this run, where there is one."""
        self.submitted = bool(self.question.strip())

    def choose(self, source: Source) -> None:
        """Choose another source, as a callback; the question of the former one is forgotten."""
        if source != self.source:
            self.source = source
            self.begin_anew()

    def begin_anew(self) -> None:
        """Forget the question and what was found, as where another source is chosen."""
        self.question = ""
        for key in (Session.job, Session.case, Session.settled, Session.trouble, Session.edits):
            key.drop()


session = Session()
