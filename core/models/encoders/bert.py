"""Forward pass of a BERT encoder over texts of equal length, by OpenVINO or torch.

All texts of a call have the same number of tokens. There is thus no padding and no attention mask,
and the vectors of a text do not depend on what else is encoded.
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

CARD_BATCH_TEXTS = 256  # texts in a call on a graphics card
# Kernels that OpenVINO keeps per stream, and oneDNN in total. Their defaults of 5,000 and 1,024
# take a gigabyte.
COMPILED = 256
Rows = TypeVar("Rows")  # any value that identifies a batch
Done = Callable[[Rows, np.ndarray, np.ndarray | None], None]


class ForwardPass(Protocol):
    """A forward pass over batches.

    Methods
    -------
    run(batches, done, watch, with_tokens) : read the batches. It yields (rows, ids int64 [b, l])
        for each; in the same order, `done(rows, pooled [b, d], tokens [b, l, d])` is called. The
        arrays are valid only during that call, and the tokens may be None unless `with_tokens`.
    """

    device: str
    batch: int  # most texts in a call

    def run(
        self,
        batches: Iterable[tuple[Rows, np.ndarray]],
        done: Done[Rows],
        watch: Watch,
        with_tokens: bool,
    ) -> None: ...


class _ExitBlock:
    """A block on interpreter exit until daemon threads have left native code.

    The library would abort the program if its threads were ended inside.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._at_work, self._over = 0, False
        # Called at the end of the main thread, before other threads are ended.
        threading._register_atexit(self._wait_for_work)  # type: ignore[attr-defined]

    @contextmanager
    def work(self) -> Iterator[None]:
        """Delay interpreter exit until this block has ended.

        Raises RunCancelled in a daemon thread if the program is ending. Other threads are waited
        for in any case.
        """
        daemon = threading.current_thread().daemon
        if daemon:
            with self._condition:
                self.check()
                self._at_work += 1
        try:
            yield
        finally:
            if daemon:
                with self._condition:
                    self._at_work -= 1
                    self._condition.notify_all()

    def check(self) -> None:
        """Raise RunCancelled in a daemon thread if the program is ending."""
        if self._over and threading.current_thread().daemon:
            raise RunCancelled()

    def _wait_for_work(self) -> None:
        with self._condition:
            self._over = True
            self._condition.wait_for(lambda: not self._at_work)


_exit_block = _ExitBlock()


class OpenVINO:
    """The model built from its safetensors file as an OpenVINO graph.

    Parameters
    ----------
    folder : folder of the model.
    threads : number of batches that are computed at a time, one thread each.
    precision : precision of matrix products, f32 or bf16.
    """

    batch = 32

    def __init__(self, folder: Path, threads: int, precision: str):
        # The library reads this variable when it compiles its first kernel.
        os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(COMPILED))
        import openvino

        core = openvino.Core()
        # One stream per thread: small concurrent batches are faster than one large batch.
        settings = {
            "INFERENCE_PRECISION_HINT": precision,
            "NUM_STREAMS": threads,
            "INFERENCE_NUM_THREADS": threads,
        }
        settings["CPU_RUNTIME_CACHE_CAPACITY"] = COMPILED
        self.device = f"cpu, OpenVINO {precision}, {threads} threads"
        with _exit_block.work():
            model = core.compile_model(openvino_model(folder), "CPU", settings)
            # One more than run concurrently: it waits in the library while `done` runs.
            self._requests = [model.create_infer_request() for _ in range(threads + 1)]

    def run(
        self,
        batches: Iterable[tuple[Rows, np.ndarray]],
        done: Done[Rows],
        watch: Watch,
        with_tokens: bool,
    ) -> None:
        with _exit_block.work():
            self._run(batches, done, watch)

    def _run(
        self, batches: Iterable[tuple[Rows, np.ndarray]], done: Done[Rows], watch: Watch = NO_WATCH
    ) -> None:
        # The library's callbacks are not used: its threads release a callback after the last wait,
        # which aborts a program that ends meanwhile.
        free = list(self._requests)
        running: deque[tuple] = deque()  # requests with their batches, the oldest first

        def finish():
            request, rows = running.popleft()
            request.wait()
            done(rows, request.get_output_tensor(0).data, request.get_output_tensor(1).data)
            return request

        try:
            for rows, ids in batches:
                watch.check()
                _exit_block.check()
                request = free.pop() if free else finish()
                request.start_async({0: ids})
                running.append((request, rows))
            while running:
                finish()
        finally:
            for request, _ in running:
                request.wait()


class Torch:
    """The same forward pass by torch.

    Batches are padded to `batch` rows with copies, so that the result of a row does not depend on
    the others.

    It is in half precision on a graphics card if there is one.

    Parameters
    ----------
    folder : folder of the model.
    threads : number of threads of torch.
    precision : precision without a graphics card, f32 or bf16.
    """

    def __init__(self, folder: Path, threads: int, precision: str):
        import torch
        from transformers import AutoModel

        self._torch, self._device = torch, device()
        torch.set_num_threads(threads)
        network = AutoModel.from_pretrained(
            str(folder), local_files_only=True, add_pooling_layer=False
        ).eval()
        dtypes = {"f32": torch.float32, "bf16": torch.bfloat16}
        self._model = (
            network.to(dtypes[precision])
            if self._device == "cpu"
            else network.half().to(self._device)
        )
        self.batch = 8 if self._device == "cpu" else CARD_BATCH_TEXTS
        if self._device == "cpu":
            self.device = f"cpu, torch {precision}, {threads} threads"
        else:
            self.device = f"{self._device}, torch float16"

    def run(
        self,
        batches: Iterable[tuple[Rows, np.ndarray]],
        done: Done[Rows],
        watch: Watch,
        with_tokens: bool,
    ) -> None:
        for rows, ids in batches:
            watch.check()
            padded_ids = np.concatenate(
                [ids, np.repeat(ids[:1], max(0, self.batch - len(ids)), axis=0)]
            )
            means, tokens = self._read(padded_ids, with_tokens)
            done(rows, means[: len(ids)], tokens[: len(ids)] if with_tokens else None)

    def _read(self, ids: np.ndarray, with_tokens: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the means over tokens of some rows, and the tokens or an empty array.

        The rows are split in halves if memory runs out.
        """
        try:
            with self._torch.inference_mode():
                tokens = self._model(
                    input_ids=self._torch.from_numpy(ids).to(self._device)
                ).last_hidden_state.float()
                return tokens.mean(dim=1).cpu().numpy(), (
                    tokens if with_tokens else tokens[:, :0]
                ).cpu().numpy()
        except RuntimeError as error:
            if not is_out_of_memory(error) or len(ids) == 1:
                raise
        parts = [self._read(part, with_tokens) for part in np.array_split(ids, 2)]
        return np.concatenate([means for means, _ in parts]), np.concatenate(
            [tokens for _, tokens in parts]
        )


def openvino_model(folder: Path):
    """Build the OpenVINO model of a BERT folder.

    It maps ids int64 [b, l] to the means over tokens [b, d] and the tokens [b, l, d].
    “openvino.convert_model” gives the same vectors at the same speed, but loads weights through
    torch: 8 s at the first question instead of 0.3 s.
    """
    import openvino
    from openvino import opset13 as op
    from safetensors.numpy import load_file

    config = json.loads((folder / "config.json").read_text("utf-8"))
    weights = load_file(folder / "model.safetensors")
    heads, epsilon = config["num_attention_heads"], config["layer_norm_eps"]

    def whole(*values: int):
        return op.constant(np.array(values, dtype=np.int64))

    def norm(x, name: str):
        normalized = op.mvn(x, whole(-1), True, epsilon, "inside_sqrt")
        return op.add(
            op.multiply(normalized, op.constant(weights[f"{name}.weight"])),
            op.constant(weights[f"{name}.bias"]),
        )

    def linear(x, name: str):
        return op.add(
            op.matmul(x, op.constant(weights[f"{name}.weight"]), False, True),
            op.constant(weights[f"{name}.bias"]),
        )

    def split(x):
        return op.transpose(op.reshape(x, whole(0, 0, heads, -1), True), whole(0, 2, 1, 3))

    ids = op.parameter([-1, -1], np.int64, name="ids")
    zero, one = op.constant(np.int64(0)), op.constant(np.int64(1))
    position_table = (
        weights["embeddings.position_embeddings.weight"]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    length = op.unsqueeze(op.gather(op.shape_of(ids), one, zero), zero)
    positions = op.slice(op.constant(position_table), whole(0), length, whole(1), whole(0))
    x = norm(
        op.add(
            op.gather(op.constant(weights["embeddings.word_embeddings.weight"]), ids, zero),
            positions,
        ),
        "embeddings.LayerNorm",
    )
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            split(linear(x, f"{name}.attention.self.{part}")) for part in ("query", "key", "value")
        )
        mixed = op.transpose(op.scaled_dot_product_attention(query, key, value), whole(0, 2, 1, 3))
        mixed = linear(op.reshape(mixed, whole(0, 0, -1), True), f"{name}.attention.output.dense")
        x = norm(op.add(x, mixed), f"{name}.attention.output.LayerNorm")
        inner = op.gelu(linear(x, f"{name}.intermediate.dense"), "erf")
        x = norm(op.add(x, linear(inner, f"{name}.output.dense")), f"{name}.output.LayerNorm")
    return openvino.Model([op.result(op.reduce_mean(x, whole(1))), op.result(x)], [ids], "bert")
