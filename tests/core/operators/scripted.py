"""A chat model with scripted replies that records its requests."""

from core.models.base import ChatReply


class Script:
    """A chat model that returns its replies in order and counts words as tokens.

    It fails once the replies are used up.
    """

    def __init__(self, *replies: str, context: int = 4096):
        self.replies, self.context, self.asked, self.schemas = list(replies), context, [], []

    def count_tokens(self, messages):
        return sum(len(message["content"].split()) for message in messages)

    def reply(self, messages, *, schema=None, **_):
        self.asked.append(messages[-1]["content"])
        self.schemas.append(schema)
        text = self.replies.pop(0)
        return ChatReply(text, self.count_tokens(messages), len(text.split()))
