"""Encoders of sentence-transformers on tiny models, compared with the library's own vectors."""

from __future__ import annotations

import json

import numpy as np
import pytest

from core.errors import BadParameter, ModelUnavailable, RunCancelled
from core.models.base import question_vectors
from core.models.declarations import make_row, shipped_declarations
from core.models.encoders.sentence import SentenceEncoder
from core.watch import Watch

TEXTS = ["Alien -> directed_by -> Ridley Scott", "Paris", "a long text " * 40, "Paris", ""]
SHAPE = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "initializer_range": 0.5,
}
ARCHITECTURES = {  # Networks in models.toml: BGE-M3 and multilingual-e5, e5 and gte, nomic.
    "XLMRoberta": {
        **SHAPE,
        "max_position_embeddings": 140,
        "pad_token_id": 1,
        "bos_token_id": 0,
        "eos_token_id": 2,
    },
    "Bert": {**SHAPE, "max_position_embeddings": 128, "pad_token_id": 1},
    "NomicBert": {**SHAPE, "max_position_embeddings": 128, "pad_token_id": 1},
}


def network(kind: str, folder):
    """A folder with a tiny random network of that architecture and a tokenizer of letters."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    pieces = [
        "<s>",
        "<pad>",
        "</s>",
        "<unk>",
        "▁",
        *"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ?->_:",
    ]
    tokenizer = Tokenizer(
        models.Unigram([(piece, -float(n)) for n, piece in enumerate(pieces)], unk_id=3)
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    special = {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "cls_token": "<s>",
        "sep_token": "</s>",
        "pad_token": "<pad>",
        "unk_token": "<unk>",
    }
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=120, **special
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(vocab_size=len(pieces), **ARCHITECTURES[kind])
    getattr(transformers, f"{kind}Model")(config).eval().save_pretrained(folder)
    return folder


def saved_network(kind: str, pooling: str, folder):
    """A folder as sentence-transformers writes it: network, pooling and unit vectors."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Normalize, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    net = Transformer(str(network(kind, folder / "net")))
    SentenceTransformer(
        modules=[net, Pooling(16, pooling_mode=pooling), Normalize()], device="cpu"
    ).save(str(folder / "whole"))
    return folder / "whole"


@pytest.mark.parametrize(
    ("kind", "pooling"),
    [("XLMRoberta", "cls"), ("XLMRoberta", "mean"), ("Bert", "mean"), ("NomicBert", "mean")],
)
def test_vectors_equal_those_of_sentence_transformers(kind, pooling, tmp_path):
    from sentence_transformers import SentenceTransformer

    folder = saved_network(kind, pooling, tmp_path)
    ours = SentenceEncoder(str(folder), "tiny", "query: ", "passage: ", pooling, batch=2)
    theirs = SentenceTransformer(str(folder), device="cpu")
    assert ours.encode(TEXTS) == pytest.approx(theirs.encode(TEXTS, prompt="passage: "), abs=1e-5)
    assert question_vectors(ours, TEXTS) == pytest.approx(
        theirs.encode(TEXTS, prompt="query: "), abs=1e-5
    )
    assert ours.device == "cpu, float32" and np.linalg.norm(
        ours.encode(TEXTS), axis=1
    ) == pytest.approx(np.ones(5), abs=1e-6)
    assert ours.encode([]).shape == (0, 0)
    if pooling == "cls":
        with pytest.raises(ModelUnavailable, match="pooling “mean”.*“cls”"):
            SentenceEncoder(str(folder), "tiny", pooling="mean").encode(["a"])


def test_dense_vectors_equal_those_of_flag_embedding(tmp_path):
    from FlagEmbedding import BGEM3FlagModel

    folder = saved_network("XLMRoberta", "cls", tmp_path)
    theirs = BGEM3FlagModel(str(folder), use_fp16=False, devices="cpu", normalize_embeddings=True)
    wanted = theirs.encode(TEXTS[:4], max_length=120, return_dense=True)["dense_vecs"]
    assert SentenceEncoder(str(folder), "tiny", pooling="cls").encode(TEXTS[:4]) == pytest.approx(
        wanted, abs=1e-5
    )


def test_folder_without_pooling_needs_it_in_the_row(tmp_path):
    import torch
    import transformers

    folder = network("Bert", tmp_path)
    with pytest.raises(BadParameter, match="pooling.* models.toml"):
        SentenceEncoder(str(folder), "plain").encode(["a"])
    tokenizer, net = (
        transformers.AutoTokenizer.from_pretrained(folder),
        transformers.AutoModel.from_pretrained(folder).eval(),
    )
    with torch.inference_mode():
        tokens = net(**tokenizer("Paris ab", return_tensors="pt")).last_hidden_state[0]
    for pooling, vector in (("cls", tokens[0]), ("mean", tokens.mean(0))):
        wanted = (vector / vector.norm()).numpy()
        assert SentenceEncoder(str(folder), "plain", pooling=pooling).encode(["Paris ab"])[
            0
        ] == pytest.approx(wanted, abs=1e-5)


def test_known_texts_are_cached_and_reading_can_be_cancelled(tmp_path):
    encoder, calls = (
        SentenceEncoder(str(network("Bert", tmp_path)), "plain", pooling="mean", batch=1),
        [],
    )
    first = encoder.encode(["a", "b"], Watch(lambda: calls.append(1)))
    calls.clear()
    assert (encoder.encode(["b", "a"]) == first[::-1]).all()

    def cancel():
        calls.append(1)
        if len(calls) > 3:
            raise RunCancelled

    with pytest.raises(RunCancelled):
        encoder.encode([f"text {n}" for n in range(50)], Watch(cancel))
    encoder.close()
    assert not encoder.loaded and encoder.device == ""


def test_shipped_rows_have_pooling_and_prompts():
    rows = {
        name: one.settings
        for name, one in shipped_declarations().rows.items()
        if one.backend == "sentence-transformers"
    }
    assert {
        name: (one.pooling, one.question_prompt, one.text_prompt) for name, one in rows.items()
    } == {
        "bge-m3": ("cls", "", ""),
        "e5-base": ("mean", "query: ", "passage: "),
        "e5-multilingual": ("mean", "query: ", "passage: "),
        "multilingual-e5-small": ("mean", "query: ", "passage: "),
        "nomic": ("mean", "search_query: ", "search_document: "),
        "gte": ("mean", "", ""),
    }


def test_unknown_pooling_is_refused():
    with pytest.raises(
        BadParameter, match='models.toml: .model.x.: "pooling" is "cls" or "mean", not .first.'
    ):
        make_row(
            "x",
            {
                "kind": "encoder",
                "backend": "sentence-transformers",
                "weights": "a/b",
                "pooling": "first",
            },
            "models.toml",
        )


def test_missing_folder_is_reported(tmp_path):
    (tmp_path / "modules.json").write_text(json.dumps([]))
    with pytest.raises(ModelUnavailable, match="cannot be loaded from this computer"):
        SentenceEncoder(str(tmp_path), "empty").encode(["a"])
