"""The survival funnel: the targets that are still alive at each stage of a run.

A target is a known answer or a gold passage. On triples, the targets are known answers.

- graph: a node has one of the answer's names.
- subgraph: such a node was extracted.
- paths: such a node lies on a path that is left after retrieval and refinement.
- prompt: it is on a path, or its name is in a community report, that the language model was shown.
- answer: the model's text contains the name. If the model's answer does not count, the graph reader
  names it. The prompt is then bypassed, as the graph reader reads all paths.

A run without extraction skips subgraph, paths and prompt.

On a corpus, the targets may be passages.

- corpus: the document is in the corpus.
- graph: a chunk of the document is in the graph. If the graph has nodes, one of them comes from the
  chunk, or is the chunk.
- retrieved: a chunk of the document is among the hits.
- prompt: the prompt shows such a chunk.

On a corpus, the targets may also be the words of known answers.

- corpus: a document contains them.
- graph: a chunk, a name or a description of the graph contains them.
- retrieved: a hit's name or text contains them.
- prompt: a row of its tables contains them.
- answer: the language model's text contains them, or the excerpt if no model was asked.

The words are searched as whole words (`contains_whole`), but in an answer as the papers do
(`core.diagnosis.answer_match`).

Yes and no occur in any text, so only the last stage is given for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product

from core.comparison.lane import MethodLane
from core.diagnosis.answer_match import YES_NO_ANSWERS, contains_answer, gives_answer
from core.diagnosis.name_lookup import is_in_corpus, is_in_graph
from core.diagnosis.passages import chunk_rows, chunks_with_nodes, retrieved_chunks, shown_chunks
from core.diagnosis.prompt_items import context_text
from core.diagnosis.targets import Target, answers_of, passages_of
from core.graph.names.lookup import name_lookup
from core.graph.texts import hit_names, hit_texts
from core.languages.spelling import contains_whole, normalize
from core.sources import AnswerSource
from core.types import Path, State

# The targets alive at the stages `corpus` and `graph`, as saved with a comparison; else None.
SavedAlive = Mapping[str, tuple[str, ...]] | None
# For each stage, a function that returns whether a target is alive in it.
Tests = list[tuple[str, Callable[[Target], bool]]]


@dataclass(frozen=True)
class FunnelStage:
    """One stage of the funnel, with the names of its alive and lost targets.

    A target is lost at the stage after the last one in which it is alive, so each is lost at most
    once. A `bypassed` stage is not on the way to the answer that counts, and nothing is lost there.
    `n_targets` is the number of all targets.
    """

    name: str
    alive: tuple[str, ...]
    lost: tuple[str, ...]
    n_targets: int
    bypassed: bool = False


def funnel(
    source: AnswerSource,
    graph,
    state: State,
    targets: Sequence[Target],
    by_model: bool | None = None,
    saved_alive: SavedAlive = None,
) -> tuple[FunnelStage, ...]:
    """Return the stages that a run has reached, for targets of one kind.

    The result is empty without targets.

    Parameters
    ----------
    source : the graph or corpus of the question.
    graph, state : the lane's graph, and the last state of its run.
    targets : known answers or passages.
    by_model : True if the language model's answer counts, False for the graph reader's. None means
        the model's if it has answered.
    saved_alive : for a saved comparison, the targets alive in the corpus and in the graph.
    """
    targets = tuple(dict.fromkeys(targets))
    bypass = ""  # the bypassed stage, if any
    if not targets:
        return ()
    if targets[0].kind == "passage":
        tests = _passage_tests(source, graph, state, saved_alive)
    elif source.is_corpus:
        tests = _text_tests(source, graph, state, targets, saved_alive)
    else:
        by_model = state.answer is not None if by_model is None else by_model
        tests = _node_tests(graph, state, targets, by_model)
        bypass = "" if by_model or state.reader is None else "prompt"
    return make_stages(tests, targets, bypass)


def _node_tests(graph, state: State, targets: Sequence[Target], by_model: bool) -> Tests:
    """Return the tests for known answers in a graph of triples."""
    nodes = {target: gold_nodes(graph, *target.names) for target in targets}
    tests: Tests = [("graph", lambda target: bool(nodes[target]))]
    subgraph, answer, reader_nodes = state.subgraph, state.answer, state.reader
    if subgraph is not None:
        tests.append(("subgraph", lambda target: any(node in subgraph for node in nodes[target])))
    if state.paths is not None:
        paths = state.paths.items
        on_paths = _path_nodes(paths)
        tests.append(("paths", lambda target: not on_paths.isdisjoint(nodes[target])))
        if state.prompt is not None:
            on_prompt = _path_nodes(paths[: state.prompt.paths])
            report_texts = [report.text for report in (state.reports or ())[: state.prompt.reports]]

            def is_shown(target: Target) -> bool:
                return not on_prompt.isdisjoint(nodes[target]) or _occurs(target, report_texts)

            tests.append(("prompt", is_shown))
    if by_model and answer is not None:
        tests.append(
            ("answer", lambda target: any(contains_answer(answer, name) for name in target.names))
        )
    elif reader_nodes is not None:
        tests.append(("answer", lambda target: not set(reader_nodes).isdisjoint(nodes[target])))
    return tests


def _passage_tests(source: AnswerSource, graph, state: State, saved_alive: SavedAlive) -> Tests:
    """Return the tests for gold passages of a corpus."""
    if saved_alive:
        tests = _saved_tests(saved_alive)
    else:
        tests = [
            ("corpus", lambda target: target.name in source),
            (
                "graph",
                lambda target: bool(chunks_with_nodes(graph, chunk_rows(graph, target.name))),
            ),
        ]
    hits, shown_rows = retrieved_chunks(graph, state), shown_chunks(graph, state)
    if hits is not None:
        tests.append(
            ("retrieved", lambda target: not chunk_rows(graph, target.name).isdisjoint(hits))
        )
        if shown_rows is not None:
            tests.append(
                ("prompt", lambda target: not chunk_rows(graph, target.name).isdisjoint(shown_rows))
            )
    return tests


def _text_tests(
    source: AnswerSource, graph, state: State, targets: Sequence[Target], saved_alive: SavedAlive
) -> Tests:
    """Return the tests for the words of known answers in a corpus."""
    answer = _answer_text(state)
    if all(normalize(target.name) in YES_NO_ANSWERS for target in targets):
        if answer is None:
            return []
        return [("answer", lambda target: gives_answer(answer, target.name))]
    tests = _saved_tests(saved_alive) if saved_alive else _word_source_tests(source, graph)
    if state.hits:
        texts = _found_texts(graph, state)
        tests.append(("retrieved", lambda target: _occurs(target, texts)))
        if state.prompt is not None:
            context = [context_text(state.prompt, state.question.text)]
            tests.append(("prompt", lambda target: _occurs(target, context)))
    if answer is not None:
        tests.append(
            ("answer", lambda target: any(gives_answer(answer, name) for name in target.names))
        )
    return tests


def _answer_text(state: State) -> str | None:
    """Return the language model's text, or the excerpt if no model was asked."""
    if state.answer is not None:
        return state.answer
    return state.excerpt.text if state.excerpt else None


def _saved_tests(saved_alive: Mapping[str, tuple[str, ...]]) -> Tests:
    """Return the first tests of a saved comparison, which has neither corpus nor graph."""
    return [
        ("corpus", lambda target: target.name in saved_alive["corpus"]),
        ("graph", lambda target: target.name in saved_alive["graph"]),
    ]


def _word_source_tests(source: AnswerSource, graph) -> Tests:
    """Return the tests for an answer's words in the corpus and in the graph."""

    def in_corpus(target: Target) -> bool:
        return any(is_in_corpus(source, graph, name) for name in target.names)

    def in_graph(target: Target) -> bool:
        return any(is_in_graph(graph, name) for name in target.names)

    return [("corpus", in_corpus), ("graph", in_graph)]


def _found_texts(graph, state: State) -> list[str]:
    """Return the names and texts of all hits."""
    texts: list[str] = []
    for hits in (hits.listed for hits in state.hits):
        texts += hit_names(graph, hits.kind, hits.items)
        texts += hit_texts(graph, hits.kind, hits.items)
    return texts


def _occurs(target: Target, texts: Iterable[str]) -> bool:
    """Return whether a text contains one of an answer's names as whole words."""
    return any(contains_whole(text, name) for text, name in product(texts, target.names))


def make_stages(tests: Tests, targets: Sequence[Target], bypass: str) -> tuple[FunnelStage, ...]:
    """Return the stages with their alive and lost targets.

    Parameters
    ----------
    tests : the stages in order, each with the test of what is alive in it.
    targets : targets of one kind, without repeats.
    bypass : the bypassed stage, which loses nothing; empty for none.
    """
    alive_by_stage = {
        name: tuple(target.name for target in targets if test(target)) for name, test in tests
    }
    counted_stages = [name for name in alive_by_stage if name != bypass]
    lost_by_stage: dict[str, list[str]] = {name: [] for name in alive_by_stage}
    for target in targets:
        later_stages: list[str] = []  # the stages after the last one in which the target is alive
        for name in reversed(counted_stages):
            if target.name in alive_by_stage[name]:
                break
            later_stages.append(name)
        if later_stages:
            lost_by_stage[later_stages[-1]].append(target.name)
    return tuple(
        FunnelStage(name, alive, tuple(lost_by_stage[name]), len(targets), bypassed=name == bypass)
        for name, alive in alive_by_stage.items()
    )


def alive_before_retrieval(lane: MethodLane) -> SavedAlive:
    """Return the known answers and passages in the corpus and in the lane's graph.

    They are saved with a comparison, because its corpus and graph are not. The result is None on
    triples.
    """
    ask = lane.ask
    if not ask.source.is_corpus or lane.saved_alive is not None:
        return lane.saved_alive
    first_state = State(ask.question)
    alive_by_stage: dict[str, set[str]] = {"corpus": set(), "graph": set()}
    for targets in (answers_of(ask.question), passages_of(ask.question)):
        for stage in funnel(ask.source, lane.graph, first_state, targets):
            alive_by_stage[stage.name].update(stage.alive)
    return {stage: tuple(sorted(names)) for stage, names in alive_by_stage.items()}


def count_right_answers(graph, state: State, answers: Sequence[str], reader: bool) -> int | None:
    """Return how many known answers the graph reader gives.

    If `reader` is False, those of the language model are counted. The result is None if it gave no
    answer or no answer is known.
    """
    answers = tuple(dict.fromkeys(answers))
    if not answers:
        return None
    names = state.question.answer_names
    if reader:
        if state.reader is None:
            return None
        reader_nodes = set(state.reader)
        return sum(
            not reader_nodes.isdisjoint(gold_nodes(graph, *names(answer))) for answer in answers
        )
    answer_text = state.answer
    if answer_text is None:
        return None
    return sum(
        any(contains_answer(answer_text, name) for name in names(answer)) for answer in answers
    )


def gold_nodes(graph, *names: str) -> tuple[int, ...]:
    """Return the nodes that have one of an answer's names, without repeats."""
    return tuple(dict.fromkeys(chain.from_iterable(map(name_lookup(graph).find_exact, names))))


def _path_nodes(paths: Sequence[Path]) -> set[int]:
    return set(chain.from_iterable(path.nodes for path in paths))
