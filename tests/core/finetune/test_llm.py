"""LoRA on a small random Qwen2: training, resume, merge and reload."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from core.errors import BadInput, ModelUnavailable, RunCancelled
from core.finetune.dialogues import training_dialogues
from core.finetune.llm import (
    LLMSettings,
    TrainableLLM,
    base_model_folder,
    before_after_figures,
    fitting_tokens,
    train_llm,
)
from core.watch import NO_WATCH, Watch

FAST = LLMSettings(batch=4, epochs=2, rate=2e-2, shown=4, looks=2)


@pytest.fixture(scope="module")
def talks(lesson):
    """Training and held-out dialogues about choosing relations and about plans."""
    told = [training_dialogues(part, 4, 0, ("relation", "plan")) for part in lesson]
    return told[0][:16], told[1][:4]


def test_loss_covers_only_the_reply(qwen, talks):
    model = TrainableLLM(qwen, FAST)
    prompt, reply = model.encode_dialogue(talks[0][0])
    assert model.tokenizer.decode(prompt).endswith("<|im_end|>\n<|im_start|>assistant\n")
    assert model.tokenizer.decode(reply) == talks[0][0].reply + "<|im_end|>\n"
    with torch.inference_mode():  # The loss covers the tokens of the reply alone.
        logits = model.net(input_ids=torch.tensor([prompt + reply])).logits[0].log_softmax(-1)
        told = sum(-float(logits[len(prompt) + i - 1, code]) for i, code in enumerate(reply))
        assert float(model.loss((prompt, reply))) == pytest.approx(told, rel=1e-4)
    assert fitting_tokens(model, talks[0][:1], len(prompt) + len(reply)) and not fitting_tokens(
        model, talks[0][:1], len(prompt) + len(reply) - 1
    )
    assert all("lora" in name for name in model.adapters)


def test_saved_memory_changes_no_gradient(qwen, talks):
    found = []
    for save_memory in (False, True):
        model = TrainableLLM(qwen, replace(FAST, save_memory=save_memory))
        model.backward([model.encode_dialogue(talks[0][0])])
        found.append(torch.cat([weight.grad.ravel() for weight in model.adapters.values()]))
    assert torch.allclose(*found, atol=1e-6) and float(found[0].abs().max()) > 0


def test_it_learns_is_resumed_exactly_and_its_merged_folder_is_read_again(qwen, talks, tmp_path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    (tmp_path / "whole").mkdir(), (tmp_path / "cut").mkdir()
    whole = TrainableLLM(qwen, FAST)
    state = train_llm(whole, *talks, FAST, tmp_path / "whole", "k", NO_WATCH)
    assert (
        state.step == 8
        and state.looks[-1][1] < state.looks[1][1]
        and state.figure > state.looks[0][2]
    )
    calls = iter(range(100))

    def cancel() -> None:
        if next(calls) == 11:
            raise RunCancelled()

    with pytest.raises(RunCancelled):
        train_llm(TrainableLLM(qwen, FAST), *talks, FAST, tmp_path / "cut", "k", Watch(cancel))
    resumed = TrainableLLM(qwen, FAST)
    train_llm(resumed, *talks, FAST, tmp_path / "cut", "k", NO_WATCH)
    assert all(
        torch.equal(weight, resumed.adapters[name]) for name, weight in whole.adapters.items()
    )

    rows = before_after_figures(whole, talks[1], FAST, NO_WATCH)
    loss = {(row["when"], row["task"]): row["loss"] for row in rows}
    assert (
        loss["after", "relation"] < loss["before", "relation"]
        and loss["after", "plan"] < loss["before", "plan"]
    )
    assert {row["hit"] is None for row in rows if row["task"] == "plan"} == {True}

    codes = torch.tensor([sum(whole.encode_dialogue(talks[1][0]), [])])
    with torch.inference_mode():
        told = whole.net.eval()(input_ids=codes).logits
    whole.save(tmp_path / "merged")
    read = AutoModelForCausalLM.from_pretrained(tmp_path / "merged").eval()
    with torch.inference_mode():
        assert torch.allclose(read(input_ids=codes).logits, told, atol=1e-4)
    assert AutoTokenizer.from_pretrained(tmp_path / "merged").chat_template
    # The adapter alone lies in its own folder.
    assert not list((tmp_path / "merged").glob("adapter_*"))
    assert (tmp_path / "merged" / "adapter" / "adapter_config.json").is_file()


def test_reply_is_parsed_as_by_the_chooser(qwen, talks, monkeypatch):
    model = TrainableLLM(qwen, FAST)
    choice, other = talks[1][0], next(n for n in range(1, 5) if n not in talks[1][0].right)
    draft = f'<think>{{"choices": [{other}]}}?</think>'
    for reply, hit in (
        (choice.reply, 1.0),
        (draft + choice.reply, 1.0),
        (f'{{"choices": [{other}, {min(choice.right)}]}}', 0.0),
        (draft, 0.0),
    ):
        monkeypatch.setattr(model, "reply", lambda one, reply=reply: reply)
        assert [row["hit"] for row in before_after_figures(model, [choice], FAST, NO_WATCH)] == [
            hit,
            hit,
        ]


@pytest.mark.parametrize(
    "base, kind",
    [
        ("", BadInput),
        ("{tmp}", BadInput),
        ("{tmp}/absent", BadInput),
        ("nobody/nothing", ModelUnavailable),
    ],
)
def test_missing_base_model_is_reported(tmp_path, monkeypatch, base, kind):
    import huggingface_hub

    def unreachable(*_, **__):
        raise OSError("no route to the hub")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    with pytest.raises(kind, match="--base"):
        base_model_folder(base.replace("{tmp}", str(tmp_path)), NO_WATCH)
