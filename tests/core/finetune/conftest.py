"""A BERT and a Qwen2 of two layers, with tokenizers of their own, that train in a second."""

from __future__ import annotations

import json

import pytest

from core.finetune.training_examples import CandidateTexts, TrainingExample

WORDS = ("who made", "where is", "when came", "what is in")
RELATIONS = ("maker", "place", "year", "part")
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def toy_example(name: str, kind: int) -> TrainingExample:
    """A question whose right relation follows from its words; three other relations are wrong."""
    question, relation = f"{WORDS[kind]} {name}", RELATIONS[kind]
    others = [r for r in RELATIONS if r != relation]
    paths = CandidateTexts(
        "path", (f"{name} -> {relation} -> good",), tuple(f"{name} -> {r} -> bad" for r in others)
    )
    triples = CandidateTexts(
        "triple", (f"{name}, {relation}, good",), tuple(f"{name}, {r}, bad" for r in others)
    )
    return TrainingExample(
        question,
        question,
        (name,),
        (relation,),
        (paths, triples, CandidateTexts("relation", (relation,), tuple(others))),
    )


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """Models this small are slower with two threads."""
    monkeypatch.setenv("HOPSCOPE_THREADS", "1")


@pytest.fixture(scope="session")
def lesson():
    """Training examples about eight things and held-out ones about two others."""
    made = [
        toy_example(name, kind)
        for name in "ant bee cat dog eel fox gnu hen ibis jay".split()
        for kind in range(4)
    ]
    return made[:32], made[32:]


@pytest.fixture(scope="session")
def bert(tmp_path_factory):
    """A folder with a random BERT and a tokenizer of single letters."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("bert")
    letters = "abcdefghijklmnopqrstuvwxyz0123456789>-,_.'"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{c}" for c in letters)]
    tokenizer = Tokenizer(
        models.WordPiece({word: i for i, word in enumerate(words)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(folder / "tokenizer.json"))
    sizes = dict(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=256,
    )
    torch.manual_seed(0)
    BertModel(BertConfig(vocab_size=len(words), **sizes), add_pooling_layer=False).save_pretrained(
        str(folder)
    )
    return folder


@pytest.fixture(scope="session")
def qwen(tmp_path_factory):
    """A folder with a random Qwen2 and a tokenizer of single bytes with a chat template."""
    import torch
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    folder = tmp_path_factory.mktemp("qwen")
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    plain = Tokenizer(models.BPE({letter: i for i, letter in enumerate(letters)}, []))
    plain.pre_tokenizer, plain.decoder = (
        pre_tokenizers.ByteLevel(add_prefix_space=False),
        decoders.ByteLevel(),
    )
    plain.add_special_tokens(
        [AddedToken("<|im_start|>", special=True), AddedToken("<|im_end|>", special=True)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=plain, eos_token="<|im_end|>", pad_token="<|im_end|>"
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(str(folder))
    sizes = dict(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        intermediate_size=64,
    )
    torch.manual_seed(0)
    Qwen2ForCausalLM(
        Qwen2Config(vocab_size=len(tokenizer), tie_word_embeddings=True, **sizes)
    ).save_pretrained(str(folder))
    assert json.loads((folder / "config.json").read_text())["model_type"] == "qwen2"
    return folder
