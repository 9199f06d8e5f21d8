"""Feedback on answers: what the labels of documents should have been, written into a journal."""

import asyncio
import logging
from functools import partial

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from funnelling.errors import InputError
from funnelling.formats.document import Document
from funnelling.formats.journal import Decision, FullError, InUseError, Journal
from funnelling.formats.jsonl import LABEL
from funnelling.serving import openapi
from funnelling.serving.answers import json_response
from funnelling.serving.bodies import Bodies
from funnelling.serving.guard import place_of
from funnelling.serving.paths import FEEDBACK
from funnelling.serving.refusals import Refusal, too_busy
from funnelling.serving.requests import Requests
from funnelling.serving.settings import JOURNAL_SECONDS, ServiceSettings

EXAMPLE = {
    "documents": [
        {"text": "Un lettore di musica per il desktop", "language": "it", "labels": [], "note": "?"}
    ]
}
OFF = Refusal(404, "This service takes no feedback. Start it with --feedback FILE.")

logger = logging.getLogger(__name__)


def add_feedback(app: FastAPI, requests: Requests, settings: ServiceSettings) -> None:
    """Take feedback, if the service is to; else say that it does not."""
    bodies = Bodies(settings.limits.body)

    @app.post(
        FEEDBACK,
        summary="Say what labels should have been",
        responses=openapi.answers("FeedbackResponse", "All of it is on disk.", 401, 507, *openapi.OF_A_BODY),
        openapi_extra=openapi.takes("FeedbackRequest", EXAMPLE),
        include_in_schema=settings.feedback is not None,
    )
    async def take(request: Request) -> Response:
        """Documents with the labels that they should have had; `funnelling update` learns from them."""
        if settings.feedback is None:
            raise OFF
        loop = asyncio.get_running_loop()
        corrected = requests.read_feedback(
            await bodies.read_json(request, loop.time() + settings.limits.seconds)
        )
        await loop.run_in_executor(None, partial(_write, settings, corrected))
        return json_response({"taken": len(corrected)})


def _write(settings: ServiceSettings, corrected: list[tuple[Document, str]]) -> None:
    """Write feedback down; other workers may be at it, too."""
    assert settings.feedback is not None
    decisions = [Decision(LABEL, document, note=note) for document, note in corrected]
    try:
        with Journal(settings.feedback, JOURNAL_SECONDS, settings.feedback_bytes) as journal:
            journal.append(*decisions)
    except InUseError:
        raise too_busy("Others are writing feedback. Try again later.") from None
    except FullError as error:
        logger.error("feedback was refused: %s", error)
        raise Refusal(507, "There is no room for more feedback. Tell whoever runs this service.") from None
    except (InputError, OSError) as error:
        logger.error("feedback was refused: %s", place_of(error))
        raise Refusal(507, "Feedback cannot be written down. Tell whoever runs this service.") from None
