"""The Hub's own library, loaded where it is used, and what it refuses in one line each."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from threading import Lock, Timer
from typing import Any

from funnelling.errors import InputError
from funnelling.hub.addresses import HubAddress
from funnelling.runtime.messages import Style, at_terminal, style

PATIENCE = 2.0  # seconds before a word is said
UNREACHED = "the Hub cannot be reached. Check the network; what was downloaded before is read without it."
TOKEN = "with a token that may (HF_TOKEN, or hf auth login)"

logger = logging.getLogger(__name__)


def hub() -> Any:
    """The library, as a module."""
    try:
        import huggingface_hub
        import huggingface_hub.constants
        import huggingface_hub.errors
        import huggingface_hub.utils
    except ImportError:
        raise InputError("hf:// needs huggingface_hub: pip install 'funnelling[hub]'") from None
    return huggingface_hub


def agent() -> dict[str, str]:
    """What requests say of who makes them."""
    from importlib.metadata import version

    return {"library_name": "funnelling", "library_version": version("funnelling")}


@contextmanager
def asking(address: HubAddress, made: Sequence[str] = ()) -> Iterator[None]:
    """Say in one line, which begins with the address, what the Hub or the way there refuses.

    What was ``made`` there before is named too, for it stays. Bars, and lines on what is tried again, are
    shown on a terminal only, and where messages are.
    """
    endpoint = hub().constants.ENDPOINT  # or say what is missing
    if not endpoint.startswith(("http://", "https://")):
        raise InputError(f"HF_ENDPOINT is {endpoint!r}, no address. Let it begin with https://, or unset it.")
    wait = Timer(PATIENCE, logger.info, [f"{address}: waiting for the Hub, which may take a while"])
    wait.daemon = True
    wait.start()
    try:
        with nullcontext() if at_terminal() and style() == Style() else _silence:
            yield
    except (InputError, MemoryError):
        raise
    except Exception as error:  # the library raises those of its own, of its HTTP client and of the system
        stays = f" What was made before stays: {', '.join(made)}." if made else ""
        raise InputError(f"{address}: {_reason(error, address)}{stays}") from error
    finally:
        wait.cancel()


class _Silence:
    """Keeps the library silent while anyone is within: its settings are the process's, not a thread's."""

    def __init__(self) -> None:
        self._lock, self._within = Lock(), 0
        self._verbosity, self._bars = 0, False  # as they were before the first came

    def __enter__(self) -> None:
        utils = hub().utils
        with self._lock:
            if self._within == 0:
                self._verbosity = utils.logging.get_verbosity()
                self._bars = not utils.are_progress_bars_disabled()
                utils.logging.set_verbosity_error()
                if self._bars:
                    utils.disable_progress_bars()
            self._within += 1

    def __exit__(self, *_: object) -> None:
        utils = hub().utils
        with self._lock:
            self._within -= 1
            if self._within == 0:
                utils.logging.set_verbosity(self._verbosity)
                if self._bars:
                    utils.enable_progress_bars()


_silence = _Silence()


def _reason(error: Exception, address: HubAddress) -> str:
    """Why the Hub was of no use, and the cure."""
    import httpx  # which the library speaks through

    errors = hub().errors
    match error:
        case errors.GatedRepoError():
            page = f"{hub().constants.ENDPOINT}/{address.repository}"
            return f"its owner asks who reads it. Ask for access at {page}, and come back {TOKEN}."
        case errors.RepositoryNotFoundError():
            return f"not found, or private. Check the name, or come {TOKEN}."
        case errors.RevisionNotFoundError():
            return "no such revision. Name a branch, a tag or a commit of it."
        case errors.OfflineModeIsEnabled():
            return "offline, since HF_HUB_OFFLINE is set. Unset it."
        case errors.LocalEntryNotFoundError():
            if hub().constants.HF_HUB_OFFLINE:
                return "not in the cache, and HF_HUB_OFFLINE is set. Unset it."
            return _reason_of_status(error.__cause__) or UNREACHED
        case errors.EntryNotFoundError():
            return "no model of funnelling is there, or not all of it. Check the name."
        case httpx.TransportError():
            return UNREACHED
    if isinstance(error.__cause__, errors.HfHubHTTPError):  # of an upload, in a thread
        error = error.__cause__
    if reason := _reason_of_status(error):
        return reason
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'the cache'}: {error.strerror.lower()}. Check the disk, or HF_HOME."
    said = " ".join(str(error).split()) or type(error).__name__
    return f"the Hub did not do it: {said[:200].rstrip('.')}. Try again later."


def _reason_of_status(error: BaseException | None) -> str:
    """What an HTTP status says; nothing where there is none."""
    response = getattr(error, "response", None)
    match getattr(response, "status_code", None):
        case None:
            return ""
        case 401:
            return f"the token is not valid. Come {TOKEN}."
        case 403:
            return f"not allowed. Come {TOKEN}."
        case 404:
            return "nothing of this name is there. Check the name, and HF_ENDPOINT if it is set."
        case 409 | 412:
            return "it has changed meanwhile. Push again."
        case 429:
            return "the Hub has had too many requests. Wait a while."
        case status:
            said = " ".join(str(error).split())
            return f"the Hub answers {status} ({said[:200].rstrip('.')}). Try again later."
