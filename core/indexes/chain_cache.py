"""Index of a few relation chains, made in memory for a question.

Each text is encoded at its first use and cached for later questions.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from cachetools import LRUCache

from core.graph.algorithms.chains import Chain
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
    chains : the chains, each a tuple of step codes (see `core.graph.algorithms.chains`).
    texts : the wording of each chain.
    watch : may raise RunCancelled.

    Returns
    -------
    The index, which is not saved.
    """
    with _cache_lock:
        cache = _chain_vectors.setdefault(encoder, LRUCache(MAX_CACHED_TEXTS))
        vectors_of_text = {text: cache[text] for text in texts if text in cache}
    new = [text for text in dict.fromkeys(texts) if text not in vectors_of_text]
    if new:
        vectors = token_vectors(encoder, new, watch)
        vectors_of_text |= zip(new, map(quantise_rows, vectors), strict=True)
    with _cache_lock:
        cache.update((text, vectors_of_text[text]) for text in texts)
    return ChainIndex.from_texts(chains, texts, vectors_of_text, n_found=len(texts))
