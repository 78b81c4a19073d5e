"""State of a browser session between two runs of a page.

Each key of `st.session_state` is declared once, as an attribute of `Session`. On the class, an
attribute is the `SessionKey`; on the object `session`, it is the value of that key. A name that is
not declared is an error.

    session.question                                    # the value, or the default
    session.question = "who directed Inception"         # set
    del session.job                                     # removed; no error if it was not set
    st.text_input("Question", key=Session.question.name)  # the widget with this value
    Session.cases_message.take()                        # read and removed
    Session.case_shown.get_or_compute(case.id, make)    # computed again if the case changes
    Session.texts_build["rkg"].value = "rkg-described"  # one key per id
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

import streamlit as st

from core.graph.edits import Edit
from core.sources import AnswerSource, GraphSource
from pages.parts.shared.edits import LastEdit

if TYPE_CHECKING:
    from core.cases import Case
    from core.diagnosis.changes.size_advice import SizeAdvice
    from core.diagnosis.curves import Curve
    from core.diagnosis.step_outcomes import StepOutcome
    from core.engine import MethodComparison
    from core.errors import HopscopeError
    from core.models.discovery import FoundServer
    from core.runtime.jobs import Job
    from pages.parts.board.payload import Board
    from pages.parts.bringing.database_copy import DatabaseForm
    from pages.parts.build.bench import Bench
    from pages.parts.build.trials import Trials
    from pages.parts.question.permalink import Permalink

DEFAULT_SOURCE = GraphSource("metaqa")  # the graph that is chosen at first
StateT = TypeVar("StateT")


class SessionKey(Generic[StateT]):
    """A key of the session state and its default.

    A default that is a callable (`list`, `dict`) is called when the value is first read, and its
    result is stored. The name in `st.session_state` is that of the attribute by default.
    """

    def __init__(self, default: StateT | Callable[[], StateT], name: str = ""):
        self.default, self.name = default, name

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name

    @property
    def value(self) -> StateT:
        """The value that was set, or the default."""
        if callable(self.default) and self.name not in st.session_state:
            st.session_state[self.name] = self.default()
        return st.session_state.get(self.name, self.default)

    @value.setter
    def value(self, value: StateT) -> None:
        st.session_state[self.name] = value

    def drop(self) -> None:
        """Remove the value, if one was set."""
        st.session_state.pop(self.name, None)

    def take(self) -> StateT:
        """Return the value and remove it, such as a message that is shown once."""
        value = self.value
        self.drop()
        return value

    def put(self, value: StateT) -> None:
        """Set the value, as a function for the callback of a button."""
        self.value = value

    @overload
    def __get__(self, session: None, owner: type) -> Self: ...
    @overload
    def __get__(self, session: object, owner: type) -> StateT: ...
    def __get__(self, session: object, owner: type) -> Self | StateT:
        return self if session is None else self.value

    def __set__(self, session: object, value: StateT) -> None:
        self.value = value

    def __delete__(self, session: object) -> None:
        self.drop()


class WidgetKey(SessionKey[StateT]):
    """Key of a widget that other code reads or sets too.

    By Streamlit's rules, the value can be set in a run only before the widget is drawn. It is lost
    when a run does not draw the widget, such as that of another page, unless the widget was drawn
    with `persist_state="session"`.
    """


class DerivedKey(SessionKey[tuple[Hashable, StateT] | None]):
    """Key of a value that is computed again when its inputs change.

    The stored value is a pair: an identification of the inputs, and the value computed from them.
    """

    def __init__(self) -> None:
        super().__init__(None)

    def get_or_compute(self, inputs_key: Hashable, compute: Callable[[], StateT]) -> StateT:
        """Return the value for `inputs_key`, computed if it is not stored."""
        entry = self.value
        if entry is None or entry[0] != inputs_key:
            entry = self.value = (inputs_key, compute())
        return entry[1]


class SessionKeyFamily(Generic[StateT]):
    """Keys of one kind, one for each id.

    `Session.texts_build["rkg"]` is the key named `texts_build-rkg`, unless `name` gives another
    pattern.
    """

    def __init__(self, default: StateT | Callable[[], StateT], name: str = ""):
        self.default, self.name = default, name

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name + "-{}"

    def __getitem__(self, id: object) -> SessionKey[StateT]:
        return SessionKey(self.default, self.name.format(id))


class CellKeys(SessionKeyFamily[Any]):
    """Keys of tables with clickable cells, one for each id."""

    def __init__(self) -> None:
        super().__init__(None)

    def clicked_row(self, id: object, rows: int) -> int | None:
        """Return the row of the clicked cell in the table of that id.

        None if no cell is clicked, or if the table has become shorter, to `rows` rows.
        """
        cells = self[id].value["selection"]["cells"]
        return cells[0][0] if cells and cells[0][0] < rows else None


class Session:
    """Keys of all pages, each with a comment on its value and on what sets it.

    A job, case, run or the like is given by its key or id, unless its type says otherwise.
    """

    __slots__ = ()  # A misspelt attribute is an error.

    # Every page
    # The secret token of a visit without a sign-in; made when it is first needed.
    visit_token: SessionKey[str] = SessionKey("")
    # The page on the screen; set by main.py before each run.
    page: SessionKey[str] = SessionKey("")
    # Whether the visitor has come from another page, so that the address is new; set with `page`,
    # cleared by the page once it has read the address.
    arrived_by_navigation: SessionKey[bool] = SessionKey(False)
    # The error of a button's action; drawn once, above the page.
    action_error: SessionKey[str] = SessionKey("")
    # The value of a widget or component whose key depends on what it shows, by that key.
    widget_value: SessionKeyFamily[Any] = SessionKeyFamily(None, "{}")
    # The tag of the listed cases.
    case_tag: WidgetKey[str | None] = WidgetKey(None)
    # What was chosen in the command palette, until it is done.
    palette_choice: SessionKey[dict[str, str] | None] = SessionKey(None)
    # The graph or corpus chosen in the sidebar, which all pages read.
    source: WidgetKey[AnswerSource | None] = WidgetKey(None)
    # The graph or corpus that an address or a button names; the sidebar chooses it in the next run.
    source_wanted: SessionKey[AnswerSource | None] = SessionKey(None)
    # The graph or corpus in the address when the sidebar was drawn last.
    source_in_address: SessionKey[AnswerSource | None] = SessionKey(None)

    # The language chosen for a corpus or graph, by the corpus or graph.
    language: SessionKeyFamily[str] = SessionKeyFamily("")

    # Compare: the question
    # The question in the bar; set by an address, a case, an example or a set.
    question: WidgetKey[str] = WidgetKey("")
    # Whether a language model answers; set by the options, an address or a case.
    model: WidgetKey[bool] = WidgetKey(True)
    # Whether the graph reader answers too; set by the options, an address or a case.
    reader: WidgetKey[bool] = WidgetKey(True)
    # Whether a question waits until all passages are encoded; set by the options.
    wait_for_vectors: WidgetKey[bool] = WidgetKey(False)
    # The seed of all random choices; set by an address or a case.
    seed: SessionKey[int] = SessionKey(0)
    # The question entities; set by a set, a case, an address or a person, or found in the question.
    entities: SessionKey[list[str]] = SessionKey(list)
    # The known answers; set by a set, a case, an address or a person.
    answers: SessionKey[list[str]] = SessionKey(list)
    # The number of hops to the answers, if the question set gives it; set with the question.
    hops: SessionKey[int | None] = SessionKey(None)
    # The edits of the graph (removed, merged or renamed items); set on the board, by an address or
    # a case.
    edits: SessionKey[list[Edit]] = SessionKey(list)
    # The job of the same question and lanes without `edits`; set when the question is asked with
    # edits.
    unedited_job: SessionKey[str] = SessionKey("")
    # The question, `model` and `reader` that were applied last; `ask_if_changed` compares them with
    # those in the bar. None after another graph or corpus was chosen.
    applied_bar_state: SessionKey[tuple[str, bool, bool] | None] = SessionKey(None)
    # Whether this run asks the question; set by `submit`, cleared once it is asked.
    submitted: SessionKey[bool] = SessionKey(False)
    # Whether only lanes were changed, so that the finished ones are reused; set and cleared with
    # `submitted`.
    only_lanes_changed: SessionKey[bool] = SessionKey(False)
    # Whether Cancel was clicked; this run then asks nothing.
    cancel_clicked: SessionKey[bool] = SessionKey(False)
    # The error of asking the question, or of opening the case of the address.
    question_error: SessionKey[HopscopeError | None] = SessionKey(None)
    # Whether the example questions are expanded; choosing one collapses them.
    examples_open: WidgetKey[bool] = WidgetKey(False)
    # The number of questions drawn from sets; each draw gives another one.
    draws: SessionKey[int] = SessionKey(0)
    # The text box of known answers, by question; its lines become `answers`.
    known_answers: SessionKeyFamily[str] = SessionKeyFamily("")
    # The message of the entity and answer chips: edits, and the text being typed.
    entitychips: WidgetKey[Any] = WidgetKey(None)
    # The last edit of the chips that was applied.
    chips_last_edit: SessionKey[LastEdit] = SessionKey(LastEdit())
    # Whether an edit was applied, so that the page is drawn again.
    chips_changed: SessionKey[bool] = SessionKey(False)
    # The list of chips (`entities` or `answers`) that the user types into, and the text.
    chips_query: SessionKey[tuple[str, str] | None] = SessionKey(None)
    # Candidate entities for the names in the question, by graph and question.
    chips_links: DerivedKey[list[Any]] = DerivedKey()

    # Compare: the lanes
    # The methods of the lanes, by id or as text; set by an address, a case or the dialog.
    lanes: SessionKey[list[str]] = SessionKey(list)
    # The kind of source, graph or corpus, that `lanes` are for.
    lanes_source_kind: SessionKey[str] = SessionKey(GraphSource.kind)
    # The lanes chosen last for each kind of source.
    lanes_of_kind: SessionKey[dict[str, list[str]]] = SessionKey(dict)
    # The index of the lane that the dialog changes, and the kind of change; set by its buttons.
    choosing: SessionKey[tuple[int, str] | None] = SessionKey(None)
    # The edited line of the lane in the dialog, by lane and original line.
    lane_bench: DerivedKey[Bench] = DerivedKey()
    # The message of the component that draws that line: edits, and the selected operator.
    lane_bricks: WidgetKey[Any] = WidgetKey(None)
    # The suggested size of the subgraph, by question and ratings; one entry at most.
    advice: SessionKey[dict[Any, SizeAdvice]] = SessionKey(dict)

    # The board, wherever it is drawn
    # The last edit received from each board, by the board's key.
    board_received: SessionKeyFamily[LastEdit] = SessionKeyFamily(LastEdit())

    # Compare: what is on the screen
    # The job of the comparison on the screen; set when a question is asked.
    job: SessionKey[str] = SessionKey("")
    # The case on the screen; set when one is opened, dropped when a question is asked.
    case: SessionKey[Case | None] = SessionKey(None)
    # The comparison of `case`, by its id.
    case_shown: DerivedKey[MethodComparison] = DerivedKey()
    # The link of the address that the session shows; set last, when all of it is shown.
    shown_link: SessionKey[Permalink | None] = SessionKey(None)
    # The link that the next run shows, such as that of a clicked case.
    wanted_link: SessionKey[Permalink | None] = SessionKey(None)
    # The key of the comparison on the screen, and the keys of the encoding jobs it waits for.
    encoded_for: SessionKey[tuple[str, frozenset[str]]] = SessionKey(("", frozenset()))
    # A comparison, and the board that draws it.
    screen_board: SessionKey[tuple[MethodComparison, Board] | None] = SessionKey(None)
    # The data sent to the board last: the key of the comparison, the version, and the data.
    board_payload: SessionKey[tuple[str, int, dict[str, Any]]] = SessionKey(("", -1, {}))
    # The key of the comparison on the screen, and the ids of the graph builds it waits for.
    awaited_builds: SessionKey[tuple[str, frozenset[str]]] = SessionKey(("", frozenset()))
    # The last edit received from the head of the presentation.
    presenter_received: SessionKey[LastEdit] = SessionKey(LastEdit())
    # The cases that are presented one after the other; set by Cases.
    present_cases: SessionKey[list[str]] = SessionKey(list)

    # Cases
    # The notes of the case to be saved; emptied once it is.
    case_notes: WidgetKey[str] = WidgetKey("")
    # The tags of the case to be saved; emptied once it is.
    case_tags: WidgetKey[list[str]] = WidgetKey(list)
    # The key of the comparison that was saved last, and the id of its case.
    saved_case: SessionKey[tuple[str, str]] = SessionKey(("", ""))
    # A message on Cases, shown once.
    cases_message: SessionKey[str] = SessionKey("")
    # The number of listed cases, 0 for the first few; a button adds more.
    cases_shown: SessionKey[int] = SessionKey(0)
    # The comparison of the case on Cases, by its id.
    case_open: DerivedKey[MethodComparison] = DerivedKey()
    # The board of a finished comparison, on Cases and Evaluate, by its key.
    finished_drawing: DerivedKey[Board] = DerivedKey()

    # Evaluate
    # The question sets selected once when the form opens; set by links to Evaluate.
    evaluate_sets: SessionKey[list[str]] = SessionKey(list)
    # The question sets chosen in the form, by source.
    evaluate_set_choice: SessionKeyFamily[list[str]] = SessionKeyFamily(list)
    # Whether the form is open; also set where a link brings sets or methods.
    evaluate_form: WidgetKey[bool] = WidgetKey(False)
    # The methods chosen in the form, by the kind of source.
    evaluate_methods: SessionKeyFamily[Sequence[str]] = SessionKeyFamily(())
    # The methods that the form selects once in addition, such as a run just imported.
    evaluate_imported_methods: SessionKey[list[str]] = SessionKey(list)
    # Whether a language model answers in the evaluation; also set by a click on questions that only
    # its answers can be judged on.
    evaluate_model: WidgetKey[bool] = WidgetKey(False)
    # The number of answers when the figures of a running evaluation were drawn last, and the time
    # (of `time.monotonic`).
    evaluate_figures_drawn: SessionKey[tuple[int, float]] = SessionKey((0, 0.0))
    # The comparison of a question of a run, by run, question and lanes.
    evaluation_open: DerivedKey[MethodComparison] = DerivedKey()
    # The open tab of a run, also in its address; set when a new run is started from it.
    evaluate_part: WidgetKey[str] = WidgetKey("", name="part")
    # Whether a part of such a tab is open, by its name, also in its address.
    evaluate_section: SessionKeyFamily[bool] = SessionKeyFamily(False, name="open-{}")
    # The click in the picture of questions that flow from one method to another.
    evaluate_flow: WidgetKey[Any] = WidgetKey(None)
    # The run and the two methods of that picture, and its open band: the stages before and after.
    evaluate_band: SessionKey[tuple[Hashable, tuple[str, str]]] = SessionKey(((), ("", "")))
    # The search for a method that was sent last in this session.
    search_last: SessionKey[str] = SessionKey("")
    # The line of a search that was saved last, and its title.
    search_saved: SessionKey[tuple[str, str]] = SessionKey(("", ""))

    # Texts
    # The corpus that the page showed last.
    texts_corpus: SessionKey[str] = SessionKey("")
    # What is shown: the graph, the documents, or the form that adds files.
    texts_open: WidgetKey[str] = WidgetKey("")
    # The id of the build whose graph is shown, by corpus; empty for the first one.
    texts_graph: SessionKeyFamily[str] = SessionKeyFamily("")
    # Whether the dialog with other ways to build a graph is open.
    texts_ways: SessionKey[bool] = SessionKey(False)
    # The open way in that dialog.
    texts_way: WidgetKey[str] = WidgetKey("")
    # The id of the build that is chosen there, by way.
    texts_way_build: SessionKeyFamily[str | None] = SessionKeyFamily(None)
    # The corpus for which `texts_kind` was last selected.
    texts_kind_for: SessionKey[str] = SessionKey("")
    # The kind of graph in the form with every build.
    texts_kind: WidgetKey[str] = WidgetKey("")
    # The build in that form, by kind of graph.
    texts_build: SessionKeyFamily[str] = SessionKeyFamily("")
    # The edited steps of the chosen build, by corpus and build.
    texts_bench: DerivedKey[Bench] = DerivedKey()
    # The message of the component that draws these steps: edits, and the selected step.
    texts_bricks: WidgetKey[Any] = WidgetKey(None)
    # The open view: the picture, the table, or what a card opened.
    texts_view: WidgetKey[str] = WidgetKey("")
    # The number of the shown passage, by graph.
    texts_chunk: SessionKeyFamily[int] = SessionKeyFamily(1)
    # The build that is compared with the one on the page, by corpus.
    texts_other: SessionKeyFamily[str] = SessionKeyFamily("")
    # The type of entities that are listed.
    texts_type: WidgetKey[str] = WidgetKey("every type")
    # What is listed: documents or passages.
    texts_what: WidgetKey[str] = WidgetKey("")
    # The opened document, after its corpus.
    texts_document: SessionKey[tuple[str, str] | None] = SessionKey(None)
    # The page of the list of documents, by corpus.
    texts_document_page: SessionKeyFamily[int] = SessionKeyFamily(0)
    # The page of the list of passages, by corpus.
    texts_chunk_page: SessionKeyFamily[int] = SessionKeyFamily(0)
    # The page of the table of entities, by graph.
    texts_entity_page: SessionKeyFamily[int] = SessionKeyFamily(0)
    # The page of an entity's relations.
    texts_near_page: SessionKey[int] = SessionKey(0)
    # The page of an entity's passages.
    texts_passage_page: SessionKey[int] = SessionKey(0)
    # The page of a community's entities.
    texts_member_page: SessionKey[int] = SessionKey(0)
    # The entities that were visited, in order, by digest of the graph.
    texts_trails: SessionKey[dict[str, list[int]]] = SessionKey(dict)
    # The communities that were opened, outer first, by digest of the graph.
    texts_communities: SessionKey[dict[str, list[int]]] = SessionKey(dict)
    # The map of communities: `opened` is the one that was clicked.
    texts_map: WidgetKey[Any] = WidgetKey(None)
    # The number of listed suggestions and merges, 0 for the first few; a button adds more.
    mend_shown: SessionKey[int] = SessionKey(0)
    # Whether a language model answers in the evaluation of merges.
    mend_model: WidgetKey[bool] = WidgetKey(False)
    # The last evaluation of merges, by corpus.
    mend_run: SessionKeyFamily[int] = SessionKeyFamily(0)
    # Tables with clickable cells, by their contents.
    table_cells: CellKeys = CellKeys()

    # Graphs
    # The entity whose neighbourhood in a live database is shown.
    around: WidgetKey[str] = WidgetKey("")
    # The nodes that were visited on the walk, in order, by digest of the graph.
    trails: SessionKey[dict[str, list[int]]] = SessionKey(dict)
    # The text of the search for an entity; cleared by a step.
    walk_search: WidgetKey[str] = WidgetKey("")
    # The code of the relation and direction of the listed steps, -1 for all steps; by graph.
    walk_filter: SessionKeyFamily[int] = SessionKeyFamily(-1)
    # The page of the table of steps, by graph.
    walk_page: SessionKeyFamily[int] = SessionKeyFamily(0)
    # The digest of a graph, and an entity of the address that this graph lacks.
    walk_missing_entity: SessionKey[tuple[str, str] | None] = SessionKey(None)
    # The picture of a neighbourhood: `walk` is the entity that was clicked.
    walk_picture: WidgetKey[Any] = WidgetKey(None)
    # The digest of a large graph whose counts were requested.
    counts_wanted_for: SessionKey[str] = SessionKey("")
    # The page and query parameters to go to after a click on a question set, or the error.
    redirect: SessionKey[str | tuple[str, dict[str, Any]] | None] = SessionKey(None)
    # The name of a graph that was opened after it was added; opens the first tab of Graphs again.
    graph_opened: SessionKey[str] = SessionKey("")
    # The job that imports the last dropped files.
    bring_job: SessionKey[Job | None] = SessionKey(None)
    # The last import job whose end the page has handled.
    bring_done: SessionKey[Job | None] = SessionKey(None)
    # The number of imports; the drop zone is empty after each.
    bring_round: SessionKey[int] = SessionKey(0)
    # An uploaded file, and the job that inspects it, by upload.
    inspections: SessionKeyFamily[tuple[tuple | None, Job | None]] = SessionKeyFamily((None, None))
    # The database whose graph is previewed before the copy, without its key.
    database_asked: SessionKey[DatabaseForm | None] = SessionKey(None)
    # A sentence on the questions of a file that do not fit a graph, by file and graph.
    questions_fit: DerivedKey[str] = DerivedKey()

    # Models
    # The model that is chosen for a role, by role.
    role: SessionKeyFamily[str] = SessionKeyFamily("")
    # The title of the model that was added, shown once.
    model_added: SessionKey[str] = SessionKey("")
    # The model servers that were found on this computer, once looked for.
    servers_found: SessionKey[tuple[FoundServer, ...] | None] = SessionKey(None)
    # A server's address, and the names of its models.
    server_models: SessionKey[tuple[str, tuple[str, ...]]] = SessionKey(("", ()))
    # The model that is chosen from that list.
    server_pill: WidgetKey[str | None] = WidgetKey(None)
    # Whether the form takes over the chosen one before it is drawn again.
    server_pill_set: SessionKey[bool] = SessionKey(False)
    # The name in the form of a server.
    server_name: WidgetKey[str] = WidgetKey("")
    # The address in the form of a server.
    server_url: WidgetKey[str] = WidgetKey("")
    # The model in the form of a server.
    server_model: WidgetKey[str] = WidgetKey("")
    # The kind of the model in the form of a server: chat, encoder or reranker.
    server_kind: WidgetKey[str] = WidgetKey("chat")
    # The key in the form of a server, cleared once it is saved.
    server_key: WidgetKey[str] = WidgetKey("")
    # The environment variable with that key, instead of the key itself.
    server_variable: WidgetKey[str] = WidgetKey("")
    # The roles that the model in the form of a server gets.
    server_roles: WidgetKey[list[str]] = WidgetKey(list)
    # Whether the form is cleared before it is drawn again.
    server_emptied: SessionKey[bool] = SessionKey(False)
    # The key of the job that tries a model, by kind of trial and model.
    try_jobs: SessionKeyFamily[str] = SessionKeyFamily("")

    # Build
    # The line being edited, with its history; made when Build is first opened.
    bench: SessionKey[Bench | None] = SessionKey(None)
    # The message of the component that draws the line: edits, and the selected operator.
    bricks: WidgetKey[Any] = WidgetKey(None)
    # The title of a method just saved, shown once the page lists it.
    build_saved: SessionKey[str] = SessionKey("")
    # The question on which a line is tried on Build.
    try_question: WidgetKey[str] = WidgetKey("")
    # The graph or corpus of `try_question`; if another one is chosen, the question is replaced.
    try_source: SessionKey[AnswerSource | None] = SessionKey(None)
    # The number of questions drawn on Build; each draw gives another one.
    try_draws: SessionKey[int] = SessionKey(0)
    # Whether a language model answers on Build.
    try_model: WidgetKey[bool] = WidgetKey(False)
    # The job that runs the line, and for comparison the line before the last change.
    try_job: SessionKey[str] = SessionKey("")
    # The runs of the line: now, before the last change, and those that can be reused.
    trials: SessionKey[Trials | None] = SessionKey(None)
    # The effect of the selected operator's parameter values, by that job and the operator's index.
    try_curves: DerivedKey[Mapping[str, Curve]] = DerivedKey()
    # The job that runs the line before and after the last change on more questions.
    sample_job: SessionKey[str] = SessionKey("")
    # The data of the effect of the last change, by that job and the line before the change.
    change: DerivedKey[dict[str, Any] | None] = DerivedKey()
    # The outcome of each step of that run, by the job and its progress.
    try_outcomes: DerivedKey[Sequence[StepOutcome]] = DerivedKey()

    def submit(self) -> None:
        """Ask the question in the bar in this run, if there is one."""
        self.submitted = bool(self.question.strip())

    def choose(self, source: AnswerSource) -> None:
        """Choose another graph or corpus, as a callback, and clear the question."""
        if source != self.source:
            self.source = source
            self.clear_question()

    def clear_question(self) -> None:
        """Clear the question and its results, as when another graph or corpus is chosen."""
        self.question = ""
        del self.job, self.case, self.applied_bar_state, self.question_error, self.edits


session = Session()
