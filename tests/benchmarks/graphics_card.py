"""Encoders, rerankers and fine-tuning on a GPU.

    python -m tests.benchmarks graphics_card [--small]

The networks have their true sizes and random weights: speed and memory are realistic, but results
are meaningless. Results of the GPU in half precision are compared with float32 on the processor.
`--small` runs everything on tiny networks, on any machine.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

WORDS = 20_000  # Words of the artificial vocabulary, each one token.
TINY = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
}
LARGE = {
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
}
BASE = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
}
MINI = {
    "hidden_size": 384,
    "num_hidden_layers": 6,
    "num_attention_heads": 12,
    "intermediate_size": 1536,
}
XLM = {
    "vocab_size": 250_002,
    "max_position_embeddings": 8194,
    "type_vocab_size": 1,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
}
BERT = {"vocab_size": 30_522, "pad_token_id": 1}
ENCODERS = {  # Name: architecture, sizes, pooling, maximal tokens.
    "BGE-M3 (XLM-R large, 568 M)": ("XLMRoberta", LARGE | XLM, "cls", 8192),
    "e5-base-v2 (BERT base, 109 M)": ("Bert", BASE | BERT, "mean", 512),
    "gte-large (BERT large, 335 M)": ("Bert", LARGE | BERT, "mean", 512),
    "nomic-embed-text-v1.5 (137 M)": ("NomicBert", BASE | BERT, "mean", 2048),
}
RERANKER = ("XLMRoberta", LARGE | XLM | {"num_labels": 1})
COMMON = {"initializer_range": 0.03}


def texts(n: int, mean: int, seed: int) -> list[str]:
    """Texts of artificial words with lengths around the mean."""
    draw = np.random.default_rng(seed)
    lengths = np.clip(draw.normal(mean, mean / 4, n), 4, 2 * mean).astype(int)
    return [" ".join(f"w{word}" for word in draw.integers(0, WORDS, length)) for length in lengths]


def folder(kind: str, sizes: dict[str, Any], place: Path, suffix: str = "Model") -> Path:
    """A folder with a random network and a tokenizer of artificial words."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    pieces = {
        piece: n
        for n, piece in enumerate(
            ["<s>", "<pad>", "</s>", "<unk>", *(f"w{n}" for n in range(WORDS))]
        )
    }
    tokenizer = Tokenizer(models.WordLevel(pieces, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [("<s>", 0), ("</s>", 2)]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=ends
    )
    special = {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "cls_token": "<s>",
        "sep_token": "</s>",
        "pad_token": "<pad>",
        "unk_token": "<unk>",
    }
    if suffix == "ForCausalLM":
        special["chat_template"] = (
            "{% for m in messages %}{{ m['role'] }} {{ m['content'] }} {% endfor %}"
        )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=8192, **special
    ).save_pretrained(place)
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**COMMON, **sizes)
    getattr(transformers, f"{kind}{suffix}")(config).eval().save_pretrained(place)
    return place


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the work, including waits for the GPU, and its result."""
    began = time.perf_counter()
    value = work()
    return time.perf_counter() - began, value


def row(what: str, **figures: Any) -> None:
    """Print one measurement as a line of JSON."""
    print(
        json.dumps(
            {
                "what": what,
                **{k: round(v, 5) if isinstance(v, float) else v for k, v in figures.items()},
            }
        ),
        flush=True,
    )


def free() -> None:
    """Free the memory of earlier models."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def on_processor(module: Any, work: Callable[[], Any]) -> Any:
    """Result of the work with a module's models on the processor."""
    there, module.device = module.device, lambda: "cpu"
    try:
        return work()
    finally:
        module.device = there


def cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Row-wise cosines, float [n]."""
    one, other = one.astype(np.float64), other.astype(np.float64)
    return (
        np.einsum("nd,nd->n", one, other)
        / np.linalg.norm(one, axis=1)
        / np.linalg.norm(other, axis=1)
    )


def encoders(home: Path, small: bool) -> None:
    """Speed, agreement and memory of each encoder."""
    from core.models.encoders import sentence

    for name, (kind, sizes, pooling, most) in ENCODERS.items():
        place = folder(kind, sizes | (TINY if small else {}), home / "encoder")
        given = (str(place), name, "", "", pooling, 32, most)
        some = texts(8, 6, 1) + texts(8, 31, 2) + texts(4, 240, 3)
        wanted = on_processor(
            sentence, lambda given=given, some=some: sentence.SentenceEncoder(*given).encode(some)
        )
        encoder = sentence.SentenceEncoder(*given)
        agree = float(cosines(encoder.encode(some), wanted).min())
        seconds, _ = timed(lambda encoder=encoder: encoder.encode(texts(64, 31, 9)))
        figures = {}
        for label, n, length in (("paths", 20_000, 31), ("chunks", 3_000, 256)):
            many = texts(n // 100 if small else n, length, 4)
            seconds, _ = timed(lambda encoder=encoder, many=many: encoder.encode(many))
            figures[f"{label} a second"] = len(many) / seconds
        others = float(cosines(wanted[:-1], wanted[1:]).mean())
        row(
            name,
            device=encoder.device,
            least_cosine=agree,
            cosine_of_others=others,
            tokens_at_once=encoder._batches.tokens,
            **figures,
        )
        if name.startswith("BGE"):
            out_of_memory(encoder, small)
            library_loop(place, small)
            sizes_of_batches(given, small)
        del encoder
        free()
        shutil.rmtree(place)


def library_loop(place: Path, small: bool) -> None:
    """The library's standard loop: float32 and 32 texts at once."""
    from sentence_transformers import SentenceTransformer

    from core.models.device import device

    model, many = (
        SentenceTransformer(str(place), device=device()),
        texts(20 if small else 2_000, 31, 4),
    )
    model.encode(many[:64])
    seconds, _ = timed(lambda: model.encode(many, batch_size=32, show_progress_bar=False))
    row(
        "the same through SentenceTransformer.encode, float32, 32 at once",
        paths_a_second=len(many) / seconds,
    )


def sizes_of_batches(given: tuple, small: bool) -> None:
    """Texts per second by tokens of a batch."""
    from core.models.encoders import sentence

    encoder = sentence.SentenceEncoder(*given)
    encoder.encode(texts(64, 31, 9))
    speeds = {}
    for tokens in (2_048, 8_192, 32_768, 65_536, 131_072):
        encoder.forget()
        encoder._batches.tokens = tokens
        many = texts(20 if small else 4_000, 120, tokens)
        seconds, _ = timed(lambda many=many: encoder.encode(many))
        speeds[str(tokens)] = len(many) / seconds
    row("texts of 120 tokens a second, by tokens of a batch", **speeds)


def out_of_memory(encoder: Any, small: bool) -> None:
    """Equal vectors while another process holds almost all GPU memory."""
    import torch

    if not torch.cuda.is_available():
        return
    many = texts(2_000, 200, 5)
    whole = encoder.encode(many)
    encoder.forget()
    free()
    before, (left, _) = encoder._batches.tokens, torch.cuda.mem_get_info()
    held = torch.empty(left - (700 << 20), dtype=torch.uint8, device="cuda")
    try:
        seconds, again = timed(lambda: encoder.encode(many))
    finally:
        del held
        free()
    found = encoder._batches.tokens
    row(
        "0.7 GB of the card left",
        least_cosine=float(cosines(again, whole).min()),
        tokens_at_once=f"{before} then {found}",
        texts_a_second=len(many) / seconds,
    )
    encoder.forget()
    encoder._batches.tokens, encoder._batches._is_measured = before, True


def rerankers(home: Path, small: bool) -> None:
    """The reranker by FlagEmbedding and by sentence-transformers."""
    from core.models import cross
    from core.models.base import Task

    kind, sizes = RERANKER
    place = folder(
        kind, sizes | (TINY if small else {}), home / "reranker", "ForSequenceClassification"
    )
    task, some = Task("w1 w2 w3 w4 w5 w6"), texts(8, 12, 1) + texts(8, 100, 2)
    wanted = on_processor(
        cross, lambda: cross.CrossEncoder(str(place), "reranker").score(task, some)
    )
    many = texts(20 if small else 8_000, 120, 3)
    for kinds in (cross.FlagReranker, cross.CrossEncoder):
        model = kinds(str(place), "reranker")
        try:
            scores = model.score(task, some)
        except Exception as error:
            row(kinds.__name__, fault=repr(error))
            continue
        model.score(task, many[:64])
        seconds, _ = timed(lambda model=model: model.score(task, many))
        order = float(np.corrcoef(scores, wanted)[0, 1])
        row(
            f"bge-reranker-v2-m3 (568 M), {kinds.__name__}",
            pairs_a_second=len(many) / seconds,
            largest_difference=float(np.abs(scores - wanted).max()),
            spread=float(wanted.std()),
            correlation=order,
            tokens_at_once=model._batches.tokens,
        )
        if kinds is cross.FlagReranker:
            pairs = [(task.query, text) for text in many[: len(many) // 4]]
            seconds, theirs = timed(
                lambda model=model, pairs=pairs: model._engine().compute_score(pairs)
            )
            row("the same through FlagReranker.compute_score", pairs_a_second=len(pairs) / seconds)
            head = float(np.abs(model.head(model.hidden(task, some)) - scores).max())
            row("head of the hidden states", largest_difference=head)
        del model
        free()
    shutil.rmtree(place)


def small_encoder(home: Path, small: bool) -> None:
    """MiniLM's own class, on the GPU and on the processor."""
    from core.models.encoders import bert, minilm
    from core.models.encoders.pooled import PooledEncoder

    place = folder("Bert", MINI | BERT, home / "mini")
    many, some = texts(200 if small else 40_000, 31, 6), texts(50, 31, 7)
    encoder = minilm.MiniLMEncoder(place)
    encoder.encode(some)
    slow = minilm.MiniLMEncoder(place, "torch", "f32")
    wanted = on_processor(bert, lambda: slow.encode(some))
    seconds, _ = timed(lambda: encoder.encode(many))
    least = float(cosines(encoder.encode(some), wanted).min())
    row(
        "MiniLM (22 M)",
        device=encoder.device,
        paths_a_second=len(many) / seconds,
        least_cosine=least,
    )
    seconds, _ = timed(lambda: slow.encode(many[: len(many) // 40]))
    row("MiniLM (22 M)", device=slow.device, paths_a_second=len(many) // 40 / seconds)
    for at_once in (64, 1024):
        encoder.forget()
        encoder._forward.max_batch_texts = at_once
        seconds, _ = timed(lambda: encoder.encode(many))
        row(f"MiniLM, {at_once} texts at once", paths_a_second=len(many) / seconds)
    pooled = PooledEncoder(str(place), "mean")
    pooled.encode(some)
    seconds, _ = timed(lambda: pooled.encode(many))
    row("the same network as Contriever's kind reads it", paths_a_second=len(many) / seconds)


def training(home: Path, small: bool) -> None:
    """A few steps of each kind of fine-tuning."""
    import torch

    from core.finetune import encoder, llm, reranker
    from core.models.base import Task

    place = folder("Bert", MINI | BERT, home / "train")
    model = encoder.TrainableEncoder(place)
    asked, right = texts(32, 12, 1), texts(32, 31, 2)
    both = asked + right

    def loss(vectors: Any) -> Any:
        return encoder.ranking_loss(vectors[:32], vectors[32:], ~torch.eye(32, dtype=torch.bool))

    optimiser = torch.optim.AdamW(model.net.parameters(), lr=1e-4)
    losses, began = [], time.perf_counter()
    for step in range(3 if small else 40):
        optimiser.zero_grad()
        losses.append(model.backward(both, loss, step))
        optimiser.step()
    row("finetune encoder, steps of 32 questions", device=model.device, seconds_a_step=(time.perf_counter() - began) / len(losses),
        first=losses[0], last=losses[-1])  # fmt: skip
    again = reranker.TrainableReranker(place, 192, 0)
    optimiser, losses, began = (
        torch.optim.AdamW(again.net.parameters(), lr=1e-4),
        [],
        time.perf_counter(),
    )
    for _ in range(2 if small else 20):
        optimiser.zero_grad()
        scores = again.scores(asked[0], right[:6])
        value = torch.nn.functional.cross_entropy(
            scores[None], torch.zeros(1, dtype=torch.long, device=scores.device)
        )
        value.backward()
        optimiser.step()
        losses.append(float(value.detach()))
    after = again.score(Task(asked[0]), right[:6])
    row("finetune reranker, steps of six pairs", device=str(again.net.device), seconds_a_step=(time.perf_counter() - began) / len(losses),
        first=losses[0], last=losses[-1], right_one_first=bool(after.argmax() == 0))  # fmt: skip
    sizes = {
        "hidden_size": 3584,
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "intermediate_size": 18_944,
    }
    sizes |= {"vocab_size": 152_064, "initializer_range": 0.02}
    half = {
        "hidden_size": 896,
        "num_hidden_layers": 24,
        "num_attention_heads": 14,
        "num_key_value_heads": 2,
        "intermediate_size": 4864,
    }
    tiny = {
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "intermediate_size": 128,
    }
    given = sizes | (tiny if small else half) | {"vocab_size": WORDS + 4}
    COMMON.pop("initializer_range", None)
    trained = llm.TrainableLLM(
        folder("Qwen2", given, home / "llm", "ForCausalLM"), llm.LLMSettings()
    )
    draw = np.random.default_rng(0)
    codes = [
        (draw.integers(4, WORDS, 900).tolist(), draw.integers(4, WORDS, 30).tolist())
        for _ in range(8)
    ]
    optimiser, losses = torch.optim.AdamW(trained.adapters.values(), lr=1e-3), []
    for number in range(2 if small else 8):
        began = time.perf_counter() if number < 2 else began  # The first step prepares the network.
        optimiser.zero_grad()
        losses.append(trained.backward(codes))
        optimiser.step()
    losses = losses[1:]
    row("finetune llm (0.5 B), steps of eight dialogues of 930 tokens", device=str(trained.device),
        seconds_a_step=(time.perf_counter() - began) / len(losses), first=losses[0], last=losses[-1])  # fmt: skip


PARTS = {"encoders": encoders, "rerankers": rerankers, "mini": small_encoder, "training": training}


def main(arguments: list[str]) -> None:
    """Measure each part; a part that fails is reported and does not stop the others."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks graphics_card")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("parts", nargs="*", default=list(PARTS))
    options = parser.parse_args(arguments)
    import torch
    import transformers

    from core.models.device import device, has_graphics_card

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    name = torch.cuda.get_device_name(0) if torch.cuda.is_available() else "none"
    row(
        "card",
        name=name,
        device=device(),
        seen_without_torch=has_graphics_card(),
        torch=torch.__version__,
        processors=os.cpu_count(),
    )
    with tempfile.TemporaryDirectory() as home:
        for part in options.parts:
            try:
                seconds, _ = timed(lambda part=part: PARTS[part](Path(home), options.small))
                row(part, seconds=seconds)
            except Exception as error:
                import traceback

                traceback.print_exc()
                row(part, fault=f"{type(error).__name__}: {error}"[:400])
            free()


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
