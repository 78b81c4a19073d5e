"""Known answers of a corpus, followed from its documents to the answers of a method."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from core.corpus import Corpus
from core.diagnosis.answer_match import YES_NO_ANSWERS
from core.diagnosis.funnel import make_stages
from core.diagnosis.name_lookup import has_name, is_in_chunks, is_in_nodes
from core.diagnosis.targets import Target, answers_of
from core.evaluation.questions.name_questions import MADE_SET_SUFFIX
from core.evaluation.reports.method_names import method_titles
from core.evaluation.runs.saved_sources import sources_of
from core.evaluation.runs.store import Store, StoredRow
from core.languages.spelling import normalize
from core.sources import AnswerSource
from core.types import Question
from core.watch import NO_WATCH, Watch

MAX_TRACED_ANSWERS = 500  # each is searched in all texts of a corpus
EVALUATED_STAGES = ("retrieved", "prompt", "answer")
NameSearch = Callable[[str], bool]  # whether texts contain a name


@dataclass(frozen=True)
class AnswerTrail:
    """Numbers of known answers that are left at each stage.

    Parameters
    ----------
    n_answers : number of answers that were followed.
    alive : number of answers left, by the name of the stage, in order.
    lost : what is lost, by the name of the stage: answers with their questions, or questions alone.
    method : the method of an evaluation; empty for stages without retrieval.
    """

    n_answers: int
    alive: Mapping[str, int]
    lost: Mapping[str, tuple[str, ...]]
    method: str = ""


def trace_in_corpus(
    corpus: Corpus, graph, questions: Iterable[Question], watch: Watch = NO_WATCH
) -> AnswerTrail:
    """Count the known answers in the documents, in the chunks, and in entities or relations.

    The answers yes and no are left out, and those after the first `MAX_TRACED_ANSWERS`.

    Parameters
    ----------
    corpus : the documents.
    graph : the graph that was built of them; None for the stage `corpus` alone. A graph without
        nodes, or of passages, has no stage `graph`.
    questions : questions, of which some may have known answers.
    watch : checked before each search.
    """
    texts: dict[Target, str] = {}
    for question in questions:
        for target in () if question.abstract else answers_of(question):
            if normalize(target.name) not in YES_NO_ANSWERS:
                texts.setdefault(target, f"{target.name}: {question.text}")
    targets = list(islice(texts, MAX_TRACED_ANSWERS))
    searches = _searches(corpus, graph)

    def test(search: NameSearch) -> Callable[[Target], bool]:
        def is_there(target: Target) -> bool:
            watch.check()
            return any(map(search, target.names))

        return is_there

    stages = make_stages([(name, test(search)) for name, search in searches], targets, "")
    text_of_name = {target.name: texts[target] for target in targets}
    return AnswerTrail(
        n_answers=len(targets),
        alive={stage.name: len(stage.alive) for stage in stages},
        lost={stage.name: tuple(map(text_of_name.__getitem__, stage.lost)) for stage in stages},
    )


def _searches(corpus: Corpus, graph) -> list[tuple[str, NameSearch]]:
    """Return the stages without retrieval, each with the search for a name in its texts."""
    searches: list[tuple[str, NameSearch]] = [
        ("corpus", lambda name: has_name(corpus.table, ("title", "text"), name))
    ]
    if graph is None:
        return searches
    if graph.columns.chunks is not None:
        searches.append(("chunks", lambda name: is_in_chunks(graph, name)))
    table = graph.columns.nodes
    if graph.n_nodes and (table is None or not table.has_column("level")):
        searches.append(("graph", lambda name: is_in_nodes(graph, name)))
    return searches


def trace_in_evaluation(store: Store, source: AnswerSource) -> AnswerTrail | None:
    """Count the known answers that the best method of the newest evaluation of a corpus brought.

    Evaluations on made questions are left out. The result is None if there is no other one. Of
    these answers only numbers are saved, so questions stand for those that are lost.
    """
    for run in store.runs():
        if sources_of(run.spec) == [source] and not run.spec["set"].endswith(MADE_SET_SUFFIX):
            if (trail := _best_trail(store, run.id, run.done)) is not None:
                return trail
    return None


@lru_cache(maxsize=32)
def _best_trail(store: Store, number: int, done: int) -> AnswerTrail | None:
    """Return the trail of a run's best method. The number of rows is a cache key."""
    rows = store.rows(number)
    trails = [
        _method_trail([row for row in rows if row.method == method], title)
        for method, title in method_titles(store.run(number)).items()
    ]
    found = [trail for trail in trails if trail.alive]
    return max(found, key=lambda trail: [*trail.alive.values()][::-1], default=None)


def _method_trail(rows: Sequence[StoredRow], method: str) -> AnswerTrail:
    """Return the trail of one method, without stages if it retrieved nothing."""
    counted = [
        (row.question.text, row.outcome.golds, row.outcome.alive or {})
        for row in rows
        if row.outcome is not None and "retrieved" in (row.outcome.alive or {})
    ]
    alive: dict[str, int] = {}
    lost: dict[str, tuple[str, ...]] = {}
    before = {text: counts.get("graph", golds) for text, golds, counts in counted}
    for stage in EVALUATED_STAGES:
        left = {text: counts[stage] for text, _, counts in counted if stage in counts}
        if left:
            alive[stage] = sum(left.values())
            lost[stage] = tuple(text for text, count in left.items() if count < before[text])
            before |= left
    return AnswerTrail(sum(golds for _, golds, _ in counted), alive, lost, method)
