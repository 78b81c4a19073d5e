"""Download of a graph in a format of other tools."""

from __future__ import annotations

import io
import re
import shutil
import zipfile
from typing import Any

import streamlit as st

from core.graph.writers.writing import WRITTEN, export, left_out, usual_name
from core.io.temporary import temporary_folder
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

VERSION = re.compile(r" \d[\d.]{1,20}")
# Most triples that are written for a browser, which takes some 20 seconds. The command line has no
# limit.
MOST = 3_000_000


def download(graph: Any) -> None:
    """Draw the choice of a format, and the download button.

    A note names what the format leaves out.
    """
    if graph.n_edges > MOST:
        st.caption(
            tr(
                "{triples} are written by the command: `python -m core graph export {graph}`.",
                triples=many(graph.n_edges, "triple"),
                graph=plain(graph.name),
            )
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        format = st.selectbox(
            tr("Take it out as"),
            list(WRITTEN),
            format_func=lambda name: WRITTEN[name].title,
            key="out_format",
            width=260,
        )
        name = usual_name(graph.name.replace(":", "-"), format)
        st.download_button(
            tr("Download"),
            lambda: content(graph, format, name),
            name if WRITTEN[format].suffix else f"{name}.zip",
            on_click="ignore",
            icon=":material/download:",
            key="out_download",
        )
    tools = VERSION.sub("", WRITTEN[format].read_by)
    st.caption(plain(" ".join([tr("Read by {tools}.", tools=tools), *left_out(graph, format)])))


def content(graph: Any, format: str, name: str) -> bytes:
    """Return the file of a graph in a format.

    It is a zip archive if the format has several tables.
    """
    folder = temporary_folder()
    try:
        files = export(graph, format, folder / name)
        if WRITTEN[format].suffix:
            return files[0].read_bytes()
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in files:
                archive.write(file, file.name)
        return packed.getvalue()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
