"""Documents brought by a person: files into a new corpus or one of their own, read as a job; and
taking them away again."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import streamlit as st

from core.corpus import Brought, bring, open_corpus, own_corpus
from core.corpus.readers import SUFFIXES
from core.corpus.readers.options import Columns
from core.io.files import PACKED
from core.io.temporary import temporary_folder
from core.runtime.jobs import DONE, Job
from core.runtime.row_files import COLUMNAR
from core.sharing import shared
from pages.parts.bringing.document_columns import choose_columns
from pages.parts.bringing.document_questions import bring_known
from pages.parts.bringing.encoding import choose_encoding
from pages.parts.bringing.hub_set import HubSet, hub_set
from pages.parts.bringing.target_corpus import choose_target, own_corpora
from pages.parts.bringing.tool_index import begin_opened, open_another
from pages.parts.bringing.uploads import save_uploads
from pages.parts.shared.actions import button, shown_errors
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.shared.working import working

TYPES = [
    *(suffix.removeprefix(".") for suffix in dict.fromkeys((*SUFFIXES, *COLUMNAR, *PACKED))),
    "htm",
    "zip",
]
SHOWN_NOTES = 20  # sentences on what was left out that are shown


def bring_files(here: str) -> None:
    """Draw the form, and the job that reads the files."""
    stay = tr("They stay on this computer.")
    if shared():
        stay = tr("They stay on the server, where all who share it read them.")
    tables = tr("tables with a document a row (CSV, JSON, Excel, Parquet)")
    sets = tr(
        "or a published set as it is, such as HotpotQA, MuSiQue or a zip of BEIR, with its questions"
    )
    write(
        "Text, Markdown, HTML, PDF, Word, PowerPoint, EPUB, mails, notebooks, {tables}, or a zip of them; {sets}. {stay}",
        tables=tables,
        sets=sets,
        stay=stay,
    )
    files = st.file_uploader(
        tr("Documents"),
        type=TYPES,
        accept_multiple_files=True,
        key=f"texts_files-{session.texts_round}",
        label_visibility="collapsed",
    )
    hub = None
    if not files:
        hub = hub_set(
            f"texts_hub-{session.texts_round}",
            "hf:hotpotqa/hotpot_qa:distractor:validation",
            folders=True,
        )
    if files or hub:
        _form(files or [hub], here)
    job = engine().jobs.get(session.texts_job)
    if job is not None:
        _watch(job)
    if not files and not hub:
        open_another()
        bring_known(here)


def _form(files: list, here: str) -> None:
    fetched = isinstance(files[0], HubSet)
    columns, encoding = (
        (None, "") if fetched else (choose_columns(files), choose_encoding(files, "texts_encoding"))
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        own = own_corpora()
        target = choose_target(
            tr("Add them to"),
            list(own),
            Path(files[0].name).stem,
            "texts_into",
            f"texts_title_{files[0].file_id}",
            first=here,
            called=lambda name: own[name].title,
        )
        pressed = button(tr("Read them"), type="primary", key="texts_read", icon="play_arrow")
    if pressed:
        with shown_errors():
            start(files, target.name(), target.title, columns, encoding)


def start(
    files: list, name: str, title: str = "", columns: Columns | None = None, encoding: str = ""
) -> None:
    """Begin reading the files into the corpus of that name, and draw the page anew."""
    folder = temporary_folder()
    paths = save_uploads(files, folder)

    def work(job: Job) -> Brought:
        try:
            return bring(name, paths, title, columns, watch=job, encoding=encoding)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    key = f"bring-{name}-{folder.name}"
    session.texts_job = engine().jobs.run(key, work).key
    session.texts_round += 1  # the choice of files is empty after each
    st.rerun()


def _watch(job: Job) -> None:
    """How far reading is, and what came of it."""
    working(job, "bring", "" if job.status == DONE else tr("Cancelled; nothing was kept of it."))
    if not job.ended:
        return
    if job.error:
        caption("Nothing was kept. Correct what is named, and choose the files again.")
    if job.status != DONE:
        return
    brought: Brought = job.result
    if session.texts_taken != job.key:  # they are the ones that are looked at now, and asked about
        session.texts_taken, session.texts_wanted = job.key, brought.corpus.name
        begin_opened(brought.corpus)
        st.rerun()
    parts = [
        tr("{documents} added", documents=many(brought.added, "document")),
        tr("{changed:,} changed", changed=brought.changed) if brought.changed else "",
        tr("{known:,} there already", known=brought.known) if brought.known else "",
    ]
    said = brought.more or f"{', '.join(filter(None, parts))}."
    st.success(plain(f"{brought.corpus.title}: {said}"), icon=":material/check_circle:")
    for text in brought.notes[:SHOWN_NOTES]:
        st.warning(plain(text), icon=":material/rule:")
    if len(brought.notes) > SHOWN_NOTES:
        caption("And {more:,} more such things.", more=len(brought.notes) - SHOWN_NOTES)
    _missing(brought)
    button(
        tr("Go on to its graph"),
        partial(_open, brought.corpus.name),
        key="texts_go",
        type="primary",
        icon="hub",
    )


def _missing(brought: Brought) -> None:
    """Say which documents the files had earlier and no longer have, with a way to remove those that
    the corpus still has."""
    name = brought.corpus.name
    left: tuple[str, ...] = ()
    if brought.missing and (corpus := own_corpus(name)) is not None:
        left = tuple(id for id in brought.missing if id in corpus)
    if not left:
        return
    st.warning(
        plain(
            tr(
                "{on_missing} They are still in {title}.",
                on_missing=brought.on_missing(),
                title=brought.corpus.title,
            )
        ),
        icon=":material/rule:",
    )
    remove_them = lambda: open_corpus(name).remove(left)
    button(
        tr("Remove {documents}", documents=many(len(left), "document")),
        remove_them,
        key="texts_missing",
        icon="delete",
    )


def _open(name: str) -> None:
    session.texts_wanted = name
    del session.texts_open, session.texts_tabs  # the first tab is open again
    del session.texts_job
