"""Servers killed while a user saves a case, and two servers with a command line on one folder."""

from __future__ import annotations

import asyncio
import os
import random
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.benchmarks.fault_kills import Met, WorkProcess, home, look
from tests.benchmarks.visitors import PageFailed, follow
from tests.server import server

SAVE, SAVED = "Save as case", "Saved. It opens"
KILL_WITHIN_SECONDS = 1.5  # Seconds after the click within which the server is killed.
PATIENCE = 120.0
QUESTION = {
    "q": "what does [Brazil] border",
    "graph": "nations",
    "lane": "EgoNetwork(hops=1) >> ShortestPaths(hops=1)",
    "llm": 0,
}


class SavingVisitor:
    """A simulated browser that speaks the app's protocol and presses buttons by their labels."""

    def __init__(self, address: str, query: str):
        self.address, self.query = address, query
        self.buttons: dict[str, str] = {}
        self.texts: set[str] = set()

    async def __aenter__(self) -> SavingVisitor:
        import websockets

        url = self.address.replace("http", "ws", 1) + "/_stcore/stream"
        self._socket = await websockets.connect(
            url, subprotocols=["streamlit"], max_size=None, proxy=None
        )
        await self._send()
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self._socket.close()

    async def press(self, label: str) -> None:
        """Press the button with that label."""
        await self._send(self.buttons[label])

    async def until(self, seen) -> None:
        """Read messages until `seen()`.

        Raises PageFailed if the page shows an error or the server ends.
        """
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        async for data in self._socket:
            message = ForwardMsg.FromString(data)
            if message.WhichOneof("type") == "delta":
                element = message.delta.new_element
                kind = element.WhichOneof("type")
                if kind == "exception":
                    raise PageFailed(element.exception.message)
                if kind == "button":
                    self.buttons[element.button.label] = element.button.id
                if kind == "markdown":
                    self.texts.add(element.markdown.body)
            if seen():
                return
        raise PageFailed("the connection was closed")

    async def _send(self, pressed: str = "") -> None:
        from streamlit.proto.BackMsg_pb2 import BackMsg

        message = BackMsg()
        message.rerun_script.query_string = self.query
        if pressed:
            message.rerun_script.widget_states.widgets.add(id=pressed, trigger_value=True)
        await self._socket.send(message.SerializeToString())


async def save_one(address: str, query: str, pressed=lambda: None) -> bool:
    """Ask, save the case, and return whether the app confirmed it."""
    async with SavingVisitor(address, query) as visitor:
        await visitor.until(lambda: SAVE in visitor.buttons)
        await visitor.press(SAVE)
        pressed()
        await visitor.until(lambda: any(text.startswith(SAVED) for text in visitor.texts))
        return True


def question_address(number: int) -> str:
    """Query string of a question that nobody has asked before."""
    return urlencode({**QUESTION, "seed": number})


def killed(folder: Path, count: int, seed: int = 0) -> Met:
    """Results of `count` kills of the server after a click on Save."""
    met, lot = Met("server"), random.Random(f"server {seed}")
    folder.mkdir(parents=True, exist_ok=True)
    saved = _prepare(folder)
    for number in range(count):
        with server(**_environment(folder)) as (address, process):
            began = time.perf_counter()
            asyncio.run(asyncio.wait_for(follow(address, question_address(number), 1), PATIENCE))
            if number:
                met.back.append(time.perf_counter() - began)
            promised = asyncio.run(
                asyncio.wait_for(
                    _save_until_killed(
                        address,
                        question_address(number),
                        process,
                        lot.uniform(0, KILL_WITHIN_SECONDS),
                    ),
                    PATIENCE,
                )
            )
        met.times += 1
        before, saved = saved, _count(folder)
        look("cases", folder, [], met)
        if not before + promised <= saved <= before + 1:
            met.lost.append(f"server: {before} cases, {promised} promised, {saved} there")
    return met


async def _save_until_killed(address: str, query: str, process, after: float) -> int:
    """Save, kill the server this many seconds after the click, and count the confirmed cases."""

    async def kill() -> None:
        await asyncio.sleep(after)
        process.kill()

    begun: list[asyncio.Task] = []
    try:
        return int(
            await save_one(address, query, lambda: begun.append(asyncio.create_task(kill())))
        )
    except Exception:  # The connection breaks in many ways.
        if not begun:
            raise
        return 0
    finally:
        if begun:
            await begun[0]
            process.wait()


def together(folder: Path, rounds: int = 3) -> Met:
    """Run two servers and command lines that all save in one user folder.

    Nothing may be lost or end in an error.
    """
    met = Met("two servers and a command line")
    folder.mkdir(parents=True, exist_ok=True)
    before = _prepare(folder)
    with server(**_environment(folder)) as (one, _), server(**_environment(folder)) as (other, _):
        works = [
            WorkProcess("cases", folder),
            WorkProcess("instances", folder),
            WorkProcess("instances", folder),
        ]
        start = time.perf_counter()
        try:
            count = sum(asyncio.run(_save_from_all([one, other], rounds)))
        except (PageFailed, OSError) as error:
            met.corrupt.append(f"a page: {error}")
            count = 0
        met.back.append(time.perf_counter() - start)
        for kind, work in zip(("cases", "instances", "instances"), works):
            code, complaint = work.end()
            if code:
                met.corrupt.append(f"{kind}: it ended with {code}: {complaint[-300:]}")
            look(kind, folder, work.said("ok"), met)
            met.times += len(work.said("ok"))
    met.times += count
    if _count(folder) != before + count + len(works[0].said("ok")):
        met.lost.append(
            f"{_count(folder)} cases, {before + count + len(works[0].said('ok'))} were saved"
        )
    met.note = "saved at once; seconds of the pages"
    return met


async def _save_from_all(addresses: list[str], rounds: int) -> list[bool]:
    async def one(place: int, address: str) -> list[bool]:
        found = []
        for number in range(rounds):
            query = question_address(1000 + 100 * place + number)
            await asyncio.wait_for(follow(address, query, 1), PATIENCE)
            found.append(await asyncio.wait_for(save_one(address, query), PATIENCE))
        return found

    return [
        saved
        for part in await asyncio.gather(*(one(*pair) for pair in enumerate(addresses)))
        for saved in part
    ]


def _prepare(folder: Path) -> int:
    """The number of existing cases, in a user folder with the models of this one."""
    from core.io.home import models_folder

    os.environ.setdefault("HOPSCOPE_MODELS", str(models_folder()))
    return _count(folder)


def _environment(folder: Path) -> dict[str, str]:
    return {"HOPSCOPE_HOME": str(folder), "HOPSCOPE_MODELS": os.environ["HOPSCOPE_MODELS"]}


def _count(folder: Path) -> int:
    from core.cases import cases

    with home(folder):
        return sum(not case.example for case in cases())
