"""State of a browser session between two runs of a page.

Each key of `st.session_state` is declared once, as an attribute. On the class an attribute is its
`Key`; on `session` it is the value of that key. A name that is not declared is an error.

    session.question                                    # the value, or the default
    session.question = "who directed Inception"         # set
    del session.job                                     # removed; no error if it was not set
    st.text_input("Question", key=Session.question.name)  # the widget with this value
    Session.cases_message.take()                        # read and removed
    Session.case_shown.of(case.id, lambda: ...)         # computed once for each case
    Session.texts_build["rkg"].value = "rkg-described"  # one key per id
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

USUAL = GraphSource("metaqa")  # the graph that is chosen at first
T = TypeVar("T")


class Key(Generic[T]):
    """A key of the session state and its default.

    A default that is made by a call (`list`, `dict`) is stored when it is first read.
    """

    def __init__(self, default: T | Callable[[], T], name: str = ""):
        self.default, self.name = default, name

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name

    @property
    def value(self) -> T:
        """The value that was set, or the default."""
        if callable(self.default) and self.name not in st.session_state:
            st.session_state[self.name] = self.default()
        return st.session_state.get(self.name, self.default)

    @value.setter
    def value(self, value: T) -> None:
        st.session_state[self.name] = value

    def drop(self) -> None:
        """Remove the value, if one was set."""
        st.session_state.pop(self.name, None)

    def take(self) -> T:
        """Return the value and remove it, such as a message that is shown once."""
        value = self.value
        self.drop()
        return value

    def put(self, value: T) -> None:
        """Set the value, as the callback of a button."""
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
    """Key of a widget that other code reads or sets too.

    Streamlit's rules hold: the value is set before the widget is drawn in a run. It is lost when a
    run does not draw the widget, as on another page, unless it is drawn with
    `persist_state="session"`.
    """


class Made(Key[tuple[Hashable, T] | None]):
    """Key of a value that is computed from something.

    It is computed again when that changes.
    """

    def __init__(self) -> None:
        super().__init__(None)

    def of(self, what: Hashable, make: Callable[[], T]) -> T:
        """Return the value for `what`.

        It is computed by `make` if `what` has changed.
        """
        known = self.value
        if known is None or known[0] != what:
            known = self.value = (what, make())
        return known[1]


class Keys(Generic[T]):
    """Keys of one kind, one for each id.

    The key of `texts_build` and "rkg" is `texts_build-rkg`, unless `name` gives another pattern.
    """

    def __init__(self, default: T | Callable[[], T], name: str = ""):
        self.default, self.name = default, name

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name + "-{}"

    def __getitem__(self, id: object) -> Key[T]:
        return Key(self.default, self.name.format(id))


class Cells(Keys[Any]):
    """Keys of tables with clickable cells."""

    def __init__(self) -> None:
        super().__init__(None)

    def row(self, id: object, rows: int) -> int | None:
        """Return the row of the clicked cell in the table of that id.

        None if no cell is clicked, or its row is not among the first `rows`.
        """
        cells = self[id].value["selection"]["cells"]
        return cells[0][0] if cells and cells[0][0] < rows else None


class Session:
    """Keys of all pages.

    The comment above each says what it holds and who sets it.
    """

    __slots__ = ()  # A misspelt attribute is an error.

    # Every page
    # The secret token of a visit without a sign-in; set when it is first needed.
    visit: Key[str] = Key("")
    # The page on the screen; set by main.py before each run.
    page: Key[str] = Key("")
    # Whether the person came from another page; set with `page`, cleared by the page that read its
    # address.
    came: Key[bool] = Key(False)
    # The error of a button's action; drawn once, above the page.
    problem: Key[str] = Key("")
    # The graph or corpus chosen in the sidebar; set there, and by `choose`.
    source: Widget[Source | None] = Widget(None)
    # The graph or corpus that an address names; the sidebar takes it before it is drawn.
    source_wanted: Key[Source | None] = Key(None)
    # The graph chosen last, for pages that show no documents; set by the sidebar.
    last_graph: Key[Source] = Key(USUAL)

    # The chosen language, by the corpus or graph that is in it.
    language: Keys[str] = Keys("")

    # Compare: the question
    # The question in the bar; set by an address, a case, an example or a set.
    question: Widget[str] = Widget("")
    # Whether a language model answers; set by the options, an address or a case.
    model: Widget[bool] = Widget(True)
    # Whether the graph reader answers too; set by the options, an address or a case.
    reader: Widget[bool] = Widget(True)
    # Whether a question waits until all passages are encoded; set by the options.
    whole: Widget[bool] = Widget(False)
    # The seed of all random choices; set by an address or a case.
    seed: Key[int] = Key(0)
    # The question entities; set by a set, a case, an address or a person, or found in the question.
    entities: Key[list[str]] = Key(list)
    # The known answers; set by a set, a case, an address or a person.
    answers: Key[list[str]] = Key(list)
    # The number of hops to the answers, if the question set gives it; set with the question.
    hops: Key[int | None] = Key(None)
    # The edits of the graph (removed, merged or renamed items); set on the board, by an address or
    # a case.
    edits: Key[list[Edit]] = Key(list)
    # The job of the same question and lanes without `edits`; set when it is asked with some.
    before: Key[str] = Key("")
    # Question, model and reader when they were last applied; `settle` compares them.
    settled: Key[tuple[str, bool, bool] | None] = Key(None)
    # Whether this run asks the question; set by `submit`, cleared once it is asked.
    submitted: Key[bool] = Key(False)
    # Whether only lanes were changed, so that the finished ones are reused; set and cleared with
    # `submitted`.
    edited: Key[bool] = Key(False)
    # Whether Cancel was clicked: this run asks nothing.
    stopped: Key[bool] = Key(False)
    # The error of asking the question, or of opening the case of the address.
    trouble: Key[HopscopeError | None] = Key(None)
    # Whether the example questions are expanded; choosing one collapses them.
    examples_open: Widget[bool] = Widget(False)
    # The number of questions drawn from sets; each draw gives another one.
    draws: Key[int] = Key(0)
    # The text box of known answers, by question; its lines become `answers`.
    known_answers: Keys[str] = Keys("")
    # The message of the entity and answer chips: edits, and the text being typed.
    entitychips: Widget[Any] = Widget(None)
    # The sender of the chips and the number of its last edit that was applied.
    chips_done: Key[Received] = Key(Received())
    # Whether an edit was applied, so that the page is drawn again.
    chips_changed: Key[bool] = Key(False)
    # The list of chips that is typed into, and the text.
    chips_query: Key[tuple[str, str] | None] = Key(None)
    # Candidate entities for the names in the question, by graph and question.
    chips_links: Made[list[Any]] = Made()

    # Compare: the lanes
    # The instances of the lanes, by id or as text; set by an address, a case or the dialog.
    lanes: Key[list[str]] = Key(list)
    # The kind of source that `lanes` are for.
    lanes_for: Key[str] = Key(GraphSource.kind)
    # The lanes chosen last for each kind of source.
    lanes_of_kind: Key[dict[str, list[str]]] = Key(dict)
    # The lane that the dialog changes, and the kind of change; set by a lane's buttons.
    choosing: Key[tuple[int, str] | None] = Key(None)
    # The edited line of the lane in the dialog, by lane and original line.
    lane_bench: Made[Bench] = Made()
    # The message of the component that draws that line: edits, and the selected operator.
    lane_bricks: Widget[Any] = Widget(None)
    # The suggested size of the subgraph, by question and feedback.
    advice: Key[dict[Any, SizeAdvice]] = Key(dict)

    # The board, wherever it is drawn
    # The edits received from each board, by its key.
    board_received: Keys[Received] = Keys(Received())

    # Compare: what is on the screen
    # The job of the comparison on the screen; set when a question is asked.
    job: Key[str] = Key("")
    # The case on the screen; set when one is opened, dropped when a question is asked.
    case: Key[Case | None] = Key(None)
    # The comparison of `case`, by its id.
    case_shown: Made[Comparison] = Made()
    # The address that the session shows; set last, when it is shown.
    address: Key[Link | None] = Key(None)
    # The address that the next run shows, such as that of a clicked case.
    wanted: Key[Link | None] = Key(None)
    # The comparison on the screen, and the jobs for whose vectors it waits.
    encoded_for: Key[tuple[str, frozenset[str]]] = Key(("", frozenset()))
    # A comparison, and the board that draws it.
    drawing: Key[tuple[Comparison, Board] | None] = Key(None)
    # The data sent to the board last: its comparison, the version, and the data.
    sent: Key[tuple[str, int, dict[str, Any]]] = Key(("", -1, {}))
    # The comparison on the screen, and the builds that were missing for it.
    lacked: Key[tuple[str, frozenset[str]]] = Key(("", frozenset()))
    # The edits received from the head of the presentation.
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
    # A message on Cases, shown once.
    cases_message: Key[str] = Key("")
    # The number of listed cases, 0 for the first few; a button adds more.
    cases_shown: Key[int] = Key(0)
    # The comparison of the case on Cases, by its id.
    case_open: Made[Comparison] = Made()
    # The board of a finished comparison, on Cases and Evaluate, by its key.
    finished: Made[Board] = Made()

    # The question sets selected once when the form opens; set by links to Evaluate.
    evaluate_sets: Key[list[str]] = Key(list)
    # The question sets chosen in the form, by source.
    evaluate_chosen: Keys[list[str]] = Keys(list)
    # The methods chosen in the form, by the kind of source.
    evaluate_methods: Keys[Sequence[str]] = Keys(())
    # The methods that the form selects once in addition, such as a run just imported.
    evaluate_brought: Key[list[str]] = Key(list)
    # Whether a language model answers; set if the sets can be scored by its answers only.
    evaluate_model: Widget[bool] = Widget(False)
    # The number of answers in the drawn figures of a running evaluation, and the time.
    evaluate_drawn: Key[tuple[int, float]] = Key((0, 0.0))
    # The comparison of a question of a run, by run, question and lanes.
    evaluation_open: Made[Comparison] = Made()
    # The open tab of a run, also in its address; set when a new run is started from it.
    evaluate_part: Widget[str] = Widget("", name="part")
    # The click in the picture of questions that flow from one method to another.
    evaluate_flow: Widget[Any] = Widget(None)
    # The open band of that picture, after its run and two methods.
    evaluate_band: Key[tuple[Hashable, tuple[str, str]]] = Key(((), ("", "")))
    # The search for a method that was sent last in this session.
    search_last: Key[str] = Key("")
    # The line of a search that was saved last, and its title.
    search_saved: Key[tuple[str, str]] = Key(("", ""))

    # Texts
    # The corpus on the page; set by an address, the sidebar, or files that were read.
    texts_corpus: Widget[str] = Widget("")
    # The corpus that the next run shows; set when files were read.
    texts_wanted: Key[str] = Key("")
    # The choice in the sidebar when the page was drawn last.
    texts_beside: Key[Source | None] = Key(None)
    # A corpus named by an address that does not exist; shown once.
    texts_missed: Key[str] = Key("")
    # The open tab.
    texts_tabs: Widget[str] = Widget("")
    # The tab that was open when the page was drawn last, for the next visit.
    texts_open: Key[str] = Key("")
    # The corpus for which a first kind of graph was chosen.
    texts_begun: Key[str] = Key("")
    # The kind of graph on the page.
    texts_kind: Widget[str] = Widget("")
    # The build on the page, by kind of graph.
    texts_build: Keys[str] = Keys("")
    # The edited steps of the chosen build, by corpus and build.
    texts_bench: Made[Bench] = Made()
    # The message of the component that draws these steps: edits, and the selected step.
    texts_bricks: Widget[Any] = Widget(None)
    # The open view: entities, communities, one passage, or another graph.
    texts_view: Widget[str] = Widget("")
    # The number of the shown passage, by graph.
    texts_chunk: Keys[int] = Keys(1)
    # The build that is compared with the one on the page, by corpus.
    texts_other: Keys[str] = Keys("")
    # The type of entities that are listed.
    texts_type: Widget[str] = Widget("every type")
    # What is listed: documents or passages.
    texts_what: Widget[str] = Widget("")
    # The opened document, after its corpus.
    texts_document: Key[tuple[str, str] | None] = Key(None)
    # The page of the list of documents, by corpus.
    texts_document_page: Keys[int] = Keys(0)
    # The page of the list of passages, by corpus.
    texts_chunk_page: Keys[int] = Keys(0)
    # The page of the table of entities, by graph.
    texts_entity_page: Keys[int] = Keys(0)
    # The page of an entity's relations.
    texts_near_page: Key[int] = Key(0)
    # The page of an entity's passages.
    texts_passage_page: Key[int] = Key(0)
    # The page of a community's entities.
    texts_member_page: Key[int] = Key(0)
    # The entities that were visited, in order, by digest of the graph.
    texts_trails: Key[dict[str, list[int]]] = Key(dict)
    # The communities that were opened, outer first, by digest of the graph.
    texts_communities: Key[dict[str, list[int]]] = Key(dict)
    # The map of communities: `opened` is the one that was clicked.
    texts_map: Widget[Any] = Widget(None)
    # The number of listed suggestions and merges, 0 for the first few; a button adds more.
    mend_shown: Key[int] = Key(0)
    # Whether a language model answers in the evaluation of merges.
    mend_model: Widget[bool] = Widget(False)
    # The last evaluation of merges, by corpus.
    mend_run: Keys[int] = Keys(0)
    # Tables with clickable cells, by their contents.
    table_cells: Cells = Cells()

    # Graphs
    # The entity whose neighbourhood in a live database is shown.
    around: Widget[str] = Widget("")
    # The nodes that were visited on the walk, in order, by digest of the graph.
    trails: Key[dict[str, list[int]]] = Key(dict)
    # The text of the search for an entity; cleared by a step.
    walk_search: Widget[str] = Widget("")
    # The index of the relation and direction of the listed steps, -1 for all; by graph.
    walk_filter: Keys[int] = Keys(-1)
    # The page of the table of steps, by graph.
    walk_page: Keys[int] = Keys(0)
    # The graph, and an entity of the address that it does not have.
    walk_refused: Key[tuple[str, str] | None] = Key(None)
    # The picture of a neighbourhood: `walk` is the entity that was clicked.
    walk_picture: Widget[Any] = Widget(None)
    # The digest of a large graph whose counts were requested.
    count_asked: Key[str] = Key("")
    # The page and query to which a question set leads, or the error; used once.
    led_on: Key[str | tuple[str, dict[str, Any]] | None] = Key(None)
    # The graph that was opened after it was added, which opens the first tab again.
    graph_opened: Key[str] = Key("")
    # The job that imports the last dropped files.
    bring_job: Key[Job | None] = Key(None)
    # The last import job whose end the page has handled.
    bring_done: Key[Job | None] = Key(None)
    # The number of imports; the drop zone is empty after each.
    bring_round: Key[int] = Key(0)
    # An uploaded file, and the job that inspects it, by upload.
    looked: Keys[tuple[tuple | None, Job | None]] = Keys((None, None))
    # The database whose graph is previewed before the copy, without its key.
    database_asked: Key[DatabaseForm | None] = Key(None)
    # A sentence on the questions of a file that do not fit a graph, by file and graph.
    questions_fit: Made[str] = Made()

    # The model that is chosen for a role, by role.
    role: Keys[str] = Keys("")
    # The title of the model that was added, shown once.
    model_added: Key[str] = Key("")
    # The model servers that were found on this computer, once looked for.
    servers_found: Key[tuple[FoundServer, ...] | None] = Key(None)
    # A server's address, and the names of its models.
    server_models: Key[tuple[str, tuple[str, ...]]] = Key(("", ()))
    # The model that is chosen from that list.
    server_pill: Widget[str | None] = Widget(None)
    # The name in the form of a server.
    server_name: Widget[str] = Widget("")
    # The address in the form of a server.
    server_url: Widget[str] = Widget("")
    # The model in the form of a server.
    server_model: Widget[str] = Widget("")
    # The kind of the model in the form of a server: chat, encoder or reranker.
    server_kind: Widget[str] = Widget("chat")
    # The key in the form of a server, cleared once it is saved.
    server_key: Widget[str] = Widget("")
    # The environment variable with that key, instead of the key itself.
    server_variable: Widget[str] = Widget("")
    # The roles that the model in the form of a server gets.
    server_roles: Widget[list[str]] = Widget(list)
    # Whether the form is cleared before it is drawn again.
    server_emptied: Key[bool] = Key(False)
    # The job that tries a model, by kind of trial.
    try_jobs: Keys[str] = Keys("")

    # Build
    # The line being edited, with its history; made when Build is first opened.
    bench: Key[Bench | None] = Key(None)
    # The message of the component that draws the line: edits, and the selected operator.
    bricks: Widget[Any] = Widget(None)
    # The method chosen to start from; cleared once it is loaded.
    build_start: Widget[str | None] = Widget(None)
    # The title of a method just saved, shown once the page lists it.
    build_saved: Key[str] = Key("")
    # The question on which Build tries a line.
    try_question: Widget[str] = Widget("")
    # The graph or corpus of `try_question`; another one brings another question.
    try_source: Key[Source | None] = Key(None)
    # The number of questions drawn on Build; each draw gives another one.
    try_draws: Key[int] = Key(0)
    # Whether a language model answers on Build.
    try_model: Widget[bool] = Widget(False)
    # The job that runs the line, and for comparison the line before the last change.
    try_job: Key[str] = Key("")
    # The runs of the line: now, before the last change, and those that can be reused.
    trials: Key[Trials | None] = Key(None)
    # The effect of the selected operator's parameter values, by that job and the operator's index.
    try_curves: Made[Mapping[str, Curve]] = Made()
    # The job that runs the line before and after the last change on more questions.
    over_job: Key[str] = Key("")
    # The effect of the last change, as it is drawn, by that job.
    change: Made[dict[str, Any] | None] = Made()
    # The outcome of each step of that run, by the job and its progress.
    try_outcomes: Made[Sequence[StepOutcome]] = Made()

    def submit(self) -> None:
        """Ask the question in the bar in this run, if there is one."""
        self.submitted = bool(self.question.strip())

    def choose(self, source: Source) -> None:
        """Choose another graph or corpus, as a callback, and clear the question."""
        if source != self.source:
            self.source = source
            self.begin_anew()

    def begin_anew(self) -> None:
        """Clear the question and its results, as when another graph or corpus is chosen."""
        self.question = ""
        for key in (Session.job, Session.case, Session.settled, Session.trouble, Session.edits):
            key.drop()


session = Session()
