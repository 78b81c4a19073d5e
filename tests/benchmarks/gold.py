"""Extracted document graphs compared with a hand-made gold standard.

    python -m tests.benchmarks gold [--half dev|test|both] [--extract NAME,NAME] [--whole] [--worth]

For each chunk of tests/benchmarks/gold it scores the entities, merged names, types and relations of
an extractor (a row kg-NAME of builds.toml, with the later steps that change facts), each as
precision and recall over all chunks:

- An entity is right if one of its names is a mention of the gold standard. *Strict*: spelled the
  same but for case, accents, punctuation and a leading article. *Lenient*: also where one ends with
  the other (“Ed Wood”, “director Ed Wood”). Dates and numbers are left out on both sides.
- A merge is a pair of different names of a chunk that are one entity. It is wrong if they are
  mentions of two gold entities, or one of them of none. It is missed if two mentions of one gold
  entity are both found but stay separate.
- Types are scored for the entities that are found; a building is a place, a law a work, a language
  a concept.
- A relation is an unordered pair of gold entities. For those that are found, the fractions with the
  gold direction and with a word of the gold label are given.

Merged names and accepted phrases depend on the whole corpus. Where the corpus ships, a chunk of the
gold standard is therefore read after all of its chunks, with the title of its document, and else
after the other chunks of the gold standard. `names:1.5` are names with terms of weight 1.5 or more;
several such extractors give a precision-recall curve.

With --whole only those gold chunks count that lie completely in one chunk of their corpus. The
results of that chunk are used as far as the gold chunk contains the names. This scores extractors
that use a language model by the replies that ship with a corpus.

With --worth it also gives gold passages at 4 of the methods that depend on entities, on the
question set of --corpus. A hash splits its questions into two halves: one to make choices, the
other to report results.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from core.builds.base import BuildLine, BuildState
from core.builds.catalogue import MODEL_SEPARATOR, choose_build
from core.builds.extract.mentions import APPEARS_WITH, PHRASE_TYPE
from core.builds.facts import Facts
from core.builds.merge_suggestions import fold_spelling
from core.builds.name_folding import fold_name
from core.builds.resolve.names import ResolveNames
from core.builds.run import build_context
from core.builds.shipped_data import builds_of, shipped_builds
from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.corpus import Corpus, open_corpus
from core.engine import Engine
from core.errors import BadInput
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.outcome import observe
from core.evaluation.metrics.statistics import paired_test
from core.finetune.reranker_data import question_half
from core.graph.columns import Table
from core.methods.catalogue import catalogue
from core.models.registry import Registry
from core.operators.base import Line
from core.sources import CorpusSource, SourceQuestion
from tests.benchmarks.methods import by_extractors

FOLDER = Path(__file__).with_name("gold")
CORPORA = {"medical": "graphrag-bench-medical", "carol": "christmas-carol", "hotpotqa": "hotpotqa"}
DATED = ("date", "number")
TYPES = {"building": "place", "law": "work", "language": "concept"}
ARTICLES = ("the ", "a ", "an ")
ROWS = (
    "vanilla-rag",
    "lgraphrag",
    "hipporag",
    "l-lightrag",
    "h-lightrag",
    "fastgraphrag",
    "hipporag-2",
)
METRIC = "passage_recall@4"
FACTS = ("extract", "resolve")  # Stages that make or change facts.
STEM_LETTERS = 4  # Letters of a word of a label that count.
RAW = argparse.RawDescriptionHelpFormatter

Pair = frozenset[int]


@dataclass(frozen=True)
class Gold:
    """An annotated chunk.

    `entities` have name, type and mentions; `relations` have head, label and tail by their names.
    """

    corpus: str
    id: str
    document: str
    half: str
    text: str
    entities: tuple[Mapping[str, Any], ...]
    relations: tuple[Mapping[str, str], ...]

    @classmethod
    def read(cls, line: str) -> Gold:
        """Read a chunk from one line of JSON."""
        row = json.loads(line)
        return cls(
            row["corpus"],
            row["id"],
            str(row.get("document", row["id"])),
            row["half"],
            row["text"],
            tuple(row["entities"]),
            tuple(row["relations"]),
        )


@dataclass(frozen=True)
class Found:
    """Extraction result of a chunk: the entity of each name, entity types, and relations."""

    names: Mapping[str, str]
    types: Mapping[str, str]
    relations: Sequence[tuple[str, str, str]]


@dataclass
class Counts:
    """Counts over chunks, of found and gold entities, merges, types and relations."""

    found: int = 0
    wanted: int = 0
    right: int = 0  # Found ones that are in the gold standard, strict.
    right_lenient: int = 0
    reached: int = 0  # Gold ones that were found, strict.
    reached_lenient: int = 0
    merges: int = 0
    merges_wrong: int = 0
    merges_wanted: int = 0
    merges_missed: int = 0
    typed: int = 0
    typed_right: int = 0
    pairs: int = 0
    pairs_wanted: int = 0
    pairs_right: int = 0
    directed: int = 0
    labelled: int = 0
    labels: int = 0

    def add(self, other: Counts) -> None:
        """Add the counts of another chunk."""
        for one in fields(Counts):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))

    def shares(self) -> dict[str, float]:
        """Fractions of the table, NaN where the denominator is zero."""
        return {
            "entities": self.found,
            "precision": _share(self.right, self.found),
            "recall": _share(self.reached, self.wanted),
            "precision, lenient": _share(self.right_lenient, self.found),
            "recall, lenient": _share(self.reached_lenient, self.wanted),
            "merges": self.merges,
            "wrong merges": _share(self.merges_wrong, self.merges),
            "missed merges": _share(self.merges_missed, self.merges_wanted),
            "types": _share(self.typed_right, self.typed),
            "relations": self.pairs,
            "relation precision": _share(self.pairs_right, self.pairs),
            "relation recall": _share(self.pairs_right, self.pairs_wanted),
            "direction": _share(self.directed, self.pairs_right),
            "label": _share(self.labelled, self.pairs_right),
            "labels": _share(self.labels, self.pairs),
        }


def _share(some: int, of: int) -> float:
    return some / of if of else float("nan")


def plain(name: str) -> str:
    """A name without case, accents, marks and a leading article.

    >>> from tests.benchmarks.gold import plain
    >>> plain("The Noël’s Carol")
    'noels carol'
    """
    folded = fold_spelling(name)[2]
    return next(
        (folded.removeprefix(article) for article in ARTICLES if folded.startswith(article)), folded
    )


def alike(one: str, other: str) -> bool:
    """Return whether one of two plain names ends with the other.

    >>> from tests.benchmarks.gold import alike
    >>> alike("ed wood", "director ed wood"), alike("radiation", "radiation therapy"), alike("wood", "plywood")
    (True, False, False)
    """
    return f" {one}".endswith(f" {other}") or f" {other}".endswith(f" {one}")


def scored(gold: Gold, found: Found) -> Counts:
    """Score one chunk."""
    wanted = [one for one in gold.entities if one["type"] not in DATED]
    mentions = {
        plain(name): at
        for at, one in reversed([*enumerate(wanted)])
        for name in (one["name"], *one["mentions"])
    }
    names = {
        name: entity
        for name, entity in found.names.items()
        if found.types.get(entity) not in DATED and not _dated(gold, name)
    }
    strict = {name: mentions[plain(name)] for name in names if plain(name) in mentions}
    lenient = strict | {
        name: at
        for name in names
        if name not in strict and (at := _nearest(plain(name), mentions)) is not None
    }
    entities = dict.fromkeys(names.values())
    of_entity = _by_entity(names, strict, lenient)
    counts = Counts(found=len(entities), wanted=len(wanted))
    counts.right = len({names[name] for name in strict})
    counts.right_lenient = len({names[name] for name in lenient})
    counts.reached, counts.reached_lenient = len(set(strict.values())), len(set(lenient.values()))
    _merges(counts, names, lenient)
    typed = [
        (found.types[entity], wanted[at]["type"])
        for entity, at in of_entity.items()
        if found.types.get(entity)
    ]
    counts.typed, counts.typed_right = (
        len(typed),
        sum(TYPES.get(one, one) == other for one, other in typed),
    )
    _relations(
        counts,
        gold,
        found,
        of_entity,
        {one["name"]: at for at, one in enumerate(wanted)},
        set(names.values()),
    )
    return counts


def _dated(gold: Gold, name: str) -> bool:
    """Return whether a name is a date or a number of the gold standard."""
    return any(
        plain(name) == plain(mention)
        for one in gold.entities
        if one["type"] in DATED
        for mention in one["mentions"]
    )


def _nearest(name: str, mentions: Mapping[str, int]) -> int | None:
    """The entity of the longest matching mention."""
    fit = [mention for mention in mentions if mention and name and alike(name, mention)]
    return mentions[max(fit, key=lambda mention: (len(mention), mention))] if fit else None


def _by_entity(
    names: Mapping[str, str], strict: Mapping[str, int], lenient: Mapping[str, int]
) -> dict[str, int]:
    """The gold entity of each found entity, by most of its names; strict matches count more."""
    votes: dict[str, Counter[int]] = {}
    for name, at in lenient.items():
        votes.setdefault(names[name], Counter())[at] += 10 if name in strict else 1
    return {
        entity: min(counted, key=lambda at: (-counted[at], at)) for entity, counted in votes.items()
    }


def _merges(counts: Counts, names: Mapping[str, str], known: Mapping[str, int]) -> None:
    """Count the pairs of names that are or should be one entity."""
    different = {plain(name): name for name in names}
    for one, other in combinations(different.values(), 2):
        made, sides = names[one] == names[other], (known.get(one), known.get(other))
        same = sides[0] is not None and sides[0] == sides[1]
        if made and any(side is not None for side in sides):
            counts.merges += 1
            counts.merges_wrong += not same
        counts.merges_wanted += same
        counts.merges_missed += same and not made


def _relations(
    counts: Counts,
    gold: Gold,
    found: Found,
    of_entity: Mapping[str, int],
    wanted: Mapping[str, int],
    entities: set[str],
) -> None:
    """Count the joined pairs and, for gold ones, right directions and labels."""
    drawn: dict[Pair, list[tuple[int, str]]] = {}
    for one in gold.relations:
        head, tail = wanted.get(one["head"]), wanted.get(one["tail"])
        if head is not None and tail is not None and head != tail:
            drawn.setdefault(frozenset((head, tail)), []).append((head, one["label"]))
    joined: dict[frozenset[str], list[tuple[str, str]]] = {}
    for head_name, label, tail_name in found.relations:
        if head_name != tail_name and {head_name, tail_name} <= entities:
            joined.setdefault(frozenset((head_name, tail_name)), []).append((head_name, label))
    counts.pairs, counts.pairs_wanted = len(joined), len(drawn)
    counts.labels = sum(any(label != APPEARS_WITH for _, label in said) for said in joined.values())
    reached: dict[Pair, list[tuple[int, str]]] = {}
    for ends, said in joined.items():
        rows = [of_entity.get(end) for end in ends]
        if None not in rows and len(set(rows)) == 2:
            pair = frozenset(row for row in rows if row is not None)
            reached.setdefault(pair, []).extend((of_entity[head], label) for head, label in said)
    for pair in reached.keys() & drawn.keys():
        counts.pairs_right += 1
        counts.directed += any(
            head == other for head, _ in reached[pair] for other, _ in drawn[pair]
        )
        counts.labelled += any(
            _words(label) & _words(other) for _, label in reached[pair] for _, other in drawn[pair]
        )


def _words(label: str) -> set[str]:
    """The words of a label by their first letters, so that “visited” equals “visits”.

    “built” and “builds” stay different.
    """
    return {word[:STEM_LETTERS] for word in plain(label).split()}


def read_gold(folder: Path = FOLDER, part: str = "dev") -> list[Gold]:
    """The chunks of a half, or of both.

    Raises BadInput if there are none.
    """
    found = [
        Gold.read(line)
        for file in sorted(folder.glob("*.jsonl"))
        for line in file.read_text("utf-8").splitlines()
        if line.strip()
    ]
    chosen_rows = [one for one in found if part in (one.half, "both")]
    if not chosen_rows:
        raise BadInput(f"{folder} has no chunk of the half “{part}”.")
    return chosen_rows


def extracted(
    rows: Sequence[Gold], extractor: str, models: Registry, alone: bool = False
) -> list[Found]:
    """Results of an extractor for gold chunks of one corpus.

    With `alone` the rest of the corpus is not read.
    """
    name = CORPORA.get(rows[0].corpus, "")
    corpus = open_corpus(name or "hotpotqa")
    steps = [one for one in _line(extractor) if one.stage in ("chunk", *FACTS)]
    ctx = build_context(corpus, models)
    before = (
        steps[0].apply(BuildState(corpus), ctx).chunks
        if name and not alone and len(steps) > 2
        else None
    )
    titles = {} if before is None else dict(zip(before.texts("document"), before.texts("title")))
    mine = Table.from_columns(
        id=[one.id for one in rows],
        document=[one.document for one in rows],
        title=[titles.get(one.document, "") for one in rows],
        place=[""] * len(rows),
        text=[one.text for one in rows],
        tokens=[0] * len(rows),
    )
    made = BuildState(corpus, mine if before is None else before.append_rows(mine))
    made = steps[1].apply(made, ctx)
    assert made.facts is not None and made.chunks is not None
    first, raw = len(made.chunks) - len(rows), made.facts
    resolved = [one.resolution(made, ctx) for one in steps[2:]]
    ctx.close()
    return [_result_of_facts(raw[first + at], resolved, first + at) for at in range(len(rows))]


def whole_chunk_results(
    rows: Sequence[Gold], extractor: str, models: Registry
) -> list[tuple[Gold, Found]]:
    """Gold chunks of one corpus that lie completely in a corpus chunk, with the results for it.

    The shipped build of this kind is used, if the corpus has one.
    """
    if rows[0].corpus not in CORPORA:
        return []
    corpus = open_corpus(CORPORA[rows[0].corpus])
    lines = [
        builds_of(corpus)[one.build].line
        for one in shipped_builds(corpus)
        if one.build.partition(MODEL_SEPARATOR)[0] == f"kg-{extractor}"
    ]
    steps = [
        one for one in (lines[0] if lines else _line(extractor)) if one.stage in ("chunk", *FACTS)
    ]
    ctx = build_context(corpus, models)
    made = steps[0].apply(BuildState(corpus), ctx)
    assert made.chunks is not None
    texts = made.chunks.texts("text")
    spaced = [" ".join(text.split()) for text in texts]
    places = {
        one.id: at
        for one in rows
        for at, text in enumerate(spaced)
        if " ".join(one.text.split()) in text
    }
    resolved: list[Any] = []
    if len(steps) == 2:  # Only the gold chunks are read.
        facts = dict(
            zip(places.values(), steps[1].found([texts[at] for at in places.values()], ctx))
        )
    else:
        made = steps[1].apply(made, ctx)
        assert made.facts is not None
        facts, resolved = (
            dict(enumerate(made.facts)),
            [one.resolution(made, ctx) for one in steps[2:]],
        )
    ctx.close()
    at_of = ((one, places[one.id]) for one in rows if one.id in places)
    return [
        (one, _restricted_to_text(_result_of_facts(facts[at], resolved, at), one.text))
        for one, at in at_of
    ]


def _restricted_to_text(found: Found, text: str) -> Found:
    """Results for the names that a text contains."""
    there = f" {plain(text)} "
    names = {name: entity for name, entity in found.names.items() if f" {plain(name)} " in there}
    entities = set(names.values())
    return replace(
        found,
        names=names,
        relations=[one for one in found.relations if {one[0], one[2]} <= entities],
    )


def _line(extractor: str) -> BuildLine:
    """The build line of a knowledge graph by an extractor.

    An @ is followed by another language model, a colon by the minimal weight of a term.
    """
    extractor, _, least = extractor.partition(":")
    name, _, model = extractor.partition(MODEL_SEPARATOR)
    build = choose_build("kg", name)
    line = (build.with_model(model) if model else build).line
    if not least:
        return line
    return BuildLine(
        tuple(
            replace(one, least=float(least)) if isinstance(one, ResolveNames) else one
            for one in line
        )
    )


def _result_of_facts(facts: Facts, resolved: Sequence[Any], row: int) -> Found:
    """Results of a row's facts, with names resolved or else case-folded."""
    names: dict[str, str] = {}
    types: dict[str, Counter[str]] = {}
    ends = ((end, "") for one in facts.relations for end in (one.head, one.tail))
    for name, kind in [*((one.name, one.type) for one in facts.entities), *ends]:
        entity: str | None = name if resolved else fold_name(name)
        for of in resolved:
            entity = None if entity is None else of.of(row, entity)
        if entity is not None:
            names[name] = entity
            types.setdefault(entity, Counter())[kind] += bool(kind)
    kinds = {
        entity: min(counted, key=lambda kind: (-counted[kind], kind == PHRASE_TYPE, kind))
        for entity, counted in types.items()
    }
    joined = [
        (names[one.head], one.name, names[one.tail])
        for one in facts.relations
        if one.head in names and one.tail in names
    ]
    return Found(names, kinds, joined)


def table(
    rows: Sequence[Gold], extractors: Sequence[str], models: Registry, whole: bool = False
) -> dict[tuple[str, str], dict[str, float]]:
    """Scores per extractor and corpus, and of all chunks.

    With `whole` only chunks count that lie completely in one of their corpus.
    """
    corpora = list(dict.fromkeys(one.corpus for one in rows))
    found: dict[tuple[str, str], dict[str, float]] = {}
    for extractor in extractors:
        every = Counts()
        for corpus in corpora:
            some, counts = [one for one in rows if one.corpus == corpus], Counts()
            if whole:
                pairs = whole_chunk_results(some, extractor, models)
            else:
                pairs = zip(some, extracted(some, extractor, models))
            for one, what in pairs:
                counts.add(scored(one, what))
            found[extractor, corpus] = counts.shares()
            every.add(counts)
        found[extractor, "all"] = every.shares()
    return found


def compare_passages(
    corpus: Corpus, extractors: Sequence[str], engine: Engine, part: int | None
) -> Iterator[str]:
    """Gold passages at 4 of each method on the graph of each extractor, with a paired test.

    The last extractor is tested against the first, on one half of the questions (0 is for choices)
    or on all. No language model is used.
    """
    source = CorpusSource(corpus.name)
    questions = [
        one
        for one in corpus.questions(next(iter(corpus.sets)))
        if part is None or question_half(one) == part
    ]
    known, values = catalogue(), dict[str, np.ndarray]()
    for row in by_extractors([known[one] for one in ROWS], extractors):
        prefixes = PrefixCache()
        values[row.id] = np.array(
            [
                _recalled(
                    source.open(engine).ask(one, uses_model=False), row.line, engine, prefixes
                )
                for one in questions
            ]
        )
        yield f"| {row.id} | {np.nanmean(values[row.id]):.3f} | {len(questions)} |"
    for one in ROWS if len(extractors) > 1 else ():
        after, before = (
            values.get(f"{one}-{extractor}") for extractor in (extractors[-1], extractors[0])
        )
        if (
            after is not None
            and before is not None
            and (test := paired_test(METRIC, extractors[-1], extractors[0], after, before))
            is not None
        ):
            yield (
                f"{one}: {test.difference:+.3f} ({test.low:+.3f} to {test.high:+.3f}), p "
                f"{test.p:.3f}"
            )


def _recalled(ask: SourceQuestion, line: Line, engine: Engine, prefixes: PrefixCache) -> float:
    lane = LaneRun(ask, line, engine.environment, prefixes)
    lane.retrieve(LaneListener())
    value = metric(METRIC)(observe(lane.graph, lane.state, source=ask.source))
    return float("nan") if value is None else float(value)


def main(arguments: Sequence[str]) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks gold", description=__doc__, formatter_class=RAW
    )
    parser.add_argument(
        "--half", default="dev", choices=("dev", "test", "both"), help="which chunks (%(default)s)"
    )
    parser.add_argument(
        "--extract",
        default="noun-phrases",
        help="extractors, with commas; @MODEL, :LEAST WEIGHT (%(default)s)",
    )
    parser.add_argument(
        "--whole",
        action="store_true",
        help="those alone that lie whole in a chunk of their corpus, by what ships with it",
    )
    parser.add_argument("--worth", action="store_true", help="gold passages at 4 of the rows too")
    parser.add_argument(
        "--corpus", default="hotpotqa", help="whose questions are asked for that (%(default)s)"
    )
    parser.add_argument(
        "--gold",
        type=Path,
        default=FOLDER,
        metavar="FOLDER",
        help="where the gold lies (that of the benchmarks)",
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    extractors = options.extract.split(",")
    found = table(read_gold(options.gold, options.half), extractors, Registry(), options.whole)
    if options.json:
        print(
            json.dumps(
                {f"{extractor} {corpus}": shares for (extractor, corpus), shares in found.items()},
                indent=1,
            )
        )
        return
    columns = list(next(iter(found.values())))
    print(f"| extractor | chunks of | {' | '.join(columns)} |\n|---|---{'|---:' * len(columns)}|")
    for (extractor, corpus), shares in found.items():
        print(
            f"| {extractor} | {corpus} | {' | '.join(f'{one:,}' if isinstance(one, int) else f'{one:.3f}' for one in shares.values())} |"
        )
    if options.worth:
        print("\n| row | gold passages at 4 | questions |\n|---|---:|---:|")
        for line in compare_passages(
            open_corpus(options.corpus),
            extractors,
            Engine(),
            {"dev": 0, "test": 1, "both": None}[options.half],
        ):
            print(line)
