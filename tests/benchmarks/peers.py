"""Hopscope, nano-graphrag and LightRAG: building, changing and searching the same passages.

    python -m tests.benchmarks peers [--passages 400] [--runs 3] [--corpus hotpotqa]
        [--replies server|process] [--encoder] [--json FILE]

Each program runs in a separate process. A language model that replies at once gives every program
the same entities and relations of a passage, in the format of its prompt
(`tests/peers/instant.py`). It runs behind the OpenAI protocol in another process, called by each
program's own client, or (`--replies process`) as a function in the program's process. Imports and
preparation are measured separately (`start`): five other passages are built in another place first.
The encoder is a sum of words (`tests/peers/encoder.py`), so that it costs almost nothing and the
same for all. With `--encoder` MiniLM also encodes the same texts, and its time is reported. Each
passage is one chunk, without gleaning. The programs take turns for the given number of runs; the
table has medians of processor and wall-clock seconds. `make test-peers` installs the programs in a
separate environment, .venv-peers.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.builds import run_build
from core.builds.extract.noun_phrases import NounPhrases
from core.builds.run import build_context
from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.corpus import Corpus, Document, open_corpus, write_corpus
from core.engine import Engine
from core.io.home import ROOT, home_folder, models_folder
from core.methods.catalogue import catalogue
from core.models.base import ChatReply
from core.models.registry import Registry
from core.operators.base import Line
from core.sources import AnswerSource, CorpusSource
from core.types import Question
from core.watch import NO_WATCH, Watch
from tests.peers.encoder import Encoder
from tests.peers.instant import Instant
from tests.peers.speed import StepMeasurements, asked

PEERS = ROOT / ".venv-peers" / "bin" / "python"
# Documents that are added, changed, removed, and built beforehand; and questions.
FEW, QUESTIONS = (5, 40)
ITEMS = 10  # Highest number of entities, and of relations, of a passage.
EXTRACTED = "TokenChunks(size=1200, overlap=100) >> LanguageModelExtraction(gleaning=0)"
OURS = {
    "hopscope, rich graph": (
        (
            f'{EXTRACTED} >> Merge() >> Vectors(of="nodes") >> Vectors(of="relations") >> '
            f'Vectors(of="chunks")'
        ),
        "m-lightrag-program",
    ),
    "hopscope, communities": (
        (
            f"{EXTRACTED} >> Merge(keywords=False) >> Communities() >> Reports() >> "
            f'Vectors(of="nodes")'
        ),
        "lgraphrag",
    ),
}
"""Builds compared with the programs, each with the row that searches like the program."""
BESIDE = {"nano-graphrag": "hopscope, communities", "lightrag-hku": "hopscope, rich graph"}
STEPS = {
    "start": "start",
    "build": "building {passages}",
    "add": "{few} added",
    "change": "{few} changed",
    "delete": "{few} deleted",
    "open": "opening, with a question",
    "ask": "a question",
}
MODEL = """
[model.instant]
kind = "chat"
backend = "openai"
url = "{url}"
model = "instant"
context = 32768

[roles]
answer = "instant"
choose = "instant"
"""


def given(passages: int, corpus: str = "hotpotqa", questions: int = QUESTIONS) -> dict[str, Any]:
    """Inputs of every program: documents by id, facts by their first lines, and questions.

    The documents are those of another build (`start`), the initial ones (`base`), the added ones,
    the replacements of the first ones, and the ids to remove.
    """
    source = open_corpus(corpus)
    documents = [document for _, document in zip(range(passages + 3 * FEW), source)]
    texts = [
        f"{one.title} ({number})\n{' '.join(one.text.split()[:500])}"
        for number, one in enumerate(documents)
    ]
    facts = {}
    for text, found in zip(
        texts, NounPhrases().find_facts(texts, build_context(source, Registry()))
    ):
        entities = [
            (one.name, one.type or "thing", one.description or one.name) for one in found.entities
        ][:ITEMS]
        known = {name for name, *_ in entities}
        relations = [
            (one.head, one.tail, one.keywords or "with", one.description or one.head)
            for one in found.relations
        ]
        facts[text.split("\n")[0]] = (
            entities,
            [one for one in relations if known.issuperset(one[:2])][:ITEMS],
        )
    base, more = (
        [[f"d{number}", text] for number, text in enumerate(texts[:passages])],
        texts[passages:],
    )
    return {
        "start": [[f"s{number}", text] for number, text in enumerate(more[2 * FEW :])],
        "base": base,
        "added": [[f"d{passages + number}", text] for number, text in enumerate(more[:FEW])],
        "changed": [[id, text] for (id, _), text in zip(base, more[FEW:])],
        "removed": [id for id, _ in base[FEW : 2 * FEW]],
        "facts": facts,
        "questions": [one.text for one in source.questions(next(iter(source.sets)))[:questions]],
    }


class PeerComparisonModels(Registry):
    """The declared models, with the comparison's encoder and maybe a local language model."""

    def __init__(self, encoder: Any, chat: Any = None):
        super().__init__()
        self._encoder, self._chat = encoder, chat

    def encoder(self, name: str = "encoder") -> Any:
        return self._encoder

    def chat(self, role: str = "answer") -> Any:
        return self._chat or super().chat(role)


class NotingEncoder:
    """The encoder of the comparison, which records its texts."""

    size = Encoder.size
    max_tokens = 0

    def __init__(self, passages: Sequence[str], noted: list[str]):
        self._encoder, self._noted = Encoder(passages), noted

    def encode(self, texts: Sequence[str], watch: Watch = NO_WATCH) -> Any:
        self._noted.extend(texts)
        return self._encoder.encode(texts)


class InstantChat:
    """A language model in this process that replies at once."""

    context, streams = 32768, False

    def __init__(self, replies: Instant):
        self._replies = replies

    def reply(
        self, messages: Any, *, schema: Any = None, on_text: Any = None, **_: Any
    ) -> ChatReply:
        return ChatReply(self._replies(list(messages), schema), 1, 1)

    def count_tokens(self, messages: Any) -> int:
        return sum(len(message["content"]) for message in messages) // 4


def ours(name: str, known: dict[str, Any], url: str, out: str) -> None:
    """Run the steps of one of Hopscope's builds in a separate process."""
    (home_folder() / "models.toml").write_text(
        MODEL.format(url=url or "http://127.0.0.1:9/v1"), "utf-8"
    )
    spec, row = OURS[name]
    measured = StepMeasurements()
    replies = None if url else Instant(known["facts"])
    if replies is not None:
        measured.calls = lambda: replies.calls
    models = PeerComparisonModels(
        NotingEncoder([text for _, text in known["base"]], measured.encoded),
        replies and InstantChat(replies),
    )
    documents = lambda some: [Document(id, text) for id, text in known[some]]
    measured.step(
        "start",
        lambda: run_build(
            write_corpus(home_folder() / "corpora" / "start", documents("start"), "Start"),
            spec,
            models,
        ),
    )
    held: list[Corpus] = []

    def change(put: Sequence[Document], removed: Sequence[str] = ()) -> Any:
        held[0] = held[0].update(put, removed=removed)
        return run_build(held[0], spec, models)

    def first() -> Any:
        held.append(write_corpus(home_folder() / "corpora" / "peers", documents("base"), "Peers"))
        return run_build(held[0], spec, models)

    graph = measured.step("build", first)
    measured.rows["build"] |= {"nodes": graph.n_nodes, "edges": graph.n_edges}
    measured.step("add", lambda: change(documents("added")))
    measured.step("change", lambda: change(documents("changed")))
    measured.step("delete", lambda: change((), known["removed"]))
    asking = catalogue()[row].line
    line = Line((replace(asking.operators[0], build=spec), *asking.operators[1:]))

    def search(engine: Engine, source: AnswerSource, question: str) -> LaneRun:
        lane = LaneRun(
            source.ask(Question(question), uses_reader=False),
            line,
            engine.environment,
            PrefixCache(),
        )
        lane.retrieve(LaneListener())
        return lane

    def opened() -> tuple[Engine, AnswerSource]:
        engine, corpus = Engine(models), open_corpus("peers")
        source = CorpusSource("peers", engine.environment.open_build(corpus, spec), corpus=corpus)
        search(engine, source, known["questions"][0])
        return engine, source

    engine, source = measured.step("open", opened)
    measured.step("ask", lambda: [search(engine, source, one) for one in known["questions"][1:]])
    measured.write(out, version=platform.python_version())


@contextmanager
def serving(file: Path, how: str) -> Iterator[str]:
    """Yield the address of the language model's server.

    It is empty where the programs' processes make the replies.
    """
    if how == "process":
        yield ""
        return
    command = [sys.executable, "tests/peers/instant.py", str(file)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdin is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def run_one(name: str, file: Path, url: str, folder: Path) -> dict[str, Any]:
    """Measurements of a program in a separate process; Hopscope's have an own user folder."""
    out = folder / "out.json"
    with tempfile.TemporaryDirectory(dir=folder) as own:
        if name not in OURS:
            command = [str(PEERS), "tests/peers/speed_peer.py"]
        else:
            command = [sys.executable, "-m", "tests.benchmarks.peers"]
        environment = {
            **os.environ,
            "HOPSCOPE_HOME": own,
            "HOPSCOPE_MODELS": str(models_folder()),
            "PYTHONHASHSEED": "0",
        }
        done = subprocess.run(
            [*command, name, str(file), url, str(out)],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
        )
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr[-3000:]}")
    return json.loads(out.read_text("utf-8"))


def minilm(texts: Sequence[str], known: dict[tuple[str, ...], float]) -> float:
    """Processor seconds of MiniLM for these texts, measured once per set of texts."""
    key = tuple(texts)
    if key not in known:
        encoder = Registry().encoder()
        encoder.encode(["loaded before the clock starts"])
        begin = time.process_time()
        if texts:
            encoder.encode(list(texts))
        known[key] = time.process_time() - begin
    return known[key]


def medians(runs: Sequence[dict[str, Any]], step: str, questions: int) -> dict[str, float] | None:
    """Median processor and wall-clock seconds of a step, or of a question.

    None where the program has no such step.
    """
    rows = [one["rows"][step] for one in runs if step in one["rows"]]
    if not rows:
        return None
    each = questions - 1 if step == "ask" else 1
    found = {
        what: statistics.median(row[what] for row in rows) / each for what in ("processor", "clock")
    }
    return {
        **found,
        "least": min(row["processor"] for row in rows) / each,
        "encoded": len(rows[0]["encoded"]),
        "calls": rows[0]["calls"],
    }


def main(arguments: list[str]) -> None:
    """Measure, print a table, and write the requested files."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks peers", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--passages", type=int, default=400)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(
        "--corpus",
        default="hotpotqa",
        help="whose documents are the passages (2wikimultihopqa has 6,119)",
    )
    parser.add_argument("--replies", choices=("server", "process"), default="server")
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="NAME",
        default=[*OURS, *BESIDE],
        help=f"of {', '.join([*OURS, *BESIDE])}",
    )
    parser.add_argument(
        "--encoder",
        action="store_true",
        help="what MiniLM takes for the texts that each has encoded, too",
    )
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args(arguments)
    if any(name in BESIDE for name in options.only) and not PEERS.exists():
        parser.error("the programs are not installed; make test-peers does that")
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in options.only}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "given.json"
        known = given(options.passages, options.corpus)
        file.write_text(json.dumps(known), "utf-8")
        with serving(file, options.replies) as url:
            for _ in range(options.runs):
                for name, runs in found.items():
                    runs.append(run_one(name, file, url, Path(folder)))
    print("\n".join(table(found, options, len(known["questions"]))))
    if options.json:
        Path(options.json).write_text(json.dumps(found), "utf-8")


def table(
    found: dict[str, list[dict[str, Any]]], options: argparse.Namespace, questions: int
) -> Iterator[str]:
    """The lines to print."""
    encoding: dict[tuple[str, ...], float] = {}
    for step, words in STEPS.items():
        for name, runs in found.items():
            told = medians(runs, step, questions)
            what = f"{words.format(passages=options.passages, few=FEW):25} {name:22}"
            if told is None:
                yield f"{what} has no such function"
                continue
            seconds = (
                f"{told['processor']:8.3f} s of a processor, {told['clock']:8.3f} s by the clock"
            )
            line = f"{what} {seconds}, {told['encoded']:6,} texts encoded"
            own = BESIDE.get(name)
            if own in found and (mine := medians(found[own], step, questions)):
                line += f", {told['processor'] / mine['processor']:.2f} of {own}"
            if options.encoder:
                line += f", MiniLM {minilm(runs[0]['rows'][step]['encoded'], encoding):.2f} s"
            yield line
    for name, runs in found.items():
        built = runs[0]["rows"]["build"]
        memory = statistics.median(one["memory"] for one in runs)
        yield (
            f"{name}: {built['nodes']:,} nodes, {built['edges']:,} edges, {memory:,.0f} MB at "
            f"most, version {runs[0]['version']}"
        )


if __name__ == "__main__":
    ours(*asked())
