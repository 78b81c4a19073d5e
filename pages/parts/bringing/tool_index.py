"""The index of another tool opened on Texts: its folder dropped, zipped, or named by its path;
looked at first, then made a corpus."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path

import streamlit as st

from core.builds.shipped import builds_of
from core.corpus import Brought, Corpus, corpora
from core.corpus.indexes.opening import Taken, look, open_index, opened_tools
from core.corpus.indexes.tools import TOOLS, build_of
from core.datasets.own import clean_name
from core.io.temporary import temporary_folder
from core.runtime.jobs import Job
from core.sharing import shared
from pages.parts.bringing.inspection import inspect_upload
from pages.parts.bringing.target_corpus import choose_target, own_corpora
from pages.parts.bringing.uploads import save_folder, save_upload
from pages.parts.shared.actions import button, shown_errors
from pages.parts.shared.sentences import write
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr
from pages.parts.texts.building import start

FOLDER, ZIP, PATH = tr("A folder"), tr("A zip of it"), tr("A path on this computer")
ENDS = ["parquet", "json", "graphml", "pkl", "pklz", "txt"]  # of the files that the readers look at
LOOPBACK = ("127.0.0.1", "localhost", "::1")
# what lays down what was chosen, and takes it away at the end
Held = Callable[[], AbstractContextManager[Path]]


def open_another() -> None:
    """Draw the choice of an index, what of it would be taken, and the button that opens it.

    It becomes new texts, or another graph of texts that are here.
    """
    box = st.expander(
        tr("Open the index of another tool"),
        key="index_box",
        icon=":material/folder_open:",
        on_change="rerun",
    )
    if not box.open:
        return
    with box:
        write(
            "Of {tools}. Its texts become documents here, with its graph beside those that are "
            "built here of them. Where the same texts are here already, its graph can be added to theirs.",
            tools=", ".join(one.title for one in TOOLS.values()),
        )
        ways = [FOLDER, ZIP, *([PATH] if _on_this_computer() else [])]
        way = (
            st.segmented_control(
                tr("Which index"),
                ways,
                default=ways[0],
                key="index_way",
                label_visibility="collapsed",
            )
            or ways[0]
        )
        chosen = _chosen(way)
        if chosen is None:
            return
        key, held = chosen

        def work(job: Job) -> Taken:
            with held() as path:
                return look(path, job)

        job = inspect_upload("index_looked", key, work)
        if job.error:
            st.error(plain(job.error))
        elif job.result is not None:
            _form(job.result, key, held)


def begin_opened(corpus: Corpus) -> None:
    """Begin to make the vectors of the graph that was opened last for a corpus, where one was."""
    for tool in opened_tools(corpus)[:1]:
        start(corpus, builds_of(corpus)[build_of(tool)])


def _on_this_computer() -> bool:
    """Whether nobody but who sits here reaches this page, so that it may read what lies on this
    computer."""
    return not shared() and st.get_option("server.address") in LOOPBACK


def _chosen(way: str) -> tuple[tuple[str, ...], Held] | None:
    """What was chosen: what tells one choice from another, and what lays it down; None where
    nothing was."""
    if way == PATH:
        typed = st.text_input(
            tr("Path of its folder"),
            key="index_path",
            placeholder="/home/me/ragtest/output",
            width=520,
        ).strip()
        return ((typed,), lambda: _there(typed)) if typed else None
    if way == ZIP:
        file = st.file_uploader(
            tr("A zip of the folder"),
            type=["zip"],
            key=f"index_zip-{session.texts_round}",
            label_visibility="collapsed",
        )
        return ((file.file_id,), lambda: _uploaded([file])) if file else None
    files = st.file_uploader(
        tr("The folder of the index"),
        type=ENDS,
        accept_multiple_files="directory",
        key=f"index_folder-{session.texts_round}",
        label_visibility="collapsed",
    )
    return (tuple(file.file_id for file in files), lambda: _uploaded(files)) if files else None


@contextmanager
def _there(path: str) -> Iterator[Path]:
    yield Path(os.path.expanduser(path))


@contextmanager
def _uploaded(files: list) -> Iterator[Path]:
    """The folder of some uploads, or the only one where that is a zip, while it is read."""
    folder = temporary_folder()
    try:
        zipped = len(files) == 1 and files[0].name.lower().endswith(".zip")
        yield save_upload(files[0], folder) if zipped else save_folder(files, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _form(taken: Taken, key: tuple[str, ...], held: Held) -> None:
    """What would be taken, and the button."""
    st.markdown(plain(taken.words()))
    vectors = ""
    if taken.counts["vectors"]:
        vectors = tr(
            "Its vectors are taken where the encoder chosen here makes the same, else made anew."
        )
    for text in filter(
        None,
        [
            *taken.sentences(),
            vectors
            or tr("It has no vectors that can be read; they are made by the encoder chosen here."),
        ],
    ):
        st.caption(plain(text))
    own = own_corpora()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        target = choose_target(
            tr("Open it as"),
            [name for name, corpus in own.items() if taken.tool not in opened_tools(corpus)],
            _free(TOOLS[taken.tool].title),
            "index_into",
            f"index_title-{'-'.join(key)}",
            called=lambda name: tr("a graph of {title}", title=own[name].title),
        )
        pressed = button(tr("Open it"), type="primary", key="index_open", icon="play_arrow")
    if pressed:
        with shown_errors():
            _start(held, target.name(), target.title)


def _free(title: str) -> str:
    """The title, with a number behind it where texts are called so already."""
    known = corpora()
    titles = (title if number == 1 else f"{title} {number}" for number in count(1))
    return next(one for one in titles if clean_name(one) not in known)


def _start(held: Held, name: str, title: str) -> None:
    """Begin to open the index under that name, and draw the page anew."""

    def work(job: Job) -> Brought:
        with held() as path:
            corpus, taken = open_index(path, name, title, job)
        said = tr(
            "{counted}, opened from an index of {taken}.", counted=taken.counted, taken=taken.title
        )
        return Brought(corpus, corpus.n_documents, 0, 0, tuple(taken.sentences()), more=said)

    key = f"bring-{name}-index"
    session.texts_job = engine().jobs.run(key, work, again=True).key
    session.texts_round += 1  # the choice of files is empty after each
    st.rerun()
