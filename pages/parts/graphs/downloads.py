"""Download of a graph in a format of other graph tools."""

from __future__ import annotations

import io
import re
import shlex
import shutil
import zipfile
from typing import Any

import streamlit as st

from core.graph.writers.exports import (
    EXPORT_FORMATS,
    default_export_name,
    export_graph,
    unwritten_sentences,
)
from core.io.temporary_folders import temporary_folder
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

# Version numbers behind the names of tools, which the page leaves out.
VERSION_PATTERN = re.compile(r" \d[\d.]{1,20}")
# Most triples that are written for a browser, which takes some 20 seconds. The command line has no
# limit.
MAX_DOWNLOAD_TRIPLES = 3_000_000


def draw_download(graph: Any) -> None:
    """Draw the choice of a format, and the download button.

    A note tells what the format leaves out. For a graph that is too large, the shell command that
    exports it is drawn instead.
    """
    if graph.n_edges > MAX_DOWNLOAD_TRIPLES:
        st.caption(
            tr(
                "{triples} are too many for the browser. The command line exports them:",
                triples=many(graph.n_edges, "triple"),
            )
        )
        st.code(shlex.join(["hopscope", "graph", "export", graph.name]), language=None)
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        format = st.selectbox(
            tr("Export as"),
            list(EXPORT_FORMATS),
            format_func=lambda name: EXPORT_FORMATS[name].title,
            key="out_format",
            width=260,
        )
        name = default_export_name(graph.name.replace(":", "-"), format)
        st.download_button(
            tr("Download"),
            lambda: graph_file(graph, format, name),
            name if EXPORT_FORMATS[format].suffix else f"{name}.zip",
            on_click="ignore",
            icon=":material/download:",
            key="out_download",
        )
    tools = VERSION_PATTERN.sub("", EXPORT_FORMATS[format].read_by)
    sentences = [tr("Read by {tools}.", tools=tools), *unwritten_sentences(graph, format)]
    st.caption(plain(" ".join(sentences)))


def graph_file(graph: Any, format: str, name: str) -> bytes:
    """Return the bytes of a graph's file in a format, named `name`.

    A format without a suffix has several files, which are returned as a zip archive.
    """
    folder = temporary_folder()
    try:
        files = export_graph(graph, format, folder / name)
        if EXPORT_FORMATS[format].suffix:
            return files[0].read_bytes()
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in files:
                archive.write(file, file.name)
        return buffer.getvalue()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
