"""From a question file to a served model, and the report's table by hand."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from core.cli import EXIT_FAILED, EXIT_OK, EXIT_WRONG_INPUT, main
from core.evaluation.metrics.outcome import GoldRanks, Outcome
from core.evaluation.runs.store import Run, StoredRow
from core.finetune import training_runs
from core.finetune.encoder import EncoderSettings
from core.finetune.report import comparison_rows, merge_summaries, report_lines
from core.finetune.split import QuestionSplit
from core.types import Question
from core.watch import NO_WATCH
from tests.films import films  # noqa: F401

FAST = EncoderSettings(batch=4, epochs=1, rate=1e-3, negatives=1, measure=2)


@pytest.fixture
def house(films, bert, qwen, tmp_path, monkeypatch):  # noqa: F811
    """An engine on the graph of five nodes whose minilm is the small BERT, and a question file."""
    from core.models.registry import Registry

    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOPSCOPE_MODELS", str(tmp_path / "models"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "models.toml").write_text(
        f'[model.minilm]\nkind = "encoder"\nbackend = "minilm"\nfolder = "{bert}"\n'
    )
    asked = [f"who directed [{film}] {i}\tAnn" for i in range(6) for film in ("One", "Two")]
    asked += [f"what is [One] about {i}\tDrama" for i in range(6)] + [
        "who is nobody in [One]\tNobody"
    ]
    (tmp_path / "asked.txt").write_text("\n".join(asked))
    engine = SimpleNamespace(
        models=Registry(), graph=lambda name, watch=None: films, close=lambda: None
    )
    return SimpleNamespace(
        engine=engine,
        split=QuestionSplit(str(tmp_path / "asked.txt"), questions=None, held=3),
        folder=tmp_path / "models",
    )


def test_a_trained_encoder_is_served_at_once_and_no_result_of_the_old_one_is_taken_for_its_own(
    house,
):
    models = house.engine.models
    signatures = [(models.signature(), models.signature("encoder-finetuned"))]
    assert "hopscope finetune encoder" in models.info("encoder-finetuned").how_to_get
    told = training_runs.run_encoder_training(house.engine, house.split, FAST, NO_WATCH)
    signatures.append((models.signature(), models.signature("encoder-finetuned")))
    assert models.info("encoder-finetuned").present and told["examples"] + told["held_out"] in (
        15,
        16,
    )
    first = models.encoder("encoder-finetuned")
    vector = first.encode(["who directed One"])
    assert models.encoder("encoder-finetuned") is first
    plain = models.signature("minilm")

    # The same training does not run twice.
    assert training_runs.run_encoder_training(house.engine, house.split, FAST, NO_WATCH) == told
    assert models.encoder("encoder-finetuned") is first
    # A repeated training gives the same weights.
    assert (
        training_runs.run_encoder_training(house.engine, house.split, FAST, NO_WATCH, rerun=True)
        == told
    )
    training_runs.run_encoder_training(
        house.engine,
        house.split,
        EncoderSettings(batch=4, epochs=2, rate=1e-3, negatives=1, measure=2),
        NO_WATCH,
    )
    signatures.append((models.signature(), models.signature("encoder-finetuned")))
    assert (
        len(set(signatures)) == len({whole for whole, _ in signatures}) == 3
        and models.signature("minilm") == plain
    )
    second = models.encoder("encoder-finetuned")
    assert second is not first and abs(second.encode(["who directed One"]) - vector).max() > 1e-5
    assert sorted(file.name for file in house.folder.iterdir() if file.suffix != ".lock") == [
        "encoder-finetuned",
        "encoder-finetuned.training",
    ]
    assert not list((house.folder / "encoder-finetuned.training").iterdir())


def test_trained_language_model_is_saved_for_vllm(house, qwen):
    from core.finetune.llm import LLMSettings
    from core.models.chat.vllm import find_lora_rank

    settings = LLMSettings(batch=8, epochs=1, rate=1e-3, shown=3, looks=1)
    told = training_runs.run_llm_training(
        house.engine, house.split, settings, str(qwen), 2, NO_WATCH
    )
    assert {"model.safetensors", "config.json", "tokenizer.json"} <= {
        file.name for file in (house.folder / "chat-finetuned").iterdir()
    }
    adapter = house.folder / "chat-finetuned" / "adapter"
    assert (
        find_lora_rank([adapter]) == settings.rank
        and (adapter / "adapter_model.safetensors").is_file()
    )
    assert {(row["when"], row["task"]) for row in told["report"]} == {
        (when, task)
        for when in ("before", "after")
        for task in ("path", "triple", "relation", "plan")
    }
    assert "not on this computer" not in house.engine.models.info("chat-finetuned").how_to_get
    assert (
        training_runs.run_llm_training(house.engine, house.split, settings, str(qwen), 2, NO_WATCH)
        == told
    )


def outcome(*relevant: int, first: tuple[int | None, ...]) -> Outcome:
    return Outcome(len(first), paths=GoldRanks(40, relevant, first))


def test_report_table_matches_hand_computed_values():
    runs = []
    for name, places in (("a", (2, 1, 40)), ("b", (1, 1, 33))):
        found = [outcome(place, first=(place, None)) for place in places]
        rows = [
            StoredRow(name, Question("q", str(i), hops=1 if i < 2 else 2), one)
            for i, one in enumerate(found)
        ]
        runs.append(
            (
                Run(
                    1,
                    "k",
                    {"instances": [{"id": name, "name": name}], "sample": 3},
                    0.0,
                    "done",
                    3,
                    0,
                ),
                rows,
            )
        )
    told = {(row["hops"], row["metric"]): row for row in comparison_rows(merge_summaries(runs))}
    means = {
        key: (row["before"]["mean"], row["after"]["mean"], row["change"]["difference"])
        for key, row in told.items()
    }
    assert means[1, "path_hit@1"] == (0.5, 1.0, 0.5) and means[1, "path_hit@32"] == (1.0, 1.0, 0.0)
    assert means[1, "path_recall@32"] == (0.5, 0.5, 0.0)  # No path leads to the second answer.
    assert means[2, "path_hit@32"] == (0.0, 0.0, 0.0) and told[2, "path_hit@32"]["after"]["n"] == 1
    text = report_lines(list(told.values()))
    assert "+0.500" in text[1] and text[-2].startswith(
        "No gain: path_hit@32 at 1 hops, path_recall@32 at 1 hops, path_hit@1 at 2 hops"
    )


@pytest.mark.parametrize(
    "arguments, code, sentence",
    [
        (["encoder", "--set", "metaqa-1hop"], EXIT_WRONG_INPUT, "metaqa-1hop-test is a test set"),
        (["encoder", "--set", "metqa-1hop-dev"], EXIT_WRONG_INPUT, "“metaqa-1hop-dev”"),
        (["encoder", "--questions", "few"], EXIT_WRONG_INPUT, "a whole number or “all”"),
        (["encoder", "--report"], EXIT_WRONG_INPUT, "There is no trained model to report on"),
        (["llm"], EXIT_WRONG_INPUT, "a causal language model to begin from with --base"),
        (["llm", "--base", "/nowhere/at/all"], EXIT_FAILED, "There is no folder /nowhere/at/all"),
    ],
)
def test_invalid_training_is_refused(
    movies, tmp_path, monkeypatch, capsys, arguments, code, sentence
):
    monkeypatch.setenv("HOPSCOPE_MODELS", str(tmp_path))
    assert main(["finetune", *arguments]) == code
    assert sentence in capsys.readouterr().err


def test_command_prints_the_trained_model(house, monkeypatch, capsys):
    from core.finetune.encoder import ENCODER_PRESETS

    monkeypatch.setattr("core.cli._make_engine", lambda: house.engine)
    monkeypatch.setitem(ENCODER_PRESETS, "cpu", FAST)
    arguments = [
        "finetune",
        "encoder",
        "--set",
        house.split.sets,
        "--questions",
        "all",
        "--held-out",
        "3",
        "--no-report",
    ]
    assert main([*arguments, "--json"]) == EXIT_OK
    told = json.loads(capsys.readouterr().out)
    assert told["report"] == [] and told["training"]["split"]["sets"] == house.split.sets
    assert main(arguments) == EXIT_OK
    out = capsys.readouterr().out
    assert (
        out.startswith(f"Trained on {told['training']['examples']} of 13 questions of")
        and "← saved" in out
    )
