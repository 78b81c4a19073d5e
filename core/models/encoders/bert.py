"""Forward pass of a BERT encoder over texts of equal length.

OpenVINO or torch computes it. All texts of a batch have the same number of tokens. There is thus no
padding of texts and no attention mask, and the vectors of a text do not depend on the other texts.
`TorchForward` has one exception, if memory runs out.
"""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from core.errors import RunCancelled
from core.models.batches import is_out_of_memory
from core.models.device import device
from core.watch import NO_WATCH, Watch

CARD_BATCH_TEXTS = 256  # texts in a batch of torch on a graphics card
# Kernels that OpenVINO caches per stream, for the latest shapes of batches, and that oneDNN caches in
# total. Their defaults of 5,000 and 1,024 take a gigabyte. With 64 per stream, 220 shapes take
# 126 MB less than with 256, in the same time.
MAX_STREAM_KERNELS = 64
MAX_CACHED_KERNELS = 256
BatchKey = TypeVar("BatchKey")  # any value that identifies a batch
# Called with the key of a batch, the means over tokens [b, d] and the token vectors [b, l, d].
OnBatch = Callable[[BatchKey, np.ndarray, np.ndarray | None], None]


class ForwardPass(Protocol):
    """A network that computes the vectors of tokenized batches.

    Methods
    -------
    run(batches, on_batch, watch, with_tokens) : compute the vectors of batches, each a pair of a
        key and token ids int64 [b, l], with b texts of l tokens. For each batch, in the same order,
        `on_batch(key, means [b, d], tokens [b, l, d])` is called. The means are those over the
        tokens of a text. The arrays are valid only during that call. The tokens may be None unless
        `with_tokens`.

    Attributes
    ----------
    device : device, program and precision, for the user.
    max_batch_texts : largest number of texts of a batch.
    """

    device: str
    max_batch_texts: int

    def run(
        self,
        batches: Iterable[tuple[BatchKey, np.ndarray]],
        on_batch: OnBatch[BatchKey],
        watch: Watch,
        with_tokens: bool,
    ) -> None: ...


class _ExitBlock:
    """A block on interpreter exit until daemon threads have left native code.

    At exit, Python ends daemon threads wherever they are. Inside OpenVINO, that would abort the
    program.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._n_working = 0  # daemon threads in native code
        self._is_exiting = False
        # Called at the end of the main thread, before daemon threads are ended. Python has no
        # public function for this: `atexit` calls its functions later.
        threading._register_atexit(self._wait_for_work)  # type: ignore[attr-defined]

    @contextmanager
    def work(self) -> Iterator[None]:
        """Delay interpreter exit until this block has ended.

        Raises RunCancelled in a daemon thread if the program is ending. Python itself waits for
        other threads.
        """
        if not threading.current_thread().daemon:
            yield
            return
        with self._condition:
            self.check()
            self._n_working += 1
        try:
            yield
        finally:
            with self._condition:
                self._n_working -= 1
                self._condition.notify_all()

    def check(self) -> None:
        """Raise RunCancelled in a daemon thread if the program is ending."""
        if self._is_exiting and threading.current_thread().daemon:
            raise RunCancelled()

    def _wait_for_work(self) -> None:
        with self._condition:
            self._is_exiting = True
            self._condition.wait_for(lambda: not self._n_working)


_exit_block = _ExitBlock()


class OpenVINOForward:
    """A forward pass with OpenVINO, whose network is built from the model's safetensors file.

    Parameters
    ----------
    folder : folder of the model.
    threads : number of concurrent batches, which have one thread each.
    precision : precision of matrix products, f32 or bf16.
    """

    max_batch_texts = 32

    def __init__(self, folder: Path, threads: int, precision: str):
        # The library reads this variable when it compiles its first kernel.
        os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(MAX_CACHED_KERNELS))
        import openvino

        core = openvino.Core()
        settings = {
            "INFERENCE_PRECISION_HINT": precision,
            # One stream per thread: small concurrent batches are faster than one large batch.
            "NUM_STREAMS": threads,
            "INFERENCE_NUM_THREADS": threads,
            "CPU_RUNTIME_CACHE_CAPACITY": MAX_STREAM_KERNELS,
        }
        self.device = f"cpu, OpenVINO {precision}, {threads} threads"
        with _exit_block.work():
            model = core.compile_model(build_openvino_model(folder), "CPU", settings)
            # One more request than run concurrently waits in the library while `on_batch` runs.
            self._requests = [model.create_infer_request() for _ in range(threads + 1)]

    def run(
        self,
        batches: Iterable[tuple[BatchKey, np.ndarray]],
        on_batch: OnBatch[BatchKey],
        watch: Watch,
        with_tokens: bool,
    ) -> None:
        with _exit_block.work():
            self._run(batches, on_batch, watch)

    def _run(
        self,
        batches: Iterable[tuple[BatchKey, np.ndarray]],
        on_batch: OnBatch[BatchKey],
        watch: Watch = NO_WATCH,
    ) -> None:
        # The library's callbacks are not used: its threads release a callback after the last wait,
        # which aborts a program that ends meanwhile.
        free = list(self._requests)
        running: deque[tuple] = deque()  # requests and keys of their batches, the oldest first

        def finish_oldest():
            request, key = running.popleft()
            request.wait()
            on_batch(key, request.get_output_tensor(0).data, request.get_output_tensor(1).data)
            return request

        try:
            for key, ids in batches:
                watch.check()
                _exit_block.check()
                request = free.pop() if free else finish_oldest()
                request.start_async({0: ids})
                running.append((request, key))
            while running:
                finish_oldest()
        finally:  # after an error, as no request may be left running
            for request, _ in running:
                request.wait()


class TorchForward:
    """A forward pass with torch.

    If there is a graphics card, the pass runs there in half precision. Batches are filled to
    `max_batch_texts` rows with copies of the first row, since the last digits of torch's results
    depend on the number of rows. If memory runs out, smaller batches are read, and these digits may
    differ.

    Parameters
    ----------
    folder : folder of the model.
    threads : number of threads of torch on a processor.
    precision : f32 or bf16 on a processor; ignored on a graphics card.
    """

    def __init__(self, folder: Path, threads: int, precision: str):
        import torch
        from transformers import AutoModel

        self._torch = torch
        self._device = device()
        torch.set_num_threads(threads)
        network = AutoModel.from_pretrained(
            str(folder), local_files_only=True, add_pooling_layer=False
        ).eval()
        if self._device == "cpu":
            dtypes = {"f32": torch.float32, "bf16": torch.bfloat16}
            self._model = network.to(dtypes[precision])
            self.max_batch_texts = 8
            self.device = f"cpu, torch {precision}, {threads} threads"
        else:
            self._model = network.half().to(self._device)
            self.max_batch_texts = CARD_BATCH_TEXTS
            self.device = f"{self._device}, torch float16"

    def run(
        self,
        batches: Iterable[tuple[BatchKey, np.ndarray]],
        on_batch: OnBatch[BatchKey],
        watch: Watch,
        with_tokens: bool,
    ) -> None:
        for key, ids in batches:
            watch.check()
            copies = np.repeat(ids[:1], max(0, self.max_batch_texts - len(ids)), axis=0)
            means, tokens = self._read(np.concatenate([ids, copies]), with_tokens)
            on_batch(key, means[: len(ids)], tokens[: len(ids)] if with_tokens else None)

    def _read(self, ids: np.ndarray, with_tokens: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the means over tokens of some rows, and the token vectors.

        Without `with_tokens` the token vectors are left out, as an array of no tokens. If memory
        runs out, each half of the rows is read alone.
        """
        try:
            with self._torch.inference_mode():
                inputs = self._torch.from_numpy(ids).to(self._device)
                tokens = self._model(input_ids=inputs).last_hidden_state.float()
                means = tokens.mean(dim=1)
                tokens = tokens if with_tokens else tokens[:, :0]
                return means.cpu().numpy(), tokens.cpu().numpy()
        except RuntimeError as error:
            if not is_out_of_memory(error) or len(ids) == 1:
                raise
        halves = [self._read(half, with_tokens) for half in np.array_split(ids, 2)]
        means, tokens = (np.concatenate(arrays) for arrays in zip(*halves))
        return means, tokens


def build_openvino_model(folder: Path):
    """Build the OpenVINO model of a BERT folder.

    The model maps token ids int64 [b, l] to the means over tokens [b, d] and the token vectors
    [b, l, d]. “openvino.convert_model” is not used: it gives the same vectors at the same
    speed, but loads the weights through torch, which takes 8 s instead of 0.3 s.
    """
    import openvino
    from openvino import opset13 as op
    from safetensors.numpy import load_file

    config = json.loads((folder / "config.json").read_text("utf-8"))
    weights = load_file(folder / "model.safetensors")
    heads = config["num_attention_heads"]
    epsilon = config["layer_norm_eps"]

    def int_vector(*values: int):
        return op.constant(np.array(values, dtype=np.int64))

    def norm(x, name: str):
        normalized = op.mvn(x, int_vector(-1), True, epsilon, "inside_sqrt")
        return op.add(
            op.multiply(normalized, op.constant(weights[f"{name}.weight"])),
            op.constant(weights[f"{name}.bias"]),
        )

    def linear(x, name: str):
        return op.add(
            op.matmul(x, op.constant(weights[f"{name}.weight"]), False, True),
            op.constant(weights[f"{name}.bias"]),
        )

    def split_heads(x):
        return op.transpose(
            op.reshape(x, int_vector(0, 0, heads, -1), True), int_vector(0, 2, 1, 3)
        )

    ids = op.parameter([-1, -1], np.int64, name="ids")
    zero = op.constant(np.int64(0))
    one = op.constant(np.int64(1))
    position_table = (
        weights["embeddings.position_embeddings.weight"]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    length = op.unsqueeze(op.gather(op.shape_of(ids), one, zero), zero)
    positions = op.slice(
        op.constant(position_table), int_vector(0), length, int_vector(1), int_vector(0)
    )
    word_table = op.constant(weights["embeddings.word_embeddings.weight"])
    x = norm(op.add(op.gather(word_table, ids, zero), positions), "embeddings.LayerNorm")
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"
        query = split_heads(linear(x, f"{name}.attention.self.query"))
        key = split_heads(linear(x, f"{name}.attention.self.key"))
        value = split_heads(linear(x, f"{name}.attention.self.value"))
        mixed = op.transpose(
            op.scaled_dot_product_attention(query, key, value), int_vector(0, 2, 1, 3)
        )
        mixed = linear(
            op.reshape(mixed, int_vector(0, 0, -1), True), f"{name}.attention.output.dense"
        )
        x = norm(op.add(x, mixed), f"{name}.attention.output.LayerNorm")
        inner = op.gelu(linear(x, f"{name}.intermediate.dense"), "erf")
        x = norm(op.add(x, linear(inner, f"{name}.output.dense")), f"{name}.output.LayerNorm")
    return openvino.Model(
        [op.result(op.reduce_mean(x, int_vector(1))), op.result(x)], [ids], "bert"
    )
