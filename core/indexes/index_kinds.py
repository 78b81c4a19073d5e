"""Table of the kinds of index that can be built for a graph.

The page Indexes and the command `index` list, build and delete them by this table.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core.datasets import dataset_of
from core.environment import Environment
from core.errors import BadInput, with_command
from core.graph.algorithms.igraph_library import ARRAYS_MARK
from core.graph.algorithms.leiden import MAX_CLUSTER_NODES, clustering_refusal
from core.graph.algorithms.walk_corpus import WalkPlan
from core.graph.store import Graph
from core.indexes import cases as case_index
from core.indexes import chains, communities, partial_index, vectors, walks, words
from core.indexes.reports import ReportStore
from core.io.durations import duration_text
from core.models.encoders.compute_modes import saved_speeds
from core.watch import NO_WATCH, Watch


@dataclass(frozen=True)
class IndexCostDefaults:
    """Building times of indexes, measured on one slow core, for estimates."""

    chain_steps: int = 3  # default of the operators Chain ranking and Case memory
    questions_per_set: int = 1000  # drawn from each question set
    # speed of the slow core, on which SECONDS_PER_TEXT was measured: texts of 32 tokens per second
    slow_rate: float = 160.0
    seconds_per_root: float = 2e-2  # to encode the walks of one node
    seconds_per_node: float = 4e-5
    seconds_per_chain: float = 4e-3
    seconds_per_case: float = 1.2e-2
    seconds_per_report: float = 8.0
    max_counted_communities: int = 100_000  # with more, those with a report are not counted


INDEX_COSTS = IndexCostDefaults()
# Rough mean size of a community, from which the number of reports is estimated.
NODES_PER_COMMUNITY = 5
ENGINE_PATTERN = rf"(?P<engine>{ARRAYS_MARK})?"  # in names of files of communities
# Endings of the names of question sets whose answers may be learnt from.
LEARNING_SET_ENDINGS = ("-dev", "-train")
SECONDS_PER_TEXT = {  # to encode a text of each kind
    **{"nodes": 2e-3, "triples": 5e-3},
    **{"relations": 1e-2, "relation-names": 2e-3, "chunks": 4e-2, "communities": 4e-2},
}
DEFAULT_WALKS = WalkPlan("breadth-first")  # those of Walk&Retrieve, with default settings
SEARCH_PURPOSE = "so that those nearest to a question are found."
VECTORS_PURPOSE = (
    "Used by Vector search, which otherwise encodes them at its first question. Ranking paths "
    "does not get faster: paths are other texts."
)
SQLITE_SUFFIX = r"(?<=\.sqlite)-(journal|wal|shm)$"
DIRECTION_WORDS = {"both": "both ways", "out": "along the triples", "in": "against the triples"}


@dataclass(frozen=True)
class IndexKind:
    """A kind of index, recognised by the names of its files.

    Every file or folder in the graph's index folder whose name matches `pattern` belongs to it.
    `title` and `purpose` are for display. The other fields:

    - `default_name` is the name of the index that methods with default settings read.
    - `describe_settings` describes in a few words the settings in a name.
    - `build` builds the default index. It adds to the saved parts if `is_incremental` is true, else it
      starts anew. None for an index that is built only by the question that needs it.
    - `seconds` is roughly how long a build from the beginning takes. `duration_note` says on what
      this depends.
    - `models` are the roles of the models that the build needs.
    - `refusal` is the reason why the index cannot be built for a graph, empty if it can.
    - `coverage` counts the finished parts and all parts; None if this is not known. In a sentence
      the counts come before `coverage_words`.
    - `forget` releases the index from memory. It raises StoreError while the index is being built.
    - `fits` is true for graphs that can have such an index.
    """

    name: str
    title: str
    purpose: str
    pattern: str
    default_name: Callable[[Graph, Environment], str]
    describe_settings: Callable[[re.Match], str] = lambda match: ""
    build: Callable[[Graph, Environment, Watch], Any] | None = None
    seconds: Callable[[Graph, Environment], float] = lambda graph, env: 0.0
    duration_note: str = ""
    is_incremental: bool = False
    models: tuple[str, ...] = ()
    coverage_words: str = ""
    coverage: Callable[[Graph, Environment], tuple[int, int] | None] = lambda graph, env: None
    refusal: Callable[[Graph, Environment], str] = lambda graph, env: ""
    forget: Callable[[Graph], None] = lambda graph: None
    fits: Callable[[Graph], bool] = lambda graph: True

    def describe_duration(self, graph: Graph, env: Environment, share: float = 1.0) -> str:
        """Return in words roughly how long building takes.

        Parameters
        ----------
        graph : the graph.
        env : the environment, with the models and their speeds.
        share : share of the index that is to be built, 0 to 1.

        Returns
        -------
        A few words, such as “about 2 min”, with what this depends on.
        """
        duration = duration_text(share * self.seconds(graph, env))
        return ", ".join(filter(None, (f"about {duration}", self.duration_note)))

    def match(self, name: str) -> re.Match | None:
        """Match a file name of this kind; the groups are the settings in it."""
        return re.fullmatch(self.pattern, name)

    def owns(self, name: str) -> bool:
        """Return whether a file name is of this kind.

        The files of SQLite next to a file of this kind count too.
        """
        return self.match(re.sub(SQLITE_SUFFIX, "", name)) is not None


def _default_setting(graph: Graph, env: Environment) -> str:
    """Return the file name's part for the encoder and the default chains."""
    encoder = chains.fingerprint(env.models.encoder())
    return f"{encoder}-{INDEX_COSTS.chain_steps}-{graph.resolve('graph')}"


def _clustering_refusal(graph: Graph, env: Environment) -> str:
    return clustering_refusal(graph)


def _describe_steps(match: re.Match) -> str:
    steps = f"{match['steps']} step{'s' * (match['steps'] != '1')}"
    return f"up to {steps}, followed {DIRECTION_WORDS[match['way']]}"


def _solve_questions(graph: Graph, env: Environment, watch: Watch = NO_WATCH) -> None:
    case_index.load_cases(
        graph,
        env.models.encoder(),
        source=_sources(graph),
        size=INDEX_COSTS.questions_per_set,
        steps=INDEX_COSTS.chain_steps,
        watch=watch,
        own_cases=env.solved_questions(graph.digest),
    )


def _case_coverage(graph: Graph, env: Environment) -> tuple[int, int]:
    return case_index.case_coverage(
        graph,
        env.models.encoder(),
        source=_sources(graph),
        size=INDEX_COSTS.questions_per_set,
        steps=INDEX_COSTS.chain_steps,
        own_cases=env.solved_questions(graph.digest),
    )


def _max_solved_questions(graph: Graph, env: Environment) -> int:
    """Return the largest number of questions to solve, without reading the question sets."""
    n_sets = len(case_index.split_sources(_sources(graph))) - 1  # without the person's own
    return INDEX_COSTS.questions_per_set * n_sets + len(env.solved_questions(graph.digest))


def _sources(graph: Graph) -> str:
    """Return the sources of solved questions, in the notation of the operator Case memory.

    They are the question sets of the graph that may be learnt from, and the person's own.
    """
    dataset = dataset_of(graph.name)
    names = []
    if dataset:
        names = [
            name
            for name, question_set in dataset.sets.items()
            if name.endswith(LEARNING_SET_ENDINGS) and question_set.graph_scope == "union"
        ]
    # The -ntm- sets of MetaQA are left out: they have the questions of the others in other words.
    return ",".join([*(name for name in names if "-ntm-" not in name), case_index.OWN_QUESTIONS])


def _case_refusal(graph: Graph, env: Environment) -> str:
    if _sources(graph) != case_index.OWN_QUESTIONS or env.solved_questions(graph.digest):
        return ""
    return (
        "No question set of this graph is meant for learning. Save a comparison with correct "
        "answers, give a thumb up, or add a set whose name ends in -train."
    )


def _describe_communities(match: re.Match) -> str:
    engine = ", found without igraph" if match["engine"] else ""
    return f"at most {int(match['size']):,} entities each, where they can be split{engine}"


def _write_reports(graph: Graph, env: Environment, watch: Watch = NO_WATCH) -> None:
    clusters = communities.load_communities(graph, watch=watch)
    order = (-clusters.sizes()).argsort(kind="stable").tolist()
    _report_store(graph, clusters, env).write_missing(order, watch)


def _report_store(
    graph: Graph, clusters: communities.NodeCommunities, env: Environment
) -> ReportStore:
    return ReportStore(
        graph, clusters, lambda: env.models.chat("answer"), env.models.signature("answer")
    )


def _report_coverage(graph: Graph, env: Environment) -> tuple[int, int] | None:
    clusters = communities.saved_communities(graph)
    if clusters is None or len(clusters) > INDEX_COSTS.max_counted_communities:
        return None
    n = len(clusters)
    return n - len(_report_store(graph, clusters, env).missing(range(n))), n


def _report_seconds(graph: Graph, env: Environment) -> float:
    clusters = communities.saved_communities(graph)
    n = graph.n_nodes / NODES_PER_COMMUNITY if clusters is None else len(clusters)
    return INDEX_COSTS.seconds_per_report * n


def _vectors_kind(item_kind: vectors.ItemKind, title: str, purpose: str) -> IndexKind:
    """Return the kind of index for the vectors of one kind of items.

    Except for nodes and triples, it fits only graphs made of texts that have such items.
    """
    items = "entities" if item_kind == "nodes" else item_kind
    return IndexKind(
        f"vectors-{item_kind}",
        title,
        purpose,
        pattern=rf"vectors-{item_kind}-(?P<encoder>[0-9a-f]+)",
        default_name=lambda graph, env: (
            vectors.vector_folder(graph, env.models.encoder(), item_kind).name
        ),
        build=lambda graph, env, watch: partial_index.build_searchable_vectors(
            graph, env.models.encoder(), item_kind, watch
        ),
        seconds=lambda graph, env: (
            vectors.count_items(graph, item_kind) * SECONDS_PER_TEXT[item_kind] * _slowdown(env)
        ),
        duration_note="without a GPU",
        is_incremental=True,
        models=("encoder",),
        coverage_words=f"{items} are encoded",
        coverage=lambda graph, env: vectors.vector_coverage(graph, env.models.encoder(), item_kind),
        refusal=lambda graph, env: _vectors_refusal(graph, item_kind, items),
        forget=vectors.forget_vectors,
        fits=lambda graph: (
            item_kind in ("nodes", "triples")
            or bool(graph.columns)
            and vectors.count_items(graph, item_kind) > 0
        ),
    )


def _vectors_refusal(graph: Graph, item_kind: vectors.ItemKind, items: str) -> str:
    total = vectors.count_items(graph, item_kind)
    if item_kind == "nodes" and getattr(graph, "numbered", False):
        return "The entities of this graph are only numbered; there are no names to encode."
    if total <= vectors.VECTOR_INDEX.max_unconfirmed_items:
        return ""
    return with_command(
        f"{total:,} {items} are more than are encoded from here "
        f"({vectors.VECTOR_INDEX.max_unconfirmed_items:,}). The command line does it, and "
        "says what that takes.",
        f"hopscope index vectors --graph {graph.folder or graph.name} --of {item_kind}",
    )


def _slowdown(env: Environment) -> float:
    """Return how many times slower this computer encodes than the slow core of `INDEX_COSTS`.

    It is 1 if the encoder was not measured on this computer.
    """
    speeds = saved_speeds()
    if speeds is None or not env.models.info("encoder").present:
        return 1.0
    mode = getattr(env.models.encoder(), "mode", None)
    rate = next((speed.rate for speed in speeds.speeds if speed.way == mode), INDEX_COSTS.slow_rate)
    return INDEX_COSTS.slow_rate / rate


def _walks_refusal(graph: Graph, env: Environment) -> str:
    try:
        walks.nodes_with_walks(graph, DEFAULT_WALKS)
    except BadInput as error:
        return str(error)
    return ""


def _describe_walks(match: re.Match) -> str:
    number = "all" if match["walks"] == "0" else f"{int(match['walks']):,}"
    strategy = "random" if match["strategy"] == "random" else "breadth-first"
    return f"{number} {strategy} walks of up to {match['length']} steps"


INDEX_KINDS = {
    kind.name: kind
    for kind in (
        IndexKind(
            "communities",
            "Communities",
            "Groups of closely connected entities, found by the Leiden algorithm. Community "
            "reports are written about them.",
            pattern=rf"communities-(?!{MAX_CLUSTER_NODES}\b)(?P<size>\d+){ENGINE_PATTERN}\.npy",
            describe_settings=_describe_communities,
            default_name=lambda graph, env: communities.file_name(communities.MAX_COMMUNITY_NODES),
            build=lambda graph, env, watch: communities.prepare_communities(
                graph, communities.MAX_COMMUNITY_NODES, watch
            ),
            seconds=lambda graph, env: graph.n_nodes * INDEX_COSTS.seconds_per_node,
            refusal=_clustering_refusal,
        ),
        IndexKind(
            "clusters",
            "Clusters for PageRank",
            "The graph split into large parts by the Leiden algorithm, so that PageRank is "
            "computed only in the parts of a question's entities. Used by PageRank with the "
            "method partition.",
            pattern=rf"communities-(?P<size>{MAX_CLUSTER_NODES}){ENGINE_PATTERN}\.npy",
            describe_settings=_describe_communities,
            default_name=lambda graph, env: communities.file_name(MAX_CLUSTER_NODES),
            build=lambda graph, env, watch: communities.prepare_communities(
                graph, MAX_CLUSTER_NODES, watch
            ),
            seconds=lambda graph, env: graph.n_nodes * INDEX_COSTS.seconds_per_node,
            refusal=_clustering_refusal,
        ),
        IndexKind(
            "reports",
            "Community reports",
            "A language model's report on each community, for prompts like those of "
            "Microsoft's GraphRAG. A missing report is written when a question needs it.",
            pattern=r"reports\.sqlite",
            default_name=lambda graph, env: "reports.sqlite",
            build=_write_reports,
            seconds=_report_seconds,
            duration_note="the largest communities first, by a small language model without a GPU",
            is_incremental=True,
            models=("answer",),
            coverage_words="communities have a report",
            coverage=_report_coverage,
            refusal=_clustering_refusal,
        ),
        IndexKind(
            "chains",
            "Relation chains",
            "The sequences of relations in the graph, in words and as vectors, so that a "
            "question finds the sequence it asks for. Used by Chain ranking and Case memory.",
            pattern=r"chains-(?P<encoder>[0-9a-f]+)-(?P<steps>\d+)-(?P<way>both|out|in)\.npz",
            describe_settings=_describe_steps,
            default_name=lambda graph, env: f"chains-{_default_setting(graph, env)}.npz",
            build=lambda graph, env, watch: chains.prepare_chains(
                graph, env.models.encoder(), INDEX_COSTS.chain_steps, watch
            ),
            seconds=lambda graph, env: chains.MAX_CHAINS * INDEX_COSTS.seconds_per_chain,
            duration_note="or less where there are fewer chains",
            models=("encoder",),
            forget=chains.forget_chains,
        ),
        IndexKind(
            "cases",
            "Solved questions",
            "Questions with correct answers and the relation chains that lead to them, so "
            "that a new question is answered like the most similar ones. Used by Case memory.",
            pattern=r"cases-(?P<encoder>[0-9a-f]+)-(?P<steps>\d+)-(?P<way>both|out|in)\.sqlite",
            describe_settings=lambda match: f"chains of {_describe_steps(match)}",
            default_name=lambda graph, env: f"cases-{_default_setting(graph, env)}.sqlite",
            build=_solve_questions,
            seconds=lambda graph, env: (
                _max_solved_questions(graph, env) * INDEX_COSTS.seconds_per_case
            ),
            is_incremental=True,
            models=("encoder",),
            coverage_words="questions are solved",
            coverage=_case_coverage,
            refusal=_case_refusal,
            forget=case_index.forget_cases,
        ),
        _vectors_kind(
            "nodes",
            "Vectors of entities",
            f"The names of all entities as vectors, {SEARCH_PURPOSE} {VECTORS_PURPOSE}",
        ),
        _vectors_kind(
            "triples",
            "Vectors of triples",
            f"All triples, put into words, as vectors, {SEARCH_PURPOSE} {VECTORS_PURPOSE}",
        ),
        _vectors_kind(
            "chunks",
            "Vectors of chunks",
            f"The chunks of the documents as vectors, {SEARCH_PURPOSE} Used by Chunks by vector.",
        ),
        _vectors_kind(
            "relations",
            "Vectors of relations",
            f"Relations in words as vectors, {SEARCH_PURPOSE} Used by Relations by vector.",
        ),
        _vectors_kind(
            "relation-names",
            "Vectors of relation names",
            f"The names of relations as vectors, {SEARCH_PURPOSE} Used by Relations by vector.",
        ),
        _vectors_kind(
            "communities",
            "Vectors of communities",
            f"The reports on communities as vectors, {SEARCH_PURPOSE} Used by Communities by "
            "vector.",
        ),
        IndexKind(
            "words",
            "Words",
            "The passages or entities that hold each word, so that a question finds those "
            "that share its rarest words. Built by the first question that uses it, in "
            "seconds, and saved if there are many. Used by Chunks by words and Entities by "
            "words.",
            pattern=r"words-(?P<of>chunks|nodes)",
            describe_settings=lambda match: (
                "of passages" if match["of"] == "chunks" else "of entities"
            ),
            default_name=lambda graph, env: "words-chunks",
            forget=words.forget_words,
            fits=lambda graph: (
                vectors.count_items(graph, "chunks") >= words.WORD_INDEX.min_saved_texts
            ),
        ),
        IndexKind(
            "walks",
            "Walks",
            "The walks of each entity, put into words, as one vector, so that those whose "
            "walks are nearest to a question are found. Used by Nodes, then walks "
            "(Walk&Retrieve).",
            pattern=r"walks-(?P<strategy>random|breadth-first)-(?P<walks>\d+)x(?P<length>\d+)"
            r"-[0-9a-f]+-(?P<encoder>[0-9a-f]+)",
            describe_settings=_describe_walks,
            default_name=lambda graph, env: (
                walks.walk_folder(graph, env.models.encoder(), DEFAULT_WALKS).name
            ),
            build=lambda graph, env, watch: walks.build_walk_corpus(
                graph, env.models.encoder(), DEFAULT_WALKS, watch=watch
            ),
            seconds=lambda graph, env: graph.n_nodes * INDEX_COSTS.seconds_per_root,
            duration_note="without a GPU",
            is_incremental=True,
            models=("encoder",),
            refusal=_walks_refusal,
            forget=walks.forget_walks,
            fits=lambda graph: not graph.columns.has_texts,
        ),
    )
}
