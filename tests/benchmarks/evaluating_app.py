"""The app with evaluations that run from the first visit on, to measure waiting users."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.evaluation.runs.store import Store
from core.io.home import ROOT

APP = """
import os, runpy, threading

from core.evaluation.runs.plan import make_plan
from core.evaluation.runs.evaluation_jobs import evaluate
from core.methods.catalogue import find_method
from pages.parts.shared import session

with session._making:
    first, session.evaluating = not getattr(session, "evaluating", False), True
if first:
    def begin():
        lanes, engine = [find_method(name) for name in {lanes!r}], session.engine()
        for seed in range({count}):
            evaluate(engine, session.store(), make_plan(tuple(lanes), {set!r}, {size}, engine.graph, seed=seed, model=False), again=True)
    threading.Thread(target=begin, daemon=True).start()
runpy.run_path({app!r})
"""


@contextmanager
def app(count: int, size: int, lanes: tuple[str, ...], questions: str) -> Iterator[Path]:
    """Yield the folder of an app that starts evaluations at its first visit.

    It starts `count` evaluations of `size` questions. With none it is the app's own folder.
    """
    if not count:
        yield ROOT
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for entry in ROOT.iterdir():
            if entry.name != "main.py":
                (folder / entry.name).symlink_to(entry)
        (folder / "main.py").write_text(
            APP.format(
                lanes=lanes, count=count, set=questions, size=size, app=str(ROOT / "main.py")
            )
        )
        yield folder


def advanced(file: Path, count: int) -> tuple[int, int, int]:
    """Finished evaluations among the last `count`, and their successful and failed rows."""
    if not file.exists():
        return 0, 0, 0
    runs = Store(file).runs()[:count]
    return (
        sum(run.status == "done" for run in runs),
        sum(run.done for run in runs),
        sum(run.failed for run in runs),
    )


def environment() -> dict[str, str]:
    """Environment variables with which a server in another folder finds the project's modules."""
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    }
