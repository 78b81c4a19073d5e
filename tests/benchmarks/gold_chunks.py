"""The 200 chunks of the hand-made gold standard, drawn with seed 0.

They are whole sentences of 60 to 140 words, spread over each corpus. `python -m
tests.benchmarks.gold_chunks TRANSCRIPTS` prints them as JSON, one per line. TRANSCRIPTS is `MSFT
Input Text.zip` of microsoft/graphrag-benchmarking-datasets, which is not in this repository. See
gold/README.md for the annotation guidelines.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import zipfile
from pathlib import Path
from random import Random

DATA = Path(__file__).parents[2] / "data"
CHUNKS, SHORTEST, LONGEST = 50, 60, 140  # Chunks per corpus, and words per chunk.
_BLANK_LINES = re.compile(r"\n[ \t\r\f\v]*\n\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"”’')\]]{0,3}\s+(?=[\"“‘'(\[]{0,3}[A-Z0-9])|(?<=\n\n)")
_ABBREVIATION = re.compile(r"(?:\b(?:Mr|Mrs|Dr|St|Jr|Sr|vs|No|Inc|Corp|Co|e\.g|i\.e|[A-Z])\.)$")


def draw_chunks(transcripts: Path) -> list[dict]:
    """The chunks of the four corpora, each with its corpus, id, document, half and text.

    Equal files give equal chunks.
    """
    corpora = {
        "hotpotqa": _hotpotqa(),
        "medical": _medical(),
        "carol": _carol(),
        "transcripts": _transcripts(transcripts),
    }
    return [
        {
            "corpus": corpus,
            "id": f"{corpus}-{at:02d}",
            "document": title,
            "half": "dev" if at % 2 else "test",
            "text": text,
        }
        for corpus, documents in corpora.items()
        for at, (title, text) in enumerate(_spread_chunks(documents, Random(0)), 1)
    ]


def sentences(text: str) -> list[str]:
    """Split a text into sentences that together give the text again.

    It is split after a full stop, but not after an initial, a title or an abbreviation.
    """
    parts, begin = [], 0
    for cut in _SENTENCE_END.finditer(text):
        if not _ABBREVIATION.search(text[begin : cut.start()].rstrip()[-8:]) and cut.end() > begin:
            parts.append(text[begin : cut.end()])
            begin = cut.end()
    return [*parts, text[begin:]] if begin < len(text) else parts


def _spread_chunks(documents: list[tuple[str, str]], random: Random) -> list[tuple[str, str]]:
    """One chunk of each of 50 random documents.

    A corpus of fewer documents gives one chunk of each of 50 equal sections of its texts.
    """
    if len(documents) >= CHUNKS:
        random.shuffle(documents)
        whole = ((title, _chunk(sentences(text), 0, random)) for title, text in documents)
        return [(title, text) for title, text in whole if text][:CHUNKS]
    where = [
        (title, parts, at)
        for title, text in documents
        for parts in [sentences(text)]
        for at in range(len(parts))
    ]
    found, last = [], -1
    for stretch in range(CHUNKS):
        low, high = (len(where) * edge // CHUNKS for edge in (stretch, stretch + 1))
        starts = [at for at in range(low, high) if at > last]
        random.shuffle(starts)
        at, title, text = next(
            (at, title, text)
            for at in starts
            for title, parts, n in [where[at]]
            if (text := _chunk(parts, n, random))
        )
        found.append((title, text))
        last = at + len(sentences(text))
    return found


def _chunk(parts: list[str], at: int, random: Random) -> str:
    """Sentences from this one on, up to a random length of 60 to 120 words.

    Empty where they are too few or too long.
    """
    least, text = random.randint(SHORTEST, 120), ""
    for part in parts[at:]:
        if len(text.split()) >= least or (
            len((text + part).split()) > LONGEST and len(text.split()) >= SHORTEST
        ):
            break
        text += part
    return text.strip() if SHORTEST <= len(text.split()) <= LONGEST else ""


def _paragraphs(text: str) -> str:
    """The text with each paragraph on one line and blank lines between them."""
    return "\n\n".join(" ".join(part.split()) for part in _BLANK_LINES.split(text.strip()))


def _hotpotqa() -> list[tuple[str, str]]:
    with gzip.open(
        DATA / "hotpotqa" / "hotpot_distractor.jsonl.gz", "rt", encoding="utf-8"
    ) as lines:
        return list(
            {
                title: "".join(parts).strip()
                for line in lines
                for title, parts in json.loads(line)["context"]
            }.items()
        )


def _medical() -> list[tuple[str, str]]:
    with gzip.open(
        DATA / "graphrag-bench-medical" / "corpus_medical.json.gz", "rt", encoding="utf-8"
    ) as file:
        return [("Medical", _paragraphs(part["context"])) for part in json.load(file)]


def _carol() -> list[tuple[str, str]]:
    with gzip.open(
        DATA / "christmas-carol" / "a-christmas-carol.txt.gz", "rt", encoding="utf-8"
    ) as file:
        return [("A Christmas Carol", _paragraphs(file.read()))]


def _transcripts(archive: Path) -> list[tuple[str, str]]:
    with zipfile.ZipFile(archive) as files:
        return [
            (Path(name).stem, _paragraphs(files.read(name).decode("utf-8-sig", "replace")))
            for name in sorted(files.namelist())
            if name.endswith(".txt")
        ]


if __name__ == "__main__":
    for chunk in draw_chunks(Path(sys.argv[1])):
        print(json.dumps(chunk, ensure_ascii=False))
