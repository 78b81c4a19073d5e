"""The GraphRAG tools whose indexes can be read, and recognition of an index's tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from core.corpus.indexes import fast_graphrag, hipporag, lightrag, microsoft, youtu
from core.corpus.indexes.index import IndexContent
from core.errors import BadInput
from core.io.files import FileSource


@dataclass(frozen=True)
class IndexTool:
    """A tool whose indexes can be read.

    Parameters
    ----------
    title : its name on screen.
    recognised_by : the files by which its index is recognised, in words.
    is_index : returns whether the names of a folder's files are those of its index.
    read_files : reads an index from the files of its folder by name.
    versions : the versions whose files are known to be readable, in words.
    read_items, not_read : the content that is taken from its index, and the content that is not, in
        words.
    """

    title: str
    recognised_by: str
    is_index: Callable[[set[str]], bool]
    read_files: Callable[[Mapping[str, FileSource]], IndexContent]
    versions: str
    read_items: str
    not_read: str


TOOLS: dict[str, IndexTool] = {
    "graphrag": IndexTool(
        "Microsoft GraphRAG",
        (
            "entities.parquet, relationships.parquet and text_units.parquet, up to version 1 "
            "named create_final_…"
        ),
        microsoft.holds_index,
        microsoft.read_index,
        "0.3 to 3; its own example, of version 3",
        (
            "entities, relations with weights, communities on levels, reports with ratings; "
            "vectors in Parquet"
        ),
        "claims, vectors in LanceDB",
    ),
    "lightrag": IndexTool(
        "LightRAG",
        f"{lightrag.GRAPHML_FILE} and {lightrag.CHUNK_STORE_FILE}",
        lightrag.holds_index,
        lightrag.read_index,
        "1.5.7",
        "entities, relations with keywords and weights; vectors",
        "saved replies",
    ),
    "nano-graphrag": IndexTool(
        "nano-graphrag",
        f"the same and {lightrag.REPORT_STORE_FILE}",
        lightrag.holds_nano_index,
        lightrag.read_nano_index,
        "0.0.8.2",
        "entities, relations with weights, communities on levels, reports with ratings; vectors",
        "saved replies",
    ),
    "fast-graphrag": IndexTool(
        "fast-graphrag",
        f"{fast_graphrag.GRAPH_FILE} and {fast_graphrag.CHUNKS_FILE}",
        fast_graphrag.holds_index,
        fast_graphrag.read_index,
        "0.0.5",
        "entities, relations, “is” edges; vectors",
        "",
    ),
    "hipporag": IndexTool(
        "HippoRAG",
        "openie_results_ner_….json",
        hipporag.holds_index,
        hipporag.read_index,
        "2.0.0a4",
        "names and triples; vectors of names",
        "its pickled graph; edges between alike names can be made here",
    ),
    "youtu-graphrag": IndexTool(
        "Youtu-GraphRAG",
        "graphs/…_new.json and chunks/….txt",
        youtu.holds_index,
        youtu.read_index,
        "of 2025, by its code and example",
        "entities with attributes as descriptions, relations by name, communities",
        "keywords, vectors",
    ),
}
"""The tools by key.

The key is part of the names of a tool's build (`opened-graphrag`) and chunks
(`report.txt#graphrag-0`).
"""


def tool_build(tool: str) -> str:
    """Return the id of the build that uses the graph of a tool's index."""
    return f"opened-{tool}"


def recognise_tool(
    files: Mapping[str, FileSource], where: str
) -> tuple[str, dict[str, FileSource]]:
    """Recognise the tool that wrote the index among some files.

    An index may lie in any folder; one in the outermost folder is preferred.

    Parameters
    ----------
    files : files by their paths.
    where : words for the folder or zip, for errors.

    Returns
    -------
    Key of the tool, and the files of the index by their paths in its folder.

    Raises
    ------
    BadInput
        If there is no index, naming the files that were looked for, or several, naming their
        folders.
    """
    files_by_folder: dict[str, dict[str, FileSource]] = {}
    for name in sorted(files):
        path = PurePosixPath(name)
        for folder_path in path.parents:
            folder_files = files_by_folder.setdefault(str(folder_path), {})
            folder_files[path.relative_to(folder_path).as_posix()] = files[name]
    matches: list[tuple[str, str]] = []
    for folder, folder_files in files_by_folder.items():
        names = set(folder_files)
        matches += [(key, folder) for key, tool in TOOLS.items() if tool.is_index(names)]
    if not matches:
        tools = "; ".join(f"{tool.title} ({tool.recognised_by})" for tool in TOOLS.values())
        raise BadInput(f"{where} holds no index that can be read. Looked for: {tools}.")
    matches = [(key, folder) for key, folder in matches if folder == "."] or matches
    if len(matches) > 1:
        several = ", ".join(
            f"{TOOLS[key].title} in {folder if folder != '.' else 'the folder itself'}"
            for key, folder in matches[:6]
        )
        raise BadInput(f"{where} holds several indexes: {several}. Give the folder of one of them.")
    key, folder = matches[0]
    return key, files_by_folder[folder]
