"""Malformed indexes give an error sentence or a graph that can be stored."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.corpus.indexes.index_assembly import assemble_index
from core.corpus.indexes.opened_indexes import MAX_INDEX_MEMORY_BYTES
from core.corpus.indexes.tools import TOOLS
from core.corpus.readers.file_sources import MemoryFile
from core.errors import BadInput, HopscopeError
from core.runtime.subprocess_worker import Worker, WorkerEndedError
from core.watch import NO_WATCH
from tests.core.corpus.indexes.kit import RECORDED
from tests.core.corpus.indexes.test_youtu import CHUNKS, ROWS, json

FILES = {
    tool: {
        file.relative_to(RECORDED / tool).as_posix(): file.read_bytes()
        for file in sorted((RECORDED / tool).rglob("*.*"))
    }
    for tool in ("lightrag", "nano-graphrag", "fast-graphrag", "hipporag")
} | {
    "youtu-graphrag": {
        "graphs/demo_new.json": json.dumps(ROWS).encode(),
        "chunks/demo.txt": CHUNKS.encode(),
    }
}
PIECES = st.sampled_from(
    [
        b"\x00",
        b"\xff",
        b'"',
        b"[",
        b"{",
        b"}",
        b"]",
        b"null",
        b"-1e999",
        b"NaN",
        b"\\ud800",
        b"[" * 3000,
        b"true",
        b"<SEP>",
        b"",
        b"\x94h\x05",
    ]
)


@pytest.fixture(scope="module")
def worker():
    """A process with a memory limit, as the one that reads indexes.

    A pickle may ask for all memory.
    """
    with Worker(MAX_INDEX_MEMORY_BYTES) as worker:
        yield worker


def index_of(tool, files, watch):
    return TOOLS[tool].read_files(
        {name: MemoryFile(name, content) for name, content in files.items()}
    )


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damaged_files_give_an_error_sentence_or_a_graph(worker, data):
    tool = data.draw(st.sampled_from(sorted(FILES)))
    files = dict(FILES[tool])
    name = data.draw(st.sampled_from(sorted(files)))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(files[name])))
        files[name] = (
            files[name][:at]
            + data.draw(PIECES | st.binary(max_size=3))
            + files[name][at + data.draw(st.integers(0, 8)) :]
        )
    try:
        index = worker.run(index_of, tool, files, watch=NO_WATCH)
        opened = assemble_index(index, tool, "spoiled")
    except HopscopeError as error:
        assert isinstance(error, WorkerEndedError) or type(error) in (BadInput, HopscopeError)
        assert str(error)
    else:
        columns = opened.graph.columns
        assert (
            opened.documents
            and len(columns.chunks)
            and "".join(columns.nodes.texts("description")).encode() is not None
        )
        assert all(
            len(row) == 0 or max(row) < len(columns.chunks)
            for row in columns.nodes.id_lists("chunks").to_lists()
        )


VALUE = (
    st.none()
    | st.booleans()
    | st.integers(-3, 10**20)
    | st.floats()
    | st.text(max_size=5)
    | st.just([])
    | st.just({})
    | st.just([[1]])
)


def value_paths(value, path=()):
    """Paths of all values inside a JSON value."""
    yield path
    for key, inner in (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    ):
        yield from value_paths(inner, (*path, key))


JSONS = [(tool, name) for tool, files in FILES.items() for name in files if name.endswith(".json")]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_values_of_another_type_give_an_error_sentence_or_a_graph(data):
    tool, name = data.draw(st.sampled_from(JSONS))
    whole = json.loads(FILES[tool][name])
    path = data.draw(st.sampled_from(list(value_paths(whole))[1:]))
    inner = whole
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = data.draw(VALUE)
    files = {other: MemoryFile(other, content) for other, content in FILES[tool].items()} | {
        name: MemoryFile(name, json.dumps(whole).encode())
    }
    try:
        assert assemble_index(TOOLS[tool].read_files(files), tool, "spoiled").documents
    except BadInput as error:
        assert str(error)
