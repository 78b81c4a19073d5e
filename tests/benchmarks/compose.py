"""Build page: time from a changed line to new metrics, without a language model, on WikiMovies.

The first part measures the computation: the new line compared with the previous one, the result of
each step, and the effect of the change. The second measures a real browser, from Enter in a field
to the new metrics on screen.
"""

from __future__ import annotations

import statistics
import time

from tests.server import CHROMIUM, open_page, server

LINE = "PersonalizedPageRank() >> ShortestPaths() >> Rank(model='bm25') >> Answer()"
CHANGES = {  # Each change is made to LINE by itself.
    "keep fewer paths": ("model='bm25'", "model='bm25', keep=8"),
    "keep more nodes": ("PersonalizedPageRank()", "PersonalizedPageRank(keep=2000)"),
    "shorter paths": ("ShortestPaths()", "ShortestPaths(hops=2)"),
    "another step in its place": ("Rank(model='bm25')", "RandomSelect()"),
    "another first step": ("PersonalizedPageRank()", "EgoNetwork()"),
}
SETS = ("metaqa-1hop-dev", "metaqa-2hop-dev", "metaqa-3hop-dev")
EACH = 4  # questions of each set
AIM_SECONDS = 0.5  # Seconds.
CHANGE_SCRIPT = """([field, value, words]) => new Promise((told) => {
  const root = [...document.querySelectorAll("*")].map((one) => one.shadowRoot).find((one) => one?.querySelector(".hk"));
  const input = root.querySelector(`[data-field=${field}]`);
  input.focus();
  input.value = value;
  const start = performance.now();
  input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  const look = setInterval(() => {
    const shown = root.querySelector(".change:not(.pending) .of")?.textContent ?? "";
    if (shown.includes(words) && !root.querySelector(".running")) { clearInterval(look); told((performance.now() - start) / 1000); }
  }, 10);
})"""


def run() -> list[dict]:
    """Medians over changes and questions, computed and on screen."""
    from core.datasets import datasets

    dataset = datasets()["metaqa"]
    questions = [dataset.draw_question(name, 100 + seed) for name in SETS for seed in range(EACH)]
    return [*_measure_computation(questions), _measure_screen()]


def _measure_computation(questions) -> list[dict]:
    from core.diagnosis.step_outcomes import step_outcomes
    from core.engine import Engine
    from core.methods.catalogue import catalogue, method_of_line
    from core.operators.text import parse_line
    from core.sources import GraphSource
    from pages.parts.build.change import change_data

    engine, known = Engine(), catalogue()
    source = GraphSource.of(engine.graph())
    engine.preload()
    before = parse_line(LINE)
    seconds: dict[str, list[float]] = {name: [] for name in CHANGES}
    # The first question runs twice, to warm up.
    for place, question in enumerate([questions[0], *questions]):
        ask = engine.prepare_question(source, question, model=False)
        first = engine.compare(ask, [method_of_line(before, known)])
        first.wait()
        for name, (old, new) in CHANGES.items():
            start = time.perf_counter()
            line = parse_line(LINE.replace(old, new))
            job = engine.compare(
                ask,
                [method_of_line(before, known), method_of_line(line, known)],
                earlier=first.comparison,
            )
            job.wait()
            step_outcomes(job.comparison, job.comparison.lanes[-1])
            change_data(job.comparison, before, line)
            seconds[name] += [time.perf_counter() - start] if place else []
    engine.stop()
    every = [one for found in seconds.values() for one in found]
    return [
        _row("compose: a change computed", every, AIM_SECONDS),
        *(_row(f"compose: {name}", found) for name, found in seconds.items()),
    ]


def _measure_screen(changes: int = 12) -> dict:
    name = "compose: a change on screen"
    if not CHROMIUM:
        return {
            "name": name,
            "value": float("nan"),
            "unit": "s",
            "note": "not measured: Chromium is absent",
        }
    with server() as (url, _), open_page(f"{url}/build?line={LINE}") as page:
        page.locator(".brick .open").nth(2).wait_for(timeout=120_000)
        page.get_by_role("button", name="Run").click()
        page.locator(".change .figures").wait_for(timeout=120_000)
        page.locator(".brick .open").nth(2).click()
        page.locator("[data-field=keep]").wait_for(timeout=60_000)
        times, keep = [], 32
        for turn in range(changes + 2):
            page.wait_for_timeout(800)  # A user looks before the next change.
            new = 8 + turn
            times.append(page.evaluate(CHANGE_SCRIPT, ["keep", str(new), f"keep {keep} → {new}"]))
            keep = new
    return _row(name, times[2:], AIM_SECONDS)


def _row(name: str, values: list[float], aim: float | None = None) -> dict:
    note = f"median of {len(values)}, {min(values):.2f} to {max(values):.2f}" + (
        f"; aim {aim} s" if aim is not None else ""
    )
    return {"name": name, "value": statistics.median(values), "unit": "s", "note": note}
