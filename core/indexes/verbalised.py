"""Relation chains in words, encoded on first use and kept in memory."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
from cachetools import LRUCache

from core.graph.algorithms.chains import Chain
from core.indexes.chains import ChainIndex, in_steps, token_vectors
from core.watch import NO_WATCH, Watch

REMEMBERED = 20_000  # texts kept per encoder, some 100 MB
_known: WeakKeyDictionary = WeakKeyDictionary()
_guard = threading.Lock()


def verbalised(
    encoder, chains: Sequence[Chain], texts: Sequence[str], watch: Watch = NO_WATCH
) -> ChainIndex:
    """Return an index of these chains alone, in their order.

    `texts[i]` is the wording of `chains[i]`. Only texts that are not in memory are encoded.
    """
    with _guard:
        known = _known.setdefault(encoder, LRUCache(REMEMBERED))
        held = {text: known[text] for text in texts if text in known}
    new = [text for text in dict.fromkeys(texts) if text not in held]
    held |= {
        text: in_steps(vectors)
        for text, vectors in zip(
            new, token_vectors(encoder, new, watch) if new else (), strict=True
        )
    }
    with _guard:
        known.update((text, held[text]) for text in texts)
    parts = [held[text] for text in texts]
    starts = np.concatenate([[0], np.cumsum([len(scales) for _, scales in parts])]).astype(np.int64)
    tokens = np.concatenate([tokens for tokens, _ in parts]) if parts else np.zeros((0, 1), np.int8)
    scales = np.concatenate([scales for _, scales in parts]) if parts else np.zeros(0, np.float32)
    return ChainIndex(tuple(chains), tuple(texts), tokens, scales, starts, len(texts))
