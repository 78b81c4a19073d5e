"""What a server of the OpenAI protocol can do, measured by asking it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from core.errors import ModelFailed
from core.io.durable import write_whole
from core.io.home import home
from core.io.names import no_device
from core.io.plain import Reader, Writer
from core.models.base import Messages, Reply
from core.models.chat.openai import OpenAIChat, PromptCut
from core.models.chat.replies import estimate
from core.models.chat.server import turned_down
from core.watch import NO_WATCH, Watch

# tokens of the first prompt, and of the last where the server does not say how many it reads
SHORTEST, LONGEST = (512, 32_768)
HALVINGS = 3  # of the range between a prompt that was read to its beginning and one that was not
SECONDS = 60.0  # in which prompts are tried; a longer one that would not fit in is not
REPLY, LONG_ENOUGH = 48, 5  # tokens of most replies, and of those whose speed counts
SECRET = "vermilion"
FILLER = "The river runs past the mill and on to the sea. "
SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": [SECRET]}, "count": {"type": "integer"}},
    "required": ["colour", "count"],
    "additionalProperties": False,
}
READ, REFUSED, CUT, UNCLEAR = "read", "refused", "cut", "unclear"  # what became of a prompt


@dataclass(frozen=True)
class ServerProfile:
    """What a server did when it was measured on the day `measured`.

    `reads` is the number of tokens of the longest prompt that it read from its first word on; `longer` says what became of longer ones:
    "refused", "cut" (without a word), "unclear" (the first word was not found again, and the server does not count what it reads), or
    empty where none was tried. `seed` is "repeats" where the same seed gave the same reply twice at temperature 1, "varies" where not,
    and "refused". `tokens_a_second` is of the fastest reply.
    """

    measured: str
    reads: int = 0
    longer: str = ""
    streams: bool = False
    schema: bool = False
    log_probabilities: bool = False
    system_role: bool = True
    seed: str = ""
    thinks: bool = False
    counts: bool = False
    tokens_a_second: float = 0.0
    refuses: tuple[str, ...] = ()

    @property
    def limited(self) -> bool:
        """Whether the measure found a prompt too long for the server, so that `reads` is its bound."""
        return self.longer in (REFUSED, CUT)

    def sentences(self) -> tuple[str, ...]:
        """What was found, a short sentence each, as a card shows it."""
        if not self.reads:
            longer = "how long a prompt it reads could not be found out"
        else:
            longer = {
                REFUSED: f"reads prompts of {self.reads:,} tokens and refuses longer ones",
                CUT: f"reads prompts of {self.reads:,} tokens and cuts longer ones without a word",
                UNCLEAR: f"read a prompt of {self.reads:,} tokens to its beginning; whether longer ones are cut could not be found out",
                "": f"reads prompts of {self.reads:,} tokens at least",
            }[self.longer]
        seed = {
            "repeats": "the same seed gives the same reply",
            "varies": "the same seed gives other replies",
            "refused": "takes no seed",
        }
        found = (
            longer,
            "streams" if self.streams else "sends replies in one piece",
            "keeps to a schema"
            if self.schema
            else "does not keep to a schema: JSON is asked for in words",
            "gives log-probabilities" if self.log_probabilities else "gives no log-probabilities",
            "takes a system message"
            if self.system_role
            else "takes no system message: it goes before the question",
            seed.get(self.seed, ""),
            "thinks before it answers" if self.thinks else "",
            "" if self.counts else "does not count its tokens: figures of tokens are estimates",
            f"{self.tokens_a_second:,.0f} tokens a second in one reply"
            if self.tokens_a_second
            else "",
        )
        return tuple(one for one in found if one)


def measure(
    chat: OpenAIChat, watch: Watch = NO_WATCH, most: int = 0, seconds: float = SECONDS
) -> ServerProfile:
    """The profile of a server, by some twenty short requests and prompts that grow until it cuts or refuses one.

    `chat` must be new: replies that it remembers would not be asked for. Prompts grow up to `most` tokens, or to what the server says
    of itself, and for about `seconds`. Raises ModelFailed where it does not answer the first request, ModelUnavailable, and what `watch`
    raises.
    """
    return _Measure(chat, watch, most, seconds).profile()


@dataclass
class _Measure:
    """One measure of a server."""

    chat: OpenAIChat
    watch: Watch
    most: int
    seconds: float
    each: float = field(default=estimate(FILLER), init=False)  # tokens of the filler
    speed: float = field(default=0.0, init=False)  # tokens a second of the fastest reply
    recalls: bool = field(default=False, init=False)  # whether it ever found the password again

    def profile(self) -> ServerProfile:
        self.watch.report("Asking for a reply", 0.0)
        pieces: list[str] = []
        first = self._reply(
            user("Count from one to twelve in words, with commas."), on_text=pieces.append
        )
        self.watch.report("A system message and a seed", 0.1)
        system_role, seed = self._system_role(), self._seed()
        self.watch.report("A schema and log-probabilities", 0.2)
        schema, log_probabilities = self._schema(), self._log_probabilities()
        reads, longer = self._reads()
        return ServerProfile(
            measured=date.today().isoformat(),
            reads=reads,
            longer=longer,
            streams=len(pieces) > 2,
            schema=schema,
            log_probabilities=log_probabilities,
            system_role=system_role,
            seed=seed,
            thinks=bool(first.thought) or self.chat.thinks,
            counts=self.chat.counts,
            tokens_a_second=self.speed,
            refuses=self.chat.refuses,
        )

    def _reply(self, messages: Messages, **how: Any) -> Reply:
        reply = self.chat.reply(messages, **{"max_tokens": REPLY, "watch": self.watch, **how})
        if self.chat.counts and reply.tokens_out >= LONG_ENOUGH and reply.seconds > 0:
            self.speed = max(self.speed, reply.tokens_out / reply.seconds)
        return reply

    def _system_role(self) -> bool:
        """Whether a system message is read: refused by none, and counted where tokens are."""
        system = {"role": "system", "content": FILLER * 8}
        alone, both = (
            self._reply(user("Say: ready"), max_tokens=8),
            self._reply([system, *user("Say: ready")], max_tokens=8),
        )
        if "system role" in self.chat.refuses:
            return False
        return not self.chat.counts or both.tokens_in > alone.tokens_in

    def _seed(self) -> str:
        if "seed" in self.chat.refuses:
            return "refused"
        asked = user("Invent the name of a town, and say what it is known for.")
        once = [self._fresh(asked, seed=7, temperature=1.0).text for _ in range(2)]
        return "repeats" if once[0] == once[1] else "varies"

    def _fresh(self, messages: Messages, **how: Any) -> Reply:
        """A reply that is not remembered from before."""
        self.chat.forget()
        return self._reply(messages, **how)

    def _schema(self) -> bool:
        """Whether a reply keeps to a schema that the question does not speak of; where not, none is sent from now on."""
        try:
            found = json.loads(self._reply(user("Write two lines on the sea."), schema=SCHEMA).text)
            holds = (
                isinstance(found, dict)
                and found.get("colour") == SECRET
                and isinstance(found.get("count"), int)
            )
        except ValueError:
            holds = False
        except ModelFailed as error:
            if not turned_down(error):
                raise
            holds = False
        if not holds:
            self.chat.leave_out("response_format")
        return holds

    def _log_probabilities(self) -> bool:
        try:
            body = self.chat.allowed(
                {"model": self.chat.model, "messages": user("Say: yes"), "max_tokens": 4}
            )
            reply = self.chat.client().chat.completions.create(
                **body, logprobs=True, top_logprobs=1
            )
            return bool(reply.choices[0].logprobs and reply.choices[0].logprobs.content)
        except Exception as error:
            if self.chat.failure(error) is None and not isinstance(
                error, AttributeError | IndexError | TypeError
            ):
                raise
            return False

    def _reads(self) -> tuple[int, str]:
        """The tokens of the longest prompt that was read to its beginning, and what became of longer ones."""
        import openai

        most, deadline = self.most or self._context() or LONGEST, time.monotonic() + self.seconds
        size, read, took = SHORTEST, 0, 0.0
        longer, bound = "", 0
        while size <= most and time.monotonic() + 2 * took < deadline:
            self.watch.report(f"A prompt of {size:,} tokens", 0.3 + 0.7 * min(1.0, size / most))
            started = time.monotonic()
            try:
                longer, tokens = self._became(size)
            except ModelFailed as error:
                if not isinstance(error.__cause__, openai.APITimeoutError | TimeoutError):
                    raise
                break  # too slow for longer ones
            took = time.monotonic() - started
            if longer != READ:
                bound = size
                break
            read, longer = tokens, ""
            size = min(2 * size, most) if size < most else most + 1
        for _ in range(HALVINGS if longer in (REFUSED, CUT) and read else 0):
            size = (read + bound) // 2
            became, tokens = self._became(size)
            read, bound = (tokens, bound) if became == READ else (read, size)
        return read, longer

    def _became(self, size: int) -> tuple[str, int]:
        """What became of a prompt of about `size` tokens, and how many tokens it has."""
        times = max(1, round((size - REPLY) / self.each))
        questions = (
            "What is the password? Answer with this one word.",
            "Repeat the password from the first line.",
        )
        for again, question in enumerate(questions):
            self.chat.holds_counts = bool(again)  # which costs requests as long as this one
            try:
                reply = self._reply(
                    user(
                        f"The password is {SECRET}. Remember it.\n\n{FILLER * times}\n\n{question}"
                    ),
                    max_tokens=16,
                )
            except PromptCut:
                return CUT, size
            except ModelFailed as error:
                if not turned_down(error):
                    raise
                return REFUSED, size
            found = SECRET in (reply.text + reply.thought).lower()
            # a model too weak to be asked is believed by the count alone, once it was held against the prompt
            if found or (again and self.chat.counts and not self.recalls):
                self.recalls = self.recalls or found
                self.each = reply.tokens_in / (times + 1)
                return READ, reply.tokens_in
        return UNCLEAR, size

    def _context(self) -> int:
        """The tokens that the server says it reads, from its list of models; 0 where it does not say."""
        try:
            listed = self.chat.client().models.list()
            named = next((one for one in listed.data if one.id == self.chat.model), None)
            size = getattr(named, "max_model_len", None) or (
                getattr(named, "meta", None) or {}
            ).get("n_ctx")
            return int(size) if size else 0
        except Exception as error:
            if self.chat.failure(error) is None and not isinstance(
                error, AttributeError | TypeError | ValueError
            ):
                raise
            return 0


def _place(name: str) -> Path:
    return home() / "servers" / no_device(f"{name}.json")


def save_profile(name: str, url: str, model: str, profile: ServerProfile) -> None:
    """Keep the profile of the server that the row `name` asks for `model` at `url`."""
    _place(name).parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"url": url, "model": model, "profile": Writer().fields(profile)})
    write_whole(_place(name), lambda temporary: temporary.write_text(text, "utf-8"))


def saved_profile(name: str, url: str, model: str) -> ServerProfile | None:
    """The profile of the server that the row `name` asks for `model` at `url`; None where none was made of just that."""
    try:
        saved = json.loads(_place(name).read_text("utf-8"))
        if (saved["url"], saved["model"]) != (url, model):
            return None
        return Reader().fields(ServerProfile, saved["profile"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def user(content: str) -> list[dict[str, str]]:
    """One message of the user."""
    return [{"role": "user", "content": content}]
