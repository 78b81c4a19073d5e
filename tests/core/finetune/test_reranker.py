"""Training of the embedded reranker: its examples, a tiny run, and the rule for keeping it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from core.cli import EXIT_OK, main
from core.corpus import new_folder, open_corpus, write_corpus
from core.corpus.document import Document
from core.errors import BadInput
from core.finetune import reranker as rerankers
from core.finetune import reranker_run
from core.finetune.reranker_data import (
    Group,
    path_groups,
    question_groups,
    question_half,
    title_groups,
)
from core.finetune.training_examples import CandidateTexts, TrainingExample
from core.models.base import Task
from core.models.cross import DeltaCrossEncoder
from core.models.registry import Registry
from core.types import Question
from core.watch import NO_WATCH

THINGS = "ant bee cat dog eel fox gnu hen ibis jay".split()
FAST = rerankers.RerankerSettings(epochs=1, rate=1e-3, negatives=2, tokens=32, measure=4)


@pytest.fixture
def house(bert, tmp_path, monkeypatch):
    """An engine whose minilm is the small BERT, and a corpus of twenty texts and questions."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOPSCOPE_MODELS", str(tmp_path / "models"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "models.toml").write_text(
        f'[model.minilm]\nkind = "encoder"\nbackend = "minilm"\nfolder = "{bert}"\n'
    )
    documents = [
        Document(f"{name}-{kind}", f"the {kind} of the {name} is here")
        for name in THINGS
        for kind in ("place", "year")
    ]
    asked = [
        Question(f"{word} is the {name}", gold=(f"{name}-{kind}",))
        for name in THINGS
        for word, kind in (("where", "place"), ("when", "year"))
    ]
    write_corpus(new_folder("lessons"), documents, sets={"lessons": ("Lessons", asked)})
    return SimpleNamespace(
        engine=SimpleNamespace(models=Registry()), folder=tmp_path / "models" / "reranker-finetuned"
    )


LESSONS = reranker_run.Lessons(("lessons",), unseen=5, held=2, titles=0, paths=0)


def test_halves_share_no_question_and_negatives_share_words(house):
    corpus = open_corpus("lessons")
    train, rest = question_groups(corpus, 0, 0, 0), question_groups(corpus, 1, 0, 0)
    assert len(train) + len(rest) == 20 and not {one.question for one in train} & {
        one.question for one in rest
    }
    assert all(question_half(Question(one.question)) == 0 for one in train)
    for one in train:
        (right,), name = one.positives, one.question.split()[-1]
        assert name in right and right not in one.negatives and name in one.negatives[0]
    assert len(question_groups(corpus, 0, 3, 0)) == 3


def test_questions_without_documents_teach_nothing(house):
    corpus = write_corpus(
        new_folder("bare"),
        [Document("a", "text")],
        sets={"bare": ("Bare", [Question("Who?", answers=("Ann",))])},
    )
    with pytest.raises(BadInput, match="no questions with known documents"):
        question_groups(corpus, 0, 0, 0)


def test_title_is_removed_from_its_text(house):
    documents = [
        Document("a", "barks all night", "The dog"),
        Document("b", "the dog is asleep", "The cat"),
        Document("c", "no title"),
    ]
    corpus = write_corpus(new_folder("titled"), documents)
    found = {one.question: one for one in title_groups(corpus, 0, 0)}
    assert set(found) == {"The dog", "The cat"}
    assert (
        found["The dog"].positives == ("barks all night",)
        and found["The dog"].negatives[0] == "the dog is asleep"
    )
    assert len(title_groups(corpus, 1, 0)) == 1


def test_paths_of_a_graph_give_examples():
    part = CandidateTexts("path", ("A -> made -> B",), ("A -> near -> C",))
    assert path_groups([TrainingExample("1", "who made it", ("A",), ("made",), (part,))]) == [
        Group("who made it", part.positives, part.negatives)
    ]


def test_metric_is_ndcg_with_pessimistic_ties():
    group = Group("?", ("right",), ("wrong", "also wrong"))
    by = lambda **scores: (
        lambda task, texts: np.array([scores.get(text.split()[0], 0.0) for text in texts])
    )
    assert rerankers.mean_ndcg(by(right=1.0), [group]) == 1.0
    # The right text ranks last of three.
    assert rerankers.mean_ndcg(by(), [group]) == pytest.approx(1 / np.log2(4))
    assert rerankers.mean_ndcg(
        by(right=1.0), [group, Group("?", ("wrong",), ("right",))]
    ) == pytest.approx((1 + 1 / np.log2(3)) / 2)


class RivalScorer:
    """A late-interaction scorer that is always wrong or always right."""

    def __init__(self, sign):
        self.sign = sign

    def score(self, task, texts):
        name, kind = (
            task.query.split()[-1],
            {"where": "place", "when": "year"}[task.query.split()[0]],
        )
        return np.array([self.sign * float(f"the {kind} of the {name} " in text) for text in texts])


def test_better_reranker_is_served(house, monkeypatch):
    monkeypatch.setattr(reranker_run, "LateInteractionScorer", lambda encoder: RivalScorer(-1.0))
    told = reranker_run.run_reranker_training(house.engine, LESSONS, FAST, NO_WATCH)
    assert (
        told["kept"]
        and told["report"][0]["reranker-finetuned"] > told["report"][0]["late-interaction"]
    )
    info = house.engine.models.info("reranker-finetuned")
    assert info.present and (house.folder / "training.json").is_file()
    served = house.engine.models.scorer("reranker-finetuned")
    task, texts = (
        Task("where is the ant"),
        ["the place of the ant is here", "the year of the ant is here"],
    )
    assert served.head(served.hidden(task, texts)) == pytest.approx(
        served.score(task, texts), abs=1e-4
    )
    # The same training does not run twice.
    assert (
        reranker_run.run_reranker_training(house.engine, LESSONS, FAST, NO_WATCH)["steps"]
        == told["steps"]
    )


def test_worse_reranker_is_not_kept(house, monkeypatch):
    monkeypatch.setattr(reranker_run, "LateInteractionScorer", lambda encoder: RivalScorer(1.0))
    told = reranker_run.run_reranker_training(house.engine, LESSONS, FAST, NO_WATCH)
    assert not told["kept"] and not house.folder.exists()
    assert "hopscope finetune reranker" in house.engine.models.info("reranker-finetuned").how_to_get


def test_command_prints_both_metrics(house, capsys):
    given = (
        "finetune reranker --corpora lessons --titles 0 --paths 0 --test-sample 3 --epochs 1 "
        "--tokens 32"
    )
    assert main(given.split()) == EXIT_OK
    told = capsys.readouterr().out
    assert "lessons: nDCG@10 on 3 unseen questions" in told and "reranker-finetuned: it is" in told


def test_shipped_weight_difference_gives_equal_scores(house, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(reranker_run, "LateInteractionScorer", lambda encoder: RivalScorer(-1.0))
    reranker_run.run_reranker_training(house.engine, LESSONS, FAST, NO_WATCH)
    told = reranker_run.ship_reranker(
        house.engine, LESSONS, tmp_path / "ships" / "small", 8, 32, NO_WATCH
    )
    assert (
        told["rank"] == 8
        and told["report"][0]["reranker-finetuned"] > told["report"][0]["late-interaction"]
    )
    whole = house.engine.models.scorer("reranker-finetuned")
    served = DeltaCrossEncoder(
        str(reranker_run.base_encoder_folder(house.engine)),
        "small",
        8,
        32,
        tmp_path / "ships" / "small",
    )
    task, texts = (
        Task("where is the ant"),
        [
            "the place of the ant is here",
            "the year of the ant is here",
            "the place of the bee is here",
        ],
    )
    assert served.score(task, texts) == pytest.approx(whole.score(task, texts), abs=0.3)
    assert served.head(served.hidden(task, texts)) == pytest.approx(served.score(task, texts))
    size = lambda folder: sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    assert size(tmp_path / "ships" / "small") < size(house.folder)


def test_poor_weight_difference_is_not_shipped(house, monkeypatch, tmp_path):
    with pytest.raises(BadInput, match="No re-ranker was trained"):
        reranker_run.ship_reranker(house.engine, LESSONS, tmp_path / "small", 8, 32, NO_WATCH)
    monkeypatch.setattr(reranker_run, "LateInteractionScorer", lambda encoder: RivalScorer(-1.0))
    reranker_run.run_reranker_training(house.engine, LESSONS, FAST, NO_WATCH)
    monkeypatch.setattr(reranker_run, "LateInteractionScorer", lambda encoder: RivalScorer(1.0))
    with pytest.raises(BadInput, match="name a higher rank"):
        reranker_run.ship_reranker(house.engine, LESSONS, tmp_path / "small", 1, 32, NO_WATCH)
    assert not (tmp_path / "small").exists()
