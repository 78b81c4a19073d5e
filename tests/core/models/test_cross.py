"""Both cross-encoder backends on a tiny randomly initialised model of bge-reranker-v2-m3's architecture."""

from __future__ import annotations

import pytest

from core.errors import ModelUnavailable
from core.models.base import Task
from core.models.cross import CrossEncoder, FlagReranker

TEXTS = ["Alien -> directed_by -> Ridley Scott", "Paris", "Alien -> directed_by -> Ridley Scott", "x " * 900]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A folder with an XLM-RoBERTa sequence classifier of 2 layers of 16 and a tokenizer of 60 pieces."""
    torch = pytest.importorskip("torch")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaForSequenceClassification

    folder = tmp_path_factory.mktemp("tiny-reranker")
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "▁", *"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ?->_"]
    tokenizer = Tokenizer(models.Unigram([(piece, -float(n)) for n, piece in enumerate(pieces)], unk_id=3))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_max_length=128,
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = XLMRobertaConfig(
        vocab_size=len(pieces),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=140,
        num_labels=1,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        initializer_range=0.5,
    )
    XLMRobertaForSequenceClassification(config).eval().save_pretrained(folder)
    return folder


def test_both_backends_score_alike(tiny):
    flag = FlagReranker(str(tiny), "tiny", max_tokens=128)
    cross = CrossEncoder(str(tiny), "tiny", max_tokens=128)
    task = Task("who directed Alien?")
    assert not flag.loaded
    first, second = flag.score(task, TEXTS), cross.score(task, TEXTS)
    assert flag.loaded and first.shape == (4,) and first[0] == first[2] != first[1]
    assert first == pytest.approx(second, abs=1e-4)
    assert flag.choose(task, TEXTS, 2).order == cross.choose(task, TEXTS, 2).order
    assert flag.choose(task, [], 2).positions == ()
    one = flag.score(task, TEXTS[:1])
    assert one == pytest.approx(first[:1], abs=1e-5)
    flag.close()
    assert not flag.loaded


def test_weights_that_are_not_there(tmp_path):
    (tmp_path / "empty").mkdir()
    for kind in (FlagReranker, CrossEncoder):
        with pytest.raises(ModelUnavailable, match="cannot be loaded from this folder"):
            kind(str(tmp_path / "empty"), "empty").score(Task("q"), ["a"])
