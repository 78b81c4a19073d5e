"""A set that a person names by its id on a hub, fetched as a job, and then chosen like a file that
was uploaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from core.errors import BadInput
from core.io.fetched import HUB, Fetched, fetched, is_id
from core.runtime.jobs import Job
from core.sharing import shared
from pages.parts.bringing.inspection import inspect_upload
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

LONGEST = 200  # characters of an id


@dataclass(frozen=True)
class HubSet:
    """A fetched set with the key and the name of an upload; its path is a file or a folder."""

    file_id: str
    path: Path

    @property
    def name(self) -> str:
        """The name of its file or folder."""
        return self.path.name


def hub_set(key: str, example: str, folders: bool = False) -> HubSet | None:
    """Draw the field for an id and what came of fetching it; the set once it is here. A set of
    documents, which is a folder, only where `folders` are taken. Where the app is shared there is
    no such field, as whoever writes an id fills the server's disk."""
    if shared():
        return None
    id = st.text_input(
        tr("Or the id of a set on a hub"),
        key=key,
        max_chars=LONGEST,
        placeholder=example,
        width=520,
        help=tr(
            "hf:NAME of HuggingFace's hub, with :CONFIGURATION and :SPLIT where there are several; irds:ID of ir_datasets. It is fetched "
            "once and saved."
        ),
    ).strip()
    if not id:
        return None

    def work(job: Job) -> Fetched:
        if not is_id(id):
            raise BadInput(
                tr(
                    "Begin the id with hf: or irds:, as in hf:rmanluo/RoG-webqsp or irds:beir/scifact/test."
                )
            )
        name = id.removeprefix(HUB).partition(":")[0] if id.startswith(HUB) else ""
        if name and Path(name).exists():
            raise BadInput(
                tr(
                    "That is a folder on this computer rather than a set on a hub; choose its files above."
                )
            )
        return fetched(id, job)

    job = inspect_upload(f"{key}_fetched", (id,), work, tr("Fetching the set"), tr("change the id"))
    if job.error:
        st.error(plain(job.error))
    if job.result is None:
        return None
    if job.result.path.is_dir() and not folders:
        st.error(tr("That is a set of documents with questions; add it on Texts."))
        return None
    st.caption(plain(job.result.note))
    return HubSet(id, job.result.path)
