"""Measurement of the abilities of a server of the OpenAI protocol.

Servers differ in the length of prompts, in schemas, seeds, system messages and more, and rarely
say so. The page Models measures them, and the client then avoids what a server cannot do.
"""

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
    """Limits on the prompts and the time of a measurement."""

    min_prompt_tokens: int = 512  # of the first prompt
    max_prompt_tokens: int = 32_768  # of the last one, if the server reports no context size
    halvings: int = 3  # bisections between a prompt that was read completely and one that was not
    max_measure_seconds: float = 60.0  # for prompts of growing length
    probe_reply_tokens: int = 48
    min_timed_reply_tokens: int = 5  # of replies whose speed is measured


CHAT_PROFILE = ChatProfileDefaults()
SECRET = "vermilion"  # the password that the model must repeat from the beginning of a prompt
FILLER = "The river runs past the mill and on to the sea. "
# A schema that no reply follows by chance, as the prompt does not mention it.
PROBE_SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": [SECRET]}, "count": {"type": "integer"}},
    "required": ["colour", "count"],
    "additionalProperties": False,
}
# Outcomes of a prompt: read completely, refused, cut without a message, or unclear.
OUTCOME_READ = "read"
OUTCOME_REFUSED = "refused"
OUTCOME_CUT = "cut"
OUTCOME_UNCLEAR = "unclear"


@dataclass(frozen=True)
class ServerProfile:
    """Abilities of a server, as measured on one day.

    Parameters
    ----------
    measured : date of the measurement, in ISO format.
    reads : tokens of the longest prompt that it read completely; 0 if none was.
    longer : outcome of longer prompts: "refused", "cut" (without a message), "unclear" (the model
        did not repeat the password, and the server does not count tokens), or empty if none was
        tried.
    streams : true if replies arrive in pieces.
    schema : true if replies follow a JSON schema.
    log_probabilities : true if it returns log-probabilities.
    system_role : true if it accepts system messages.
    seed : "repeats" if the same seed gave the same reply twice at temperature 1, "varies" if not,
        "refused" if the server accepts no seed, or empty if unknown.
    thinks : true if the model reasons before it replies.
    counts : true if it reports token counts.
    tokens_a_second : speed of the fastest reply; 0 if unknown.
    refuses : names of the request parts that it refused (`Refusals`).
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
    def is_limited(self) -> bool:
        """True if some prompt was too long for the server.

        In that case `reads` is its limit.
        """
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
        no_schema = "does not keep to a schema: JSON is asked for in words"
        no_system_role = "takes no system message: it goes before the question"
        seed = {
            "repeats": "the same seed gives the same reply",
            "varies": "the same seed gives other replies",
            "refused": "takes no seed",
        }
        findings = [
            longer,
            "streams" if self.streams else "sends replies in one piece",
            "keeps to a schema" if self.schema else no_schema,
            "gives log-probabilities" if self.log_probabilities else "gives no log-probabilities",
            "takes a system message" if self.system_role else no_system_role,
        ]
        if self.seed in seed:
            findings.append(seed[self.seed])
        if self.thinks:
            findings.append("thinks before it answers")
        if not self.counts:
            findings.append("does not count its tokens: figures of tokens are estimates")
        if self.tokens_a_second:
            findings.append(f"{self.tokens_a_second:,.0f} tokens a second in one reply")
        return tuple(findings)


def measure_server(
    chat: OpenAIChat,
    watch: Watch = NO_WATCH,
    max_tokens: int = 0,
    max_seconds: float = CHAT_PROFILE.max_measure_seconds,
) -> ServerProfile:
    """Measure a server with some twenty short requests and with prompts of growing length.

    Parameters
    ----------
    chat : a new client, since another one may have cached replies.
    watch : cancellation and progress; its errors are raised.
    max_tokens : tokens of the longest prompt; 0 for the context size that the server reports.
    max_seconds : approximate time limit for the prompts of growing length. No longer prompt is
        tried if it would exceed the limit.

    Returns
    -------
    The measured abilities.

    Raises
    ------
    ModelFailed, ModelUnavailable : the server does not answer the first request.
    """
    return _ServerMeasurement(chat, watch, max_tokens, max_seconds).measure()


@dataclass
class _ServerMeasurement:
    """One measurement of a server, with what it has found so far.

    `max_tokens` and `max_seconds` are those of `measure_server`.
    """

    chat: OpenAIChat
    watch: Watch
    max_tokens: int
    max_seconds: float
    # Tokens of `FILLER`, first an estimate.
    filler_tokens: float = field(default=estimate_text_tokens(FILLER), init=False)
    max_speed: float = field(default=0.0, init=False)  # tokens a second of the fastest reply
    # True once the model has repeated the password.
    has_recalled: bool = field(default=False, init=False)

    def measure(self) -> ServerProfile:
        self.watch.report("Asking for a reply", 0.0)
        pieces: list[str] = []
        first_reply = self._request_reply(
            user_messages("Count from one to twelve in words, with commas."), on_text=pieces.append
        )
        self.watch.report("A system message and a seed", 0.1)
        system_role = self._reads_system_messages()
        seed = self._measure_seed()
        self.watch.report("A schema and log-probabilities", 0.2)
        schema = self._follows_schema()
        log_probabilities = self._returns_log_probabilities()
        reads, longer = self._measure_longest_prompt()
        return ServerProfile(
            measured=date.today().isoformat(),
            reads=reads,
            longer=longer,
            streams=len(pieces) > 2,
            schema=schema,
            log_probabilities=log_probabilities,
            system_role=system_role,
            seed=seed,
            thinks=bool(first_reply.thought) or self.chat.is_reasoning_model,
            counts=self.chat.has_token_counts,
            tokens_a_second=self.max_speed,
            refuses=self.chat.refuses,
        )

    def _request_reply(self, messages: Messages, max_tokens: int = 0, **options: Any) -> ChatReply:
        """Return the reply to messages, and record its speed."""
        limit = max_tokens or CHAT_PROFILE.probe_reply_tokens
        reply = self.chat.reply(messages, max_tokens=limit, watch=self.watch, **options)
        if (
            self.chat.has_token_counts
            and reply.tokens_out >= CHAT_PROFILE.min_timed_reply_tokens
            and reply.seconds > 0
        ):
            self.max_speed = max(self.max_speed, reply.tokens_out / reply.seconds)
        return reply

    def _reads_system_messages(self) -> bool:
        """Return whether the server reads a system message.

        It must not refuse the message and, if it counts tokens, must count those of the message.
        """
        system = {"role": "system", "content": FILLER * 8}
        without_system = self._request_reply(user_messages("Say: ready"), max_tokens=8)
        with_system = self._request_reply([system, *user_messages("Say: ready")], max_tokens=8)
        if "system role" in self.chat.refuses:
            return False
        return not self.chat.has_token_counts or with_system.tokens_in > without_system.tokens_in

    def _measure_seed(self) -> str:
        """Return the value of `ServerProfile.seed`."""
        if "seed" in self.chat.refuses:
            return "refused"
        messages = user_messages("Invent the name of a town, and say what it is known for.")
        texts = set()
        for _ in range(2):
            self.chat.forget()  # otherwise the cached first reply would be returned
            texts.add(self._request_reply(messages, seed=7, temperature=1.0).text)
        return "repeats" if len(texts) == 1 else "varies"

    def _follows_schema(self) -> bool:
        """Return whether a reply follows a schema that the prompt does not mention.

        If not, no schema is sent from now on.
        """
        answer = None
        messages = user_messages("Write two lines on the sea.")
        try:
            answer = json.loads(self._request_reply(messages, schema=PROBE_SCHEMA).text)
        except ValueError:
            pass
        except ModelFailed as error:
            if not is_refusal(error):
                raise
        if (
            isinstance(answer, dict)
            and answer.get("colour") == SECRET
            and isinstance(answer.get("count"), int)
        ):
            return True
        self.chat.leave_out("response_format")
        return False

    def _returns_log_probabilities(self) -> bool:
        try:
            body = self.chat.remove_refused_parts(
                {"model": self.chat.model, "messages": user_messages("Say: yes"), "max_tokens": 4}
            )
            reply = self.chat.client().chat.completions.create(
                **body, logprobs=True, top_logprobs=1
            )
            return bool(reply.choices[0].logprobs and reply.choices[0].logprobs.content)
        except Exception as error:
            if self.chat.to_model_failure(error) is None and not isinstance(
                error, AttributeError | IndexError | TypeError
            ):
                raise
            return False

    def _measure_longest_prompt(self) -> tuple[int, str]:
        """Return the tokens of the longest prompt that was read.

        The outcome of longer prompts is returned too. Prompts double in length. Between the last
        that was read and the first that was not, the limit is then bisected.
        """
        import openai

        max_size = self.max_tokens or self._read_context_size() or CHAT_PROFILE.max_prompt_tokens
        deadline = time.monotonic() + self.max_seconds
        size = CHAT_PROFILE.min_prompt_tokens
        read_tokens = not_read_size = 0
        last_seconds = 0.0
        outcome = ""
        # The next prompt is expected to take twice as long as the last one.
        while size <= max_size and time.monotonic() + 2 * last_seconds < deadline:
            self.watch.report(f"A prompt of {size:,} tokens", 0.3 + 0.7 * min(1.0, size / max_size))
            start = time.monotonic()
            try:
                outcome, tokens = self._try_prompt(size)
            except ModelFailed as error:
                if not isinstance(error.__cause__, openai.APITimeoutError | TimeoutError):
                    raise
                break  # too slow for longer prompts
            last_seconds = time.monotonic() - start
            if outcome != OUTCOME_READ:
                not_read_size = size
                break
            read_tokens = tokens
            outcome = ""
            # The last prompt has `max_size` tokens; the size after that ends the loop.
            size = min(2 * size, max_size) if size < max_size else max_size + 1
        if outcome not in (OUTCOME_REFUSED, OUTCOME_CUT) or not read_tokens:
            return read_tokens, outcome
        for _ in range(CHAT_PROFILE.halvings):
            size = (read_tokens + not_read_size) // 2
            new_outcome, tokens = self._try_prompt(size)
            if new_outcome == OUTCOME_READ:
                read_tokens = tokens
            else:
                not_read_size = size
        return read_tokens, outcome

    def _try_prompt(self, size: int) -> tuple[str, int]:
        """Return the outcome and the number of tokens of a prompt.

        The prompt has about `size` tokens. The number is the server's if it read the prompt, else
        `size`.
        """
        repetitions = max(1, round((size - CHAT_PROFILE.probe_reply_tokens) / self.filler_tokens))
        beginning = f"The password is {SECRET}. Remember it.\n\n{FILLER * repetitions}"
        questions = (
            "What is the password? Answer with this one word.",
            "Repeat the password from the first line.",
        )
        for attempt, question in enumerate(questions):
            # Comparing counts costs requests of the same length, so it is left to the second try.
            self.chat.checks_token_counts = bool(attempt)
            try:
                reply = self._request_reply(
                    user_messages(f"{beginning}\n\n{question}"), max_tokens=16
                )
            except PromptCut:
                return OUTCOME_CUT, size
            except ModelFailed as error:
                if not is_refusal(error):
                    raise
                return OUTCOME_REFUSED, size
            is_recalled = SECRET in (reply.text + reply.thought).lower()
            # If the model never recalled the password, it may be too weak for the question. Its
            # token count alone then decides, after it was compared with the prompt.
            if is_recalled or (attempt and self.chat.has_token_counts and not self.has_recalled):
                self.has_recalled = self.has_recalled or is_recalled
                self.filler_tokens = reply.tokens_in / (repetitions + 1)
                return OUTCOME_READ, reply.tokens_in
        return OUTCOME_UNCLEAR, size

    def _read_context_size(self) -> int:
        """Return the context size in the server's list of models.

        The result is 0 if the size is not given.
        """
        try:
            for model in self.chat.client().models.list().data:
                if model.id == self.chat.model:
                    meta = getattr(model, "meta", None) or {}
                    size = getattr(model, "max_model_len", None) or meta.get("n_ctx")
                    return int(size) if size else 0
            return 0
        except Exception as error:
            if self.chat.to_model_failure(error) is None and not isinstance(
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
    name : name of the model in models.toml.
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
    name : name of the model in models.toml.
    url : address of the server.
    model : the model's name at the server.

    Returns
    -------
    The profile; None if none is saved for exactly this address and model.
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
