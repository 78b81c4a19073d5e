"""Training of a language model that chooses and plans, by low-rank adapters (LoRA).

The adapters are trained with peft and merged into a folder that vLLM serves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import BadInput, ModelUnavailable, shorten
from core.finetune.dialogues import Dialogue
from core.finetune.loop import (
    Schedule,
    Training,
    TrainingState,
    prepare_libraries,
    step_seed,
    trainable_weights,
)
from core.models.chat.thoughts import separate_thought
from core.models.device import device
from core.models.llm_chooser import parse_numbers
from core.watch import NO_WATCH, Watch

if TYPE_CHECKING:
    from torch import Tensor

MAX_CHOICE_TOKENS = 64  # tokens of a reply when choices are measured
BASE_MODEL_NEEDED = """Name a causal language model to begin from with --base: a folder with config.json, \
its weights as safetensors and a tokenizer that has a chat template, or a name on the model hub, \
such as Qwen/Qwen2.5-7B-Instruct (15 GB, and a graphics card of 24 GB). None comes \
with Hopscope: its embedded models are 4-bit files, which cannot be trained."""
HUB_FILE_PATTERNS = ["*.safetensors", "*.json", "*.jinja", "*.model", "*.txt"]


@dataclass(frozen=True)
class LLMSettings:
    """Settings of the language model's training.

    Learning rate, warm-up, cosine schedule, cut-off in tokens and two epochs are those of
    LEGO-GraphRAG v1. (The yaml file of its code says three epochs.) Rank, alpha, no dropout, every
    linear layer and eight dialogues a step are the defaults of LLaMA Factory, which the paper uses.

    Parameters
    ----------
    batch : dialogues in a step.
    epochs : passes over the dialogues.
    rate : the largest learning rate.
    warmup : the share of the steps over which the rate rises.
    cut : maximum number of tokens of a dialogue; longer dialogues are left out.
    rank, alpha : rank and scale of the adapters (LoRA).
    shown : number of candidates in a list, the window of LEGO-GraphRAG v1.
    looks : measurements on validation questions, over the whole training.
    save_memory : True for gradient checkpointing, which is always on with a graphics card.
    """

    batch: int = 8
    epochs: int = 2
    rate: float = 2e-4
    warmup: float = 0.1
    cut: int = 4096
    rank: int = 8
    alpha: int = 16
    shown: int = 24
    seed: int = 0
    looks: int = 4
    save_memory: bool = False


def base_model_folder(base: str, watch: Watch = NO_WATCH) -> Path:
    """Return the folder of a base model.

    It is fetched if `base` is a name on the hub. Raises BadInput, ModelUnavailable.
    """
    if not base:
        raise BadInput(BASE_MODEL_NEEDED)
    folder = Path(base).expanduser()
    if folder.is_dir():
        for name in ("config.json", "tokenizer_config.json"):
            if not (folder / name).is_file():
                raise BadInput(f"{folder} holds no {name}. {BASE_MODEL_NEEDED}")
        return folder
    if base.count("/") != 1 or base.startswith((".", "/", "~")):
        raise BadInput(f"There is no folder {base}. {BASE_MODEL_NEEDED}")
    import huggingface_hub

    watch.report(f"Fetching {base} from the model hub")
    try:
        return Path(huggingface_hub.snapshot_download(base, allow_patterns=HUB_FILE_PATTERNS))
    # The hub's client raises many kinds of errors, for unknown names and for lost connections.
    except Exception as error:
        raise ModelUnavailable(
            f"{base} is no folder here and could not be fetched: {shorten(str(error), 200)} "
            f"{BASE_MODEL_NEEDED}"
        ) from error


class TrainableLLM:
    """A causal language model with new adapters; only the adapters are trained.

    It runs in bfloat16 on a graphics card if there is one.
    """

    def __init__(self, folder: Path, settings: LLMSettings):
        import peft
        import torch
        import transformers

        prepare_libraries()
        self._torch = torch
        self.device = device()
        precision = torch.float32 if self.device == "cpu" else torch.bfloat16
        try:
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(
                str(folder), local_files_only=True
            )
            base_model = transformers.AutoModelForCausalLM.from_pretrained(
                str(folder), local_files_only=True, dtype=precision
            )
        except (OSError, ValueError, KeyError) as error:
            raise BadInput(
                f"{folder} cannot be read as a causal language model: {shorten(str(error), 200)}"
            ) from error
        if not self.tokenizer.chat_template:
            raise BadInput(
                f"The tokenizer in {folder} has no chat template; an instruction-tuned model is "
                "needed."
            )
        torch.manual_seed(step_seed(settings.seed, 0))  # adapters are initialised at random
        lora = peft.LoraConfig(
            r=settings.rank,
            lora_alpha=settings.alpha,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        )
        self.net = peft.get_peft_model(base_model, lora).to(self.device)
        if settings.save_memory or self.device != "cpu":
            self.net.gradient_checkpointing_enable()
            self.net.enable_input_require_grads()

    @property
    def adapters(self) -> dict[str, Tensor]:
        """The weights that are trained, by name."""
        return trainable_weights(self.net)

    def encode_dialogue(self, dialogue: Dialogue) -> tuple[list[int], list[int]]:
        """Return the token ids of the prompt and of the reply.

        They are in the format of the chat template. Raises BadInput if the template does not accept
        such messages.
        """
        from jinja2 import TemplateError

        turns = [*map(dict, dialogue.messages), {"role": "assistant", "content": dialogue.reply}]
        try:
            prompt_text = self.tokenizer.apply_chat_template(
                turns[:-1], tokenize=False, add_generation_prompt=True
            )
            text = self.tokenizer.apply_chat_template(turns, tokenize=False)
        except TemplateError as error:
            raise BadInput(
                f"The base model's chat template does not take these messages: {error}"
            ) from error
        assert isinstance(prompt_text, str) and isinstance(text, str)  # since tokenize is False
        # With some templates the text of the dialogue does not begin with that of the prompt.
        if text.startswith(prompt_text):
            reply = text[len(prompt_text) :]
        else:
            reply = dialogue.reply + (self.tokenizer.eos_token or "")
        return self._encode(prompt_text), self._encode(reply)

    def _encode(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def loss(self, codes: tuple[list[int], list[int]]) -> Tensor:
        """Return the summed cross-entropy of the reply's tokens, given all tokens before each."""
        prompt, reply = codes
        ids = self._torch.tensor([prompt + reply], device=self.device)
        # The logits at a token predict the next one. Only those that predict the reply are
        # computed.
        logits = self.net(input_ids=ids, logits_to_keep=len(reply) + 1).logits[0, :-1].float()
        return self._torch.nn.functional.cross_entropy(
            logits, ids[0, -len(reply) :], reduction="sum"
        )

    def mean_loss(
        self, dialogues: Sequence[tuple[list[int], list[int]]], watch: Watch = NO_WATCH
    ) -> float:
        """Return the mean cross-entropy of the replies' tokens."""
        self.net.eval()
        total = 0.0
        with self._torch.inference_mode():
            for codes in dialogues:
                watch.check()
                total += float(self.loss(codes))
        return total / sum(len(reply) for _, reply in dialogues)

    def backward(self, dialogues: Sequence[tuple[list[int], list[int]]]) -> float:
        """Add the gradients of the mean cross-entropy of the replies' tokens; return the loss.

        Dialogues are processed one at a time, to save memory.
        """
        self.net.train()
        token_count = sum(len(reply) for _, reply in dialogues)
        total = 0.0
        for codes in dialogues:
            loss = self.loss(codes) / token_count
            loss.backward()
            total += float(loss.detach())
        return total

    def reply(self, dialogue: Dialogue) -> str:
        """Return the model's own reply, decoded greedily, of at most `MAX_CHOICE_TOKENS` tokens."""
        self.net.eval()
        prompt, _ = self.encode_dialogue(dialogue)
        ids = self._torch.tensor([prompt], device=self.device)
        with self._torch.inference_mode():
            output = self.net.generate(
                input_ids=ids,
                attention_mask=self._torch.ones_like(ids),
                max_new_tokens=MAX_CHOICE_TOKENS,
                do_sample=False,
                pad_token_id=self.tokenizer.eos_token_id,
            )
        reply = self.tokenizer.decode(output[0, len(prompt) :], skip_special_tokens=True)
        assert isinstance(reply, str)  # one sequence gives one text
        return reply

    def without_adapters(self):
        """Return a context in which the model runs without its adapters."""
        return self.net.disable_adapter()

    def save(self, folder: Path) -> None:
        """Write the model with merged adapters, its tokenizer, and the adapters alone.

        The adapters alone are in the subfolder `adapter`, for a server with several adapters for
        one model. After this call the model in memory has no adapters.
        """
        self.net.save_pretrained(str(folder / "adapter"))
        merged = self.net.merge_and_unload()
        # By torch's stubs, peft's attributes are tensors.
        merged.save_pretrained(str(folder))  # type: ignore[operator]
        self.tokenizer.save_pretrained(str(folder))


def train_llm(
    model: TrainableLLM,
    examples: Sequence[Dialogue],
    validation: Sequence[Dialogue],
    settings: LLMSettings,
    work: Path,
    key: str,
    watch: Watch = NO_WATCH,
) -> TrainingState:
    """Train the adapters, and return the training state.

    The model then has the best weights. The figures of the state are negative losses. `validation`
    are the dialogues for early stopping. `work` is the folder of the intermediate state, and `key`
    a digest of everything that the result depends on. Raises BadInput, RunCancelled, StoreError.
    """
    codes = fitting_tokens(model, examples, settings.cut)
    validation_codes = fitting_tokens(model, validation, settings.cut)
    if not codes or not validation_codes:
        raise BadInput(
            "No question to train on, or none held out, has a path to a correct answer and a "
            f"prompt of at most {settings.cut} tokens."
        )
    steps_per_epoch = math.ceil(len(codes) / settings.batch)

    def step(number: int) -> float:
        epoch, index = divmod(number, steps_per_epoch)
        order = np.random.default_rng([settings.seed, epoch]).permutation(len(codes))
        start = index * settings.batch
        return model.backward([codes[int(i)] for i in order[start : start + settings.batch]])

    steps = steps_per_epoch * settings.epochs
    schedule = Schedule(
        steps,
        settings.rate,
        settings.warmup,
        "cosine",
        max(1, math.ceil(steps / settings.looks)),
        settings.looks + 1,  # more than all measurements, so training never stops early
    )
    return Training(
        model.adapters,
        schedule,
        step,
        lambda: -model.mean_loss(validation_codes, watch),
        work,
        key,
        watch,
    ).run(settings.seed)


def fitting_tokens(
    model: TrainableLLM, dialogues: Sequence[Dialogue], limit: int
) -> list[tuple[list[int], list[int]]]:
    """Return the tokens of the dialogues that have at most `limit` tokens."""
    return [
        codes for codes in map(model.encode_dialogue, dialogues) if sum(map(len, codes)) <= limit
    ]


def before_after_figures(
    model: TrainableLLM,
    test_dialogues: Sequence[Dialogue],
    settings: LLMSettings,
    watch: Watch = NO_WATCH,
) -> list[dict[str, Any]]:
    """Return figures before and after the training on dialogues of test questions, by task.

    `loss` is the mean per token of the right replies, None if all dialogues are too long. For
    choices, `hit` is the share of dialogues in which the first number that the model names is
    right; for plans it is None.
    """
    dialogues_by_task: dict[str, list[Dialogue]] = {}
    for dialogue in test_dialogues:
        dialogues_by_task.setdefault(dialogue.task, []).append(dialogue)
    rows = []
    for when in ("before", "after"):
        with model.without_adapters() if when == "before" else nullcontext():
            for task, dialogues in dialogues_by_task.items():
                codes = fitting_tokens(model, dialogues, settings.cut)
                hit = _hit_rate(model, dialogues, when, watch) if dialogues[0].shown else None
                rows.append(
                    {
                        "when": when,
                        "task": task,
                        "n": len(dialogues),
                        "loss": model.mean_loss(codes, watch) if codes else None,
                        "hit": hit,
                    }
                )
    return rows


def _hit_rate(model: TrainableLLM, dialogues: Sequence[Dialogue], when: str, watch: Watch) -> float:
    """Return the share of choices in which the model is right.

    The first number that it names counts.
    """
    hits = []
    for index, dialogue in enumerate(dialogues):
        watch.check()
        watch.report(
            f"Unseen questions, {dialogue.task}s, {when}: {index} of {len(dialogues)}",
            index / len(dialogues),
        )
        reply = separate_thought(model.reply(dialogue))[1]
        numbers, _ = parse_numbers(reply, [""] * dialogue.shown)
        hits.append(bool(numbers and numbers[0] in dialogue.right))
    return float(np.mean(hits))
