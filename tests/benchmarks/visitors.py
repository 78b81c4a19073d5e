"""Many simultaneous visitors: answered questions per minute, and waiting time per question.

A visitor opens the page with a question in its address, as a permalink does, follows it like a
browser until every lane is done, closes it and opens the next. Visitors speak the app's own
protocol, so no browser's rendering is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import re
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any
from urllib.parse import urlencode

from tests.server import server

LANES = ("lego-1", "lego-10")
CORPUS_LANES = ("vanilla-rag", "vgraphrag", "lgraphrag")
# A lane that has a result: an exact one, or that of the quick pass.
DONE = re.compile(rb'"status": ?"(?:done|failed)"|"quick": ?true')
SETS = ("metaqa-1hop-dev", "metaqa-2hop-dev", "metaqa-3hop-dev")


class PageFailed(Exception):
    """The page ended in an error, or the connection was lost."""


def run(
    visitors: int = 20,
    seconds: float = 60.0,
    lanes: tuple[str, ...] = (),
    model: bool = False,
    corpus: str = "",
) -> list[dict]:
    """Number of answered questions of all visitors, and median seconds of one.

    With a corpus its documents are asked.
    """
    questions, lanes = questions_of(corpus), lanes or (CORPUS_LANES if corpus else LANES)
    asked = {"lane": list(lanes), "llm": int(model)} | ({"corpus": corpus} if corpus else {})
    with server() as (address, process):
        # This warms up the server.
        asyncio.run(_visit(address, {**asked, "q": next(questions)}, 300))
        took = asyncio.run(
            _all(address, ({**asked, "q": text} for text in questions), visitors, seconds)
        )
    note = (
        f"{visitors} visitors, {seconds:g} s, {' + '.join(lanes)}, {'with' if model else 'no'} "
        f"language model"
    )
    spread = f"{min(took):.1f} to {max(took):.1f} s" if took else "nobody was answered"
    wait = statistics.median(took) if took else float("nan")
    return [
        {"name": "questions answered", "value": len(took), "unit": "", "note": note},
        {
            "name": "one visitor's wait",
            "value": wait,
            "unit": "s",
            "note": f"median; {spread}",
        },
    ]


def questions_of(corpus: str) -> Iterator[str]:
    """Endless questions."""
    if corpus:
        from core.corpus import open_corpus

        opened = open_corpus(corpus)
        return itertools.cycle(
            [question.text for name in opened.sets for question in opened.questions(name)]
        )
    from core.datasets import datasets

    dataset = datasets()["metaqa"]
    return (dataset.draw_question(SETS[n % len(SETS)], 500 + n).text for n in itertools.count())


def main(arguments: list[str]) -> None:
    """Run the command.

    python -m tests.benchmarks visitors [--visitors N] [--seconds S] [--lanes A B] [--model]
        [--corpus NAME]
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks visitors")
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--lanes", nargs="+", default=[])
    parser.add_argument("--model", action="store_true", help="let the language model answer")
    parser.add_argument("--corpus", default="", help="ask its documents in the place of MetaQA")
    options = parser.parse_args(arguments)
    for row in run(
        options.visitors, options.seconds, tuple(options.lanes), options.model, options.corpus
    ):
        print(f"{row['name']:20} {row['value']:>8.4g} {row['unit']:3} {row['note']}")


async def _all(
    address: str, asked: Iterator[dict[str, Any]], visitors: int, seconds: float
) -> list[float]:
    """Seconds of each answered question."""
    end, took = time.perf_counter() + seconds, []

    async def visitor() -> None:
        while (left := end - time.perf_counter()) > 0:
            waited = await _visit(address, next(asked), left)
            if waited is not None:
                took.append(waited)

    await asyncio.gather(*(visitor() for _ in range(visitors)))
    return took


async def _visit(address: str, asked: dict[str, Any], patience: float) -> float | None:
    """Seconds until every lane has a quick or exact result, or None at the time limit."""
    query = urlencode(asked, doseq=True)
    start = time.perf_counter()
    try:
        await asyncio.wait_for(follow(address, query, len(asked["lane"])), patience)
    except TimeoutError:
        return None
    return time.perf_counter() - start


async def follow(address: str, query: str, lanes: int) -> bytes:
    """Run the page and its fragments as a browser does until `lanes` lanes are done.

    Returns the data that the server then sent. Raises PageFailed if the page ended in an error, or
    the server ended.
    """
    import websockets
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    polls: dict[str, asyncio.Task] = {}
    known: set[str] = set()
    url = address.replace("http", "ws", 1) + "/_stcore/stream"
    async with websockets.connect(
        url, subprotocols=["streamlit"], max_size=None, proxy=None
    ) as socket:

        async def poll(interval: float, fragment: str) -> None:
            while True:
                await asyncio.sleep(interval)
                await socket.send(_rerun(query, known, fragment))

        await socket.send(_rerun(query, known))
        try:
            async for data in socket:
                message = ForwardMsg.FromString(data)
                kind = message.WhichOneof("type")
                if message.hash and message.metadata.cacheable:
                    known.add(message.hash)
                if kind == "auto_rerun" and message.auto_rerun.fragment_id not in polls:
                    again = message.auto_rerun
                    polls[again.fragment_id] = asyncio.create_task(
                        poll(again.interval, again.fragment_id)
                    )
                if kind == "stop_auto_rerun":
                    _stop(polls)
                if kind == "delta" and message.delta.new_element.WhichOneof("type") == "exception":
                    raise PageFailed(message.delta.new_element.exception.message)
                if kind == "delta" and len(DONE.findall(data)) >= lanes:
                    return data
        finally:
            _stop(polls)
    raise PageFailed("the connection was closed")


async def look(
    address: str,
    page: str,
    query: str = "",
    times: int = 1,
    between: Callable[[int], Awaitable[None]] | None = None,
) -> None:
    """Open a page by its path, as from the sidebar, and run it `times` times.

    After each run `between` is called with the number of bytes sent. Raises PageFailed as
    `follow` does.
    """
    import websockets
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    url, known = address.replace("http", "ws", 1) + "/_stcore/stream", set[str]()
    async with websockets.connect(
        url, subprotocols=["streamlit"], max_size=None, proxy=None
    ) as socket:
        await socket.send(_rerun(query, known, page=page))
        sent = 0
        async for data in socket:
            message, sent = ForwardMsg.FromString(data), sent + len(data)
            kind = message.WhichOneof("type")
            if message.hash and message.metadata.cacheable:
                known.add(message.hash)
            if kind == "delta" and message.delta.new_element.WhichOneof("type") == "exception":
                raise PageFailed(message.delta.new_element.exception.message)
            if (
                kind == "script_finished"
                and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
            ):
                if between is not None:
                    await between(sent)
                times, sent = times - 1, 0
                if not times:
                    return
                await socket.send(_rerun(query, known, page=page))
    raise PageFailed("the connection was closed")


def _stop(polls: dict[str, asyncio.Task]) -> None:
    for task in polls.values():
        task.cancel()
    polls.clear()


def _rerun(query: str, known: set[str], fragment: str = "", page: str = "") -> bytes:
    """A browser's request to run a page or one fragment of it; the default is the first page."""
    from streamlit.proto.BackMsg_pb2 import BackMsg

    message = BackMsg()
    message.rerun_script.query_string = query
    message.rerun_script.page_name = page
    message.rerun_script.cached_message_hashes.extend(known)
    if fragment:
        message.rerun_script.fragment_id, message.rerun_script.is_auto_rerun = fragment, True
    return message.SerializeToString()
