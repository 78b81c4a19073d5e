"""The training of the embedded reranker.

It leads from shipped questions to the folder that serves the reranker. The model is served only if
it ranks better than late interaction, which needs no training.
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
    training_figures,
)
from core.models.scorers import LateInteractionScorer
from core.models.weight_differences import write_difference
from core.watch import NO_WATCH, Watch

RERANKER_DATA_VERSION = 2  # part of the key; to be raised if the same data gives other groups
RERANKER_NAME = "reranker-finetuned"
RERANKER_CORPORA = ("scifact", "hotpotqa")


@dataclass(frozen=True)
class Lessons:
    """The data that the reranker is trained on.

    Parameters
    ----------
    corpora : corpora with questions and gold documents. One half of the questions of each is for
        training, and the other for tests (`question_half`).
    questions : number of questions drawn from the training half; 0 for all.
    unseen : number of questions drawn from the test half; 0 for all.
    held : number of validation questions of each corpus, for early stopping; at most a fifth.
    titles : number of documents of each corpus whose titles are used as questions; 0 for none.
    paths : number of questions from MetaQA's development sets, for training and validation; 0 for
        none.
    seed : the seed of all draws.
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

    They are compared by nDCG@10 on unseen questions. A reranker that is no better is not served,
    and the one that was served before stays. Raises BadInput, BadParameter, ModelUnavailable,
    StoreError and RunCancelled.

    Parameters
    ----------
    engine : the models and graphs.
    lessons : the training data.
    settings : the settings of the training.
    watch : receives the progress, and can cancel the work.
    rerun : True to train again although the same training was done.

    Returns
    -------
    The record of the training. `report` is nDCG@10 of the reranker and of late interaction by
        corpus, and `kept` is True if the reranker is served.
    """
    model_folder = served_folder(engine, RERANKER_NAME)
    base = base_encoder_folder(engine)
    watch.report("Gathering candidates")
    groups_by_corpus = _corpus_groups(lessons, 0, lessons.questions, watch)
    unseen = _corpus_groups(lessons, 1, lessons.unseen, watch)
    rows, held = _metaqa_groups(engine, lessons, model_folder, watch)
    for groups in groups_by_corpus.values():
        held_count = min(lessons.held, len(groups) // 5)
        held = held + groups[:held_count]
        rows = rows + groups[held_count:]
    if lessons.titles:
        for name in lessons.corpora:
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
        report, is_better = _compare(engine, unseen, model, watch)
        record = {
            "key": input_key,
            "base": BASE_ENCODER,
            "settings": settings_dict(settings),
            "examples": len(rows),
            "held_out": len(held),
        }
        record |= training_figures(state) | {"report": report, "kept": is_better}
        if is_better:
            publish(model_folder, record, lambda temporary: model.save(temporary, base))
        clear_folder(folder)
    return record


def ship_reranker(
    engine: Any, lessons: Lessons, folder: Path, rank: int, tokens: int, watch: Watch = NO_WATCH
) -> dict[str, Any]:
    """Write the trained reranker into a folder.

    It is written as a low-rank change of its encoder's weights. The word embeddings are unchanged.
    The record of the training is returned, but with the figures of the written, compressed model.
    Raises BadInput if no reranker was trained, or if the compressed one is no better than late
    interaction; StoreError, ModelUnavailable, RunCancelled.

    Parameters
    ----------
    engine : the models.
    lessons : the data of the training; its unseen questions are measured.
    folder : receives the files.
    rank : the rank of the matrices.
    tokens : maximum number of tokens of question and text when the result is measured.
    watch : receives the progress, and can cancel the work.
    """
    model_folder = served_folder(engine, RERANKER_NAME)
    base = base_encoder_folder(engine)
    record = trained_record(model_folder)
    if record is None:
        raise BadInput(
            with_command("No re-ranker was trained here yet.", "hopscope finetune reranker")
        )
    model = rerankers.TrainableReranker(base, tokens, lessons.seed)
    difference = model.load_low_rank_difference(model_folder, rank)
    unseen = _corpus_groups(lessons, 1, lessons.unseen, watch)
    report, is_better = _compare(engine, unseen, model, watch)
    if not is_better:
        raise BadInput(
            f"With matrices of rank {rank} it is no better than late interaction; name a higher "
            "rank."
        )
    record |= {"rank": rank, "tokens": tokens, "report": report}
    publish(folder, record, lambda temporary: write_difference(difference, temporary))
    return record


def mean_figure(report: Sequence[dict[str, Any]], model: str) -> float:
    """Return the mean figure of a model over all questions of a report.

    A corpus counts by its number of questions. `model` is a key of the rows.
    """
    total = sum(row["questions"] for row in report)
    return sum(row[model] * row["questions"] for row in report) / max(1, total)


def _corpus_groups(lessons: Lessons, half: int, limit: int, watch: Watch) -> dict[str, list[Group]]:
    """Return groups of the questions of one half of each corpus."""
    return {
        name: question_groups(open_corpus(name), half, limit, lessons.seed, watch)
        for name in lessons.corpora
    }


def _compare(
    engine: Any,
    unseen: dict[str, list[Group]],
    model: rerankers.TrainableReranker,
    watch: Watch = NO_WATCH,
) -> tuple[list[dict[str, Any]], bool]:
    """Compare the model with late interaction by nDCG@10.

    The figures by corpus are returned, and whether the model is better.
    """
    late = LateInteractionScorer(engine.models.encoder(BASE_ENCODER))
    report = []
    for name, groups in unseen.items():
        watch.report(f"Measuring on unseen questions of {name}")
        figures = {
            RERANKER_NAME: rerankers.mean_ndcg(model.score, groups, watch),
            "late-interaction": rerankers.mean_ndcg(late.score, groups, watch),
        }
        rounded = {scorer: round(value, 4) for scorer, value in figures.items()}
        report.append({"corpus": name, "questions": len(groups)} | rounded)
    is_better = mean_figure(report, RERANKER_NAME) > mean_figure(report, "late-interaction")
    return report, is_better


def _metaqa_groups(
    engine: Any, lessons: Lessons, model_folder: Path, watch: Watch = NO_WATCH
) -> tuple[list[Group], list[Group]]:
    """Return training groups and validation groups of MetaQA's development questions."""
    if not lessons.paths:
        return [], []
    # MetaQA has three development sets, and each gives a third of the questions. Of each set,
    # `held` questions are for validation, three tenths of its questions.
    held = max(1, lessons.paths // 10)
    questions = TrainingQuestions.of(
        QuestionSplit(questions=max(held + 1, lessons.paths // 3), held=held, seed=lessons.seed),
        engine,
    )
    with working_folder(model_folder) as folder:
        train, validation = questions.examples(folder, watch)
    return path_groups(train), path_groups(validation)
