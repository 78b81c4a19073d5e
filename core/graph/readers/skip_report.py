"""What a reading left out, and why."""

from __future__ import annotations

from dataclasses import dataclass, field

FIRST = 5  # line numbers told of each reason


@dataclass
class Tally:
    """Counts of lines left out by reason, each with its first line numbers; and of triples left out by their relation."""

    skips: bool = False  # whether bad lines may be left out
    bad: dict[str, list] = field(default_factory=dict)  # reason -> [count, first line numbers]
    dropped: dict[str, int] = field(default_factory=dict)  # pattern -> triples
    # sentences on what was taken how, and what was not read
    notes: list[str] = field(default_factory=list)
    # sentences on what may well not be what was meant
    warnings: list[str] = field(default_factory=list)
    copied: tuple[
        str, ...
    ] = ()  # sentences on the copying of a file that lay elsewhere; no part of the state of a reading

    def skip(self, why: str, line: int) -> bool:
        """Whether a bad line may be left out; if so it is counted."""
        if self.skips:
            known = self.bad.setdefault(why, [0, []])
            known[0] += 1
            if len(known[1]) < FIRST:
                known[1].append(line)
        return self.skips

    def drop(self, pattern: str, triples: int) -> None:
        """Counts triples whose relation a pattern leaves out."""
        self.dropped[pattern] = self.dropped.get(pattern, 0) + triples

    def note(self, sentence: str) -> None:
        """Keeps a sentence on how the file was read, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def warn(self, sentence: str) -> None:
        """Keeps a sentence on what may not be what was meant, once."""
        if sentence not in self.warnings:
            self.warnings.append(sentence)

    def state(self) -> dict:
        """What was counted, as JSON holds it."""
        return {
            "bad": self.bad,
            "dropped": self.dropped,
            "notes": self.notes,
            "warnings": self.warnings,
        }

    def restore(self, state: dict) -> None:
        """Takes up counts that `state` told."""
        self.bad = {why: [count, list(lines)] for why, (count, lines) in state["bad"].items()}
        self.dropped, self.notes = dict(state["dropped"]), list(state.get("notes", ()))
        self.warnings = list(state.get("warnings", ()))

    def sentences(self) -> list[str]:
        """The counts as sentences."""
        found = [*self.copied, *self.notes, *self.warnings]
        for why, (count, lines) in self.bad.items():
            several, numbers = (
                "s" * (count != 1),
                ", ".join(f"{line:,}" for line in lines) + " …" * (count > len(lines)),
            )
            found.append(f"{count:,} line{several} left out, {why}: line{several} {numbers}")
        for pattern, count in self.dropped.items():
            why = f" {pattern}" if pattern.startswith("(") else f", relation {pattern}"
            found.append(f"{count:,} triple{'s' * (count != 1)} left out{why}")
        return found
