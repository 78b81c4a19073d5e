"""Both cross-encoder backends on a tiny random model of bge-reranker-v2-m3's architecture."""

from __future__ import annotations

import pytest

from core.errors import BadParameter, ModelUnavailable
from core.models.base import Task
from core.models.cross import CrossEncoder, FlagReranker
from core.models.heads import torch_head
from core.runtime.meter import metered

TEXTS = [
    "Alien -> directed_by -> Ridley Scott",
    "Paris",
    "Alien -> directed_by -> Ridley Scott",
    "x " * 900,
]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A folder with an XLM-RoBERTa sequence classifier and a tokenizer of 60 pieces.

    The classifier has 2 layers of 16 dimensions.
    """
    torch = pytest.importorskip("torch")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import (
        PreTrainedTokenizerFast,
        XLMRobertaConfig,
        XLMRobertaForSequenceClassification,
    )

    folder = tmp_path_factory.mktemp("tiny-reranker")
    pieces = [
        "<s>",
        "<pad>",
        "</s>",
        "<unk>",
        "<mask>",
        "▁",
        *"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ?->_",
    ]
    tokenizer = Tokenizer(
        models.Unigram([(piece, -float(n)) for n, piece in enumerate(pieces)], unk_id=3)
    )
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
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


def test_missing_weights_are_reported(tmp_path):
    (tmp_path / "empty").mkdir()
    for kind in (FlagReranker, CrossEncoder):
        with pytest.raises(ModelUnavailable, match="cannot be loaded from this folder"):
            kind(str(tmp_path / "empty"), "empty").score(Task("q"), ["a"])


@pytest.mark.parametrize("kind", [FlagReranker, CrossEncoder])
def test_head_on_hidden_states_gives_the_scores(tiny, kind):
    model, task = kind(str(tiny), "tiny", max_tokens=128), Task("who directed Alien?")
    hidden = model.hidden(task, TEXTS)
    assert hidden.shape == (4, 16) and model.head(hidden) == pytest.approx(
        model.score(task, TEXTS), abs=1e-4
    )
    # Hidden states do not depend on the other texts of a batch.
    assert model.hidden(task, TEXTS[:1]) == pytest.approx(hidden[:1], abs=1e-5)


def classifier(kind, folder):
    """A tiny classifier of another architecture, with the tokenizer of `tiny`.

    `kind` is its name in transformers.
    """
    import transformers

    sizes = {"vocab_size": 60, "num_labels": 1, "pad_token_id": 1, "max_position_embeddings": 140}
    if kind == "DistilBert":
        config = transformers.DistilBertConfig(
            dim=16, n_layers=1, n_heads=2, hidden_dim=32, **sizes
        )
    else:
        more = {"embedding_size": 16} if kind == "Electra" else {}
        shape = {
            "hidden_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 32,
        }
        config = getattr(transformers, f"{kind}Config")(**shape, **sizes, **more)
    return getattr(transformers, f"{kind}ForSequenceClassification")(config).eval()


@pytest.mark.parametrize("kind", ["Bert", "DistilBert"])
def test_heads_of_other_architectures_are_supported(tiny, kind):
    import numpy as np
    import torch

    net = classifier(kind, tiny)
    tap, head = torch_head(net, "small")
    caught = []
    tap.register_forward_pre_hook(lambda module, given: caught.append(given[0]))
    with torch.inference_mode():
        wanted = net(input_ids=torch.tensor([[0, 5, 9, 2], [0, 7, 7, 2]])).logits[:, 0].numpy()
    states = caught[0][:, 0] if caught[0].dim() == 3 else caught[0]
    assert head(states.numpy()) == pytest.approx(wanted.astype(np.float64), abs=1e-5)


@pytest.mark.parametrize("kind", ["Electra", "RoFormer"])  # Both have GELU between their layers.
def test_unsupported_head_is_reported(tiny, kind):
    with pytest.raises(
        BadParameter,
        match=f"small is a {kind}ForSequenceClassification, whose head has another shape",
    ):
        torch_head(classifier(kind, tiny), "small")


def test_known_pairs_are_not_read_again(tiny, monkeypatch):
    cross, read = CrossEncoder(str(tiny), "tiny", max_tokens=128), []
    codes = CrossEncoder._tokenize
    monkeypatch.setattr(
        CrossEncoder,
        "_tokenize",
        lambda self, tok, query, texts: read.extend(texts) or codes(self, tok, query, texts),
    )
    first = cross.hidden(Task("who"), ["a", "b", "a"])
    with metered() as meter:
        again = cross.hidden(Task("who"), ["c", "a"])
    assert read == ["a", "b", "c"] and (first[0] == again[1]).all() and meter.saved_seconds > 0
    cross.hidden(Task("what"), ["a"])
    cross.forget()
    cross.hidden(Task("who"), ["a"])
    assert read == ["a", "b", "c", "a", "a"]


@pytest.mark.parametrize(
    "query", ["who directed Alien?", "who " * 60]
)  # The second question is longer than three quarters of the input that the model reads.
def test_scores_equal_those_of_the_libraries(tiny, query):
    texts = [*TEXTS, "Alien", "who? " * 30, "Ridley Scott -> directed -> Alien " * 3]
    pairs = [(query, text) for text in texts]
    flag, cross = (
        FlagReranker(str(tiny), "tiny", batch=3, max_tokens=128),
        CrossEncoder(str(tiny), "tiny", batch=3, max_tokens=128),
    )
    assert flag.score(Task(query), texts) == pytest.approx(
        flag._engine().compute_score(pairs), abs=1e-5
    )
    theirs = cross._engine().predict(pairs, activation_fn=torch_identity(), show_progress_bar=False)
    assert cross.score(Task(query), texts) == pytest.approx(theirs, abs=1e-5)


class WordTokenizer:
    """A tokenizer that counts words as tokens and records the questions paired with texts."""

    def __init__(self):
        self.questions = []

    def __call__(self, text, texts=None, **_):
        if texts is None:
            return {"input_ids": text.split()}
        self.questions += text
        return {"input_ids": [[0] for _ in texts]}

    def decode(self, ids, **_):
        return "cut: " + " ".join(ids)


@pytest.mark.parametrize(
    ("query", "read"),
    [("a b c", "a b c"), ("a  b c d e f", "a  b c d e f"), ("a b c d e f g", "cut: a b c d e f")],
)
def test_question_is_cut_at_three_quarters_of_the_input(query, read):
    tokenizer = WordTokenizer()
    codes = FlagReranker("weights", "tiny", max_tokens=8)._tokenize(tokenizer, query, ["x", "y"])
    assert tokenizer.questions == [read, read] and codes == {"input_ids": [[0], [0]]}


def torch_identity():
    import torch

    return torch.nn.Identity()


def test_batches_shrink_when_memory_runs_out(tiny, monkeypatch):
    import torch

    model, sizes = CrossEncoder(str(tiny), "tiny", batch=8, max_tokens=128), []
    numbers, texts = CrossEncoder._compute_scores, [f"text {letter}" for letter in "abcdefghij"]
    whole = model.score(Task("who"), texts)

    def small(self, net, given):
        sizes.append(len(given["input_ids"]))
        if sizes[-1] > 3:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return numbers(self, net, given)

    monkeypatch.setattr(CrossEncoder, "_compute_scores", small)
    assert model.score(Task("who"), texts) == pytest.approx(whole, abs=1e-5)
    assert sizes == [8, 4, 2, 2, 2, 2, 2]
