"""Cost of changed documents for a graph, compared with a rebuild and with LightRAG.

    python -m tests.benchmarks updates [--corpus hotpotqa] [--documents 200] [--builds ...]
        [--shares 1 5 10] [--json FILE] [--plot FILE]

Some of the documents are held out. In steps of so many per cent of all documents, some are added,
the texts of others replace existing ones, and then documents are removed. Each row has processor
seconds, chunks that were read, calls and tokens of a language model, and encoded texts. A shipped
build by a language model uses its shipped replies, which count with their original tokens but
without their seconds. Results of LightRAG are recorded by `tests/peers/updates_peer.py` in a
separate environment, for the same documents and changes.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from core.builds import build_status, find_build, run_build
from core.builds.extract.noun_phrases import NounPhrases
from core.builds.report import BuildReport
from core.builds.run import build_context
from core.builds.shipped_data import shipped_replies
from core.commands.reproduce_costs import new_home
from core.corpus import Corpus, Document, open_corpus, write_corpus
from core.io.home import home_folder
from core.models.chat.saved_replies import SavedReplies
from core.models.registry import Registry

CORPUS, SHARES = "hotpotqa", (1, 5, 10)
BUILDS = ("kg-noun-phrases", "tkg-noun-phrases", "rkg-described")
RECORDED = Path(__file__).parents[1] / "peers" / "recorded" / "lightrag-updates.json"
KINDS = ("added", "changed", "removed")


@dataclass(frozen=True)
class Update:
    """Cost of one change of documents to a build.

    It has the changed documents and all documents, processor seconds, read chunks and all chunks,
    calls and tokens of a language model, encoded texts, and whether the graph equals a rebuild bit
    by bit, where that was checked.
    """

    build: str
    kind: str
    documents: int
    of: int
    seconds: float
    read: int
    chunks: int
    calls: int
    tokens: int
    encoded: int
    same: bool | None = None


def parts(
    documents: Sequence[Document], shares: Sequence[int]
) -> tuple[list[Document], list[list[Document]], list[list[Document]]]:
    """Initial documents, documents to add, and documents whose texts replace others.

    Each of the last two has a list per share, with that percentage of all documents. They are
    every n-th document of the corpus.

    >>> from tests.benchmarks.updates import parts
    >>> base, added, texts = parts([*range(100)], (1, 5))
    >>> len(base), [len(part) for part in added], [len(part) for part in texts], len({*base, *sum(added, []), *sum(texts, [])})
    (88, [1, 5], [1, 5], 100)
    """
    counts = 2 * [max(1, round(len(documents) * share / 100)) for share in shares]
    places = [math.floor(number * len(documents) / sum(counts)) for number in range(sum(counts))]
    cuts = [sum(counts[:at]) for at in range(len(counts) + 1)]
    held = [[documents[place] for place in places[start:end]] for start, end in zip(cuts, cuts[1:])]
    base = [one for place, one in enumerate(documents) if place not in set(places)]
    return base, held[: len(shares)], held[len(shares) :]


def steps(
    documents: Sequence[Document], shares: Sequence[int]
) -> Iterator[tuple[str, list[Document], list[str]]]:
    """Yield the changes in order: kind, documents to put in, and ids to remove.

    New texts replace the first documents, and the next ones are removed.
    """
    base, added, texts = parts(documents, shares)
    yield from (("added", part, []) for part in added)
    at = 0
    for part in texts:
        yield "changed", [replace(new, id=old.id) for new, old in zip(part, base[at:])], []
        at += len(part)
    for part in texts:
        yield "removed", [], [old.id for old in base[at : at + len(part)]]
        at += len(part)


def measured(
    documents: Sequence[Document], spec: str, shares: Sequence[int], source: Corpus, fresh: Path
) -> list[Update]:
    """The first build, each change, and the final rebuild, each in an empty user folder."""
    base, *_ = parts(documents, shares)
    corpus = write_corpus(home_folder() / "corpora" / "changing", base, "Changing")
    found = [_built(corpus, spec, "built", len(base), source, fresh)]
    for kind, put, gone in steps(documents, shares):
        corpus = corpus.update(put, removed=gone)
        found.append(_built(corpus, spec, kind, len(put) or len(gone), source, fresh))
    before = build_status(corpus, find_build(spec)).graph
    with new_home() as again:
        same = write_corpus(again / "corpora" / "changing", list(corpus), "Changing")
        rebuilt = _built(same, spec, "rebuilt", len(same), source, again)
        rebuilt = replace(rebuilt, same=build_status(same, find_build(spec)).graph == before)
    return [*found, rebuilt]


def _built(
    corpus: Corpus, spec: str, kind: str, touched: int, source: Corpus, folder: Path
) -> Update:
    one, report = find_build(spec), BuildReport()
    replies = None
    if one.line.uses_chat_model:
        replies = SavedReplies(folder / "counted.sqlite", shipped_replies(source))
    begin = time.process_time()
    run_build(corpus, one, Registry(), report=report, saved=replies)
    seconds = time.process_time() - begin
    used, counts = report.usage + report.usage_saved, report.counts
    tokens, read = used.tokens_in + used.tokens_out, counts["extracted"]
    encoded = report.new_texts - read
    return Update(
        one.id,
        kind,
        touched,
        len(corpus),
        seconds,
        read,
        counts["chunks"],
        used.calls,
        tokens,
        encoded,
    )


def given(documents: Sequence[Document], shares: Sequence[int], source: Corpus) -> dict:
    """Inputs of LightRAG: documents as id and text, the changes, and the parser's facts by text."""
    text = lambda one: f"{one.title}\n{one.text}" if one.title else one.text
    pairs = lambda some: [[one.id, text(one)] for one in some]
    ctx, texts = build_context(source, Registry()), [text(one) for one in documents]
    told = NounPhrases().find_facts(texts, ctx)
    facts = {
        one: (
            [
                (entity.name, entity.type or "thing", entity.description or entity.name)
                for entity in found.entities
            ],
            [
                (it.head, it.tail, it.keywords or "with", it.description or it.head)
                for it in found.relations
            ],
        )
        for one, found in zip(texts, told)
    }
    changes = [[kind, pairs(put), removed] for kind, put, removed in steps(documents, shares)]
    return {"base": pairs(parts(documents, shares)[0]), "steps": changes, "facts": facts}


def main(arguments: list[str]) -> None:
    """Measure, print a table, and write the requested files."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks updates", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--corpus", default=CORPUS)
    parser.add_argument("--builds", nargs="+", default=BUILDS)
    parser.add_argument(
        "--shares", nargs="+", type=int, default=SHARES, help="per cent of the documents"
    )
    parser.add_argument(
        "--documents",
        type=int,
        default=200,
        metavar="N",
        help="the first so many documents (default: 200)",
    )
    parser.add_argument(
        "--given",
        metavar="FILE",
        help="write the documents, changes and entities for LightRAG, and measure nothing",
    )
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--plot", metavar="FILE")
    options = parser.parse_args(arguments)
    source = open_corpus(options.corpus)
    documents, found = list(source)[: options.documents], list[Update]()
    if options.given:
        Path(options.given).write_text(
            json.dumps(given(documents, options.shares, source), ensure_ascii=False), "utf-8"
        )
        return
    for spec in options.builds:
        with new_home() as folder:
            Registry().encoder().encode(["loaded before the clock starts"])
            found += measured(documents, spec, options.shares, source, folder)
            print(
                "\n".join(_row(one, found) for one in found if one.build == find_build(spec).id),
                flush=True,
            )
    peer = json.loads(RECORDED.read_text("utf-8")) if RECORDED.exists() else []
    for row in peer:
        asked = (
            f"{row['calls']:6,} calls, {row['tokens']:9,} tokens, {row['parses']:6,} cached "
            f"extractions parsed"
        )
        print(
            f"LightRAG               {row['kind']:8} {row['documents']:4} of {row['of']:4} "
            f"documents  {asked}"
        )
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(one) for one in found], indent=1), "utf-8")
    if options.plot:
        Path(options.plot).write_text(figure(found).to_html(include_plotlyjs="cdn"), "utf-8")


def _row(one: Update, found: Sequence[Update]) -> str:
    rebuilt = next(
        (other for other in found if other.build == one.build and other.kind == "rebuilt"), one
    )
    share = f"{100 * one.seconds / rebuilt.seconds:4.0f} %" if rebuilt.seconds else ""
    if one.same is None:
        same = ""
    elif one.same:
        same = "  the same graph, bit for bit"
    else:
        same = "  ANOTHER GRAPH"
    return (
        f"{one.build:22} {one.kind:8} {one.documents:4} of {one.of:4} documents  "
        f"{one.seconds:6.1f} s {share}  "
        f"read {one.read:4} of {one.chunks:4} chunks, {one.calls:4} calls, {one.tokens:8,} "
        f"tokens, {one.encoded:6,} encoded{same}"
    )


def figure(found: Sequence[Update]):
    """Plot the seconds of a change as a fraction of a rebuild, by build and kind of change.

    The x axis has the changed documents.
    """
    import plotly.graph_objects as go

    from core.evaluation.reports.plots import COLOURS, DASHES, apply_style

    drawn = go.Figure()
    for number, spec in enumerate(dict.fromkeys(one.build for one in found)):
        own = [one for one in found if one.build == spec]
        whole = next(one for one in own if one.kind == "rebuilt")
        for kind, dash in zip(KINDS, DASHES):
            changes = [one for one in own if one.kind == kind]
            drawn.add_scatter(
                x=[100 * one.documents / one.of for one in changes],
                y=[one.seconds / whole.seconds for one in changes],
                name=f"{spec}, {kind}",
                mode="lines+markers",
                line={"color": COLOURS[number % len(COLOURS)], "dash": dash},
            )
    drawn.update_xaxes(title="Documents that are added, changed or removed, %")
    drawn.update_yaxes(title="Processor seconds, as a share of a rebuild", rangemode="tozero")
    return apply_style(drawn, "What a change of documents costs")
