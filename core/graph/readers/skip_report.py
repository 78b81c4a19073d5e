"""Report on the reading of a file: lines and triples that were left out, notes and warnings."""

from __future__ import annotations

from dataclasses import dataclass, field

# Largest number of line numbers that are stored for each reason.
MAX_RETAINED_LINES = 5


@dataclass
class Tally:
    """Counts of lines and triples that a reader left out.

    The tally also holds notes and warnings for the user. Readers receive the tally with the file.
    It also decides if a bad line may be left out.
    """

    may_skip: bool = False  # True if bad lines may be left out
    # Reason -> [count, first line numbers].
    bad_lines: dict[str, list] = field(default_factory=dict)
    # Pattern of relations, or another reason in brackets -> number of triples left out.
    dropped: dict[str, int] = field(default_factory=dict)
    # Sentences about what was read and what was not.
    notes: list[str] = field(default_factory=list)
    # Sentences about probable misunderstandings.
    warnings: list[str] = field(default_factory=list)
    # Sentences about the copying of the triples from a database; not part of `state`.
    copied: tuple[str, ...] = ()

    def skip(self, why: str, line: int) -> bool:
        """Return whether bad lines may be left out, and count this one if so."""
        if self.may_skip:
            reason_lines = self.bad_lines.setdefault(why, [0, []])
            reason_lines[0] += 1
            if len(reason_lines[1]) < MAX_RETAINED_LINES:
                reason_lines[1].append(line)
        return self.may_skip

    def drop(self, pattern: str, triples: int) -> None:
        """Count triples that are left out because their relation matches `pattern`.

        Instead of a pattern, it may be another reason in brackets.
        """
        self.dropped[pattern] = self.dropped.get(pattern, 0) + triples

    def note(self, sentence: str) -> None:
        """Add a sentence about the reading of the file, unless it is there already."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def warn(self, sentence: str) -> None:
        """Add a warning about a probable misunderstanding, unless it is there already."""
        if sentence not in self.warnings:
            self.warnings.append(sentence)

    def state(self) -> dict:
        """Return the counts, notes and warnings as plain values for JSON."""
        return {
            "bad": self.bad_lines,
            "dropped": self.dropped,
            "notes": self.notes,
            "warnings": self.warnings,
        }

    def restore(self, state: dict) -> None:
        """Replace the counts, notes and warnings by those of a result of `state`."""
        self.bad_lines = {why: [count, list(lines)] for why, (count, lines) in state["bad"].items()}
        self.dropped, self.notes = dict(state["dropped"]), list(state.get("notes", ()))
        self.warnings = list(state.get("warnings", ()))

    def sentences(self) -> list[str]:
        """Return the notes, the warnings and the counts as sentences for the user."""
        sentences = [*self.copied, *self.notes, *self.warnings]
        for why, (count, lines) in self.bad_lines.items():
            plural_ending = "s" * (count != 1)
            numbers = ", ".join(f"{line:,}" for line in lines) + " …" * (count > len(lines))
            sentences.append(
                f"{count:,} line{plural_ending} left out, {why}: line{plural_ending} {numbers}"
            )
        for pattern, count in self.dropped.items():
            why = f" {pattern}" if pattern.startswith("(") else f", relation {pattern}"
            sentences.append(f"{count:,} triple{'s' * (count != 1)} left out{why}")
        return sentences
