"""A page to label on, served from one process until it is stopped."""

import os
import signal
from dataclasses import dataclass, replace

import threadpoolctl

from funnelling.errors import InputError, counted
from funnelling.formats.journal import Journal
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.methods.model import Method, follow_label_set
from funnelling.methods.registry import name_of
from funnelling.review.desk import Desk
from funnelling.runtime.messages import TOKEN, say
from funnelling.serving.bench import Bench
from funnelling.serving.engine import Engine
from funnelling.serving.labelling import create_labelling_app
from funnelling.serving.learner import Learning
from funnelling.serving.metrics import Metrics
from funnelling.serving.paths import labelling_paths
from funnelling.serving.settings import LOOPBACK, ServiceSettings
from funnelling.serving.supervisor import address_of, bind, start_logging
from funnelling.serving.worker import server_of
from funnelling.tasks.labelling import learned_before, read_queue
from funnelling.tasks.sources import load_text_model


@dataclass(frozen=True)
class LabellingSettings:
    """What is to be labelled, and what is learned from it; ``service`` says where and by whom."""

    service: ServiceSettings
    data: str
    learning: Learning
    layout: Layout = AS_FOUND
    everything: bool = False
    as_they_are: bool = False
    strict: bool = False
    who: str = ""
    journal_bytes: int = 2**30  # that the journal may have


def label(settings: LabellingSettings) -> None:
    """Let people label documents until a signal comes: SIGTERM or SIGINT."""
    service, learning = settings.service, settings.learning
    model, learned = _starting_model(learning)
    if model.sparse_labels and not settings.as_they_are:
        raise InputError(f"{name_of(model)} cannot put documents into order yet. Add --as-they-are.")
    if service.label_set is not None:
        model = follow_label_set(model, service.label_set)
        learning = replace(learning, label_set=model.label_set_)
    if os.path.exists(learning.journal):  # what is wrong with it is told before documents are read
        Journal(learning.journal).close()
    queue = read_queue(
        model,
        settings.data,
        layout=settings.layout,
        everything=settings.everything,
        as_they_are=settings.as_they_are,
        strict=settings.strict,
        verbose=1,
        report=say,
    )
    (sock,) = bind(service.host, service.port, 1)
    with sock, Journal(learning.journal, most=settings.journal_bytes) as journal:
        desk = Desk(queue.documents, journal)
        threadpoolctl.threadpool_limits(1)
        metrics = Metrics(labelling_paths(), model.languages_)
        engine = Engine(model, metrics, service.limits.words)
        bench = Bench(queue, desk, engine, learning, learned, settings.who)
        app = create_labelling_app(bench, service, metrics)
        engine.warm_up()
        server = server_of(app, service.limits, metrics)
        start_logging()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, server.handle_exit)
        _announce(settings, desk, sock.getsockname()[1])
        server.run([sock])
        labelled = f"{counted(desk.labelled, 'document')} labelled in {journal.path}."
        left = bench.learner.learned < desk.labelled
        say(f"{labelled} To learn from all of them: {_command(learning)}" if left else labelled)


def _starting_model(learning: Learning) -> tuple[Method, int]:
    """The model to begin with, and how many documents of the journal it has learned from.

    That is what an earlier run made of the model, if one did.
    """
    learned = learned_before(learning.output, learning.journal) if learning.after else None
    model = load_text_model(learning.model)
    if learning.after:
        try:
            model.check_extensible()
        except InputError as error:
            raise InputError(
                f"{learning.model}: {error} Or label without learning: --learn-after 0."
            ) from None
    return (model, 0) if learned is None else (load_text_model(learning.output), learned)


def _announce(settings: LabellingSettings, desk: Desk, port: int) -> None:
    service, progress = settings.service, desk.progress()
    address = address_of(service.host, port)
    documents = f"{counted(progress['left'], 'document')} of {progress['documents']:,}"
    message = f"Labelling {documents} on {address} into {settings.learning.journal}. Ctrl-C stops it."
    if service.token is None and service.host not in LOOPBACK:
        message += f" Whoever reaches it can label: ask for a token with --token-file or {TOKEN}."
    say(message, address=address)


def _command(learning: Learning) -> str:
    return f"funnelling update {learning.model} {learning.journal} -o {learning.output}"
