"""Report on the lines and triples that a reader left out."""

from __future__ import annotations

from dataclasses import dataclass, field

# Largest number of line numbers that are stored for each reason.
MAX_RETAINED_LINES = 5


@dataclass
class Tally:
    """Counts of lines left out, by reason, and of triples left out, by pattern of relations."""

    skips: bool = False  # True if bad lines may be left out
    bad: dict[str, list] = field(default_factory=dict)  # reason -> [count, first line numbers]
    dropped: dict[str, int] = field(default_factory=dict)  # pattern -> triples
    # Sentences about the parts that were read and those that were not.
    notes: list[str] = field(default_factory=list)
    # Sentences about probable misunderstandings.
    warnings: list[str] = field(default_factory=list)
    # Sentences about the copying of a file from elsewhere; not part of `state`.
    copied: tuple[str, ...] = ()

    def skip(self, why: str, line: int) -> bool:
        """Return whether bad lines may be left out, and count this one if so."""
        if self.skips:
            reason_lines = self.bad.setdefault(why, [0, []])
            reason_lines[0] += 1
            if len(reason_lines[1]) < MAX_RETAINED_LINES:
                reason_lines[1].append(line)
        return self.skips

    def drop(self, pattern: str, triples: int) -> None:
        """Count triples that are left out because their relation matches a pattern."""
        self.dropped[pattern] = self.dropped.get(pattern, 0) + triples

    def note(self, sentence: str) -> None:
        """Add a sentence about the reading of the file, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def warn(self, sentence: str) -> None:
        """Add a warning about a probable misunderstanding, once."""
        if sentence not in self.warnings:
            self.warnings.append(sentence)

    def state(self) -> dict:
        """Return the counts in a form that JSON can hold."""
        return {
            "bad": self.bad,
            "dropped": self.dropped,
            "notes": self.notes,
            "warnings": self.warnings,
        }

    def restore(self, state: dict) -> None:
        """Take the counts from a result of `state`."""
        self.bad = {why: [count, list(lines)] for why, (count, lines) in state["bad"].items()}
        self.dropped, self.notes = dict(state["dropped"]), list(state.get("notes", ()))
        self.warnings = list(state.get("warnings", ()))

    def sentences(self) -> list[str]:
        """Return the counts as sentences."""
        sentences = [*self.copied, *self.notes, *self.warnings]
        for why, (count, lines) in self.bad.items():
            plural_ending = "s" * (count != 1)
            numbers = ", ".join(f"{line:,}" for line in lines) + " …" * (count > len(lines))
            sentences.append(
                f"{count:,} line{plural_ending} left out, {why}: line{plural_ending} {numbers}"
            )
        for pattern, count in self.dropped.items():
            why = f" {pattern}" if pattern.startswith("(") else f", relation {pattern}"
            sentences.append(f"{count:,} triple{'s' * (count != 1)} left out{why}")
        return sentences
