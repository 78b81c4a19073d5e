"""Table of the kinds of indexes that can be prepared for a graph."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core.datasets import dataset_of
from core.environment import Environment
from core.errors import BadInput, with_command
from core.graph.algorithms.leiden import MAX_CLUSTER_NODES, clustering_refusal
from core.graph.algorithms.walk_corpus import WalkPlan
from core.graph.store import Graph
from core.indexes import cases as memory
from core.indexes import chains, communities, partial_index, vectors, walks, words
from core.indexes.reports import ReportStore
from core.io.durations import duration_text
from core.models.encoders.compute_modes import saved_speeds
from core.watch import NO_WATCH, Watch


@dataclass(frozen=True)
class IndexCostDefaults:
    """Times from which the time to build an index is estimated, measured on one slow core."""

    chain_steps: int = 3  # default of the operators Chain ranking and Case memory
    questions_per_set: int = 1000  # drawn from each question set
    # texts of 32 tokens per second and core, for which SECONDS_PER_TEXT holds
    slow_rate: float = 160.0
    seconds_per_root: float = 2e-2  # to encode the walks of one node
    seconds_per_node: float = 4e-5
    seconds_per_chain: float = 4e-3
    seconds_per_case: float = 1.2e-2
    seconds_per_report: float = 8.0
    max_counted_communities: int = 100_000  # for which it is looked up which have a report


INDEX_COSTS = IndexCostDefaults()
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

    Every file or folder in the graph's folder whose name matches `pattern` belongs to it. The other
    fields:

    - `words` describes in a few words the settings in such a name.
    - `usual` is the name of the index that methods with default settings read.
    - `build` makes that index. It adds to what is saved if `adds` is true, else it starts anew.
      None for an index that is made without being asked for.
    - `seconds` is roughly how long building takes from nothing. `pace` says on what this depends.
    - `models` names the model roles it needs.
    - `lacks` is the reason why it cannot be made for a graph, empty where it can.
    - `coverage` counts how many `parts` are finished and how many there can be. None where this is
      not known.
    - `forget` releases the index from memory. It raises StoreError while the index is being made.
    - `fits` is true for graphs that can have such an index.
    """

    name: str
    title: str
    purpose: str
    pattern: str
    words: Callable[[re.Match], str]
    usual: Callable[[Graph, Environment], str]
    build: Callable[[Graph, Environment, Watch], Any] | None = None
    seconds: Callable[[Graph, Environment], float] = lambda graph, env: 0.0
    pace: str = ""
    adds: bool = False
    models: tuple[str, ...] = ()
    parts: str = ""
    coverage: Callable[[Graph, Environment], tuple[int, int] | None] = lambda graph, env: None
    lacks: Callable[[Graph, Environment], str] = lambda graph, env: ""
    forget: Callable[[Graph], None] = lambda graph: None
    fits: Callable[[Graph], bool] = lambda graph: True

    def takes(self, graph: Graph, env: Environment, share: float = 1.0) -> str:
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
        return f"about {duration_text(share * self.seconds(graph, env))}{', ' * bool(self.pace)}{self.pace}"

    def match(self, name: str) -> re.Match | None:
        """Match the name of a file or folder of this kind, with the settings in the name."""
        return re.fullmatch(self.pattern, name)

    def owns(self, name: str) -> bool:
        """Return whether a name is of this kind, or of a file that SQLite writes next to one."""
        return self.match(re.sub(SQLITE_SUFFIX, "", name)) is not None


def _chains_file(graph: Graph, env: Environment) -> str:
    encoder = chains.fingerprint(env.models.encoder())
    return f"chains-{encoder}-{INDEX_COSTS.chain_steps}-{graph.resolve('graph')}.npz"


def _cases_file(graph: Graph, env: Environment) -> str:
    encoder = chains.fingerprint(env.models.encoder())
    return f"cases-{encoder}-{INDEX_COSTS.chain_steps}-{graph.resolve('graph')}.sqlite"


def _too_large(graph: Graph, env: Environment) -> str:
    return clustering_refusal(graph)


def _steps(match: re.Match) -> str:
    return f"up to {match['steps']} step{'s' * (match['steps'] != '1')}, followed {DIRECTION_WORDS[match['way']]}"


def _solve(graph: Graph, env: Environment, watch: Watch = NO_WATCH) -> None:
    memory.load_cases(
        graph,
        env.models.encoder(),
        _sources(graph),
        INDEX_COSTS.questions_per_set,
        INDEX_COSTS.chain_steps,
        "graph",
        watch,
        env.solved(graph.digest),
    )


def _case_coverage(graph: Graph, env: Environment) -> tuple[int, int]:
    return memory.case_coverage(
        graph,
        env.models.encoder(),
        _sources(graph),
        INDEX_COSTS.questions_per_set,
        INDEX_COSTS.chain_steps,
        env.solved(graph.digest),
    )


def _to_solve(graph: Graph, env: Environment) -> int:
    """Return the most questions that can be solved, without reading the question sets."""
    return INDEX_COSTS.questions_per_set * (len(memory.parts_of(_sources(graph))) - 1) + len(
        env.solved(graph.digest)
    )


def _sources(graph: Graph) -> str:
    """Return the sources of solved questions, in the notation of the operator Case memory.

    They are the question sets of the graph that may be learnt from, and the person's own.
    """
    dataset = dataset_of(graph.name)
    sets = []
    if dataset:
        sets = [
            name
            for name, one in dataset.sets.items()
            if name.endswith(LEARNING_SET_ENDINGS) and one.graphs == "union"
        ]
    return ",".join([*(name for name in sets if "-ntm-" not in name), memory.OWN_QUESTIONS])


def _nothing_solved(graph: Graph, env: Environment) -> str:
    if _sources(graph) != memory.OWN_QUESTIONS or env.solved(graph.digest):
        return ""
    return (
        "No question set of this graph is meant for learning. Save a comparison with correct "
        "answers, give a thumb up, or add a set whose name ends in -train."
    )


def _write_reports(graph: Graph, env: Environment, watch: Watch = NO_WATCH) -> None:
    clusters = communities.load_communities(graph, watch=watch)
    order = (-clusters.sizes()).argsort(kind="stable").tolist()
    _reports(graph, clusters, env).prepare(order, watch)


def _reports(graph: Graph, clusters: communities.NodeCommunities, env: Environment) -> ReportStore:
    return ReportStore(
        graph, clusters, lambda: env.models.chat("answer"), env.models.signature("answer")
    )


def _report_coverage(graph: Graph, env: Environment) -> tuple[int, int] | None:
    clusters = communities.saved_communities(graph)
    if clusters is None or len(clusters) > INDEX_COSTS.max_counted_communities:
        return None
    return len(clusters) - len(_reports(graph, clusters, env).missing(range(len(clusters)))), len(
        clusters
    )


def _report_seconds(graph: Graph, env: Environment) -> float:
    clusters = communities.saved_communities(graph)
    return INDEX_COSTS.seconds_per_report * (
        graph.n_nodes / 5 if clusters is None else len(clusters)
    )


def _vectors(of: vectors.ItemKind, title: str, purpose: str) -> IndexKind:
    """Return the kind for the vectors of one sort of items.

    Vectors of texts are shown for graphs made of texts only.
    """

    def many(graph: Graph, env: Environment) -> str:
        total, items = vectors.count(graph, of), "entities" if of == "nodes" else of
        if of == "nodes" and getattr(graph, "numbered", False):
            return "The entities of this graph are only numbered; there are no names to encode."
        if total <= vectors.VECTOR_INDEX.max_unconfirmed_items:
            return ""
        return with_command(
            f"{total:,} {items} are more than are encoded from here "
            f"({vectors.VECTOR_INDEX.max_unconfirmed_items:,}). The command line does it, and "
            "says what that "
            "takes.",
            f"python -m core index vectors --graph {graph.folder or graph.name} --of {of}",
        )

    return IndexKind(
        f"vectors-{of}",
        title,
        purpose,
        rf"vectors-{of}-(?P<encoder>[0-9a-f]+)",
        lambda match: "",
        lambda graph, env: vectors.vector_folder(graph, env.models.encoder(), of).name,
        lambda graph, env, watch: partial_index.build_searchable_vectors(
            graph, env.models.encoder(), of, watch
        ),
        lambda graph, env: vectors.count(graph, of) * SECONDS_PER_TEXT[of] * _slowdown(env),
        "without a GPU",
        adds=True,
        models=("encoder",),
        parts=f"{'entities' if of == 'nodes' else of} are encoded",
        coverage=lambda graph, env: vectors.vector_coverage(graph, env.models.encoder(), of),
        lacks=many,
        forget=vectors.forget_vectors,
        fits=lambda graph: (
            of in ("nodes", "triples") or bool(graph.columns) and vectors.count(graph, of) > 0
        ),
    )


def _slowdown(env: Environment) -> float:
    """Return how many times slower the encoder is here than on one slow core.

    Taken from measurements on this computer; 1 where there are none.
    """
    speeds = saved_speeds()
    if speeds is None or not env.models.info("encoder").present:
        return 1.0
    way = getattr(env.models.encoder(), "way", None)
    return next((INDEX_COSTS.slow_rate / one.rate for one in speeds.speeds if one.way == way), 1.0)


def _no_walks(graph: Graph, env: Environment) -> str:
    try:
        walks.nodes_with_walks(graph, DEFAULT_WALKS)
    except BadInput as error:
        return str(error)
    return ""


def _walks(match: re.Match) -> str:
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
            rf"communities-(?!{MAX_CLUSTER_NODES}\.)(?P<size>\d+)\.npy",
            lambda match: f"at most {int(match['size']):,} entities each, where they can be split",
            lambda graph, env: f"communities-{communities.MAX_COMMUNITY_NODES}.npy",
            lambda graph, env, watch: communities.prepare_communities(
                graph, communities.MAX_COMMUNITY_NODES, watch
            ),
            lambda graph, env: graph.n_nodes * INDEX_COSTS.seconds_per_node,
            lacks=_too_large,
        ),
        IndexKind(
            "clusters",
            "Clusters for PageRank",
            "The graph split into large parts by the Leiden algorithm, so that PageRank is "
            "computed only in the parts of a question's entities. Used by PageRank with the "
            "method partition.",
            rf"communities-{MAX_CLUSTER_NODES}\.npy",
            lambda match: f"at most {MAX_CLUSTER_NODES:,} entities each, where they can be split",
            lambda graph, env: f"communities-{MAX_CLUSTER_NODES}.npy",
            lambda graph, env, watch: communities.prepare_communities(
                graph, MAX_CLUSTER_NODES, watch
            ),
            lambda graph, env: graph.n_nodes * INDEX_COSTS.seconds_per_node,
            lacks=_too_large,
        ),
        IndexKind(
            "reports",
            "Community reports",
            "A language model's report on each community, for prompts like those of "
            "Microsoft's GraphRAG. A missing report is written when a question needs it.",
            r"reports\.sqlite",
            lambda match: "",
            lambda graph, env: "reports.sqlite",
            _write_reports,
            _report_seconds,
            "the largest communities first, by a small language model without a GPU",
            adds=True,
            models=("answer",),
            parts="communities have a report",
            coverage=_report_coverage,
            lacks=_too_large,
        ),
        IndexKind(
            "chains",
            "Relation chains",
            "The sequences of relations in the graph, in words and as vectors, so that a "
            "question finds the sequence it asks for. Used by Chain ranking and Case memory.",
            r"chains-(?P<encoder>[0-9a-f]+)-(?P<steps>\d+)-(?P<way>both|out|in)\.npz",
            _steps,
            _chains_file,
            lambda graph, env, watch: chains.prepare_chains(
                graph, env.models.encoder(), INDEX_COSTS.chain_steps, watch
            ),
            lambda graph, env: chains.MAX_CHAINS * INDEX_COSTS.seconds_per_chain,
            "or less where there are fewer chains",
            models=("encoder",),
            forget=chains.forget_chains,
        ),
        IndexKind(
            "cases",
            "Solved questions",
            "Questions with correct answers and the relation chains that lead to them, so "
            "that a new question is answered like the most similar ones. Used by Case memory.",
            r"cases-(?P<encoder>[0-9a-f]+)-(?P<steps>\d+)-(?P<way>both|out|in)\.sqlite",
            lambda match: f"chains of {_steps(match)}",
            _cases_file,
            _solve,
            lambda graph, env: _to_solve(graph, env) * INDEX_COSTS.seconds_per_case,
            adds=True,
            models=("encoder",),
            parts="questions are solved",
            coverage=_case_coverage,
            lacks=_nothing_solved,
            forget=memory.forget_cases,
        ),
        _vectors(
            "nodes",
            "Vectors of entities",
            f"The names of all entities as vectors, {SEARCH_PURPOSE} {VECTORS_PURPOSE}",
        ),
        _vectors(
            "triples",
            "Vectors of triples",
            f"All triples, put into words, as vectors, {SEARCH_PURPOSE} {VECTORS_PURPOSE}",
        ),
        _vectors(
            "chunks",
            "Vectors of chunks",
            f"The chunks of the documents as vectors, {SEARCH_PURPOSE} Used by Chunks by vector.",
        ),
        _vectors(
            "relations",
            "Vectors of relations",
            f"Relations in words as vectors, {SEARCH_PURPOSE} Used by Relations by vector.",
        ),
        _vectors(
            "relation-names",
            "Vectors of relation names",
            f"The names of relations as vectors, {SEARCH_PURPOSE} Used by Relations by vector.",
        ),
        _vectors(
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
            r"words-(?P<of>chunks|nodes)",
            lambda match: "of passages" if match["of"] == "chunks" else "of entities",
            lambda graph, env: "words-chunks",
            forget=words.forget_words,
            fits=lambda graph: vectors.count(graph, "chunks") >= words.WORD_INDEX.min_saved_texts,
        ),
        IndexKind(
            "walks",
            "Walks",
            "The walks of each entity, put into words, as one vector, so that those whose "
            "walks are nearest to a question are found. Used by Nodes, then walks "
            "(Walk&Retrieve).",
            r"walks-(?P<strategy>random|breadth-first)-(?P<walks>\d+)x(?P<length>\d+)"
            r"-[0-9a-f]+-(?P<encoder>[0-9a-f]+)",
            _walks,
            lambda graph, env: walks.walk_folder(graph, env.models.encoder(), DEFAULT_WALKS).name,
            lambda graph, env, watch: walks.build_walk_corpus(
                graph, env.models.encoder(), DEFAULT_WALKS, watch=watch
            ),
            lambda graph, env: graph.n_nodes * INDEX_COSTS.seconds_per_root,
            "without a GPU",
            adds=True,
            models=("encoder",),
            lacks=_no_walks,
            forget=walks.forget_walks,
            fits=lambda graph: not graph.columns.of_texts,
        ),
    )
}
