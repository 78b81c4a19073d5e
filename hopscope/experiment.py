"""Experiments as in PyTerrier: methods over topics and qrels, with the metrics of ir_measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from statistics import fmean
from typing import TYPE_CHECKING, Any

from core.errors import BadInput, BadParameter
from core.evaluation.exchange.run_files import retrieved_documents
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.metric import Metric
from core.evaluation.metrics.outcome import Outcome
from core.evaluation.metrics.ranking import gold_ranks
from core.evaluation.runs.store import Store, evaluations_file
from core.serving.calls import find_source
from core.sources import AnswerSource
from hopscope.comparing import MethodLike
from hopscope.evaluating import evaluate
from hopscope.session import engine, warn_user
from hopscope.tables import TableLike, table_rows

if TYPE_CHECKING:
    import pandas

PERQUERY_COLUMNS = ("name", "qid", "measure", "value")  # as in PyTerrier
# The metrics that need no ir_measures, by their names there: those of Hopscope for documents.
OWN_METRICS = {
    "nDCG": "ndcg",
    "R": "passage_recall",
    "P": "passage_precision",
    "RR": "path_mrr",
}
ScoresByTopic = Mapping[str, Mapping[str, float]]  # of the retrieved documents, best first
LabelsByTopic = Mapping[str, Mapping[str, int]]  # of the judged documents
# The mean of each metric, and a row (topic, metric, value) for each topic and metric.
MetricValues = tuple[dict[str, float], list[tuple[str, str, float]]]
MetricFunction = Callable[[ScoresByTopic, LabelsByTopic], MetricValues]


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
    """Run methods on topics and score their rankings, as `pt.Experiment` does.

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
        Metrics of ir_measures, or their names: `nDCG@10`, `"RR"`, `"map"`. Where it is not
        installed, `nDCG`, `R`, `P` and `RR` by their names, with a cut-off or without.
    corpus : str
        Name of the corpus that is searched.
    names : list of str
        Names of the methods in the result. Default: their ids.
    perquery : bool
        Whether to return a row for each topic, with `qid`, `measure` and `value`.
    seed : int
        Seed of all random choices.
    progress : bool
        Whether to draw a progress bar.

    Returns
    -------
    pandas.DataFrame
        A row for each method: its `name`, and the mean of each metric over the topics with qrels. A
        topic without a result counts 0.

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

    compute = _metric_function(metrics)
    texts = {
        str(row["qid"]): row["query"] for row in table_rows(topics, "topics", ("qid", "query"))
    }
    labels = _labels(table_rows(qrels, "qrels", ("qid", "docno", "label")), texts)
    by_passage = _are_passages(set().union(*labels.values()), find_source(corpus=corpus))
    questions = []
    for qid, query in texts.items():
        gold = [docno for docno, label in labels.get(qid, {}).items() if label > 0]
        questions.append({"qid": qid, "query": query, "gold": [] if by_passage else gold})
    done = evaluate(methods, questions, corpus=corpus, seed=seed, progress=progress)
    warn_user(done.summary.failure_sentences())
    store = Store(evaluations_file())
    retrieved = retrieved_documents(engine(), store, done.summary.run, passages=by_passage)
    rows: list[dict[str, Any]] = []
    for name, documents in zip(names or retrieved, retrieved.values(), strict=True):
        scores = {qid: dict(ranking) for qid, ranking in documents.items() if ranking}
        means, values = compute(scores, labels)
        if perquery:
            rows += [dict(zip(PERQUERY_COLUMNS, (name, *value))) for value in values]
        else:
            rows.append({"name": name, **means})
    return pandas.DataFrame(rows)


def _labels(
    rows: Sequence[Mapping[str, Any]], topics: Mapping[str, str]
) -> dict[str, dict[str, int]]:
    """Return the labels of the judged documents of the topics. Raises BadInput without any."""
    labels: dict[str, dict[str, int]] = {}
    for number, row in enumerate(rows, 1):
        try:
            label = int(row["label"])
        except (TypeError, ValueError):
            raise BadInput(f"The qrels, row {number}: “label” should be a whole number.") from None
        if str(row["qid"]) in topics:
            labels.setdefault(str(row["qid"]), {})[str(row["docno"])] = label
    if not labels:
        raise BadInput("No qid of the qrels is one of the topics.")
    return labels


def _are_passages(docnos: set[str], source: AnswerSource) -> bool:
    """Return whether the ids in qrels are those of passages, as none is that of a document.

    Raises BadInput if they are neither.
    """
    documents = source.documents
    if any(docno in documents for docno in docnos):
        return False
    if docnos.isdisjoint(source.open(engine()).graph.columns.chunks.texts("id")):
        raise BadInput(f"No docno of the qrels is a document or a passage of “{source.name}”.")
    return True


def _metric_function(metrics: Sequence[Any]) -> MetricFunction:
    """Return the function that computes the metrics, by ir_measures where it is installed.

    Raises BadParameter for an unknown metric.
    """
    if find_spec("ir_measures") is None:
        return _own_metric_function(list(map(str, metrics)))
    import ir_measures

    titles = {_parse_metric(name): str(name) for name in metrics}

    def compute(scores: ScoresByTopic, labels: LabelsByTopic) -> MetricValues:
        judged_scores = {qid: scores[qid] for qid in labels if qid in scores}
        results = ir_measures.calc(list(titles), labels, judged_scores)
        aggregated: Any = results.aggregated
        means = {title: aggregated[parsed] for parsed, title in titles.items()}
        return means, [(one.query_id, titles[one.measure], one.value) for one in results.per_query]

    return compute


def _parse_metric(name: Any) -> Any:
    """Return the metric of ir_measures with a name of its own or of trec_eval.

    Raises BadParameter.
    """
    import ir_measures

    try:
        try:
            parsed = ir_measures.parse_measure(name)
        except NameError:
            (parsed,) = ir_measures.parse_trec_measure(name)
        if not ir_measures.DefaultPipeline.supports(parsed):
            raise ValueError("nothing installed computes it")
    except (ValueError, TypeError) as error:
        raise BadParameter(f"ir_measures has no metric “{name}”: {error}.") from None
    return parsed


def _own_metric_function(names: Sequence[str]) -> MetricFunction:
    """Return the function that computes metrics by Hopscope, named as in ir_measures."""
    own_metrics: dict[str, Metric] = {}
    for name in names:
        base, at, cutoff = name.partition("@")
        if base not in OWN_METRICS:
            raise BadParameter(
                f"Without ir_measures there is no metric “{name}”, only {', '.join(OWN_METRICS)}; "
                "get it with: pip install ir-measures"
            )
        own_metrics[name] = metric(f"{OWN_METRICS[base]}{at}{cutoff}")

    def compute(scores: ScoresByTopic, labels: LabelsByTopic) -> MetricValues:
        values = []
        for qid, topic_labels in labels.items():
            if max(topic_labels.values()) > 1 and any(name.startswith("nDCG") for name in names):
                raise BadInput("For nDCG of labels above 1: pip install ir-measures")
            relevant = [docno for docno, label in topic_labels.items() if label > 0]
            found = [
                [relevant.index(one)] if one in relevant else [] for one in scores.get(qid, ())
            ]
            ranks = gold_ranks(found, len(relevant))
            outcome = Outcome(golds=len(relevant), paths=ranks, passages=ranks)
            for name, own_metric in own_metrics.items():
                values.append((qid, name, own_metric(outcome) or 0.0))
        means = {name: fmean(value for _, key, value in values if key == name) for name in names}
        return means, values

    return compute
