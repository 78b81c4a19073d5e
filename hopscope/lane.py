"""Result of one method for a question, as a part of a comparison."""

from __future__ import annotations

from typing import Any


class Lane:
    """Result of one method for the question.

    It gives access to a part of `Comparison.data`.

    Attributes
    ----------
    data : dict
        The lane as `hopscope ask --json` prints it.
    """

    def __init__(self, data: dict[str, Any]):
        self.data = data

    @property
    def method(self) -> str:
        """The id of the method."""
        return self.data["instance"]

    @property
    def answers(self) -> list[str]:
        """Answers of the method, best first.

        They are the language model's answer if one was asked. Otherwise they are the names that the
        graph reader returns, or on documents the excerpt that answers. Empty without any of these.
        """
        if self.data["answer"]:
            return [self.data["answer"]]
        if self.data["reader_answers"] is None and self.data["excerpt"]:
            return [self.data["excerpt"]["text"]]
        return list(self.data["reader_answers"] or [])

    @property
    def paths(self) -> list[str]:
        """Reasoning paths as texts, best first."""
        return [path["text"] for path in self.data["paths"]]

    @property
    def hits(self) -> dict[str, list[dict[str, Any]]]:
        """Retrieved items that are no paths, by kind: chunk, node, relation, community.

        The items of a kind are dicts with `id`, `score`, `text` and `source`, best first.
        """
        return self.data["hits"]

    @property
    def prompt(self) -> str | None:
        """The prompt as one text; None for a method without one."""
        return self.data["prompt"]

    @property
    def seconds(self) -> float:
        """Run time of the operators, without waiting and work that later questions reuse."""
        return sum(step["seconds"] for step in self.data["operators"])

    @property
    def change(self) -> str:
        """A sentence on the change after `Comparison.without`. Empty for any other comparison."""
        return (self.data["beside"] or {}).get("text", "")

    @property
    def error(self) -> str:
        """A sentence on why the method failed. Empty if it did not fail."""
        return self.data["error"] or ""

    def __repr__(self) -> str:
        return f"<{self.method}: {self.error or ', '.join(self.answers[:3]) or 'no answer'}>"
