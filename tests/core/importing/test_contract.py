"""Every importer recognises and reads its example, and refuses a damaged one with a sentence."""

from __future__ import annotations

import bz2
import gzip
import pickle
import zipfile

import pytest
import zstandard

from core.errors import BadInput, RunCancelled
from core.importing import IMPORT_KINDS, IMPORTERS, importers_named, recognise
from core.watch import Watch
from tests.core.importing.examples import (
    CHECKS,
    IN_PROCESS,
    KEYS,
    PACKED,
    RECODED,
    TEXT,
    TEXTS,
    check,
    example,
)

pytestmark = pytest.mark.usefixtures("one_reading_process")
OTHER_FIRST = {  # These examples also fit another importer, which comes first.
    "graph/tab-quoted": "graph/tab",
    "set/book": "documents/txt",
}
EDGELESS = "graph/nodes"  # This example is not read without edges.
WITHOUT_FILES = ["graph/crag", "database/sparql", "database/bolt"]


def read_or_refused(key, path, **how) -> bool:
    """Return whether a file is read.

    A refusal is a BadInput with a sentence; any other error fails the test.
    """
    try:
        recognise(path)
    except BadInput as error:
        assert str(error)
    try:
        found = IMPORTERS[key].read_file(path, **how)
    except BadInput as error:
        assert str(error)
        return False
    assert found.words
    return True


def write_copy(key, tmp_path, data, end=""):
    """Write other bytes under the name of an example."""
    path = tmp_path / (example(key).name + end)
    path.write_bytes(data)
    return path


def test_importers_without_an_example_are_listed():
    assert [key for key in IMPORTERS if key not in KEYS] == WITHOUT_FILES
    assert {one.kind for one in IMPORTERS.values()} == set(IMPORT_KINDS) == {*CHECKS, "database"}
    assert importers_named("graph/turtle") == [IMPORTERS["graph/turtle"]]
    assert len(importers_named("index")) == 6
    with pytest.raises(BadInput, match="graph/turtle"):
        importers_named("graph/turtl")


@pytest.mark.parametrize("key", KEYS)
def test_an_example_is_recognised_and_read(key):
    found = recognise(example(key))
    assert found[0].importer.key == OTHER_FIRST.get(key, key)
    (mine,) = [one for one in found if one.importer.key == key]
    assert 0 < mine.confidence <= 1 and mine.reason and mine.action
    if key == EDGELESS:
        with pytest.raises(BadInput, match="edges"):
            IMPORTERS[key].read_file(example(key))
        return
    check(IMPORTERS[key], IMPORTERS[key].read_file(example(key)))


PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstandard.compress}
ONE_OF_A_KIND = {key.partition("/")[0]: key for key in PACKED if key != EDGELESS}.values()


@pytest.mark.parametrize(
    ("end", "key"),
    [(".gz", key) for key in PACKED if key != EDGELESS]
    + [(end, key) for end in (".bz2", ".zst") for key in ONE_OF_A_KIND],
)
def test_a_packed_example_is_read_like_the_plain_one(tmp_path, key, end):
    pack = PACK[end]
    path = write_copy(key, tmp_path, pack(example(key).read_bytes()), end)
    assert key in [one.importer.key for one in recognise(path)]
    check(IMPORTERS[key], IMPORTERS[key].read_file(path))
    write_copy(key, tmp_path, pack(example(key).read_bytes())[:-3], end)
    assert not read_or_refused(key, path)


@pytest.mark.parametrize("key", KEYS)
def test_a_cut_file_is_read_or_refused(tmp_path, key):
    data = example(key).read_bytes()
    for share in (0, 0.3, 0.9):
        read = read_or_refused(key, write_copy(key, tmp_path, data[: int(share * len(data))]))
        assert not (read and share == 0)


@pytest.mark.parametrize("key", TEXTS)
def test_bytes_of_no_encoding_are_read_or_refused(tmp_path, key):
    data = example(key).read_bytes()
    read_or_refused(key, write_copy(key, tmp_path, data[:20] + b"\xff\xfe\x81" + data[20:]))


@pytest.mark.parametrize("key", RECODED)
def test_letters_of_other_encodings_are_read(tmp_path, key):
    text = example(key).read_text("utf-8").replace("Anna", "Zoë Müller").replace("Gull", "Möwe")
    one = IMPORTERS[key]
    items = one.read_file(write_copy(key, tmp_path, text.encode())).items
    for encoding in ("utf-16", "utf-8-sig", "cp1252"):
        assert one.read_file(write_copy(key, tmp_path, text.encode(encoding))).items == items
    named = one.read_file(write_copy(key, tmp_path, text.encode("cp850")), encoding="cp850")
    assert named.items == items


@pytest.mark.parametrize("key", KEYS)
def test_a_cancelled_reading_ends(key):
    def cancelled():
        raise RunCancelled()

    with pytest.raises(RunCancelled):
        IMPORTERS[key].read_file(example(key), watch=Watch(cancelled))


@pytest.mark.parametrize("key", KEYS)
def test_no_more_than_a_limit_is_read(tmp_path, key):
    with pytest.raises(BadInput):
        IMPORTERS[key].read_file(example(key), max_bytes=1)
    if key in PACKED and key != EDGELESS:
        data = example(key).read_bytes()
        path = write_copy(key, tmp_path, gzip.compress(data), ".gz")
        assert IMPORTERS[key].read_file(path, max_bytes=len(data)).items
        with pytest.raises(BadInput, match="more than"):
            IMPORTERS[key].read_file(path, max_bytes=len(data) - 1)


def test_a_missing_file_gives_an_error_sentence(tmp_path):
    for key in KEYS:
        with pytest.raises(BadInput):
            IMPORTERS[key].read_file(tmp_path / example(key).name)
    with pytest.raises(BadInput, match="no file"):
        recognise(tmp_path / "absent.ttl")


LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "ha">'
    + b"".join(b'<!ENTITY a%d "%s">' % (at, b"&a;" * 20) for at in range(20))
    + b"]><a>&a19;&a1;</a>"
)
HOSTILE = {
    "a pickle": pickle.dumps(print),
    "laughs": LAUGHS,
    "nested": b"[" * 50_000,
    "objects": b'{"a":' * 50_000,
    "zeros": bytes(5_000),
    "controls": b"\x1b[31m\ta\x07\tb\r\n\x1b]0;c\x07|,;\n" * 3,
    "a long line": b"a" * 300_000,
    "a zip": b"PK\x03\x04" + bytes(60),
}


@pytest.mark.parametrize("key", KEYS)
def test_a_hostile_file_is_read_or_refused(tmp_path, key):
    named = list(HOSTILE) if key in IN_PROCESS else ["a pickle", "laughs"]
    for name in named:
        read_or_refused(key, write_copy(key, tmp_path, HOSTILE[name]))


@pytest.mark.parametrize("key", ["graph/zip", "documents/files", "set/beir", "index/lightrag"])
def test_a_hostile_zip_is_read_or_refused(tmp_path, key):
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("../../evil.txt", "/evil.nt", "C:\\evil.txt", "a\x1b[31m.txt", ".hidden"):
            archive.writestr(name, TEXT)
        archive.writestr("corpus.jsonl", b" " * 1_000_000)
    read_or_refused(key, path, max_bytes=2_000_000)
    assert [one.name for one in tmp_path.parent.iterdir() if one.suffix == ".txt"] == []
    assert [one.name for one in tmp_path.iterdir()] == ["evil.zip"]
