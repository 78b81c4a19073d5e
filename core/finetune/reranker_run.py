"""The training of the embedded reranker, from shipped questions to the folder that serves it.

The model is only served if it is better than late interaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.corpus import open_corpus
from core.errors import BadInput, with_command
from core.finetune import reranker as rerankers
from core.finetune.encoder import ENCODER_WEIGHTS
from core.finetune.reranker_data import Group, path_groups, question_groups, title_groups
from core.finetune.settings import settings_dict
from core.finetune.split import QuestionSplit
from core.finetune.training_folders import (
    digest_of_file,
    publish,
    trained_record,
    training_key,
    working_folder,
)
from core.finetune.training_runs import (
    BASE_ENCODER,
    TrainingQuestions,
    base_encoder_folder,
    clear_folder,
    served_folder,
    training_course,
)
from core.models.scorers import LateInteractionScorer
from core.models.weight_differences import write_difference
from core.watch import NO_WATCH, Watch

RERANKER_DATA_VERSION = 2
RERANKER_NAME = "reranker-finetuned"
RERANKER_CORPORA = ("scifact", "hotpotqa")


@dataclass(frozen=True)
class Lessons:
    """The data that the reranker is trained on.

    Parameters
    ----------
    corpora : corpora with questions and gold documents. One half of the questions trains, and the
        other is never trained on.
    questions : how many questions of the first half are drawn; 0 for all.
    unseen : how many questions of the other half are measured.
    held : how many questions of each corpus choose when to stop.
    titles : how many documents of each corpus are trained on with their titles as questions.
    paths : how many questions of MetaQA's development sets are trained on.
    """

    corpora: tuple[str, ...] = RERANKER_CORPORA
    questions: int = 0
    unseen: int = 100
    held: int = 20
    titles: int = 2000
    paths: int = 60
    seed: int = 0


def run_reranker_training(
    engine: Any,
    lessons: Lessons,
    settings: rerankers.RerankerSettings,
    watch: Watch = NO_WATCH,
    rerun: bool = False,
) -> dict[str, Any]:
    """Train the reranker, and serve it as `reranker-finetuned` if it beats late interaction.

    The measure is nDCG@10 of the candidates of unseen questions. If it is no better, the model that
    was served before stays. Raises BadInput, BadParameter, ModelUnavailable, StoreError and
    RunCancelled.

    Parameters
    ----------
    engine : the models and graphs.
    lessons : the training data.
    settings : the settings of the training.
    watch : receives the progress, and can cancel the work.
    rerun : True to train again although the same training was done.

    Returns
    -------
    The record of the training. `report` is nDCG@10 of both by corpus, and `kept` tells if the model
    is served.
    """
    model_folder, base = served_folder(engine, RERANKER_NAME), base_encoder_folder(engine)
    watch.report("Gathering candidates")
    parts = {
        name: question_groups(open_corpus(name), 0, lessons.questions, lessons.seed, watch)
        for name in lessons.corpora
    }
    unseen = {
        name: question_groups(open_corpus(name), 1, lessons.unseen, lessons.seed, watch)
        for name in lessons.corpora
    }
    rows, held = _paths(engine, lessons, model_folder, watch)
    for part in parts.values():
        cut = min(lessons.held, len(part) // 5)
        held, rows = held + part[:cut], rows + part[cut:]
    for name in lessons.corpora if lessons.titles else ():
        rows = rows + title_groups(open_corpus(name), lessons.titles, lessons.seed, watch)
    input_key = training_key(
        RERANKER_DATA_VERSION,
        repr(lessons),
        settings_dict(settings),
        digest_of_file(base / ENCODER_WEIGHTS),
        [repr(row) for row in (*rows, *held)],
    )
    earlier_record = trained_record(model_folder)
    if earlier_record and earlier_record.get("key") == input_key and not rerun:
        return earlier_record
    with working_folder(model_folder) as folder:
        if rerun:
            clear_folder(folder)
        model, state = rerankers.train_reranker(
            base, rows, held, settings, folder, input_key, watch
        )
        late = LateInteractionScorer(engine.models.encoder(BASE_ENCODER))
        report = [_compare(name, part, model, late, watch) for name, part in unseen.items()]
        is_better = mean_figure(report, RERANKER_NAME) > mean_figure(report, "late-interaction")
        record = {
            "key": input_key,
            "base": BASE_ENCODER,
            "settings": settings_dict(settings),
            "examples": len(rows),
            "held_out": len(held),
        }
        record |= training_course(state) | {"report": report, "kept": is_better}
        if is_better:
            publish(model_folder, record, lambda temporary: model.save(temporary, base))
        clear_folder(folder)
    return record


def ship_reranker(
    engine: Any, lessons: Lessons, folder: Path, rank: int, tokens: int, watch: Watch = NO_WATCH
) -> dict[str, Any]:
    """Write the trained reranker into a folder, as a low-rank change of its encoder's weights.

    The vectors of words are unchanged. The record of the training is returned, with the figures of
    the written model. Raises BadInput where no reranker was trained, or where the compressed one is
    no better than late interaction; StoreError, ModelUnavailable, RunCancelled.

    Parameters
    ----------
    rank : the rank of the matrices.
    tokens : how many tokens of question and text are read when the result is measured.
    """
    model_folder, base = served_folder(engine, RERANKER_NAME), base_encoder_folder(engine)
    record = trained_record(model_folder)
    if record is None:
        raise BadInput(
            with_command("No re-ranker was trained here yet.", "python -m core finetune reranker")
        )
    model = rerankers.TrainableReranker(base, tokens, lessons.seed)
    difference = model.change(model_folder, rank)
    late = LateInteractionScorer(engine.models.encoder(BASE_ENCODER))
    unseen = {
        name: question_groups(open_corpus(name), 1, lessons.unseen, lessons.seed, watch)
        for name in lessons.corpora
    }
    report = [_compare(name, part, model, late, watch) for name, part in unseen.items()]
    if mean_figure(report, RERANKER_NAME) <= mean_figure(report, "late-interaction"):
        raise BadInput(
            f"With matrices of rank {rank} it is no better than late interaction; name a higher "
            "rank."
        )
    publish(
        folder,
        record | {"rank": rank, "tokens": tokens, "report": report},
        lambda temporary: write_difference(difference, temporary),
    )
    return record | {"rank": rank, "tokens": tokens, "report": report}


def mean_figure(report: Sequence[dict[str, Any]], model: str) -> float:
    """Return the mean figure of a model over the unseen questions of all corpora."""
    return sum(row[model] * row["questions"] for row in report) / max(
        1, sum(row["questions"] for row in report)
    )


def _compare(
    name: str,
    part: Sequence[Group],
    model: rerankers.TrainableReranker,
    late: LateInteractionScorer,
    watch: Watch = NO_WATCH,
) -> dict[str, Any]:
    watch.report(f"Measuring on unseen questions of {name}")
    figures = {
        RERANKER_NAME: rerankers.mean_ndcg(model.score, part, watch),
        "late-interaction": rerankers.mean_ndcg(late.score, part, watch),
    }
    return {"corpus": name, "questions": len(part)} | {
        who: round(value, 4) for who, value in figures.items()
    }


def _paths(
    engine: Any, lessons: Lessons, model_folder: Any, watch: Watch = NO_WATCH
) -> tuple[list[Group], list[Group]]:
    """Return groups of MetaQA's development questions: (to train on, held out)."""
    if not lessons.paths:
        return [], []
    held = max(1, lessons.paths // 10)
    questions = TrainingQuestions.of(
        QuestionSplit(questions=max(held + 1, lessons.paths // 3), held=held, seed=lessons.seed),
        engine,
    )
    with working_folder(model_folder) as folder:
        train, held_out = questions.examples(folder, watch)
    return path_groups(train), path_groups(held_out)
