"""Drop zone that recognises files and draws their form.

It is on the pages Texts, Graphs, Evaluate and Cases.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from core.cases import load
from core.databases.address import ADDRESS_EXAMPLES, is_address
from core.errors import BadInput
from core.graph.readers.formats import AUTO_TRIPLE_FORMAT
from core.importing import (
    IMPORT_KINDS,
    IMPORTERS,
    Importer,
    Recognition,
    recognise,
    recognise_together,
)
from core.importing.importer import KindName
from core.importing.recognition import KINDS_OF_SEVERAL_FILES
from core.io.files import size_text
from core.io.hub_sets import HUB, FetchedSet, fetch_set, is_set_id
from core.questions.table import GOLD_EXAMPLE, TABLE_EXAMPLE
from core.runtime.jobs import Job
from core.sharing import shared
from core.sources import AnswerSource
from pages.parts.bringing.database_copy import database_step
from pages.parts.bringing.documents import documents_step
from pages.parts.bringing.encoding import choose_encoding
from pages.parts.bringing.finished_run import run_step
from pages.parts.bringing.graph_files import graph_step
from pages.parts.bringing.inspection import (
    ImportOutcome,
    follow_import,
    inspect_upload,
    is_importing,
    start_import,
)
from pages.parts.bringing.questions import questions_step
from pages.parts.bringing.tool_index import draw_index_step
from pages.parts.bringing.uploads import ImportInput
from pages.parts.question.set_actions import follow_set_button, go_to_page
from pages.parts.shared.session import chosen_source
from pages.parts.shared.session_state import session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

FILES_CHOICE = tr(":material/upload_file: Files")
FOLDER_CHOICE = tr(":material/folder: A folder")
PATH_CHOICE = tr(":material/link: A path, address or dataset ID")
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
MAX_PATH_CHARACTERS = 500  # characters of a path, address or id
KIND_MAX_MEGABYTES = {KindName.QUESTIONS: 64, KindName.RUN: 500}  # of an upload, by kind
DEFAULT_MAX_MEGABYTES = 200  # of an upload of any other kind
# Below this confidence, a recognised kind is also offered without a format, which is then detected.
MIN_SURE_CONFIDENCE = 0.3
# Kinds whose format the user may name.
KINDS_WITH_FORMAT_CHOICE = (KindName.GRAPH, KindName.QUESTIONS)


def drop_zone(current: AnswerSource | None = None) -> None:
    """Draw the choice of files, their recognition, and the form that imports them.

    Parameters
    ----------
    current : the graph or corpus on the page, which is selected at first.
    """
    follow_set_button()
    upload = _choose_input()
    if upload is None or is_importing():
        follow_import()
    if upload is None:
        _draw_overview()
        return
    importer = _choose_importer(upload)
    if importer is None:
        return
    if fault := _upload_fault(upload, importer.kind):
        st.error(plain(fault))
    else:
        IMPORT_STEPS[importer.kind](upload, importer, current or chosen_source())


def _choose_input() -> ImportInput | None:
    """Draw and return the choice of files, a folder, or a path.

    None if nothing is chosen.
    """
    st.caption(tr("Drop any file. You see what it is before anything is added."))
    input_kind = st.segmented_control(
        tr("What to add"),
        (FILES_CHOICE, FOLDER_CHOICE, PATH_CHOICE),
        default=FILES_CHOICE,
        key="bring_way",
        label_visibility="collapsed",
        required=True,
    )
    if input_kind == PATH_CHOICE:
        return _draw_path_field()
    is_folder = input_kind == FOLDER_CHOICE
    files = st.file_uploader(
        tr("Drop files here"),
        accept_multiple_files="directory" if is_folder else True,
        key=f"bring_{'folder' if is_folder else 'files'}-{session.bring_round}",
        max_upload_size=max(KIND_MAX_MEGABYTES.values()),
        label_visibility="collapsed",
    )
    if not files:
        return None
    name = files[0].name
    encoding = ""
    if is_folder:
        name = name.replace("\\", "/").strip("/").partition("/")[0]
    else:
        encoding = choose_encoding(files)
    id = "-".join(filter(None, (files[0].file_id, str(len(files)), encoding)))
    return ImportInput(id, name, tuple(files), is_folder=is_folder, encoding=encoding)


def _draw_path_field() -> ImportInput | None:
    """Draw the field for a path, an address or an id.

    Return the input that it names. None if the field is empty or its text is refused.
    """
    examples = [ADDRESS_EXAMPLES]
    if is_local_visit():
        examples.insert(0, "/home/me/ragtest/output")
    if not shared():
        examples.append("hf:rmanluo/RoG-webqsp")
    text = st.text_input(
        tr("Path, address or dataset ID"),
        key=f"bring_named-{session.bring_round}",
        max_chars=MAX_PATH_CHARACTERS,
        placeholder=", ".join(examples),
        help=tr(
            "A folder, a database, or a dataset: hf:NAME (Hugging Face), irds:ID (ir_datasets)."
        ),
    ).strip()
    if not text:
        return None
    if is_address(text):
        return ImportInput(text, text, path=text)
    if is_set_id(text) and not shared():
        return _fetch_hub_set(text)
    if is_local_visit():
        path = os.path.expanduser(text)
        return ImportInput(text, Path(path).name, path=path)
    st.error(tr("Paths are read only if nobody but you can reach this page."))
    return None


def is_local_visit() -> bool:
    """Return whether only the user of this computer reaches the page.

    The page may then read files of the computer by their paths.
    """
    return not shared() and st.get_option("server.address") in LOOPBACK_HOSTS


def _fetch_hub_set(id: str) -> ImportInput | None:
    """Fetch a dataset of a hub and return it.

    If that fails, the error is drawn and None is returned.
    """

    def work(job: Job) -> FetchedSet:
        name = id.removeprefix(HUB).partition(":")[0] if id.startswith(HUB) else ""
        if name and Path(name).exists():
            raise BadInput(tr("That is a folder on this computer. Enter its path instead."))
        return fetch_set(id, job)

    job = inspect_upload(
        "hub_fetched", (id,), work, tr("Fetching the dataset"), tr("change the ID")
    )
    if job.result is None:
        return None
    st.caption(plain(job.result.note))
    return ImportInput(id, job.result.path.name, path=str(job.result.path))


def _choose_importer(upload: ImportInput) -> Importer | None:
    """Draw the recognised kinds, and return the chosen importer."""

    def work(job: Job) -> tuple[list[Recognition], list[str]]:
        job.report(tr("Recognising the format"))
        if is_address(upload.path):
            return recognise(upload.path), []
        with upload.written_files() as (_, paths):
            return _recognise(paths, upload.encoding)

    recognitions: list[Recognition]
    recognition_box = st.empty()
    with recognition_box.container():
        recognitions, faults = inspect_upload("recognised", (upload.id,), work).result or ([], [])
    for sentence in faults:
        st.warning(plain(sentence), icon=":material/rule:")
    if is_address(upload.path):
        return recognitions[0].importer if recognitions else None
    options = _options(recognitions)
    importer = st.selectbox(
        tr("What it is"),
        options,
        index=0 if recognitions else None,
        format_func=_importer_title,
        placeholder=tr("Choose another, if this is wrong"),
        key=f"bring_as-{upload.id}",
        width=560,
    )
    if importer is not None:
        recognition_box.empty()  # The user's choice overrides the failed recognition.
        _draw_description(upload, importer, recognitions)
    return importer


def _recognise(paths: list[Path], encoding: str) -> tuple[list[Recognition], list[str]]:
    """Return the possible kinds of files, and reading faults.

    A file that is not recognised has a fault. Raises BadInput if none is recognised.
    """
    try:
        return recognise_together(paths, encoding), []
    except BadInput:
        if len(paths) == 1:
            raise
    # Recognised one by one, to tell the faulty files from the others.
    recognised_paths, faults = [], []
    for path in paths:
        try:
            recognise(path, encoding)
            recognised_paths.append(path)
        except BadInput as error:
            faults.append(str(error))
    if not recognised_paths:
        raise BadInput(" ".join(faults))
    return recognise_together(recognised_paths, encoding), faults


def _options(recognitions: list[Recognition]) -> list[Importer]:
    """Return the importers to choose from.

    They are the recognised importers, an importer of each other kind that detects the format, and
    those of the formats that the user may name. A published set is offered as a set only, even if
    it is also a file of documents.
    """
    sure_kinds = {
        recognition.importer.kind
        for recognition in recognitions
        if recognition.confidence >= MIN_SURE_CONFIDENCE
    }
    excluded = KindName.DOCUMENTS if KindName.SET in sure_kinds else KindName.SET
    recognised = [
        recognition.importer
        for recognition in recognitions
        if recognition.importer.kind != excluded
    ]
    # Reversed, so that the first importer of a kind overwrites the later ones.
    first_importers = {importer.kind: importer for importer in reversed(IMPORTERS.values())}
    title = tr("by its first lines")
    others = [
        replace(
            first_importers[kind], name=AUTO_TRIPLE_FORMAT, title=title, contents="", omissions=""
        )
        for kind in IMPORT_KINDS
        if kind not in {*sure_kinds, excluded, KindName.SET, KindName.DATABASE}
    ]
    named_formats = [
        importer
        for importer in IMPORTERS.values()
        if importer.kind in KINDS_WITH_FORMAT_CHOICE and importer not in recognised
    ]
    return [*recognised, *others, *named_formats]


def _importer_title(importer: Importer) -> str:
    return f"{IMPORT_KINDS[importer.kind].title} · {importer.title}"


def _draw_description(
    upload: ImportInput, importer: Importer, recognitions: list[Recognition]
) -> None:
    """Draw why the files are of this kind.

    The parts of the files that are read and left out are listed too.
    """
    name = upload.name
    if len(upload.files) > 1 and not upload.is_folder:
        name += tr(" and {files} more", files=many(len(upload.files) - 1, "file"))
    reasons = [
        recognition.reason
        for recognition in recognitions
        if recognition.importer.key == importer.key
    ]
    sentences = [
        f"{name}: {reasons[0]}." if reasons and reasons[0] else f"{name}.",
        f"{IMPORT_KINDS[importer.kind].action}.",
    ]
    if importer.contents:
        sentences.append(tr("Read: {taken}.", taken=importer.contents))
    if importer.omissions:
        sentences.append(tr("Left out: {left}.", left=importer.omissions))
    st.caption(plain(" ".join(sentences)))


def _upload_fault(upload: ImportInput, kind: KindName) -> str:
    """Return why uploads cannot be imported as a kind.

    It is empty if they can.
    """
    if len(upload.files) > 1 and not upload.is_folder and kind not in KINDS_OF_SEVERAL_FILES:
        return tr("Files of this kind are added one at a time.")
    limit = KIND_MAX_MEGABYTES.get(kind, DEFAULT_MAX_MEGABYTES) << 20
    for file in upload.files:
        if file.size > limit:
            return tr("{name} is larger than {size}.", name=file.name, size=size_text(limit))
    return ""


def _draw_overview() -> None:
    """Draw the formats of each kind, and example questions."""
    # A link that adds questions expands the example.
    is_open = st.query_params.get("add") == "questions"
    with st.expander(tr("What you can add"), icon=":material/help:", expanded=is_open):
        for name, kind in IMPORT_KINDS.items():
            title = plain(kind.title)
            titles = plain("; ".join(row.title for row in IMPORTERS.values() if row.kind == name))
            if name == KindName.DATABASE:
                st.markdown(tr("**{title}**: {titles}.", title=title, titles=titles))
                continue
            size = KIND_MAX_MEGABYTES.get(name, DEFAULT_MAX_MEGABYTES)
            st.markdown(
                tr("**{title}**, up to {size} MB: {titles}.", title=title, titles=titles, size=size)
            )
        st.caption(
            tr("Questions are easiest as a table. “gold” names the documents with the evidence.")
        )
        st.code(TABLE_EXAMPLE.rstrip(), language=None)
        st.code(GOLD_EXAMPLE.rstrip(), language=None)


def cases_step(upload: ImportInput, importer: Importer, current: AnswerSource) -> None:
    """Draw the button that adds the saved comparisons of a file."""
    st.caption(tr("Comparisons that are already saved stay as they are."))
    if st.button(tr("Add them"), key="cases_import", type="primary"):
        start_import(f"cases-{upload.id}", partial(_load_cases, upload))


def _load_cases(upload: ImportInput, job: Job) -> ImportOutcome:
    with upload.written_files() as (_, paths):
        result = load(paths[0].read_bytes())
    more = tr("; {known:,} were here already", known=result.n_known) if result.n_known else ""
    words = tr("{cases} added{more}.", cases=many(len(result.added), "case"), more=more)
    return ImportOutcome(words, draw_next_steps=_draw_cases_button)


def _draw_cases_button() -> None:
    """Draw the button to the page Cases, unless this is that page."""
    if session.page != "cases":
        st.button(tr("See them"), key="cases_see", on_click=go_to_page, args=("cases", {}))


# By kind, the function that draws the form. Its arguments are the input, the chosen importer, and
# the graph or corpus that is selected at first; some kinds do not need all of them.
IMPORT_STEPS: dict[str, Callable[[ImportInput, Importer, AnswerSource], Any]] = {
    KindName.GRAPH: graph_step,
    KindName.DOCUMENTS: documents_step,
    KindName.SET: documents_step,
    KindName.QUESTIONS: questions_step,
    KindName.RUN: run_step,
    KindName.INDEX: draw_index_step,
    KindName.CASES: cases_step,
    KindName.DATABASE: database_step,
}
