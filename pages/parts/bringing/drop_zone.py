"""Drop zone for every import: it recognises what was dropped, and draws the form for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from core.cases import load
from core.databases.address import EXAMPLES, is_address
from core.errors import BadInput
from core.graph.readers.formats import AUTO
from core.importing import (
    IMPORTERS,
    KINDS,
    Importer,
    Recognition,
    recognise,
    recognise_together,
)
from core.importing.importer import KindName
from core.importing.recognising import SEVERAL
from core.io.fetched import HUB, Fetched, fetched, is_id
from core.io.files import size_text
from core.questions.table import EXAMPLE, GOLD_EXAMPLE
from core.runtime.jobs import Job
from core.sharing import shared
from core.sources import Source
from pages.parts.bringing.database_copy import database_step
from pages.parts.bringing.documents import documents_step
from pages.parts.bringing.encoding import choose_encoding
from pages.parts.bringing.finished_run import run_step
from pages.parts.bringing.graph_files import graph_step
from pages.parts.bringing.inspection import (
    ImportOutcome,
    begin,
    follow_bringing,
    inspect_upload,
    is_bringing,
)
from pages.parts.bringing.questions import questions_step
from pages.parts.bringing.tool_index import index_step
from pages.parts.bringing.uploads import Dropped
from pages.parts.question.set_actions import go_on, lead_to
from pages.parts.shared.session import chosen
from pages.parts.shared.session_state import session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

FILES = tr(":material/upload_file: Files")
FOLDER = tr(":material/folder: A folder")
NAMED = tr(":material/link: A path, address or id")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
MAX_NAMED_LETTERS = 500  # characters of a path, address or id
MAX_MEGABYTES = {KindName.QUESTIONS: 64, KindName.RUN: 500}  # of an upload, by kind
USUAL_MEGABYTES = 200  # of an upload of any other kind
LEAST_SURE = 0.3  # confidence below which a kind is also offered by its first lines
CHOOSABLE = (KindName.GRAPH, KindName.QUESTIONS)  # kinds whose format the user may name


def drop_zone(here: Source | None = None) -> None:
    """Draw the choice of files, their recognition, and the form that imports them.

    Parameters
    ----------
    here : the graph or corpus on the page, which is selected at first.
    """
    go_on()
    dropped = _choose()
    if dropped is None or is_bringing():
        follow_bringing()
    if dropped is None:
        _overview()
        return
    importer = _choose_importer(dropped)
    if importer is None:
        return
    if fault := _fault(dropped, importer.kind):
        st.error(plain(fault))
    else:
        STEPS[importer.kind](dropped, importer, here or chosen())


def _choose() -> Dropped | None:
    """Draw and return the choice of files, a folder, or a path.

    None if nothing is chosen.
    """
    st.caption(tr("Drop any file. You see what it is before it is taken."))
    way = st.segmented_control(
        tr("What is brought"),
        (FILES, FOLDER, NAMED),
        default=FILES,
        key="bring_way",
        label_visibility="collapsed",
        required=True,
    )
    if way == NAMED:
        return _named()
    is_folder = way == FOLDER
    uploaded = st.file_uploader(
        tr("Drop files here"),
        accept_multiple_files="directory" if is_folder else True,
        key=f"bring_{'folder' if is_folder else 'files'}-{session.bring_round}",
        max_upload_size=max(MAX_MEGABYTES.values()),
        label_visibility="collapsed",
    )
    if not uploaded:
        return None
    first = uploaded[0]
    encoding = "" if is_folder else choose_encoding(uploaded)
    id = "-".join(filter(None, (first.file_id, str(len(uploaded)), encoding)))
    name = first.name.replace("\\", "/").strip("/").partition("/")[0] if is_folder else first.name
    return Dropped(id, name, tuple(uploaded), is_folder=is_folder, encoding=encoding)


def _named() -> Dropped | None:
    """Draw the field for a path, an address, or an id.

    An address is that of a database, an id that of a set on a hub.
    """
    examples = ["/home/me/ragtest/output"] * on_this_computer() + [EXAMPLES]
    text = st.text_input(
        tr("Path, address or id"),
        key=f"bring_named-{session.bring_round}",
        max_chars=MAX_NAMED_LETTERS,
        placeholder=", ".join(examples + ["hf:rmanluo/RoG-webqsp"] * (not shared())),
        help=tr("A folder, a database, or a set of a hub: hf:NAME, irds:ID."),
    ).strip()
    if not text:
        return None
    if is_address(text):
        return Dropped(text, text, path=text)
    if is_id(text) and not shared():
        return _fetched(text)
    if on_this_computer():
        path = os.path.expanduser(text)
        return Dropped(text, Path(path).name, path=path)
    st.error(tr("Paths are read only where nobody but you reaches this page."))
    return None


def on_this_computer() -> bool:
    """Return whether only the user of this computer reaches the page.

    Then it may read local files.
    """
    return not shared() and st.get_option("server.address") in LOOPBACK


def _fetched(id: str) -> Dropped | None:
    """Return a set of a hub after it is fetched; None if that failed."""

    def work(job: Job) -> Fetched:
        name = id.removeprefix(HUB).partition(":")[0] if id.startswith(HUB) else ""
        if name and Path(name).exists():
            raise BadInput(tr("That is a folder on this computer; give its path instead."))
        return fetched(id, job)

    job = inspect_upload("hub_fetched", (id,), work, tr("Fetching the set"), tr("change the id"))
    if job.result is None:
        return None
    st.caption(plain(job.result.note))
    return Dropped(id, job.result.path.name, path=str(job.result.path))


def _choose_importer(dropped: Dropped) -> Importer | None:
    """Draw what was recognised, and return the importer that the user chose."""

    def work(job: Job) -> tuple[list[Recognition], list[str]]:
        job.report(tr("Looking what it is"))
        if is_address(dropped.path):
            return recognise(dropped.path), []
        with dropped.laid_down() as (_, paths):
            return _recognise(paths, dropped.encoding)

    found: list[Recognition]
    fault = st.empty()
    with fault.container():
        found, faults = inspect_upload("recognised", (dropped.id,), work).result or ([], [])
    for sentence in faults:
        st.warning(plain(sentence), icon=":material/rule:")
    if is_address(dropped.path):
        return found[0].importer if found else None
    options = _options(found)
    importer = st.selectbox(
        tr("What it is"),
        options,
        index=0 if found else None,
        format_func=_title,
        placeholder=tr("Choose, where you know better"),
        key=f"bring_as-{dropped.id}",
        width=560,
    )
    if importer is not None:
        fault.empty()  # The user's choice overrides the failed recognition.
        _describe(dropped, importer, found)
    return importer


def _recognise(paths: list[Path], encoding: str) -> tuple[list[Recognition], list[str]]:
    """Return the possible kinds of files, and the faults of some."""
    try:
        return recognise_together(paths, encoding), []
    except BadInput:
        if len(paths) == 1:
            raise
    fits, faults = [], []
    for path in paths:
        try:
            recognise(path, encoding)
            fits.append(path)
        except BadInput as error:
            faults.append(str(error))
    if not fits:
        raise BadInput(" ".join(faults))
    return recognise_together(fits, encoding), faults


def _options(found: list[Recognition]) -> list[Importer]:
    """Return the importers to choose from.

    They are the recognised ones, the other kinds by their first lines, and the formats that the
    user may name. A published set is offered as a set only, even if it is also a file of documents.
    """
    kinds = {one.importer.kind for one in found if one.confidence >= LEAST_SURE}
    without = {KindName.DOCUMENTS} if KindName.SET in kinds else {KindName.SET} - kinds
    fits = [one.importer for one in found if one.importer.kind not in without]
    firsts = {one.kind: one for one in reversed(IMPORTERS.values())}
    others = [
        replace(firsts[kind], name=AUTO, title=tr("by its first lines"), taken="", left="")
        for kind in KINDS
        if kind not in {*kinds, *without, KindName.SET, KindName.DATABASE}
    ]
    named = [one for one in IMPORTERS.values() if one.kind in CHOOSABLE and one not in fits]
    return [*fits, *others, *named]


def _title(importer: Importer) -> str:
    return f"{KINDS[importer.kind].title} · {importer.title}"


def _describe(dropped: Dropped, importer: Importer, found: list[Recognition]) -> None:
    """Draw the kind of the files, and what is read of them.

    It names what is left out too.
    """
    reason = next((one.reason for one in found if one.importer.key == importer.key), "")
    more = tr(" and {files} more", files=many(len(dropped.files) - 1, "file"))
    name = dropped.name + more * (len(dropped.files) > 1 and not dropped.is_folder)
    sentences = [
        f"{name}: {reason}." if reason else f"{name}.",
        f"{KINDS[importer.kind].action}.",
        tr("Read: {taken}.", taken=importer.taken) if importer.taken else "",
        tr("Left out: {left}.", left=importer.left) if importer.left else "",
    ]
    st.caption(plain(" ".join(filter(None, sentences))))


def _fault(dropped: Dropped, kind: KindName) -> str:
    """Return why uploads cannot be imported as a kind; empty if they can."""
    if len(dropped.files) > 1 and not dropped.is_folder and kind not in SEVERAL:
        return tr("Of this kind one file is taken at a time; drop them one after another.")
    limit = MAX_MEGABYTES.get(kind, USUAL_MEGABYTES) << 20
    for file in dropped.files:
        if file.size > limit:
            return tr("{name} is larger than {size}.", name=file.name, size=size_text(limit))
    return ""


def _overview() -> None:
    """Draw what can be imported, by kind, with example questions."""
    # A link that adds questions expands the example.
    is_open = st.query_params.get("add") == "questions"
    with st.expander(tr("What can be brought"), icon=":material/help:", expanded=is_open):
        for name, kind in KINDS.items():
            title = plain(kind.title)
            titles = plain("; ".join(one.title for one in IMPORTERS.values() if one.kind == name))
            if name == KindName.DATABASE:
                st.markdown(tr("**{title}**: {titles}.", title=title, titles=titles))
                continue
            size = MAX_MEGABYTES.get(name, USUAL_MEGABYTES)
            st.markdown(
                tr("**{title}**, up to {size} MB: {titles}.", title=title, titles=titles, size=size)
            )
        st.caption(tr("Questions are simplest as a table; those of documents name gold ones."))
        st.code(EXAMPLE.rstrip(), language=None)
        st.code(GOLD_EXAMPLE.rstrip(), language=None)


def cases_step(dropped: Dropped, importer: Importer, here: Source) -> None:
    """Draw the button that adds saved comparisons."""
    st.caption(tr("What is saved here already stays as it is."))
    if st.button(tr("Add them"), key="cases_import", type="primary"):
        begin(f"cases-{dropped.id}", partial(_load_cases, dropped))


def _load_cases(dropped: Dropped, job: Job) -> ImportOutcome:
    with dropped.laid_down() as (_, paths):
        loaded = load(paths[0].read_bytes())
    more = tr("; {known:,} were here already", known=loaded.known) if loaded.known else ""
    words = tr("{cases} added{more}.", cases=many(len(loaded.added), "case"), more=more)
    return ImportOutcome(words, ways=_to_cases)


def _to_cases() -> None:
    if session.page != "cases":
        st.button(tr("See them"), key="cases_see", on_click=lead_to, args=("cases", {}))


STEPS: dict[str, Callable[[Dropped, Importer, Source], Any]] = {
    KindName.GRAPH: graph_step,
    KindName.DOCUMENTS: documents_step,
    KindName.SET: documents_step,
    KindName.QUESTIONS: questions_step,
    KindName.RUN: run_step,
    KindName.INDEX: index_step,
    KindName.CASES: cases_step,
    KindName.DATABASE: database_step,
}
