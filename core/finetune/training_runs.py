"""Complete trainings, from questions to the served folder: one call for each kind of model.

Screens and the terminal use the same calls.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.errors import BadParameter, ModelUnavailable
from core.evaluation.runs.plan import DrawnQuestion
from core.finetune import encoder as encoders
from core.finetune import llm as llms
from core.finetune import triples as scorers
from core.finetune.dialogues import training_dialogues
from core.finetune.loop import TrainingState
from core.finetune.settings import settings_dict
from core.finetune.split import QuestionSplit, load_examples
from core.finetune.training_examples import CANDIDATE_RETRIEVAL, TrainingExample
from core.finetune.training_folders import (
    digest_of_file,
    publish,
    trained_record,
    training_key,
    working_folder,
)
from core.indexes.chains import fingerprint
from core.indexes.vectors import vector_index
from core.io.home import models_folder
from core.models.encoders.minilm import package_folder
from core.models.triple_scorer import TRIPLE_SCORER_NAME
from core.models.weights import TRAINING_FILE, weights_folder
from core.operators.base import Context, Recorder
from core.operators.retrieve.scored_triples import NameVectors
from core.watch import NO_WATCH, Watch

QUESTIONS_VERSION = 1
ENCODER_NAME, CHAT_NAME, BASE_ENCODER = "encoder-finetuned", "chat-finetuned", "minilm"


def served_folder(engine, name: str) -> Path:
    """Return the folder that a declared model is served from.

    Raises BadParameter where its row names none.
    """
    settings = engine.models.resolve(name).settings
    folder = getattr(settings, "folder", "") or (getattr(settings, "get", "") and settings.weights)
    if not folder:
        raise BadParameter(
            f"“{name}” is declared without a folder of its own, so a trained model has no place "
            "to go."
        )
    return weights_folder(folder)


@dataclass(frozen=True)
class TrainingQuestions:
    """The questions of a training, which give its examples."""

    split: QuestionSplit
    engine: Any
    train: Sequence[DrawnQuestion]
    held: Sequence[DrawnQuestion]

    @classmethod
    def of(cls, split: QuestionSplit, engine) -> TrainingQuestions:
        """Return the questions that a split draws. Raises BadInput, StoreError."""
        return cls(split, engine, *split.drawn(engine.graph))

    def inputs(self) -> list[Any]:
        """Return everything that the examples depend on."""
        question_rows = [
            [one.question.id, one.question.text, one.question.entities, one.question.answers]
            for one in (*self.train, *self.held)
        ]
        names = (one.source.name for one in (*self.train, *self.held) if one.source.name)
        graphs = {name: self.engine.graph(name).digest for name in names}
        return [
            QUESTIONS_VERSION,
            repr(CANDIDATE_RETRIEVAL),
            self.split.seed,
            len(self.train),
            question_rows,
            graphs,
        ]

    def examples(
        self, work: Path, watch: Watch = NO_WATCH
    ) -> tuple[list[TrainingExample], list[TrainingExample]]:
        """Return the examples to train on and those held out, saved in `work`.

        Raises RunCancelled, StoreError.
        """
        examples_key = training_key(self.inputs())
        parts = ((self.train, work / "train.json"), (self.held, work / "held-out.json"))
        train, held = (
            load_examples(part, self.engine, self.split.seed, file, examples_key, watch)
            for part, file in parts
        )
        return train, held


def run_encoder_training(
    engine,
    split: QuestionSplit,
    settings: encoders.EncoderSettings,
    watch: Watch = NO_WATCH,
    rerun: bool = False,
) -> dict[str, Any]:
    """Train the sentence encoder, serve it as `encoder-finetuned`, and return its record.

    A model that was trained with the same questions, settings and base is left as it is, unless
    `rerun`. Raises BadInput, BadParameter, ModelUnavailable, StoreError, and RunCancelled. After
    RunCancelled the same call continues the training.
    """
    target, base = served_folder(engine, ENCODER_NAME), base_encoder_folder(engine)
    questions = TrainingQuestions.of(split, engine)
    input_key = training_key(
        questions.inputs(), settings_dict(settings), digest_of_file(base / encoders.ENCODER_WEIGHTS)
    )

    def work(folder: Path) -> tuple[dict[str, Any], Callable[[Path], None]]:
        train, held = questions.examples(folder, watch)
        model, state = encoders.train_encoder(base, train, held, settings, folder, input_key, watch)
        figures = {
            "base": BASE_ENCODER,
            "settings": settings_dict(settings),
            "asked": len(questions.train),
        }
        return figures | {"examples": len(train), "held_out": len(held)} | training_course(
            state
        ), lambda temporary: model.save(temporary, base)

    return _train_if_needed(target, input_key, split, work, rerun)


def run_llm_training(
    engine,
    split: QuestionSplit,
    settings: llms.LLMSettings,
    base: str,
    unseen: int,
    watch: Watch = NO_WATCH,
    rerun: bool = False,
) -> dict[str, Any]:
    """Train a language model, serve it as `chat-finetuned`, and return its record.

    The adapters are merged. `report` in the record has figures before and after on `unseen`
    questions of each test set. It is made once, with the training. The rest is as for
    `run_encoder_training`.
    """
    target, base_folder_path = served_folder(engine, CHAT_NAME), llms.base_model_folder(base, watch)
    questions = TrainingQuestions.of(split, engine)
    unseen_questions = split.unseen(unseen, engine.graph)
    files = sorted(
        (file.name, file.stat().st_size) for file in base_folder_path.glob("*.safetensors")
    )
    input_key = training_key(questions.inputs(), settings_dict(settings), base, files)

    def work(folder: Path) -> tuple[dict[str, Any], Callable[[Path], None]]:
        train, held = questions.examples(folder, watch)
        unseen_key = training_key(questions.inputs(), [one.question.id for one in unseen_questions])
        test = load_examples(
            unseen_questions, engine, split.seed, folder / "unseen.json", unseen_key, watch
        )
        watch.report("Loading the language model")
        model = llms.TrainableLLM(base_folder_path, settings)
        parts = [
            training_dialogues(part, settings.shown, split.seed) for part in (train, held, test)
        ]
        state = llms.train_llm(model, parts[0], parts[1], settings, folder, input_key, watch)
        rows = llms.unseen_figures(model, parts[2], settings, watch)
        record = {
            "base": base,
            "settings": settings_dict(settings),
            "asked": len(questions.train),
            "report": rows,
        }
        return record | {"examples": len(train), "held_out": len(held)} | training_course(
            state
        ), model.save

    return _train_if_needed(target, input_key, split, work, rerun)


def run_triples_training(
    engine,
    split: QuestionSplit,
    settings: scorers.TripleSettings,
    watch: Watch = NO_WATCH,
    rerun: bool = False,
) -> dict[str, Any]:
    """Train the triple scorer, and return its record.

    It is written where the operator Scored triples reads it. The rest is as for
    `run_encoder_training`.
    """
    target = models_folder() / TRIPLE_SCORER_NAME
    encoder = engine.models.encoder()
    questions = TrainingQuestions.of(split, engine)
    input_key = training_key(questions.inputs(), settings_dict(settings), fingerprint(encoder))

    def read(graph: Any) -> NameVectors:
        vector_index(graph, encoder, "nodes", watch)
        return NameVectors(
            Context(graph, engine.environment, watch=watch.quiet), "encoder", Recorder()
        )

    def work(folder: Path) -> tuple[dict[str, Any], Callable[[Path], None]]:
        parts = [
            scorers.scored_questions(part, engine, settings, read, watch)
            for part in (questions.train, questions.held)
        ]
        weights, state = scorers.train_scorer(
            parts[0], parts[1], settings, folder, input_key, watch
        )
        figures = {
            "base": BASE_ENCODER,
            "settings": settings_dict(settings),
            "asked": len(questions.train),
        }
        figures |= {"examples": len(parts[0]), "held_out": len(parts[1])}
        return figures | training_course(state), lambda temporary: scorers.save_weights(
            weights, temporary
        )

    return _train_if_needed(target, input_key, split, work, rerun)


def _train_if_needed(
    target: Path, key: str, split: QuestionSplit, work: Callable, rerun: bool
) -> dict[str, Any]:
    """Return the record of the model in `target`, trained first if its key is another one."""
    earlier_record = trained_record(target)
    if earlier_record and earlier_record.get("key") == key and not rerun:
        return earlier_record
    with working_folder(target) as folder:
        if rerun:
            clear_folder(folder)
        record, fill = work(folder)
        publish(target, {"key": key, "split": asdict(split), **record}, fill)
        clear_folder(folder)
    return json.loads((target / TRAINING_FILE).read_text("utf-8"))


def training_course(state: TrainingState) -> dict[str, Any]:
    """Return the figures of a training's course."""
    return {"steps": state.step, "best_step": state.best, "looks": state.looks}


def clear_folder(folder: Path) -> None:
    """Remove the content of a folder."""
    for file in folder.iterdir():
        shutil.rmtree(file) if file.is_dir() else file.unlink()


def base_encoder_folder(engine) -> Path:
    """Return the folder of the encoder that trainings begin from. Raises ModelUnavailable."""
    settings = engine.models.resolve(BASE_ENCODER).settings
    folder = (
        weights_folder(settings.folder) if settings.folder else package_folder(settings.package)
    )
    if not (folder / encoders.ENCODER_WEIGHTS).is_file():
        raise ModelUnavailable(f"{folder} holds no {encoders.ENCODER_WEIGHTS} to begin from.")
    return folder
