"""Messages on standard error, as lines or as JSON; and the variables of the environment."""

import logging
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

PROGRAM = "funnelling"


class Style(NamedTuple):
    """How messages are shown: all or only errors, as lines for people or as JSON for programs."""

    quiet: bool = False
    as_json: bool = False


_style = Style()
_OF_EVERY_RECORD = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", "color_message"}


# What a terminal obeys, and what turns the order of letters: names of files and of settings may hold it.
_COMMANDS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class _Line(logging.Formatter):
    """The message; an error begins with the command, and is one line even where a name in it has several."""

    def format(self, record: logging.LogRecord) -> str:
        message = _COMMANDS.sub(lambda found: ascii(found[0])[1:-1], record.getMessage())
        if record.levelno < logging.ERROR:
            return message
        return f"{getattr(record, 'program', PROGRAM)}: {' '.join(message.splitlines())}"


class JsonLine(logging.Formatter):
    """A record as one JSON object: its time, level, logger and message, and the fields it was given.

    >>> import json
    >>> record = logging.makeLogRecord({"levelname": "INFO", "msg": "read", "documents": 3})
    >>> list(json.loads(JsonLine().format(record)))
    ['time', 'level', 'logger', 'message', 'documents']
    """

    def format(self, record: logging.LogRecord) -> str:
        import json
        from datetime import UTC, datetime

        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        told |= {name: value for name, value in vars(record).items() if name not in _OF_EVERY_RECORD}
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False, default=str)


class Messages(logging.Handler):
    """Shows records on standard error, in the style that holds."""

    def __init__(
        self, line: logging.Formatter | None = None, as_json: logging.Formatter | None = None
    ) -> None:
        super().__init__()
        self._line, self._json = line or _Line(), as_json or JsonLine()

    def emit(self, record: logging.LogRecord) -> None:
        if _style.quiet and record.levelno < logging.ERROR:
            return
        shown = (self._json if _style.as_json else self._line).format(record)
        if sys.stderr is not None:
            with suppress(OSError, ValueError):  # what nobody can hear is no reason to fail
                print(shown, file=sys.stderr, flush=True)


_messages = Messages()


def say(line: str, level: int = logging.INFO, **fields: Any) -> None:
    """Say what is going on, or at the level of an error what went wrong; ``fields`` are for JSON."""
    record = {"name": PROGRAM, "levelno": level, "levelname": logging.getLevelName(level), "msg": line}
    _messages.handle(logging.makeLogRecord(record | fields))


def style() -> Style:
    """The style that holds."""
    return _style


def at_terminal() -> bool:
    """Whether standard error is a terminal; a program without a console has none, or one that is closed."""
    try:
        return bool(sys.stderr.isatty())
    except (AttributeError, ValueError):
        return False


def speak(style: Style) -> None:
    """From now on, say everything in this style, warnings of other libraries too."""
    global _style
    _style = style
    logging.captureWarnings(style != Style())


@contextmanager
def speaking(style: Style) -> Iterator[None]:
    """Say everything in a style while the body runs, what the library logs included."""
    before, logger = _style, logging.getLogger(PROGRAM)
    level, warnings = logger.level, logging.getLogger("py.warnings")
    listening = [each for each in (logger, warnings) if not each.handlers]  # else somebody else does
    for each in listening:
        each.addHandler(_messages)
    if logger in listening:
        logger.setLevel(logging.INFO)
    speak(style)
    try:
        yield
    finally:
        speak(before)
        logger.setLevel(level)
        for each in listening:
            each.removeHandler(_messages)


MODEL = "model.json"  # in the folder of a model: what makes it one

# Variables of the environment.
CONFIG = "FUNNELLING_CONFIG"
JOBS = "FUNNELLING_JOBS"
TOKEN = "FUNNELLING_TOKEN"
CACHE = "FUNNELLING_CACHE"
DEBUG = "FUNNELLING_DEBUG"
NO_COLOUR = "NO_COLOR"
VARIABLES = {
    CONFIG: "file of settings, where --config is not given",
    JOBS: "threads, where --jobs is not given",
    TOKEN: "token that serve asks for, where --token-file is not given",
    CACHE: "folder for files that are made once",
    DEBUG: "1: an internal error shows its traceback",
    # Those of the Hub are read by its own library.
    "HF_TOKEN": "token that is shown to the Hugging Face Hub",
    "HF_ENDPOINT": "address of another Hub",
    "HF_HOME": "folder of models that were downloaded from the Hub",
    "HF_HUB_OFFLINE": "1: nothing is downloaded",
    NO_COLOUR: "no colours, if it is set to anything",
}


Reporter = Callable[[str], object]  # takes one line


def silent(_line: str) -> None:
    """Say nothing."""
