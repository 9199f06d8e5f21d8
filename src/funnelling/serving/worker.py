"""One process that serves: the model, the application over it, and the loop."""

import gc
import signal
import socket
from collections.abc import Callable

import threadpoolctl
import uvicorn
from fastapi import FastAPI

from funnelling.methods.model import follow_label_set
from funnelling.serving.application import create_app
from funnelling.serving.metrics import Metrics
from funnelling.serving.protocol import HttpConnection, Server, SharedState
from funnelling.serving.settings import Limits, ServiceSettings
from funnelling.storage.models import HeldModel
from funnelling.tasks.sources import check_reads_texts


def run_worker(
    settings: ServiceSettings,
    held: HeldModel,
    sock: socket.socket,
    metrics: Metrics,
    ready: Callable[[], None],
) -> None:
    """Serve on a socket until SIGTERM or SIGINT; call ``ready`` once all is loaded."""
    threadpoolctl.threadpool_limits(1)  # the workers share the cores already
    model = held.load()
    check_reads_texts(model, str(held.place))
    model = follow_label_set(model, settings.label_set, settings.exclude)
    app = create_app(model, held.description, settings, metrics)
    app.state.engine.warm_up()
    gc.collect()
    gc.freeze()  # the garbage of a large answer is looked for without looking at the model, too
    server = server_of(app, settings.limits, metrics)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, server.handle_exit)
    ready()
    server.run([sock])


def server_of(app: FastAPI, limits: Limits, metrics: Metrics) -> Server:
    """A server of an application, whose caller handles the signals."""
    config = uvicorn.Config(
        app,
        http=HttpConnection,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=round(limits.seconds) + 5,
    )
    return Server(config, SharedState(limits, metrics))
