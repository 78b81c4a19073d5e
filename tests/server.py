"""A real server of the app and a real browser, for browser tests and timings."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path

from core.io.home import ROOT, graphs_folder

CHROMIUM = (
    os.environ.get("HOPSCOPE_CHROMIUM")
    or shutil.which("chromium")
    or shutil.which("chromium-browser")
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    # What Playwright leaves out, whose own list this one replaces, and the address bar's lists, which
    # take half of the processor time of a new window.
    "--disable-features=AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,"
    "HttpsFirstBalancedModeAutoEnable,LensOverlay,MediaRouter,PaintHolding,ThirdPartyStoragePartitioning,"
    "AvoidCorsURLLoaderRestartOnRedirect,OptimizationHints,NetworkTimeServiceQuerying,AimEnabled,"
    "PreconnectToSearch,WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup",
]


# WikiMovies as it was built once; the server of another home would build it again
BUILT_GRAPH = graphs_folder() / "metaqa"


def link_graph(home: Path) -> None:
    """Give another home the built graph of WikiMovies."""
    link = home / "graphs" / "metaqa"
    if BUILT_GRAPH.exists() and not link.exists():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(BUILT_GRAPH.resolve())


@contextmanager
def server(folder: Path = ROOT, **environment: str):
    """(address, process) of the app.py in `folder`, on a free loopback port, with more environment variables."""
    if "HOPSCOPE_HOME" in environment:
        link_graph(Path(environment["HOPSCOPE_HOME"]))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(address, process)
        yield address, process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


STARTED_WITHIN = 120  # seconds: some five of the processor's, which a busy machine gives it late


def _wait(address: str, process: subprocess.Popen) -> None:
    until = time.monotonic() + STARTED_WITHIN
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError("The app's server ended before it answered.")
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"The app's server did not answer within {STARTED_WITHIN} seconds.")


_open: list = []  # the browser in use, so that all pages open in it: Playwright runs once a thread


@contextmanager
def browser():
    """A headless Chromium, the one that is open if there is one. Raises RuntimeError where it is absent."""
    if _open:
        yield _open[0]
        return
    from playwright.sync_api import sync_playwright

    if not CHROMIUM:
        raise RuntimeError("Chromium is not installed (apt-get install chromium).")
    with sync_playwright() as driver:
        _open.append(driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS))
        try:
            yield _open[0]
        finally:
            _open.pop().close()


def open_contexts() -> list:
    """Contexts of the open browser, each with its pages; none if no browser is open."""
    return list(_open[0].contexts) if _open else []


@contextmanager
def open_page(address: str, width: int = 1280, scheme: str = "light"):
    """A page of `browser` at that address, with cookies of its own. What fails with it is noted with what the page said."""
    with browser() as opened:
        context = opened.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        try:
            page = context.new_page()
            page.on("websocket", lambda socket: _follow(page, socket))
            page.goto(address, wait_until="domcontentloaded")
            yield page
        except Exception as error:
            with suppress(Exception):  # a page that has crashed says nothing
                error.add_note(
                    f"{page.url} said: {page.locator('body').inner_text(timeout=2_000)[:4_000]}"
                )
            raise
        finally:
            _unanswered.discard(page)
            context.close()


_unanswered: set = set()  # pages whose browser has sent something and heard nothing since
ANSWERED_WITHIN = (
    10  # seconds: a server that is busy begins a run late, and until then its page looks settled
)


def _follow(page, socket) -> None:
    socket.on("framesent", lambda _: _unanswered.add(page))
    socket.on("framereceived", lambda _: _unanswered.discard(page))
    socket.on("close", lambda _: _unanswered.discard(page))


STILL = """() => {
    const moves = document.querySelector('[data-stale=true], [data-testid=stSkeleton], [data-test-script-state=running]')
        || document.getAnimations().some(one => one.playState === 'running');
    if (moves || !window.stillSince) window.stillSince = performance.now();
    return performance.now() - window.stillSince > 300;
}"""


def settle(page) -> None:
    """Wait until the page is answered and still.

    What was sent is answered, and nothing runs, waits to be drawn, or moves on the page.
    """
    until = time.monotonic() + ANSWERED_WITHIN
    page.wait_for_timeout(50)  # what was pressed is sent by now
    while page in _unanswered and time.monotonic() < until:
        page.wait_for_timeout(50)
    page.evaluate("window.stillSince = 0")
    page.wait_for_function(STILL, timeout=120_000, polling=60)


def take_scheme(page, scheme: str) -> None:
    """Show the page in light or dark, as where the reader's system changes over."""
    page.emulate_media(color_scheme=scheme)
    dark = "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor.match(/\\d+/g).every(part => part < 128)"
    page.wait_for_function(dark if scheme == "dark" else f"!({dark})")
