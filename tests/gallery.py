"""Pictures of the documents: those of the cases that ship, and README's.

`python -m tests.gallery` takes the pictures in static/gallery and assets/compare.png anew and writes docs/gallery.md.

python -m tests.gallery           # a server without models, and Debian's chromium
python -m tests.gallery --text    # the page alone
"""

from __future__ import annotations

import io
import sys
import tempfile
import textwrap

from core.cases.case import Case
from core.cases.examples import PICTURE_FOLDER, examples
from core.io.home import ROOT

PAGE = ROOT / "docs" / "gallery.md"
MAX_BYTES = 150_000
README_PICTURE = ROOT / "assets" / "compare.png"
README_TEXTS = ROOT / "tests" / "pages" / "compare" / "readme_picture.txt"
README_SIZE = {"width": 1440, "height": 1180}
WIDTH, SCHEMES = 1440, {"light": "", "dark": "-dark"}
ADDRESS = "http://127.0.0.1:8501/cases?case="
INTRO = """# Gallery

The comparisons that ship with Hopscope, as they look when they are opened. None needs a model, a graph or the network: what each method
found is saved with it, and paths, nodes and words answer to the pointer as they did after the question.

    hopscope demo

Each has its address in that app, and *Ask again* asks its question anew. This page is made by `make gallery`.
"""
PARTS = {
    "demo": (
        "On a graph of films",
        "Questions to MetaQA's graph of films, each of which loses answers in another way. A graph reader answers.",
    ),
    "documents": (
        "On documents",
        "Questions to HotpotQA's passages, two of which hold the answer. The nearest sentence is the answer.",
    ),
    "case-study": (
        "A paper's case study",
        "The questions of Figure 9 of LEGO-GraphRAG's report, answered by a small language model.",
    ),
}


def page() -> str:
    """The text of docs/gallery.md."""
    cases = [case for case, _ in examples()]
    parts = [INTRO]
    for name, (title, about) in PARTS.items():
        parts.append(f"## {title}\n\n{about}\n")
        parts += [_entry(case) for case in cases if case.id.startswith(f"example-{name}-")]
    return "\n".join(parts)


def _entry(case: Case) -> str:
    notes = textwrap.fill(" ".join(case.notes.split()), 140)
    methods = ", ".join(case.methods)
    picture = f"../{PICTURE_FOLDER.relative_to(ROOT).as_posix()}/{case.id}.webp"
    return f"### {case.question}\n\n{notes}\n\nMethods: {methods}. [Open it]({ADDRESS}{case.id}).\n\n![What each method found]({picture})\n"


def photograph(browser_page, address: str, case: Case) -> bytes:
    """The board of a case as WebP: what the comparison shows, and each lane down to why."""
    from PIL import Image

    from tests.server import settle

    browser_page.goto(f"{address}/cases?case={case.id}", wait_until="domcontentloaded")
    browser_page.locator(".lane[data-status=done]").first.wait_for(timeout=120_000)
    settle(browser_page)
    board = browser_page.locator(".hb").bounding_box()
    whys = [said.bounding_box() for said in browser_page.locator(".lane .said").all()]
    bottom = max(box["y"] + box["height"] for box in whys if box)
    clip = {**board, "height": bottom - board["y"]}
    shown = Image.open(io.BytesIO(browser_page.screenshot(clip=clip, animations="disabled")))
    made = io.BytesIO()
    shown.save(made, "WEBP", quality=82, method=6)
    return made.getvalue()


def open_first_page(browser_page, address: str) -> str:
    """Open the first page of Compare, and return the texts that it shows, a line each."""
    from tests.server import settle

    browser_page.goto(address, wait_until="domcontentloaded")
    browser_page.locator(".lane[data-status=done]").nth(2).wait_for(timeout=120_000)
    settle(browser_page)
    parts = browser_page.locator("[data-testid=stSidebarNav], .hb").all_inner_texts()
    return "\n".join(line.strip() for part in parts for line in part.splitlines() if line.strip())


def photograph_readme(browser_page, address: str) -> None:
    """Take README's picture, and write the texts that are on it."""
    README_TEXTS.write_text(open_first_page(browser_page, address) + "\n", "utf-8")
    browser_page.set_viewport_size(README_SIZE)
    browser_page.wait_for_timeout(1_000)  # until the pictures have their size
    browser_page.screenshot(path=README_PICTURE, animations="disabled")


def take() -> None:
    """Take every picture; one that is too large is refused."""
    from tests.server import browser, server

    PICTURE_FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as home,
        server(HOPSCOPE_HOME=home, HOPSCOPE_MODELS=f"{home}/none") as (address, _),
        browser() as opened,
    ):
        for scheme, ending in SCHEMES.items():
            context = opened.new_context(
                viewport={"width": WIDTH, "height": 1400}, color_scheme=scheme
            )
            browser_page = context.new_page()
            if scheme == "light":
                photograph_readme(browser_page, address)
            for case, _ in examples():
                file, data = (
                    PICTURE_FOLDER / f"{case.id}{ending}.webp",
                    photograph(browser_page, address, case),
                )
                if len(data) > MAX_BYTES:
                    raise SystemExit(
                        f"{file} would have {len(data):,} bytes; {MAX_BYTES:,} are allowed."
                    )
                file.write_bytes(data)
                print(f"{file.relative_to(ROOT)}  {len(data) // 1000} KB")
            context.close()


def main(arguments: list[str]) -> None:
    if "--text" not in arguments:
        take()
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
