"""Relation chains in words, encoded on first use and cached in memory."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
from cachetools import LRUCache

from core.graph.algorithms.chains import Chain
from core.graph.columns import row_offsets
from core.indexes.chains import ChainIndex, quantise_rows, token_vectors
from core.watch import NO_WATCH, Watch

MAX_CACHED_TEXTS = 20_000  # texts cached per encoder, some 100 MB
_chain_vectors: WeakKeyDictionary = WeakKeyDictionary()
_cache_lock = threading.Lock()


def index_chain_texts(
    encoder, chains: Sequence[Chain], texts: Sequence[str], watch: Watch = NO_WATCH
) -> ChainIndex:
    """Return an index of these chains alone, in their order.

    Only texts that are not in memory are encoded.

    Parameters
    ----------
    encoder : an encoder, with token vectors or without.
    chains : step codes.
    texts : the wording of each chain.
    watch : may raise RunCancelled.

    Returns
    -------
    The index, which is not saved.
    """
    with _cache_lock:
        cache = _chain_vectors.setdefault(encoder, LRUCache(MAX_CACHED_TEXTS))
        parts_of_text = {text: cache[text] for text in texts if text in cache}
    new = [text for text in dict.fromkeys(texts) if text not in parts_of_text]
    parts_of_text |= {
        text: quantise_rows(vectors)
        for text, vectors in zip(
            new, token_vectors(encoder, new, watch) if new else (), strict=True
        )
    }
    with _cache_lock:
        cache.update((text, parts_of_text[text]) for text in texts)
    parts = [parts_of_text[text] for text in texts]
    starts = row_offsets([len(scales) for _, scales in parts])
    tokens = np.concatenate([tokens for tokens, _ in parts]) if parts else np.zeros((0, 1), np.int8)
    scales = np.concatenate([scales for _, scales in parts]) if parts else np.zeros(0, np.float32)
    return ChainIndex(tuple(chains), tuple(texts), tokens, scales, starts, len(texts))
