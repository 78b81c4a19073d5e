"""A file of questions that a person chooses: how it is read, and the first questions of it."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from core.errors import BadInput
from core.io.files import PACKED, size_text
from core.questions import GOLD, QuestionFile, read_file
from core.questions.reading import FORMATS, rows_with_graphs
from core.questions.table import EXAMPLE, GOLD_EXAMPLE
from core.runtime.jobs import Job
from pages.parts.bringing.encoding import choose_encoding
from pages.parts.bringing.hub_set import HubSet, hub_set
from pages.parts.bringing.inspection import inspect_upload, reading_progress
from pages.parts.bringing.uploads import save_upload
from pages.parts.shared.sentences import caption
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

PREVIEWED = 8
MOST_MEGABYTES = 64
# bytes of the file, and of the text that it may unpack to
MOST_FILE, MOST_TEXT = (MOST_MEGABYTES << 20, 256 << 20)
MOST_FETCHED = 2 << 30  # bytes of the text of a set that was fetched
TYPES = [
    "csv",
    "txt",
    "tsv",
    "json",
    "jsonl",
    "parquet",
    "arrow",
    *(suffix[1:] for suffix in PACKED),
]


@dataclass(frozen=True)
class Chosen:
    """A file of questions, how it is read, what it holds, and how many of its rows bring a
    graph."""

    file: Any
    format: str
    columns: str
    encoding: str
    found: QuestionFile
    graphs: int

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What it is known by: another file, or another way to read it, is another one."""
        return self.file.file_id, self.format, self.columns, self.encoding


def choose_questions(key: str, documents: bool = False) -> tuple[Any, Chosen | None]:
    """Draw the choice of a file, of how it is read, and its first questions; the file that was
    chosen, and what it holds where it can be read. `documents` where they are asked of documents,
    of which rows may name the gold ones."""
    also = tr("answers and gold documents") if documents else tr("answers or entities")
    st.write(
        tr(
            "A file of questions. The simplest is a table saved as CSV, with a row like these for each question (several "
            "{also} are parted by “|”; ",
            also=also,
        )
        + (
            tr("gold documents are ids or titles, and may be left out):")
            if documents
            else tr("entities may be left out, then they are found in the question):")
        )
    )
    st.code((GOLD_EXAMPLE if documents else EXAMPLE).rstrip(), language=None)
    caption(
        "Also taken: text of MetaQA, PathQuestion or SimpleQuestions, and rows (JSON, Parquet, Arrow) of RoG, WebQSP, CWQ, GrailQA, "
        "SimpleQuestions, WebQuestions, HotpotQA, MuSiQue, ALCE, PopQA and others, or your own (question, "
        "{columns}); compressed or not ({packed}). "
        "At most {file_size}, {text_size} of text.",
        columns="answers, gold" if documents else "entities, answers",
        packed=", ".join(PACKED),
        file_size=size_text(MOST_FILE),
        text_size=size_text(MOST_TEXT),
    )
    uploaded = st.file_uploader(
        tr("File of questions"), type=TYPES, key=key, max_upload_size=MOST_MEGABYTES
    )
    file = uploaded or hub_set(f"{key}_hub", "hf:rmanluo/RoG-webqsp")
    if file is None:
        return None, None
    format = st.selectbox(
        tr("Format"),
        ["auto", *FORMATS],
        format_func=lambda name: FORMATS.get(name, tr("By the file's first lines")),
        key=f"{key}_format",
        width=560,
    )
    columns = st.text_input(
        tr("Columns"),
        key=f"{key}_columns_{file.file_id}",
        placeholder="id,question,answers,gold,-" if documents else "id,question,answers,entities,-",
        width=560,
        help=tr(
            "For lines of text without a first row that names them: what each column holds, in order, - for one to leave out."
        ),
    )
    encoding = "" if isinstance(file, HubSet) else choose_encoding([file], f"{key}_encoding")
    how = {"format": format, "columns": columns, "encoding": encoding}
    looked = _look(f"{key}_looked", file, how, documents)
    if looked.error:
        st.error(plain(looked.error))
        caption("Correct the file, or how it is read, and choose it again.")
    if looked.error or not looked.result:
        return file, None
    chosen = Chosen(file, format, columns, encoding, *looked.result)
    _preview(chosen, documents)
    return file, chosen


def _look(name: str, file, how: dict[str, Any], documents: bool) -> Job:
    """What the file holds, as a job that has ended. Looked at once, until the file or how it is
    read changes."""

    def work(job: Job) -> tuple[QuestionFile, int]:
        most = MOST_TEXT
        if isinstance(file, HubSet):
            most = MOST_FETCHED
        elif file.size > MOST_FILE:
            raise BadInput(
                tr(
                    "{name} is larger than {file_size}.",
                    name=file.name,
                    file_size=size_text(MOST_FILE),
                )
            )
        with tempfile.TemporaryDirectory() as folder:
            path = save_upload(file, Path(folder))
            gold = GOLD if documents else ()
            found = read_file(path, most=most, watch=reading_progress(job), gold=gold, **how)
            if documents:
                found.check_known()
            return found, 0 if documents else rows_with_graphs(
                path, most, reading_progress(job, tr("Looking for graphs"))
            )

    return inspect_upload(name, (file.file_id, *how.values()), work)


def _preview(chosen: Chosen, documents: bool) -> None:
    known = chosen.found.questions
    head = known[:PREVIEWED]
    answered = tr("{count:,} with answers", count=sum(bool(q.answers) for q in known))
    if documents:
        counts = [
            answered,
            tr("{count:,} with gold documents", count=sum(bool(q.gold) for q in known)),
        ]
    else:
        counts = [
            tr("{count:,} with entities", count=sum(bool(q.entities) for q in known)),
            answered,
        ]
        if chosen.graphs:
            counts.append(tr("{graphs:,} with graphs of their own", graphs=chosen.graphs))
    end = "." if len(head) == len(known) else tr(". The first {head}:", head=len(head))
    st.caption(f"{many(len(known), 'question')}, {', '.join(counts)}{end}")
    if note := chosen.found.note():
        st.caption(plain(note))
    columns: dict[str, list[Any]] = {
        tr("Question"): [q.text for q in head],
        tr("Starts from"): [", ".join(q.entities) for q in head],
        tr("Answers"): [", ".join(q.answers) for q in head],
        tr("Gold documents"): [", ".join(q.gold) for q in head],
        tr("Hops"): [q.hops for q in head],
    }
    always = {
        tr("Question"),
        tr("Answers"),
        tr("Gold documents") if documents else tr("Starts from"),
    }
    st.dataframe(
        {name: cells for name, cells in columns.items() if name in always or any(cells)},
        hide_index=True,
    )
