"""Claim folder of a run: all that its figures rest on, so that another person can check them.

`claim.json` has settings, figures, digests and the command, `rows.jsonl` a row per method and
question, `questions.jsonl` the questions. `files.json` has a digest of each file.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from core import __version__
from core.errors import BadInput, HopscopeError
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.truthfulness import without_words
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.plan import DrawnQuestion, question_digest, shared_graph
from core.evaluation.runs.saved_runs import load_plan
from core.evaluation.runs.saved_sources import sources_of
from core.evaluation.runs.store import Run, Store, StoredRow
from core.io.data_folders import listed_data
from core.io.digests import with_digest, write_digests
from core.io.home import ROOT
from core.io.json_text import json_text
from core.io.plain_data import to_plain
from core.methods.catalogue import catalogue
from core.models.base import Models

CLAIM_FILE = "claim.json"
ROWS_FILE = "rows.jsonl"
QUESTIONS_FILE = "questions.jsonl"
CLAIM_FORMAT = 1
CODE_SUFFIXES = (".py", ".toml", ".json")
README_TEXT = """# A claim of Hopscope

    {command}

To check it, run the command verify of Hopscope on this folder (docs/noise-and-claims.md).

{left_out}
"""


def run_command(spec: dict[str, Any], drawn: Sequence[DrawnQuestion]) -> str:
    """Return the command that makes a run.

    Parameters
    ----------
    spec : specification of the run.
    drawn : its questions.

    Returns
    -------
    A command for a shell. Methods that are not in the catalogue are written as lines.
    """
    known = catalogue()
    methods = []
    for method in spec["instances"]:
        is_known = method["id"] in known and repr(known[method["id"]].line) == method["line"]
        methods.append(method["id"] if is_known else method["line"])
    size = max(Counter(each.set for each in drawn).values())
    words = ["hopscope", "evaluate", "--set", spec["set"].replace(", ", ",")]
    words += ["--methods", ",".join(methods)]
    words += ["--sample", "all" if spec["sample"] == spec["of"] else str(size)]
    words += ["--seed", str(spec["seed"])]
    options = {
        "--graph": shared_graph(drawn),
        "--support": ",".join(spec.get("support", ())),
        "--second-judge": spec.get("second_judge", ""),
        "--repeats": str(spec.get("repeats", "")),
    }
    for name, value in options.items():
        words += [name, value] if value else []
    switches = {
        "--no-llm": not spec["model"],
        "--judge": spec["judge"],
        "--cold": spec["cold"],
        "--rebuild": bool(spec.get("rebuilt")),
        "--abstract": all(each.question.abstract for each in drawn),
    }
    words += [name for name, is_set in switches.items() if is_set]
    return shlex.join(words)


@cache
def code_digest() -> str:
    """Return the digest of the code in `core` with its tables and prompts."""
    digest = hashlib.sha256()
    folder = ROOT / "core"
    for file in sorted(folder.rglob("*")):
        if file.suffix in CODE_SUFFIXES and "__pycache__" not in file.parts:
            digest.update(f"{file.relative_to(folder).as_posix()}\n".encode())
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def model_digests(models: Models, names: Iterable[str]) -> dict[str, str]:
    """Return the digest of each model's weights, or of its declaration, by name or role.

    It is empty for a model that is not declared.
    """
    digests = {}
    for name in names:
        try:
            digests[name] = hashlib.sha256(models.weights(name).encode()).hexdigest()
        except HopscopeError:
            digests[name] = ""
    return digests


def claim_facts(engine: Any, store: Store, summary: RunSummary) -> dict[str, Any]:
    """Return what the figures of a run rest on, besides its rows.

    Parameters
    ----------
    engine : its models are digested.
    store : the store with the run.
    summary : figures of the run.

    Returns
    -------
    The command, the settings, and the digests of data, models and code.
    """
    run = summary.run
    plan = load_plan(store, run)
    return {
        "command": run_command(run.spec, plan.drawn),
        "hopscope": __version__,
        "run": run.spec,
        "key": run.key,
        "data": {name: digest for name, digest in run.spec["graphs"]},
        "questions": run.spec["questions"],
        "models": model_digests(engine.models, plan.models),
        "code": code_digest(),
    }


def figures_of(summary: RunSummary, names: Sequence[str]) -> dict[str, Any]:
    """Return the figures that a claim makes: means with intervals, tests and spreads of repeats."""
    table = summary.table(names)
    spreads: dict[str, dict[str, Any]] = {}
    for method in summary.repeated:
        found = {name: summary.spread(method, name) for name in names}
        spreads[method] = {name: asdict(spread) for name, spread in found.items() if spread}
    return {
        "means": {
            method: {name: asdict(figure) for name, figure in row.items() if figure.n}
            for method, row in table.items()
        },
        "tests": [asdict(test) for test in summary.paired_tests()],
        "repeats": spreads,
    }


def write_claim(engine: Any, store: Store, run: Run, folder: Path) -> list[str]:
    """Write the claim folder of a run.

    Parameters
    ----------
    engine : its models are digested.
    store : the store with the run.
    run : the run.
    folder : a new or empty folder.

    Returns
    -------
    Sentences on what was left out.

    Raises
    ------
    BadInput
        If the run has no rows, or the folder cannot be written or is not empty.
    """
    rows = store.rows(run.id)
    if not rows:
        raise BadInput(f"Evaluation {run.id} has no rows yet.")
    summary = RunSummary(run, rows)
    names = list(summary.reported_metrics)
    licence = forbidding_licence(run.spec)
    left_out = list(_left_out(engine, store, run, licence))
    claim = {
        "format": CLAIM_FORMAT,
        **claim_facts(engine, store, summary),
        "status": run.status,
        "created": run.created,
        "definitions": {name: metric(name).describe() for name in names},
        "figures": figures_of(summary, names),
        "left_out": left_out,
    }
    sentences = [f"Left out: {each['what']}, sha256 {each['sha256'][:16]}." for each in left_out]
    readme = README_TEXT.format(command=claim["command"], left_out="\n".join(sentences))
    drawn = store.drawn_questions(run.id)
    files = {
        CLAIM_FILE: json_text(with_digest(json.loads(json.dumps(claim))), indent=1),
        ROWS_FILE: "".join(_row_lines(rows, is_bare=bool(licence))),
        QUESTIONS_FILE: "".join(_question_line(each, is_bare=bool(licence)) for each in drawn),
        "README.md": readme,
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise BadInput(f"{folder} is not empty; name a new folder.")
        for name, text in files.items():
            (folder / name).write_text(text, "utf-8", newline="\n")
        write_digests(folder)
    except OSError as error:
        raise BadInput(f"{folder} cannot be written: {error.strerror or error}.") from None
    return sentences


def forbidding_licence(spec: dict[str, Any]) -> str:
    """Return the licence of a run's data that forbids to pass them on, empty if none does.

    Data that the table of licences does not list are the person's own.
    """
    sets = [name.strip() for name in spec["set"].split(",")]
    names = {*sets, *(source.name for source in sources_of(spec))}
    for row in listed_data().values():
        is_used = names & {row.name, *row.sets} or any(
            name.startswith(f"{row.name}-") for name in sets
        )
        if is_used and not row.in_wheel:
            return f"{row.name}: {row.licence}"
    return ""


def _left_out(engine: Any, store: Store, run: Run, licence: str) -> Iterator[dict[str, str]]:
    """Yield what a claim does not hold, each with its digest."""
    for name, digest in run.spec["graphs"]:
        yield {"what": f"the data {name}", "sha256": digest}
    for name, digest in model_digests(engine.models, load_plan(store, run).models).items():
        yield {"what": f"the model {name}", "sha256": digest}
    if licence:
        what = f"the texts of the questions, answers and notes (licence of {licence})"
        yield {"what": what, "sha256": run.spec["questions"]}


def _row_lines(rows: Iterable[StoredRow], is_bare: bool) -> Iterator[str]:
    """Yield a line of JSON for each row and repeat, without texts of the data if `is_bare`."""
    for row in rows:
        for number, each in {0: row, **row.repeats}.items():
            facts = None if each.outcome is None else each.outcome.to_dict()
            if is_bare and facts is not None:
                facts = _without_texts(facts)
            record = {"method": row.method, "question": row.question.id, "repeat": number}
            error = "left out" if is_bare and each.error else each.error
            yield f"{json.dumps(record | {'outcome': facts, 'error': error})}\n"


def _without_texts(facts: dict[str, Any]) -> dict[str, Any]:
    """Return an outcome without the words of the answer and the notes of its steps."""
    answer = facts.get("answer")
    if answer:
        answer = answer | {"text": without_words(answer["text"])}
    costs = [
        {key: value for key, value in cost.items() if key not in ("notes", "fault")}
        for cost in facts.get("costs", ())
    ]
    return facts | {"costs": costs} | ({"answer": answer} if answer else {})


def _question_line(drawn: DrawnQuestion, is_bare: bool) -> str:
    """Return a question as a line of JSON, without its texts if `is_bare`."""
    question = to_plain(drawn.question)
    if is_bare:
        counted = {name: len(question.get(name, ())) for name in ("answers", "gold", "options")}
        plain = {name: question[name] for name in ("id", "hops", "abstract") if name in question}
        question = plain | {"text": "", "left_out": counted}
    record = {
        "question": question,
        "sha256": question_digest([drawn.question]),
        "set": drawn.set,
        "graph": drawn.source.saved_name,
    }
    return f"{json.dumps(record)}\n"
