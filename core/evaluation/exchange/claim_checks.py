"""Checks of a claim folder: digests, settings, figures from the rows, and rows that run again."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.comparison.lane_run import open_lane_graph
from core.databases.live_database import LIVE_FILE
from core.errors import BadInput, HopscopeError, shorten
from core.evaluation.exchange.claims import (
    CLAIM_FILE,
    CLAIM_FORMAT,
    QUESTIONS_FILE,
    ROWS_FILE,
    code_digest,
    figures_of,
    model_digests,
    run_command,
)
from core.evaluation.metrics.catalogue import REPORTED_METRICS, metric
from core.evaluation.metrics.outcome import Outcome
from core.evaluation.metrics.truthfulness import without_words
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.chance import RANDOM_BACKEND
from core.evaluation.runs.plan import (
    DrawnQuestion,
    Plan,
    evaluation_key,
    make_plan,
    models_used,
    question_digest,
    shared_graph,
)
from core.evaluation.runs.rebuilt_graphs import (
    asks_model_again,
    build_again,
    chance_of_graphs,
    on_rebuilt_graph,
)
from core.evaluation.runs.repeats import chance_of, repeat_plan
from core.evaluation.runs.row import FinishedRow, make_ask, run_methods
from core.evaluation.runs.saved_runs import load_plan, plan_of
from core.evaluation.runs.saved_sources import read_source
from core.evaluation.runs.store import RUN_DONE, Run, Store, StoredRow
from core.io.digests import check_digests, check_own_digest, read_digests
from core.io.plain_data import from_plain
from core.methods.catalogue import Method
from core.operators.base import Operator
from core.runtime.jobs import Job
from core.sources import AnswerSource
from core.types import Question
from core.watch import NO_WATCH, Watch

EQUAL = "equal"
DIFFERS = "differs"
NOT_HERE = "not checked"
FIGURE_TOLERANCE = 1e-9  # relative, as another processor may round otherwise
MAX_NAMED_DIFFERENCES = 5
MAX_LEFT_OUT = 1_000_000  # answers, evidence or options of a question whose texts are left out
# Parts of an outcome that hold times, or that only a language model makes.
PASSING_FACTS = ("costs", "judged", "second", "supported", "built")
# Errors of content that another program or person wrote.
CONTENT_ERRORS = (
    *(ValueError, KeyError, IndexError, TypeError, AttributeError),
    *(OverflowError, RecursionError, MemoryError),
)


@dataclass(frozen=True)
class Check:
    """A check of a claim: `state` is `EQUAL`, `DIFFERS` or `NOT_HERE`; `text` is a sentence."""

    subject: str
    state: str
    text: str


@dataclass(frozen=True)
class ClaimFacts:
    """Contents of `claim.json`. Another person may have written them."""

    format: int
    hopscope: str
    command: str
    run: Mapping[str, Any]
    key: str
    data: Mapping[str, str]
    questions: str
    models: Mapping[str, str]
    code: str
    status: str
    created: float
    definitions: Mapping[str, Any]
    figures: Mapping[str, Any]

    def __post_init__(self) -> None:
        if self.format != CLAIM_FORMAT:
            raise ValueError(f"format {self.format}; version {self.hopscope} wrote it")


@dataclass(frozen=True)
class Claim:
    """A claim folder that was read: its facts, questions and rows."""

    facts: ClaimFacts
    drawn: tuple[DrawnQuestion, ...]
    digests: tuple[str, ...]  # of each question
    rows: tuple[StoredRow, ...]
    is_bare: bool  # the texts of the questions were left out

    @property
    def run(self) -> Run:
        """The run that is claimed."""
        facts = self.facts
        return Run(
            0,
            facts.key,
            dict(facts.run),
            created=facts.created,
            status=facts.status,
            done=len(self.rows),
            failed=0,
        )


def read_claim(folder: Path) -> Claim:
    """Read a claim folder. Raises BadInput if it cannot be read."""
    with _content_errors(folder):
        content = json.loads(_read_text(folder / CLAIM_FILE))
        records = _read_lines(folder / QUESTIONS_FILE)
        drawn = tuple(_drawn(record) for record in records)
        questions = {each.question.id: each.question for each in drawn}
        rows = _read_rows(_read_lines(folder / ROWS_FILE), questions)
        is_bare = any("left_out" in record["question"] for record in records)
        digests = tuple(record["sha256"] for record in records)
        claim = Claim(from_plain(ClaimFacts, content), drawn, digests, rows, is_bare)
        RunSummary(claim.run, rows).methods  # noqa: B018  # raises for a damaged specification
    return claim


@contextmanager
def _content_errors(folder: Path) -> Iterator[None]:
    """Raise BadInput for errors of a claim's content, which another person may have written."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"{folder} is no claim: {error.strerror or error}.") from None
    except CONTENT_ERRORS as error:
        raise BadInput(
            f"{folder} cannot be read as a claim: {shorten(repr(error), 200)}."
        ) from None


def verify_claim(
    engine: Any, folder: Path, limit: int = 0, use_models: bool = False, watch: Watch = NO_WATCH
) -> Iterator[Check]:
    """Check a claim folder, step by step.

    Parameters
    ----------
    engine : runs the rows again.
    folder : the folder.
    limit : number of questions to run again; 0 for all.
    use_models : True to run methods again that ask language models.
    watch : receives the progress; it may raise RunCancelled.

    Yields
    ------
    A check for each thing that was compared.

    Raises
    ------
    BadInput : the folder cannot be read as a claim.
    """
    claim = read_claim(folder)
    with _content_errors(folder):
        plan = plan_of(claim.facts.run, claim.drawn)
        checks = [_check_files(folder), _check_settings(claim), _check_rows(claim, plan)]
        checks += _check_figures(claim)
    yield from checks
    yield from _check_digests(engine, claim, plan)
    check, drawn = _sample_check(engine, claim, plan)
    yield check
    if drawn:
        plan = plan_of(claim.facts.run, drawn)
        settings: dict[str, Any] = {"limit": limit, "use_models": use_models, "watch": watch}
        for method in plan.methods:
            yield run_again(engine, plan, method, claim.rows, **settings)


def run_again(
    engine: Any,
    plan: Plan,
    method: Method,
    rows: Sequence[StoredRow],
    limit: int = 0,
    use_models: bool = False,
    watch: Watch = NO_WATCH,
) -> Check:
    """Run a method of a plan again and compare its rows.

    Times are not compared. Where rows of a method that may vary with the same seed differ, how many
    do is said, and nothing follows from it.

    Parameters
    ----------
    engine : runs the method.
    plan : the questions and settings.
    method : the method.
    rows : the rows to compare with, and their repeats.
    limit : number of questions; 0 for all.
    use_models : True to run it although it asks language models.
    watch : receives the progress; it may raise RunCancelled.
    """
    subject = f"{method.label}, run again"
    if refusal := _refusal(engine, plan, method, use_models):
        return Check(subject, NOT_HERE, refusal)
    runs = _runs_of(rows, method)
    total = sum(map(len, runs.values()))
    alone = replace(plan, methods=(method,))
    build_again(alone, runs, engine.models, watch)
    differences = []
    done = 0
    for number, row, now in _rows_again(engine, plan, method, runs, limit, watch):
        done += 1
        watch.report(f"{subject}: {done:,} of {total:,}", done / total)
        if differing := row_difference(row, now.outcome, now.error):
            run_text = f", repeat {number}" if number else ""
            differences.append(f"{row.question.id}{run_text}: {differing}")
    counted = f"{done:,} of {total:,} rows run again"
    if not differences:
        return Check(subject, EQUAL, f"{counted}, all equal.")
    text = f"{counted}, {len(differences):,} differ: {_first(differences)}."
    sources = chance_of(method, engine.models, plan.model)
    sources += chance_of_graphs(alone, engine.models)
    loose = [source.words for source in sources if not source.follows_seed]
    if loose:
        return Check(subject, NOT_HERE, f"{text} They may, by {', '.join(loose)}.")
    return Check(subject, DIFFERS, text)


def _rows_again(
    engine: Any,
    plan: Plan,
    method: Method,
    runs: Mapping[int, Mapping[str, StoredRow]],
    limit: int,
    watch: Watch,
) -> Iterator[tuple[int, StoredRow, FinishedRow]]:
    """Yield the number of the run, the saved row and the new one, for `limit` questions or all."""
    chosen = [each for each in plan.drawn if each.question.id in runs[0]][: limit or None]
    for number, saved in runs.items():
        repeat = repeat_plan(plan, number) if number else plan
        again = on_rebuilt_graph(plan, method, number) if number else method
        ask = make_ask(engine, repeat)
        for each in chosen:
            if each.question.id in saved:
                place = (repeat, engine.environment, ask, plan.drawn.index(each))
                (now,) = run_methods(*place, methods=[again], watch=watch, with_states=False)
                yield number, saved[each.question.id], now


def _runs_of(rows: Sequence[StoredRow], method: Method) -> dict[int, dict[str, StoredRow]]:
    """Return the rows of a method by the number of its run and by question."""
    runs: dict[int, dict[str, StoredRow]] = {0: {}}
    for row in rows:
        if row.method == method.id:
            for number, each in {0: row, **row.repeats}.items():
                runs.setdefault(number, {})[row.question.id] = each
    return dict(sorted(runs.items()))


def start_run_again(
    engine: Any, store: Store, run: Run, *, key: str, method: str, limit: int
) -> Job:
    """Start a job that runs a method of a saved run again. Its result is a list of a `Check`.

    Parameters
    ----------
    engine : the engine that runs the job.
    store : the store with the run.
    run : the run.
    key : key of the job.
    method : id of the method.
    limit : number of questions.
    """
    plan = load_plan(store, run)
    chosen = next(each for each in plan.methods if each.id == method)
    rows = store.rows(run.id)

    def work(job: Job) -> list[Check]:
        return [run_again(engine, plan, chosen, rows, limit=limit, use_models=True, watch=job)]

    return engine.evaluations.run(key, work, again=True)


def row_difference(saved: StoredRow, outcome: Outcome | None, error: str | None) -> str:
    """Return the first difference of a row that ran again, empty if it is equal.

    Compared are the metrics without times, and what else was found. Of failures only the fact that
    they failed is.
    """
    if (saved.error is None) != (error is None):
        return f"{error or 'no error'} instead of {saved.error or 'no error'}"
    if saved.outcome is None or outcome is None:
        return ""
    for name in REPORTED_METRICS:
        if metric(name).unit == "seconds":
            continue
        before, now = metric(name)(saved.outcome), metric(name)(outcome)
        if not _is_close(before, now):
            return f"{name} {now} instead of {before}"
    facts = _lasting_facts(saved.outcome)
    return next(_differences(facts, _lasting_facts(outcome, like=facts)), "")


def _lasting_facts(outcome: Outcome, like: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return what is compared of an outcome besides metrics.

    The words of the answer are left out where they are in the facts `like`.
    """
    facts = {key: value for key, value in outcome.to_dict().items() if key not in PASSING_FACTS}
    answer, other = facts.get("answer"), (like or {}).get("answer")
    if answer and other and other["text"] == without_words(answer["text"]):
        facts["answer"] = answer | {"text": other["text"]}
    return facts


def _check_files(folder: Path) -> Check:
    try:
        missing = {CLAIM_FILE, ROWS_FILE, QUESTIONS_FILE} - read_digests(folder).keys()
        if missing:
            raise ValueError(f"there is no digest of {', '.join(sorted(missing))}")
        check_digests(folder)
        check_own_digest(json.loads(_read_text(folder / CLAIM_FILE)))
    except (ValueError, OSError) as error:
        return Check("files", DIFFERS, f"{error}.")
    return Check("files", EQUAL, "The files are as they were written.")


def _check_settings(claim: Claim) -> Check:
    """Check that key, command and questions are those of the settings."""
    facts = claim.facts
    spec = dict(facts.run)
    wrong = []
    if evaluation_key(spec) != facts.key:
        wrong.append("the key is not that of the settings")
    if (command := run_command(spec, claim.drawn)) != facts.command:
        wrong.append(f"the settings make the command {command}")
    if facts.data != dict(spec["graphs"]):
        wrong.append("the data are not those of the settings")
    questions = [each.question for each in claim.drawn]
    digests = {facts.questions}
    if not claim.is_bare:
        digests.add(question_digest(questions))
    if digests != {spec["questions"]}:
        wrong.append("the questions are not those of the settings")
    if not claim.is_bare and [question_digest([one]) for one in questions] != list(claim.digests):
        wrong.append("digests of single questions are others")
    if len(claim.drawn) != spec["sample"]:
        wrong.append(f"{len(claim.drawn):,} questions instead of {spec['sample']:,}")
    if wrong:
        return Check("settings", DIFFERS, f"{'; '.join(wrong)}.".capitalize())
    return Check("settings", EQUAL, "Settings, command and questions belong together.")


def _check_rows(claim: Claim, plan: Plan) -> Check:
    """Check that each method and repeat has its rows; without some, figures could be chosen."""
    repeats = dict.fromkeys(dict(plan.varied), plan.repeats - 1)
    surplus = 0
    missing = 0
    for method in plan.methods:
        runs = _runs_of(claim.rows, method)
        count = 1 + repeats.get(method.id, 0)
        known = [len(rows) for number, rows in runs.items() if 0 <= number < count]
        surplus += sum(map(len, runs.values())) - sum(known)
        missing += count * len(plan.drawn) - sum(known)
    surplus += sum(row.method not in {each.id for each in plan.methods} for row in claim.rows)
    if surplus:
        return Check("rows", DIFFERS, f"{surplus:,} rows are of other methods or repeats.")
    if missing and claim.facts.status == RUN_DONE:
        return Check("rows", DIFFERS, f"{missing:,} rows of a finished run are missing.")
    if missing:
        text = (
            f"The run was not finished: {missing:,} rows are missing, and the figures may change."
        )
        return Check("rows", NOT_HERE, text)
    return Check("rows", EQUAL, "Each method has a row of each question.")


def _check_figures(claim: Claim) -> Iterator[Check]:
    """Compute the figures again from the rows."""
    figures = claim.facts.figures
    names = list(claim.facts.definitions)
    found = json.loads(json.dumps(figures_of(RunSummary(claim.run, claim.rows), names)))
    differences = list(_differences(figures, found))
    if differences:
        text = f"{len(differences):,} figures are not those of the rows: {_first(differences)}."
        yield Check("figures", DIFFERS, text)
    else:
        n = sum(map(len, found["means"].values()))
        yield Check("figures", EQUAL, f"{n:,} means and their tests are those of the rows.")
    definitions = claim.facts.definitions
    changed = [name for name, text in definitions.items() if metric(name).describe() != text]
    if changed:
        text = f"Defined otherwise in this version: {', '.join(changed)}."
        yield Check("definitions", DIFFERS, text)


def _check_digests(engine: Any, claim: Claim, plan: Plan) -> Iterator[Check]:
    """Compare the digests of data, models and code with those here."""
    for name, digest in claim.facts.data.items():
        source = read_source(name)
        if not _may_open(source):
            yield Check(f"data {name}", NOT_HERE, "A live database in a folder is not opened.")
            continue
        try:
            here = source.digest(engine.graph)
        except (HopscopeError, OSError, ValueError) as error:
            yield Check(f"data {name}", NOT_HERE, f"Not here: {error}")
            continue
        yield _compare_digest(f"data {name}", digest, here)
    for name, here in model_digests(engine.models, plan.models).items():
        claimed = claim.facts.models.get(name, "")
        if not here or not claimed:
            where = "here" if claimed else "in the claim"
            yield Check(f"model {name}", NOT_HERE, f"It is not declared {where}.")
        else:
            yield _compare_digest(f"model {name}", claimed, here)
    if claim.facts.code == code_digest():
        yield Check("code", EQUAL, "The same code.")
    else:
        version = claim.facts.hopscope
        text = f"Other code than that of the claim (version {version}); the rows decide."
        yield Check("code", NOT_HERE, text)


def _may_open(source: AnswerSource) -> bool:
    """Return whether a source that a claim names may be opened: no database by its folder."""
    return source.is_available or not (Path(source.name) / LIVE_FILE).is_file()


def _compare_digest(subject: str, claimed: str, here: str) -> Check:
    if claimed == here:
        return Check(subject, EQUAL, "The same digest.")
    return Check(subject, DIFFERS, f"sha256 {here[:16]} here, {claimed[:16]} in the claim.")


def _sample_check(engine: Any, claim: Claim, plan: Plan) -> tuple[Check, tuple[DrawnQuestion, ...]]:
    """Draw the sample again from the question sets, where they are here.

    The second result are the questions to run again, none if their texts are not here.
    """
    own = () if claim.is_bare else claim.drawn
    spec = claim.facts.run
    if any(map(_is_file, (*spec["set"].split(", "), *(each.set for each in claim.drawn)))):
        if any(not each.source.name for each in claim.drawn):
            own = ()  # their graphs are in the files
        return Check("sample", NOT_HERE, "The sets are files, which are not opened."), own
    size = max(Counter(each.set for each in claim.drawn).values())
    graph = shared_graph(claim.drawn)
    if not all(_may_open(each.source) for each in claim.drawn):
        return Check("sample", NOT_HERE, "Databases in folders are not opened."), ()
    is_abstract = all(each.question.abstract for each in claim.drawn)
    settings = {"graph": graph, "seed": spec["seed"], "abstract": is_abstract}
    try:
        drawn = make_plan(plan.methods, spec["set"], size, engine.graph, **settings).drawn
    except HopscopeError as error:
        return Check("sample", NOT_HERE, f"The sets are not here: {error}"), own
    if question_digest(each.question for each in drawn) == spec["questions"]:
        return Check("sample", EQUAL, "The seed draws these questions."), drawn
    return Check("sample", DIFFERS, "The seed draws other questions from the sets."), own


def _is_file(name: str) -> bool:
    """Return whether the name of a set is one of a file or address.

    Another person wrote it, so it is not opened.
    """
    return any(mark in name for mark in "/\\:") or Path(name).exists()


def _refusal(engine: Any, plan: Plan, method: Method, use_models: bool) -> str:
    """Return why a method is not run again, empty if it can be."""
    for operator in method.line.parts():
        if not plan.model and (operator.stage == "generate" or operator.without_model):
            continue
        if refusal := _operator_refusal(engine, operator, use_models):
            return refusal
    if asks_model_again(replace(plan, methods=(method,))) and not use_models:
        return "A language model built its graph again; add --llm to ask it again."
    if plan.judges and not use_models:
        return "A language model judges; add --llm to ask it again."
    source = plan.drawn[0]
    try:
        opened = source.open(engine)
        open_lane_graph(method.line, opened, engine.environment)
    except (HopscopeError, OSError) as error:
        return f"Its data are not here: {error}"
    return ""


def _operator_refusal(engine: Any, operator: Operator, use_models: bool) -> str:
    """Return why an operator is not run again, empty if it can be."""
    if not operator.is_reusable and not use_models:
        return "It asks a retriever of your own; add --llm to ask it again."
    for name in models_used(operator):
        if name == RANDOM_BACKEND:
            continue
        try:
            info = engine.models.info(name)
        except HopscopeError as error:
            return str(error)
        if not info.present:
            return info.how_to_get
        if info.kind == "chat" and not use_models:
            return f"It asks the language model {name}; add --llm to ask it again."
    return ""


def _differences(claimed: Any, found: Any, place: str = "") -> Iterator[str]:
    """Yield the places at which two values of JSON differ."""
    if isinstance(claimed, Mapping) and isinstance(found, Mapping):
        for key in [*claimed, *(key for key in found if key not in claimed)]:
            yield from _differences(claimed.get(key), found.get(key), f"{place} {key}".strip())
    elif _are_lists(claimed, found) and len(claimed) == len(found):
        for index, pair in enumerate(zip(claimed, found)):
            yield from _differences(*pair, f"{place} {index}")
    elif not _is_close(claimed, found):
        yield f"{place} {claimed} instead of {found}"


def _are_lists(a: Any, b: Any) -> bool:
    return isinstance(a, list | tuple) and isinstance(b, list | tuple)


def _is_close(a: Any, b: Any) -> bool:
    if isinstance(a, float) or isinstance(b, float):
        if not isinstance(a, int | float) or not isinstance(b, int | float):
            return False
        return math.isclose(a, b, rel_tol=FIGURE_TOLERANCE, abs_tol=FIGURE_TOLERANCE)
    return a == b


def _first(differences: Sequence[str]) -> str:
    more = len(differences) - MAX_NAMED_DIFFERENCES
    named = "; ".join(differences[:MAX_NAMED_DIFFERENCES])
    return f"{named}; and {more:,} more" if more > 0 else named


def _read_lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _read_text(file).split("\n") if line]


def _read_text(file: Path) -> str:
    """Return the text of a regular file; reading a pipe or a device would never end."""
    if file.exists() and not file.is_file():
        raise ValueError(f"{file.name} is no file")
    return file.read_text("utf-8")


def _drawn(record: Mapping[str, Any]) -> DrawnQuestion:
    """Return a question of a claim; what was left out is only counted."""
    plain = dict(record["question"])
    counts = plain.pop("left_out", {})
    if sum(counts.values()) > MAX_LEFT_OUT:
        raise ValueError(f"more than {MAX_LEFT_OUT:,} texts left out")
    plain |= {name: ("",) * count for name, count in counts.items()}
    question = from_plain(Question, plain)
    if {type(record["set"]), type(record["graph"])} != {str}:
        raise ValueError(f"the set of {question.id} has no name")
    return DrawnQuestion(question, record["set"], read_source(record["graph"]))


def _read_rows(
    records: Sequence[Mapping[str, Any]], questions: Mapping[str, Question]
) -> tuple[StoredRow, ...]:
    """Return rows with their repeats, in the order of the file."""
    rows: dict[tuple[str, str], StoredRow] = {}
    for record in records:
        key = (record["method"], record["question"])
        facts = record["outcome"]
        outcome = None if facts is None else Outcome.from_dict(facts)
        row = StoredRow(record["method"], questions[record["question"]], outcome, record["error"])
        if (outcome is None) == (row.error is None) or type(record["repeat"]) is not int:
            raise ValueError(f"a row of {row.question.id} has no single outcome")
        if record["repeat"]:
            repeats = {**rows[key].repeats, record["repeat"]: row}
            row = replace(rows[key], repeats=repeats)
        rows[key] = row
    return tuple(rows.values())
