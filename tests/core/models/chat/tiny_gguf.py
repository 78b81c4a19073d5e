"""A language model of one small layer, whose tokens are bytes and whose weights are random.

It writes letters, digits and signs, without end.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np

SIZE = 32  # numbers of a token's vector
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TYPES = {int: (5, "<i"), float: (6, "<f")}


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(value: Any) -> bytes:
    """A value with its type, as in a GGUF file."""
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, list):
        items = [_value(item) for item in value]
        return (
            struct.pack("<I", 9)
            + items[0][:4]
            + struct.pack("<Q", len(items))
            + b"".join(item[4:] for item in items)
        )
    number, form = TYPES[type(value)]
    return struct.pack("<I", number) + struct.pack(form, value)


def _tokens() -> list[str]:
    """The bytes as GPT-2 writes them, then the marks of messages."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in shown]
    letters = {byte: chr(byte) for byte in shown}
    letters |= {byte: chr(256 + place) for place, byte in enumerate(others)}
    return [*(letters[byte] for byte in range(256)), "<|im_start|>", "<|im_end|>"]


def write_tiny_model(path: Path) -> Path:
    """Write the model; it is the same each time."""
    tokens = _tokens()
    uint = lambda value: struct.pack("<II", 4, value)
    values = {
        "general.architecture": _value("llama"),
        "llama.context_length": uint(1 << 15),
        "llama.embedding_length": uint(SIZE),
        "llama.block_count": uint(1),
        "llama.feed_forward_length": uint(SIZE),
        "llama.attention.head_count": uint(2),
        "llama.attention.layer_norm_rms_epsilon": _value(1e-5),
        "tokenizer.ggml.model": _value("gpt2"),
        "tokenizer.ggml.pre": _value("qwen2"),
        "tokenizer.ggml.tokens": _value(tokens),
        "tokenizer.ggml.token_type": _value([1] * 256 + [3] * 2),
        "tokenizer.ggml.merges": _value(["h e"]),
        "tokenizer.ggml.eos_token_id": uint(257),
        "tokenizer.chat_template": _value(TEMPLATE),
    }
    shapes = {"token_embd": (len(tokens), SIZE), "output_norm": (SIZE,)}
    shapes["output"] = shapes["token_embd"]
    shapes |= {f"blk.0.{name}_norm": (SIZE,) for name in ("attn", "ffn")}
    shapes |= {
        f"blk.0.{name}": (SIZE, SIZE)
        for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    }
    draw, heads, data = np.random.default_rng(1), b"", b""
    for name, shape in shapes.items():
        heads += _text(f"{name}.weight") + struct.pack("<I", len(shape))
        heads += struct.pack(f"<{len(shape)}QIQ", *shape[::-1], 0, len(data))
        weights = draw.normal(0, 0.3, shape) if len(shape) == 2 else np.ones(shape)
        if name in ("token_embd", "output"):
            # The first number of all that is read is large; letters alone are written for it.
            weights[:, 0] = 4
        if name == "output":
            weights[:32, 0] = weights[127:, 0] = -4
        data += weights.astype("<f4").tobytes()
    head = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(values))
    head += b"".join(_text(name) + value for name, value in values.items()) + heads
    path.write_bytes(head + bytes(-len(head) % 32) + data)
    return path
