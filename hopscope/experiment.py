"""Experiments as in PyTerrier: topics, qrels, and the metrics of ir_measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING, Any

from core.errors import BadInput, BadParameter, with_command
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.metric import Metric
from core.evaluation.metrics.outcome import Outcome
from core.evaluation.metrics.ranking import gold_ranks
from core.serving.calls import find_source
from core.sources import AnswerSource
from hopscope.evaluating import evaluate
from hopscope.method_values import MethodLike
from hopscope.session import engine, warn_user
from hopscope.tables import TableLike, table_rows

if TYPE_CHECKING:
    import pandas

# The metrics that need no ir_measures, by their names there: those of Hopscope for documents.
OWN_METRICS = {"nDCG": "ndcg", "R": "passage_recall", "P": "passage_precision", "RR": "path_mrr"}
ScoresByTopic = Mapping[str, Mapping[str, float]]  # of the retrieved documents, best first
LabelsByTopic = Mapping[str, Mapping[str, int]]  # of the judged documents
# Returns one row of means, or a row per topic and metric.
MetricFunction = Callable[[ScoresByTopic, LabelsByTopic], list[dict[str, Any]]]


def Experiment(
    methods: Sequence[MethodLike],
    topics: TableLike,
    qrels: TableLike,
    metrics: Sequence[Any],
    *,
    corpus: str,
    names: Sequence[str] = (),
    perquery: bool = False,
    seed: int = 0,
    progress: bool = True,
) -> pandas.DataFrame:
    """Run methods on topics and score their rankings, as PyTerrier does.

    The rankings are saved as an evaluation, so that the same call continues what was stopped.

    Parameters
    ----------
    methods : list of MethodLike
        Any methods that `compare` accepts.
    topics : DataFrame or list of dict
        Columns `qid` and `query`.
    qrels : DataFrame or list of dict
        Columns `qid`, `docno` and `label`. A `docno` is the id of a document. If none is, they are
        ids of passages, as in `Lane.hits`. A label above 0 is relevant.
    metrics : list
        Metrics of ir_measures, or their names: `nDCG@10`, `"RR"`. Where it is not installed,
        `nDCG`, `R`, `P` and `RR` by their names, with a cut-off or without.
    corpus : str
        Name of the corpus that is searched.
    names : list of str
        Names of the methods in the result. Default: their ids.
    perquery : bool
        Whether each topic has its own rows, in place of means.
    seed : int
        Seed of all random choices.
    progress : bool
        Whether to draw a progress bar.

    Returns
    -------
    pandas.DataFrame
        A row for each method: its `name`, and the mean of each metric over the topics with qrels. A
        topic without a result counts 0. With `perquery` a row for each method, topic and metric:
        `name`, `qid`, `measure` and `value`.

    Raises
    ------
    BadInput
        If a column is missing, which is named with those that are there.
    BadParameter
        If there is no such metric.

    Examples
    --------
    >>> import hopscope as hs
    >>> texts = {"ada": "Ada wrote notes.", "bob": "Bob built an engine.", "eve": "Eve sang."}
    >>> _ = hs.corpus("experiment", texts)
    >>> topics = [{"qid": "1", "query": "Who built an engine?"}]
    >>> qrels = [{"qid": "1", "docno": "bob", "label": 1}]
    >>> result = hs.Experiment(
    ...     ["bm25-passages"], topics, qrels, ["RR"], corpus="experiment", progress=False
    ... )
    >>> result.to_dict("records")
    [{'name': 'bm25-passages', 'RR': 1.0}]
    """
    import pandas

    compute = _metric_function(metrics, perquery)
    topic_rows = table_rows(topics, "topics", ("qid", "query"))
    queries = {str(row["qid"]): row["query"] for row in topic_rows}
    labels: dict[str, dict[str, int]] = {}
    for row in table_rows(qrels, "qrels", ("qid", "docno", "label")):
        if str(row["qid"]) in queries:
            labels.setdefault(str(row["qid"]), {})[str(row["docno"])] = int(row["label"])
    by_passage = _are_passages(set().union(*labels.values()), find_source(corpus=corpus))
    questions = []
    for qid, query in queries.items():
        gold = [docno for docno, label in labels.get(qid, {}).items() if label > 0]
        questions.append({"qid": qid, "query": query, "gold": [] if by_passage else gold})
    done = evaluate(methods, questions, corpus=corpus, seed=seed, progress=progress)
    warn_user(done.summary.failure_sentences())
    rows = []
    for index, results in enumerate(done.results(passages=by_passage)):
        scores = {one.question.id: dict(one.documents) for one in results if one.documents}
        name = names[index] if names else done.summary.methods[index]
        rows += [{"name": name, **row} for row in compute(scores, labels)]
    return pandas.DataFrame(rows)


def _are_passages(docnos: set[str], source: AnswerSource) -> bool:
    """Return whether the ids in qrels are those of passages, as none is that of a document.

    Raises BadInput if they are neither.
    """
    documents = source.documents
    if any(docno in documents for docno in docnos):
        return False
    if docnos.isdisjoint(source.open(engine()).graph.columns.chunks.texts("id")):
        raise BadInput(
            f"No row of the qrels is of a topic, and of a document or a passage of “{source.name}”."
        )
    return True


def _metric_function(metrics: Sequence[Any], perquery: bool) -> MetricFunction:
    """Return the function that computes the metrics, by ir_measures where it is installed.

    Raises BadParameter for an unknown metric.
    """
    if find_spec("ir_measures") is None:
        return _own_metric_function(list(map(str, metrics)), perquery)
    import ir_measures

    titles = {}
    for name in metrics:
        try:
            titles[ir_measures.parse_measure(name)] = str(name)
        except (NameError, ValueError, TypeError) as error:
            raise BadParameter(f"ir_measures has no metric “{name}”: {error}.") from None

    def compute(scores: ScoresByTopic, labels: LabelsByTopic) -> list[dict[str, Any]]:
        judged_scores = {qid: scores[qid] for qid in labels if qid in scores}
        if not perquery:
            means = ir_measures.calc_aggregate(list(titles), labels, judged_scores)
            return [{title: means[parsed] for parsed, title in titles.items()}]
        values = dict.fromkeys(product(labels, titles), 0.0)
        for one in ir_measures.iter_calc(list(titles), labels, judged_scores):
            values[one.query_id, one.measure] = one.value
        return [_topic_row(qid, titles[parsed], value) for (qid, parsed), value in values.items()]

    return compute


def _topic_row(qid: str, title: str, value: float) -> dict[str, Any]:
    return {"qid": qid, "measure": title, "value": value}


def _own_metric_function(names: Sequence[str], perquery: bool) -> MetricFunction:
    """Return the function that computes metrics by Hopscope, named as in ir_measures."""
    own_metrics: dict[str, Metric] = {}
    for name in names:
        base, at, cutoff = name.partition("@")
        if base not in OWN_METRICS:
            there = ", ".join(OWN_METRICS)
            raise BadParameter(f"Without ir_measures there is no metric “{name}”, only {there}.")
        own_metrics[name] = metric(f"{OWN_METRICS[base]}{at}{cutoff}")

    def compute(scores: ScoresByTopic, labels: LabelsByTopic) -> list[dict[str, Any]]:
        rows = []
        for qid, topic_labels in labels.items():
            if max(topic_labels.values()) > 1 and "nDCG" in ",".join(names):
                sentence = "nDCG of labels above 1 needs ir_measures."
                raise BadInput(with_command(sentence, "pip install ir-measures"))
            relevant = [docno for docno, label in topic_labels.items() if label > 0]
            found = [
                [relevant.index(one)] if one in relevant else [] for one in scores.get(qid, ())
            ]
            ranks = gold_ranks(found, len(relevant))
            outcome = Outcome(golds=len(relevant), paths=ranks, passages=ranks)
            for name, own_metric in own_metrics.items():
                rows.append(_topic_row(qid, name, own_metric(outcome) or 0.0))
        if perquery:
            return rows
        values = {name: [row["value"] for row in rows if row["measure"] == name] for name in names}
        return [{name: fmean(of_metric) for name, of_metric in values.items()}]

    return compute
