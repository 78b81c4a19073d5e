"""What a loss is called: the head of a lane's sentence, and what the sentence for all lanes says of it. One table for both."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Phrase:
    """`head` begins a lane's sentence; `one` and `several` say it of one lane and of several, with `{what}` was lost at `{hop}`."""

    head: str
    one: str = ""
    several: str = ""


# By cause; some causes have several.
PHRASES = {
    "unknown": Phrase("Not in the graph", "cannot know {what}, which the graph lacks", "cannot know {what}, which the graph lacks"),
    "unshown": Phrase("Not known", "does not know {what}", "do not know {what}"),
    "unsought": Phrase("No answer", "gives no answer", "give no answer"),
    "outside": Phrase("Never in the subgraph", "leaves {what} out of its subgraph", "leave {what} out of their subgraphs"),
    "filtered": Phrase("Lost when filtering", "filters out the way to {what}", "filter out the way to {what}"),
    "cut": Phrase("Cut off", "cuts the way to {what}", "cut the way to {what}"),
    "far": Phrase("Too far", "does not search far enough", "do not search far enough"),
    "apart": Phrase("No way there", "finds no way to {what}", "find no way to {what}"),
    "oneway": Phrase("Against the arrows", "follows edges one way only", "follow edges one way only"),
    "beam": Phrase("Lost at hop {hop}", "loses {what} at hop {hop}", "lose {what} at hop {hop}"),
    "untried": Phrase("Not tried at hop {hop}", "does not try the step at hop {hop}", "do not try the step at hop {hop}"),
    "elsewhere": Phrase("Followed other relations", "follows other relations", "follow other relations"),
    "outranked": Phrase("Lost when ranking", "ranks {what} too low", "rank {what} too low"),
    "drawn": Phrase("Lost by lot", "does not draw {what}", "do not draw {what}"),
    "unchosen": Phrase("Not chosen", "does not choose {what}", "do not choose {what}"),
    "withheld": Phrase("Not handed on", "hands nothing on", "hand nothing on"),
    "late": Phrase("Found too late", "finds {what} too late", "find {what} too late"),
    "unread": Phrase("Read another relation", "reads another relation", "read another relation"),
    "passed": Phrase("Passed by", "passes by {what}", "pass by {what}"),
    "unnamed": Phrase("Not named", "does not name {what}", "do not name {what}"),
    "unsaid": Phrase(
        "Lost in the answer",
        "has {what} in the prompt, but the model does not say so",
        "have {what} in the prompt, but the model does not say so",
    ),
    "unreached": Phrase("Never reached", "does not reach {what}", "do not reach {what}"),
}
