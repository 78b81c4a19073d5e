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
from core.evaluation.runs.plan import Drawn
from core.finetune import encoder as encoders
from core.finetune import llm as llms
from core.finetune import triples as scorers
from core.finetune.data import RETRIEVAL, Example
from core.finetune.dialogues import dialogues
from core.finetune.loop import TrainingState
from core.finetune.place import digest, key, publish, trained, workplace
from core.finetune.settings import settings_dict
from core.finetune.split import Split, examples
from core.indexes.chains import fingerprint
from core.indexes.vectors import vector_index
from core.io.home import models_folder
from core.models.encoders.minilm import package_folder
from core.models.triple_scorer import NAME
from core.models.weights import TRAINING, weights_folder
from core.operators.base import Context, Recorder
from core.operators.retrieve.scored_triples import Vectors
from core.watch import NO_WATCH, Watch

VERSION = 1
ENCODER, CHAT, BASE = "encoder-finetuned", "chat-finetuned", "minilm"


def target(engine, name: str) -> Path:
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
class Questions:
    """The questions of a training, which give its examples."""

    split: Split
    engine: Any
    train: Sequence[Drawn]
    held: Sequence[Drawn]

    @classmethod
    def of(cls, split: Split, engine) -> Questions:
        """Return the questions that a split draws. Raises BadInput, StoreError."""
        return cls(split, engine, *split.drawn(engine.graph))

    def inputs(self) -> list[Any]:
        """Return everything that the examples depend on."""
        asked = [
            [one.question.id, one.question.text, one.question.entities, one.question.answers]
            for one in (*self.train, *self.held)
        ]
        names = (one.source.name for one in (*self.train, *self.held) if one.source.name)
        graphs = {name: self.engine.graph(name).digest for name in names}
        return [VERSION, repr(RETRIEVAL), self.split.seed, len(self.train), asked, graphs]

    def examples(self, work: Path, watch: Watch = NO_WATCH) -> tuple[list[Example], list[Example]]:
        """Return the examples to train on and those held out, saved in `work`.

        Raises Cancelled, StoreError.
        """
        known = key(self.inputs())
        parts = ((self.train, work / "train.json"), (self.held, work / "held-out.json"))
        train, held = (
            examples(part, self.engine, self.split.seed, file, known, watch) for part, file in parts
        )
        return train, held


def encoder(
    engine,
    split: Split,
    settings: encoders.EncoderSettings,
    watch: Watch = NO_WATCH,
    again: bool = False,
) -> dict[str, Any]:
    """Train the sentence encoder, serve it as `encoder-finetuned`, and return its record.

    A model that was trained with the same questions, settings and base is left as it is, unless
    `again`. Raises BadInput, BadParameter, ModelUnavailable, StoreError, and Cancelled. After
    Cancelled the same call continues the training.
    """
    place, base = target(engine, ENCODER), base_folder(engine)
    questions = Questions.of(split, engine)
    known = key(questions.inputs(), settings_dict(settings), digest(base / encoders.WEIGHTS))

    def work(folder: Path) -> tuple[dict[str, Any], Callable[[Path], None]]:
        train, held = questions.examples(folder, watch)
        model, state = encoders.train(base, train, held, settings, folder, known, watch)
        figures = {
            "base": BASE,
            "settings": settings_dict(settings),
            "asked": len(questions.train),
        }
        return figures | {"examples": len(train), "held_out": len(held)} | course(
            state
        ), lambda temporary: model.save(temporary, base)

    return _made(place, known, split, work, again)


def llm(
    engine,
    split: Split,
    settings: llms.LLMSettings,
    base: str,
    unseen: int,
    watch: Watch = NO_WATCH,
    again: bool = False,
) -> dict[str, Any]:
    """Train a language model, serve it as `chat-finetuned`, and return its record.

    The adapters are merged. `report` in the record has figures before and after on `unseen`
    questions of each test set. It is made once, with the training. The rest is as for `encoder`.
    """
    place, begin = target(engine, CHAT), llms.base_folder(base, watch)
    questions, asked = Questions.of(split, engine), split.unseen(unseen, engine.graph)
    files = sorted((file.name, file.stat().st_size) for file in begin.glob("*.safetensors"))
    known = key(questions.inputs(), settings_dict(settings), base, files)

    def work(folder: Path) -> tuple[dict[str, Any], Callable[[Path], None]]:
        train, held = questions.examples(folder, watch)
        others = key(questions.inputs(), [one.question.id for one in asked])
        rest = examples(asked, engine, split.seed, folder / "unseen.json", others, watch)
        watch.report("Loading the language model")
        model = llms.TrainableLLM(begin, settings)
        parts = [dialogues(part, settings.shown, split.seed) for part in (train, held, rest)]
        state = llms.train(model, parts[0], parts[1], settings, folder, known, watch)
        rows = llms.figures(model, parts[2], settings, watch)
        record = {
            "base": base,
            "settings": settings_dict(settings),
            "asked": len(questions.train),
            "report": rows,
        }
        return record | {"examples": len(train), "held_out": len(held)} | course(state), model.save

    return _made(place, known, split, work, again)


def triples(
    engine,
    split: Split,
    settings: scorers.TripleSettings,
    watch: Watch = NO_WATCH,
    again: bool = False,
) -> dict[str, Any]:
    """Train the triple scorer, and return its record.

    It is written where the operator Scored triples reads it. The rest is as for `encoder`.
    """
    place, encoder, questions = (
        models_folder() / NAME,
        engine.models.encoder(),
        Questions.of(split, engine),
    )
    known = key(questions.inputs(), settings_dict(settings), fingerprint(encoder))

    def read(graph: Any) -> Vectors:
        vector_index(graph, encoder, "nodes", watch)
        return Vectors(Context(graph, engine.environment, watch=watch.quiet), "encoder", Recorder())

    def work(folder: Path) -> tuple[dict[str, Any], Callable[[Path], None]]:
        parts = [
            scorers.all_scored(part, engine, settings, read, watch)
            for part in (questions.train, questions.held)
        ]
        weights, state = scorers.train(parts[0], parts[1], settings, folder, known, watch)
        figures = {
            "base": BASE,
            "settings": settings_dict(settings),
            "asked": len(questions.train),
        }
        figures |= {"examples": len(parts[0]), "held_out": len(parts[1])}
        return figures | course(state), lambda temporary: scorers.save(weights, temporary)

    return _made(place, known, split, work, again)


def _made(place: Path, known: str, split: Split, work: Callable, again: bool) -> dict[str, Any]:
    """Return the record of the model in `place`, trained first if its key is another one."""
    there = trained(place)
    if there and there.get("key") == known and not again:
        return there
    with workplace(place) as folder:
        if again:
            clear(folder)
        record, fill = work(folder)
        publish(place, {"key": known, "split": asdict(split), **record}, fill)
        clear(folder)
    return json.loads((place / TRAINING).read_text("utf-8"))


def course(state: TrainingState) -> dict[str, Any]:
    """Return the figures of a training's course."""
    return {"steps": state.step, "best_step": state.best, "looks": state.looks}


def clear(folder: Path) -> None:
    """Remove the content of a folder."""
    for file in folder.iterdir():
        shutil.rmtree(file) if file.is_dir() else file.unlink()


def base_folder(engine) -> Path:
    """Return the folder of the encoder that trainings begin from. Raises ModelUnavailable."""
    settings = engine.models.resolve(BASE).settings
    folder = (
        weights_folder(settings.folder) if settings.folder else package_folder(settings.package)
    )
    if not (folder / encoders.WEIGHTS).is_file():
        raise ModelUnavailable(f"{folder} holds no {encoders.WEIGHTS} to begin from.")
    return folder
