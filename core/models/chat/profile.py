"""Measurement of the abilities of a server of the OpenAI protocol."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from core.errors import ModelFailed
from core.io.durable_files import write_whole
from core.io.home import home_folder
from core.io.names import avoid_device_name
from core.io.plain_data import PlainReader, PlainWriter
from core.models.base import ChatReply, Messages
from core.models.chat.openai import OpenAIChat, PromptCut
from core.models.chat.server import is_refusal
from core.models.chat.token_estimates import estimate_text_tokens
from core.watch import NO_WATCH, Watch


@dataclass(frozen=True)
class ChatProfileDefaults:
    """Prompts and times by which a chat server is measured."""

    min_prompt_tokens: int = 512  # of the first prompt
    max_prompt_tokens: int = 32_768  # of the last one, if the server does not say how many it reads
    halvings: int = 3  # bisections between a prompt that was read completely and one that was not
    max_measure_seconds: float = 60.0  # a longer prompt that would exceed it is not tried
    probe_reply_tokens: int = 48
    min_timed_reply_tokens: int = 5  # of replies whose speed counts


CHAT_PROFILE = ChatProfileDefaults()
SECRET = "vermilion"
FILLER = "The river runs past the mill and on to the sea. "
PROBE_SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": [SECRET]}, "count": {"type": "integer"}},
    "required": ["colour", "count"],
    "additionalProperties": False,
}
# outcomes of a prompt
OUTCOME_READ = "read"
OUTCOME_REFUSED = "refused"
OUTCOME_CUT = "cut"
OUTCOME_UNCLEAR = "unclear"


@dataclass(frozen=True)
class ServerProfile:
    """Abilities of a server, as measured on the day `measured`.

    Parameters
    ----------
    measured : date of the measurement.
    reads : tokens of the longest prompt that it read from its first word on.
    longer : outcome of longer prompts. "refused", "cut" (without a message), "unclear" (the model
        did not repeat the first word, and the server does not count tokens), or empty if none was
        tried.
    streams : true if replies arrive in pieces.
    schema : true if replies follow a JSON schema.
    log_probabilities : true if it returns log-probabilities.
    system_role : true if it accepts system messages.
    seed : "repeats" if the same seed gave the same reply twice at temperature 1, "varies" if not,
        or "refused".
    thinks : true if the model reasons before it replies.
    counts : true if it reports token counts.
    tokens_a_second : speed of the fastest reply.
    refuses : request parts that it refused.
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
        """True if some prompt was too long for the server, so that `reads` is its limit."""
        return self.longer in (OUTCOME_REFUSED, OUTCOME_CUT)

    def sentences(self) -> tuple[str, ...]:
        """Return the findings, one short sentence each, for display."""
        if not self.reads:
            longer = "how long a prompt it reads could not be found out"
        else:
            longer = {
                OUTCOME_REFUSED: f"reads prompts of {self.reads:,} tokens and refuses longer ones",
                OUTCOME_CUT: f"reads prompts of {self.reads:,} tokens and cuts longer ones without a word",
                OUTCOME_UNCLEAR: f"read a prompt of {self.reads:,} tokens to its beginning; "
                f"whether longer ones are cut could not be found out",
                "": f"reads prompts of {self.reads:,} tokens at least",
            }[self.longer]
        seed = {
            "repeats": "the same seed gives the same reply",
            "varies": "the same seed gives other replies",
            "refused": "takes no seed",
        }
        findings = (
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
        return tuple(one for one in findings if one)


def measure_server(
    chat: OpenAIChat,
    watch: Watch = NO_WATCH,
    most: int = 0,
    seconds: float = CHAT_PROFILE.max_measure_seconds,
) -> ServerProfile:
    """Measure a server with some twenty short requests and with prompts of growing length.

    Parameters
    ----------
    chat : a new client, since remembered replies would not be requested again.
    watch : cancellation and progress.
    most : tokens of the longest prompt; 0 for what the server says of itself.
    seconds : approximate time for the long prompts.

    Returns
    -------
    The abilities that were measured.

    Raises
    ------
    ModelFailed
        If the server does not answer the first request.
    ModelUnavailable
        Errors of `watch` are raised too.
    """
    return _ServerMeasurement(chat, watch, most, seconds).profile()


@dataclass
class _ServerMeasurement:
    """One measurement of a server."""

    chat: OpenAIChat
    watch: Watch
    most: int
    seconds: float
    each: float = field(default=estimate_text_tokens(FILLER), init=False)  # tokens of the filler
    speed: float = field(default=0.0, init=False)  # tokens a second of the fastest reply
    # True if the model ever repeated the password.
    recalls: bool = field(default=False, init=False)

    def profile(self) -> ServerProfile:
        self.watch.report("Asking for a reply", 0.0)
        pieces: list[str] = []
        first_reply = self._reply(
            user_messages("Count from one to twelve in words, with commas."), on_text=pieces.append
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
            thinks=bool(first_reply.thought) or self.chat.thinks,
            counts=self.chat.counts,
            tokens_a_second=self.speed,
            refuses=self.chat.refuses,
        )

    def _reply(self, messages: Messages, **how: Any) -> ChatReply:
        reply = self.chat.reply(
            messages, **{"max_tokens": CHAT_PROFILE.probe_reply_tokens, "watch": self.watch, **how}
        )
        if (
            self.chat.counts
            and reply.tokens_out >= CHAT_PROFILE.min_timed_reply_tokens
            and reply.seconds > 0
        ):
            self.speed = max(self.speed, reply.tokens_out / reply.seconds)
        return reply

    def _system_role(self) -> bool:
        """Return whether a system message is read.

        It must not be refused and, if tokens are counted, must add to the count.
        """
        system = {"role": "system", "content": FILLER * 8}
        without_system = self._reply(user_messages("Say: ready"), max_tokens=8)
        with_system = self._reply([system, *user_messages("Say: ready")], max_tokens=8)
        if "system role" in self.chat.refuses:
            return False
        return not self.chat.counts or with_system.tokens_in > without_system.tokens_in

    def _seed(self) -> str:
        if "seed" in self.chat.refuses:
            return "refused"
        messages = user_messages("Invent the name of a town, and say what it is known for.")
        texts = [self._fresh(messages, seed=7, temperature=1.0).text for _ in range(2)]
        return "repeats" if texts[0] == texts[1] else "varies"

    def _fresh(self, messages: Messages, **how: Any) -> ChatReply:
        """Return a new reply instead of a remembered one."""
        self.chat.forget()
        return self._reply(messages, **how)

    def _schema(self) -> bool:
        """Return whether a reply follows a schema that the prompt does not mention.

        If not, no schema is sent from now on.
        """
        try:
            answer = json.loads(
                self._reply(user_messages("Write two lines on the sea."), schema=PROBE_SCHEMA).text
            )
            follows_schema = (
                isinstance(answer, dict)
                and answer.get("colour") == SECRET
                and isinstance(answer.get("count"), int)
            )
        except ValueError:
            follows_schema = False
        except ModelFailed as error:
            if not is_refusal(error):
                raise
            follows_schema = False
        if not follows_schema:
            self.chat.leave_out("response_format")
        return follows_schema

    def _log_probabilities(self) -> bool:
        try:
            body = self.chat.allowed(
                {"model": self.chat.model, "messages": user_messages("Say: yes"), "max_tokens": 4}
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
        """Return the tokens of the longest prompt that was read completely, and the outcome of
        longer ones.
        """
        import openai

        max_size = self.most or self._context() or CHAT_PROFILE.max_prompt_tokens
        deadline = time.monotonic() + self.seconds
        size, read_tokens, last_seconds = CHAT_PROFILE.min_prompt_tokens, 0, 0.0
        outcome, not_read_size = "", 0
        while size <= max_size and time.monotonic() + 2 * last_seconds < deadline:
            self.watch.report(f"A prompt of {size:,} tokens", 0.3 + 0.7 * min(1.0, size / max_size))
            start = time.monotonic()
            try:
                outcome, tokens = self._became(size)
            except ModelFailed as error:
                if not isinstance(error.__cause__, openai.APITimeoutError | TimeoutError):
                    raise
                break  # too slow for longer prompts
            last_seconds = time.monotonic() - start
            if outcome != OUTCOME_READ:
                not_read_size = size
                break
            read_tokens, outcome = tokens, ""
            size = min(2 * size, max_size) if size < max_size else max_size + 1
        for _ in range(
            CHAT_PROFILE.halvings
            if outcome in (OUTCOME_REFUSED, OUTCOME_CUT) and read_tokens
            else 0
        ):
            size = (read_tokens + not_read_size) // 2
            new_outcome, tokens = self._became(size)
            read_tokens, not_read_size = (
                (tokens, not_read_size) if new_outcome == OUTCOME_READ else (read_tokens, size)
            )
        return read_tokens, outcome

    def _became(self, size: int) -> tuple[str, int]:
        """Return the outcome of a prompt of about `size` tokens, and its number of tokens."""
        repetitions = max(1, round((size - CHAT_PROFILE.probe_reply_tokens) / self.each))
        questions = (
            "What is the password? Answer with this one word.",
            "Repeat the password from the first line.",
        )
        for attempt, question in enumerate(questions):
            # Comparing counts costs requests of the same length.
            self.chat.holds_counts = bool(attempt)
            try:
                reply = self._reply(
                    user_messages(
                        f"The password is {SECRET}. Remember it.\n\n{FILLER * repetitions}\n\n{question}"
                    ),
                    max_tokens=16,
                )
            except PromptCut:
                return OUTCOME_CUT, size
            except ModelFailed as error:
                if not is_refusal(error):
                    raise
                return OUTCOME_REFUSED, size
            is_recalled = SECRET in (reply.text + reply.thought).lower()
            # A model too weak for the question is judged by its token count alone, after this was
            # compared with the prompt.
            if is_recalled or (attempt and self.chat.counts and not self.recalls):
                self.recalls = self.recalls or is_recalled
                self.each = reply.tokens_in / (repetitions + 1)
                return OUTCOME_READ, reply.tokens_in
        return OUTCOME_UNCLEAR, size

    def _context(self) -> int:
        """Return the context size in the server's list of models; 0 if it is not given."""
        try:
            model_list = self.chat.client().models.list()
            listed_model = next((one for one in model_list.data if one.id == self.chat.model), None)
            size = getattr(listed_model, "max_model_len", None) or (
                getattr(listed_model, "meta", None) or {}
            ).get("n_ctx")
            return int(size) if size else 0
        except Exception as error:
            if self.chat.failure(error) is None and not isinstance(
                error, AttributeError | TypeError | ValueError
            ):
                raise
            return 0


def _profile_file(name: str) -> Path:
    return home_folder() / "servers" / avoid_device_name(f"{name}.json")


def save_profile(name: str, url: str, model: str, profile: ServerProfile) -> None:
    """Save the measured profile of a server.

    Parameters
    ----------
    name : name of the model here.
    url : address of the server.
    model : the model's name at the server.
    profile : the measurement.

    Raises
    ------
    OSError : the file cannot be written.
    """
    _profile_file(name).parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"url": url, "model": model, "profile": PlainWriter().fields(profile)})
    write_whole(_profile_file(name), lambda temporary: temporary.write_text(text, "utf-8"))


def saved_profile(name: str, url: str, model: str) -> ServerProfile | None:
    """Return the saved profile of a server.

    Parameters
    ----------
    name : name of the model here.
    url : address of the server.
    model : the model's name at the server.

    Returns
    -------
    None if none is saved for exactly this address and model.
    """
    try:
        entry = json.loads(_profile_file(name).read_text("utf-8"))
        if (entry["url"], entry["model"]) != (url, model):
            return None
        return PlainReader().fields(ServerProfile, entry["profile"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def user_messages(content: str) -> list[dict[str, str]]:
    """Return a list with one user message."""
    return [{"role": "user", "content": content}]
