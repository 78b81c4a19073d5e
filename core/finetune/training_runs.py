"""Complete trainings, from questions to the served folder: one function for each kind of model.

The command `finetune` calls them. The reranker's training is in `core.finetune.reranker_run`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
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
from core.io.carried_weights import checked_weights
from core.io.home import models_folder
from core.models.triple_scorer import TRIPLE_SCORER_NAME
from core.models.weights import TRAINING_FILE, weights_folder
from core.operators.base import Context, Recorder
from core.operators.retrieve.scored_triples import NameVectors
from core.watch import NO_WATCH, Watch

QUESTIONS_VERSION = 1  # part of the keys; to be raised if the same questions give other examples
ENCODER_NAME = "encoder-finetuned"
CHAT_NAME = "chat-finetuned"
BASE_ENCODER = "minilm"  # the encoder that trainings begin from

# The record of a training, and a function that writes the model's files into a folder.
TrainedModel = tuple[dict[str, Any], Callable[[Path], None]]


def served_folder(engine, name: str) -> Path:
    """Return the folder that a declared model is served from.

    Raises BadParameter if its row of models.toml names no folder.
    """
    folder = engine.models.resolve(name).settings.own_folder
    if not folder:
        raise BadParameter(
            f"“{name}” is declared without a folder of its own, so the trained model cannot be "
            "saved."
        )
    return weights_folder(folder)


@dataclass(frozen=True)
class TrainingQuestions:
    """The training and validation questions of a split, and the examples made from them."""

    split: QuestionSplit
    engine: Any
    train: Sequence[DrawnQuestion]
    validation: Sequence[DrawnQuestion]

    @classmethod
    def of(cls, split: QuestionSplit, engine) -> TrainingQuestions:
        """Return the questions that a split draws. Raises BadInput, StoreError."""
        return cls(split, engine, *split.draw_questions(engine.graph))

    def key_inputs(self) -> list[Any]:
        """Return everything that the examples depend on, as values for JSON."""
        drawn_questions = (*self.train, *self.validation)
        question_rows: list[list[Any]] = []
        for drawn in drawn_questions:
            question = drawn.question
            question_rows.append([question.id, question.text, question.entities, question.answers])
        names = (drawn.source.name for drawn in drawn_questions if drawn.source.name)
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
        self, folder: Path, watch: Watch = NO_WATCH
    ) -> tuple[list[TrainingExample], list[TrainingExample]]:
        """Return the training and the validation examples, which are saved in `folder`.

        Raises RunCancelled, StoreError.
        """
        key = training_key(self.key_inputs())
        load = partial(
            load_examples, engine=self.engine, seed=self.split.seed, key=key, watch=watch
        )
        train = load(self.train, file=folder / "train.json")
        validation = load(self.validation, file=folder / "held-out.json")
        return train, validation

    def record(
        self,
        base: str,
        settings: Any,
        examples: tuple[Sequence, Sequence],
        state: TrainingState,
        **figures: Any,
    ) -> dict[str, Any]:
        """Return the record of a training with these questions.

        Parameters
        ----------
        base : name of the model that the training began from.
        settings : settings of the training.
        examples : training examples and validation examples.
        state : the final state of the training.
        **figures : further figures.

        Returns
        -------
        Values for JSON.
        """
        train, validation = examples
        return {
            "base": base,
            "settings": settings_dict(settings),
            "asked": len(self.train),
            **figures,
            "examples": len(train),
            "held_out": len(validation),
            **training_figures(state),
        }


def run_encoder_training(
    engine,
    split: QuestionSplit,
    settings: encoders.EncoderSettings,
    watch: Watch = NO_WATCH,
    rerun: bool = False,
) -> dict[str, Any]:
    """Train the sentence encoder, serve it as `encoder-finetuned`, and return its record.

    A model that was trained with the same questions, settings and base model is not trained again,
    unless `rerun` is set. Raises BadInput, BadParameter, ModelUnavailable, StoreError, and
    RunCancelled. After RunCancelled the same call continues the training.
    """
    target = served_folder(engine, ENCODER_NAME)
    base = base_encoder_folder(engine)
    questions = TrainingQuestions.of(split, engine)
    input_key = training_key(
        questions.key_inputs(),
        settings_dict(settings),
        digest_of_file(base / encoders.ENCODER_WEIGHTS),
    )

    def train_in(folder: Path) -> TrainedModel:
        train, validation = questions.examples(folder, watch)
        model, state = encoders.train_encoder(
            base, train, validation, settings, folder, input_key, watch
        )
        record = questions.record(BASE_ENCODER, settings, (train, validation), state)
        return record, lambda temporary: model.save(temporary, base)

    return _train_if_needed(target, input_key, split, train_in, rerun)


def run_llm_training(
    engine,
    split: QuestionSplit,
    settings: llms.LLMSettings,
    base: str,
    n_test_questions: int,
    watch: Watch = NO_WATCH,
    rerun: bool = False,
) -> dict[str, Any]:
    """Train a language model, serve it as `chat-finetuned`, and return its record.

    The adapters are merged into the base model: `base` is its folder or its name on the hub.
    `report` in the record has figures before and after the training, on `n_test_questions`
    questions of each test set. A model that is not trained again keeps its report. Errors and
    restarts are as in `run_encoder_training`.
    """
    target = served_folder(engine, CHAT_NAME)
    base_folder = llms.base_model_folder(base, watch)
    questions = TrainingQuestions.of(split, engine)
    test_questions = split.draw_test_questions(n_test_questions, engine.graph)
    files = sorted((file.name, file.stat().st_size) for file in base_folder.glob("*.safetensors"))
    input_key = training_key(questions.key_inputs(), settings_dict(settings), base, files)

    def train_in(folder: Path) -> TrainedModel:
        train, validation = questions.examples(folder, watch)
        test_ids = [drawn.question.id for drawn in test_questions]
        test_key = training_key(questions.key_inputs(), test_ids)
        file = folder / "unseen.json"
        test = load_examples(test_questions, engine, split.seed, file, test_key, watch)
        watch.report("Loading the language model")
        model = llms.TrainableLLM(base_folder, settings)
        train_dialogues, validation_dialogues, test_dialogues = (
            training_dialogues(part, settings.shown, split.seed)
            for part in (train, validation, test)
        )
        state = llms.train_llm(
            model, train_dialogues, validation_dialogues, settings, folder, input_key, watch
        )
        report = llms.before_after_figures(model, test_dialogues, settings, watch)
        record = questions.record(base, settings, (train, validation), state, report=report)
        return record, model.save

    return _train_if_needed(target, input_key, split, train_in, rerun)


def run_triples_training(
    engine,
    split: QuestionSplit,
    settings: scorers.TripleSettings,
    watch: Watch = NO_WATCH,
    rerun: bool = False,
) -> dict[str, Any]:
    """Train the triple scorer, and return its record.

    The operator Scored triples reads the written file. Errors and restarts are as in
    `run_encoder_training`.
    """
    target = models_folder() / TRIPLE_SCORER_NAME
    encoder = engine.models.encoder()
    questions = TrainingQuestions.of(split, engine)
    input_key = training_key(questions.key_inputs(), settings_dict(settings), fingerprint(encoder))

    def name_vectors(graph: Any) -> NameVectors:
        # Makes the vectors of the graph if they are missing, and reports the progress.
        vector_index(graph, encoder, "nodes", watch)
        return NameVectors(
            Context(graph, engine.environment, watch=watch.without_reports), "encoder", Recorder()
        )

    def train_in(folder: Path) -> TrainedModel:
        train, validation = (
            scorers.scored_questions(part, engine, settings, name_vectors, watch)
            for part in (questions.train, questions.validation)
        )
        weights, state = scorers.train_scorer(train, validation, settings, folder, input_key, watch)
        record = questions.record(BASE_ENCODER, settings, (train, validation), state)
        return record, lambda temporary: scorers.save_weights(weights, temporary)

    return _train_if_needed(target, input_key, split, train_in, rerun)


def _train_if_needed(
    target: Path,
    key: str,
    split: QuestionSplit,
    train_in: Callable[[Path], TrainedModel],
    rerun: bool,
) -> dict[str, Any]:
    """Train and publish a model unless its key is unchanged; return the model's record.

    `train_in` trains in a working folder. With `rerun` it always trains, from the beginning.
    """
    earlier_record = trained_record(target)
    if earlier_record and earlier_record.get("key") == key and not rerun:
        return earlier_record
    with working_folder(target) as folder:
        if rerun:
            clear_folder(folder)
        record, save_model = train_in(folder)
        publish(target, {"key": key, "split": asdict(split), **record}, save_model)
        clear_folder(folder)
    return json.loads((target / TRAINING_FILE).read_text("utf-8"))


def training_figures(state: TrainingState) -> dict[str, Any]:
    """Return the step count, best step and validation history of a training."""
    return {"steps": state.step, "best_step": state.best, "looks": state.looks}


def clear_folder(folder: Path) -> None:
    """Remove the content of a folder."""
    for file in folder.iterdir():
        shutil.rmtree(file) if file.is_dir() else file.unlink()


def base_encoder_folder(engine) -> Path:
    """Return the folder of the encoder that trainings begin from. Raises ModelUnavailable."""
    settings = engine.models.resolve(BASE_ENCODER).settings
    if settings.folder:
        folder = weights_folder(settings.folder)
    else:
        folder = checked_weights(settings.package)
    if not (folder / encoders.ENCODER_WEIGHTS).is_file():
        raise ModelUnavailable(f"{folder} holds no {encoders.ENCODER_WEIGHTS} to begin from.")
    return folder
