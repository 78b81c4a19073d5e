"""Choosers combined from others, and the expressions that name them.

The operators' parameter `model` is such an expression. With "prefilter(encoder, choose, 32)", the
encoder selects 32 candidates, and the language model of the role choose picks from these.
"The papers" are LEGO-GraphRAG, whose names of the combinations are given below.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import functools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from core.errors import BadParameter, shorten, suggest_name
from core.models.base import Choice, Chooser, Scorer, Task
from core.prompts import choosing_prompts
from core.types import Usage

ADJACENT_WORDS = re.compile(r"[\w.\-]\s+[\w.\-]")  # words without a bracket or comma between them
EXPRESSION_WORD = re.compile(r"([\w.\-]+)(\s*\()?")  # a word, and a bracket if one follows
CHOOSING_PROMPTS = choosing_prompts()
# Names of the arguments of each combinator: “n” is a whole number, “least” a score, “prompt” the
# name of a prompt. The others are choosers.
COMBINATORS = {
    "prefilter": ("cheap", "dear", "n"),
    "supplement": ("chooser", "scorer"),
    "rescore": ("chooser", "scorer"),
    "rounds": ("chooser", "n"),
    "above": ("scorer", "least"),
    "prompted": ("chooser", "prompt"),
}


@dataclass(frozen=True)
class PrefilterChooser:
    """A costly chooser that reads only the `n` best candidates of a cheap scorer.

    This is EEMs-PF of the papers. The costly chooser reads the selected candidates best first.
    `Choice.order` is the cheap scorer's order of all candidates.
    """

    cheap_scorer: Scorer
    costly_chooser: Chooser
    n: int

    def choose(self, task: Task, texts: Sequence[str], k: int) -> Choice:
        """Pick candidates with the costly chooser.

        Parameters
        ----------
        task : the question and limits on reading.
        texts : the candidates.
        k : largest number of texts; if k <= 0, all that the costly chooser picks of the `n`.

        Returns
        -------
        Positions among `texts`, with the scores of the costly chooser.
        """
        ranking = self.cheap_scorer.choose(dataclasses.replace(task, n_best=self.n), texts, 0)
        shortlist = ranking.positions[: self.n]
        selection = self.costly_chooser.choose(
            task.select(shortlist), [texts[i] for i in shortlist], k
        )
        return Choice(
            positions=tuple(shortlist[i] for i in selection.positions),
            scores=selection.scores,
            order=ranking.order,
            order_scores=ranking.order_scores,
            usage=ranking.usage + selection.usage,
            notes=ranking.notes + selection.notes,
        )


@dataclass(frozen=True)
class SupplementChooser:
    """A chooser's picks, filled up to `k` with a scorer's best other candidates.

    This is EEMs-S of the papers. The scorer does not run if the chooser already picked `k`. If it
    adds candidates, `Choice.scores` is None, as the two do not share a scale. With k <= 0 every
    candidate is returned, the chooser's picks first.
    """

    chooser: Chooser
    scorer: Scorer

    def choose(self, task: Task, texts: Sequence[str], k: int) -> Choice:
        """Pick candidates with the chooser, and add the scorer's best until there are `k`.

        Parameters
        ----------
        task : the question and limits on reading.
        texts : the candidates.
        k : number of texts; all of them if k <= 0.

        Returns
        -------
        The chooser's picks, then the scorer's; without scores if any were added.
        """
        selection = self.chooser.choose(task, texts, k)
        target_count = len(texts) if k <= 0 else min(k, len(texts))
        if len(selection.positions) >= target_count:
            return selection
        ranking = self.scorer.choose(task, texts, 0)
        picks = set(selection.positions)
        others = [i for i in ranking.positions if i not in picks]
        added = target_count - len(selection.positions)
        note = (
            f"{added} of {target_count} were added by the scorer, "
            f"because the chooser picked {len(selection.positions)}."
        )
        return Choice(
            positions=selection.positions + tuple(others[:added]),
            scores=None,
            order=ranking.order,
            order_scores=ranking.order_scores,
            usage=selection.usage + ranking.usage,
            notes=selection.notes + ranking.notes + (note,),
        )


@dataclass(frozen=True)
class RescoreChooser:
    """A chooser's picks, reordered by a scorer and cut at `k`.

    This is EEMs-R of the papers. `Choice.order` is that of the chooser, if it has one.
    """

    chooser: Chooser
    scorer: Scorer

    def choose(self, task: Task, texts: Sequence[str], k: int) -> Choice:
        """Return the chooser's picks in the order of the scorer.

        Parameters
        ----------
        task : the question and limits on reading.
        texts : the candidates.
        k : largest number of texts; all picks if k <= 0.

        Returns
        -------
        The picks with the scores of the scorer.
        """
        selection = self.chooser.choose(task, texts, k)
        ranking = self.scorer.choose(
            task.select(selection.positions), [texts[i] for i in selection.positions], k
        )
        return Choice(
            positions=tuple(selection.positions[i] for i in ranking.positions),
            scores=ranking.scores,
            order=selection.order,
            order_scores=selection.order_scores,
            usage=selection.usage + ranking.usage,
            notes=selection.notes + ranking.notes,
        )


@dataclass(frozen=True)
class RoundsChooser:
    """A chooser called on windows of candidates, then on its picks.

    It is called on each `window` candidates in turn, then once on all of its picks. This is M-LLMs
    of the papers. Section B.9 of the report calls the model several times “to iteratively refine
    the generated paths” and gives no details. This class follows the report's code, which maps and
    then reduces: only the last call sees the picks of the others. If all candidates fit one window,
    there is a single call; if nothing was picked, there is no last call.
    """

    chooser: Chooser
    window: int

    def choose(self, task: Task, texts: Sequence[str], k: int) -> Choice:
        """Pick candidates in rounds; the last round decides.

        Parameters
        ----------
        task : the question and limits on reading.
        texts : the candidates.
        k : largest number of texts of each round; any number if k <= 0.

        Returns
        -------
        The picks of the last round, with the cost of all rounds.
        """
        if len(texts) <= self.window:
            return self.chooser.choose(task, texts, k)
        picks: list[int] = []  # positions in `texts`
        usage = Usage()
        notes: tuple[str, ...] = ()
        for start in range(0, len(texts), self.window):
            window_texts = texts[start : start + self.window]
            window_task = task.select(range(start, start + len(window_texts)))
            selection = self.chooser.choose(window_task, window_texts, k)
            picks += [start + i for i in selection.positions]
            usage += selection.usage
            notes += selection.notes
        if not picks:
            return Choice((), usage=usage, notes=_distinct(notes))
        final = self.chooser.choose(task.select(picks), [texts[i] for i in picks], k)
        notes += (f"{len(picks)} of {len(texts)} candidates reached the last round.", *final.notes)
        return Choice(
            tuple(picks[i] for i in final.positions),
            final.scores,
            usage=usage + final.usage,
            notes=_distinct(notes),
        )


@dataclass(frozen=True)
class ThresholdChooser:
    """A scorer that picks only candidates with a score of at least `min_score`.

    The threshold applies in addition to the cut at `k`. Its scale is that of the scorer: a cosine,
    a BM25 sum, or a reranker's own scale. `Choice.order` holds every candidate. LEGO-GraphRAG v1
    (section 4.1) has such thresholds for nodes (tau_v), edges (tau_e) and paths.
    """

    scorer: Scorer
    min_score: float

    def choose(self, task: Task, texts: Sequence[str], k: int) -> Choice:
        """Pick candidates that reach the threshold.

        Parameters
        ----------
        task : the question and limits on reading.
        texts : the candidates.
        k : largest number of texts; all that reach the threshold if k <= 0.

        Returns
        -------
        Positions and scores, best first; none if all score below the threshold.
        """
        ranking = self.scorer.choose(task, texts, k)
        assert ranking.scores is not None  # a scorer has a score for every text
        # Scores are sorted, with NaN last, so that counting suffices.
        count_above = sum(score >= self.min_score for score in ranking.scores)
        note = (f"None reached {self.min_score:g}.",) if len(texts) and not count_above else ()
        return dataclasses.replace(
            ranking,
            positions=ranking.positions[:count_above],
            scores=ranking.scores[:count_above],
            notes=ranking.notes + note,
        )


def _distinct(notes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notes))


@dataclass(frozen=True)
class CombinatorCall:
    """A parsed combinator: its name and its arguments (names, numbers or further calls)."""

    name: str
    arguments: tuple[str | float | CombinatorCall, ...]


@functools.lru_cache(maxsize=1024)
def parse_chooser(expression: str) -> str | CombinatorCall:
    """Parse an expression into a model name or a `CombinatorCall`. Raises BadParameter.

    Names consist of letters, digits, `-`, `_` and `.`.
    """
    excerpt = shorten(expression)
    try:
        # A model name such as qwen-0.5b is no Python name, so names are quoted before Python
        # parses the expression.
        tree = ast.parse(_quote_words(expression), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise BadParameter(
            f"“{excerpt}” cannot be read as a chooser, "
            f"such as encoder or prefilter(encoder, choose, 32)."
        ) from error
    return _read_node(tree, excerpt)


def _quote_words(expression: str) -> str:
    """Quote every word of an expression, except whole numbers and names of combinators.

    Raises ValueError for an expression with quotes, or with words that no comma separates.
    """

    def quote(match: re.Match[str]) -> str:
        word, bracket = match.group(1), match.group(2)
        return match.group(0) if bracket or word.isdecimal() else repr(word)

    if set(expression) & set("\"'\\") or ADJACENT_WORDS.search(expression):
        raise ValueError("quotes, or words side by side")
    return EXPRESSION_WORD.sub(quote, expression.strip())


def _read_node(tree: ast.expr, excerpt: str) -> str | CombinatorCall:
    """Convert a node of Python's syntax tree to a name or call.

    `excerpt` is for messages.
    """
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        return tree.value
    if not (isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name)) or tree.keywords:
        raise BadParameter(
            f"“{excerpt}” cannot be read as a chooser, "
            f"such as encoder or prefilter(encoder, choose, 32)."
        )
    name = tree.func.id
    if name not in COMBINATORS:
        raise BadParameter(
            f"“{excerpt}”: unknown combinator “{name}”.{suggest_name(name, tuple(COMBINATORS))}"
        )
    arguments = COMBINATORS[name]
    if len(tree.args) != len(arguments):
        raise BadParameter(
            f"“{excerpt}”: {name} takes ({', '.join(arguments)}), but {len(tree.args)} were given."
        )
    return CombinatorCall(
        name,
        tuple(
            _read_argument(argument, node, excerpt, name)
            for argument, node in zip(arguments, tree.args, strict=True)
        ),
    )


def _read_argument(
    argument: str, node: ast.expr, excerpt: str, name: str
) -> str | float | CombinatorCall:
    """Convert one argument of a combinator: a number, a prompt's name or a chooser."""
    if argument == "least":
        return _read_least(node, excerpt, name)
    if argument == "prompt":
        return _read_prompt(node, excerpt, name)
    if argument != "n":
        return _read_node(node, excerpt)
    if not (isinstance(node, ast.Constant) and isinstance(node.value, int)) or node.value < 1:
        raise BadParameter(f"“{excerpt}”: n of {name} must be a whole number of at least 1.")
    return node.value


def _read_least(node: ast.expr, excerpt: str, name: str) -> float:
    """Return the threshold in a node of Python's syntax tree.

    A threshold that is no whole number is quoted as a word.
    """
    value = math.nan
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int):
        with contextlib.suppress(ValueError):
            value = float(node.value)
    if not math.isfinite(value):
        raise BadParameter(f"“{excerpt}”: least of {name} must be a number, such as 0.3.")
    return value


def _read_prompt(node: ast.expr, excerpt: str, name: str) -> str:
    value = node.value if isinstance(node, ast.Constant) else None
    if not isinstance(value, str) or value not in CHOOSING_PROMPTS:
        hint = suggest_name(str(value), CHOOSING_PROMPTS) if isinstance(node, ast.Constant) else ""
        raise BadParameter(
            f"“{excerpt}”: prompt of {name} must be one of {', '.join(CHOOSING_PROMPTS)}.{hint}"
        )
    return value


def model_names(expression: str) -> tuple[str, ...]:
    """Return the model and role names of an expression, in order. Raises BadParameter."""
    return tuple(dict.fromkeys(_iter_names(parse_chooser(expression))))


def _iter_names(part: str | float | CombinatorCall) -> Iterator[str]:
    """Yield the model and role names in a parsed expression."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, CombinatorCall):
        for argument, inner in zip(COMBINATORS[part.name], part.arguments):
            if argument != "prompt":
                yield from _iter_names(inner)


def with_prompt(expression: str, is_chat: Callable[[str], bool], prompt: str) -> str:
    """Return an expression with the same prompt for each of its language models.

    Parameters
    ----------
    expression : an expression of models.
    is_chat : returns whether a name is that of a language model.
    prompt : name of a prompt for choosing.

    Returns
    -------
    The canonical text of the new expression.

    Raises
    ------
    BadParameter : the expression cannot be read.

    Examples
    --------
    >>> from core.models.combine import with_prompt
    >>> expression = "prefilter(encoder, choose, 64)"
    >>> with_prompt(expression, lambda name: name == "choose", "lego-graphrag")
    'prefilter(encoder, prompted(choose, lego-graphrag), 64)'
    """
    return _format_part(parse_chooser(expression), is_chat, prompt)


def _format_part(
    part: str | float | CombinatorCall, is_chat: Callable[[str], bool], prompt: str
) -> str:
    """Format a parsed expression, with a prompt for its language models."""
    if isinstance(part, str):
        return f"prompted({part}, {prompt})" if is_chat(part) else part
    if not isinstance(part, CombinatorCall):
        return format(part, "g")
    if part.name == "prompted":
        return f"prompted({part.arguments[0]}, {prompt})"
    arguments = ", ".join(_format_part(inner, is_chat, prompt) for inner in part.arguments)
    return f"{part.name}({arguments})"


def build_chooser(
    expression: str, chooser: Callable[..., Chooser], scorer: Callable[[str], Scorer]
) -> Chooser:
    """Return the chooser that an expression names.

    Parameters
    ----------
    expression : such as "prefilter(encoder, choose, 32)".
    chooser : returns the chooser of a model's name. For a language model, its second argument may
        be the name of a prompt.
    scorer : returns the scorer of a model's name.

    Returns
    -------
    A scorer, a language model that picks, or a combination.

    Raises
    ------
    BadParameter : the expression cannot be read, or a name is unknown.
    """
    return _build(parse_chooser(expression), chooser, scorer)


def _build(
    part: str | float | CombinatorCall,
    chooser: Callable[..., Chooser],
    scorer: Callable[[str], Scorer],
) -> Chooser:
    if isinstance(part, str):
        return chooser(part)
    assert isinstance(part, CombinatorCall)  # the parser allows numbers only as the last argument
    first_part, second_part, *_ = part.arguments
    if part.name == "prompted":
        if not isinstance(first_part, str):
            raise BadParameter(
                "prompted needs the name of a language model as its first argument, "
                "such as prompted(choose, lego-graphrag)."
            )
        return chooser(first_part, second_part)
    # The types in the assertions are guaranteed by the parser.
    if part.name == "prefilter":
        number = part.arguments[2]
        assert isinstance(number, int)
        cheap_scorer = _build_scorer(first_part, part, scorer)
        return PrefilterChooser(cheap_scorer, _build(second_part, chooser, scorer), number)
    if part.name == "rounds":
        assert isinstance(second_part, int)
        return RoundsChooser(_build(first_part, chooser, scorer), second_part)
    if part.name == "above":
        assert isinstance(second_part, float)
        return ThresholdChooser(_build_scorer(first_part, part, scorer), second_part)
    combinator = RescoreChooser if part.name == "rescore" else SupplementChooser
    return combinator(_build(first_part, chooser, scorer), _build_scorer(second_part, part, scorer))


def _build_scorer(
    part: str | float | CombinatorCall, outer: CombinatorCall, scorer: Callable[[str], Scorer]
) -> Scorer:
    """Return the scorer of a plain name, for a combinator that needs a scorer."""
    assert isinstance(part, str | CombinatorCall)  # guaranteed by the parser
    if not isinstance(part, str):
        raise BadParameter(
            f"{outer.name} needs a scorer's name there, such as encoder, not {part.name}(...)."
        )
    return scorer(part)


def uses_chat(expression: str, is_chat: Callable[[str], bool]) -> bool:
    """Return whether an expression contains a language model.

    Parameters
    ----------
    expression : an expression of models.
    is_chat : returns whether a name is that of a language model.

    Returns
    -------
    False for an expression of scorers alone.

    Raises
    ------
    BadParameter : the expression cannot be read.
    """
    return any(is_chat(name) for name in model_names(expression))
