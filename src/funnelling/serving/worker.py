"""One process that serves: the model, the application over it, and the loop."""

import signal
import socket
from collections.abc import Callable
from typing import Any

import threadpoolctl
import uvicorn

from funnelling.serving.application import create_app
from funnelling.serving.metrics import Metrics
from funnelling.serving.protocol import HttpConnection, Server, SharedState
from funnelling.serving.settings import ServiceSettings
from funnelling.tasks.sources import load_text_model


def run_worker(
    settings: ServiceSettings,
    description: dict[str, Any],
    sock: socket.socket,
    metrics: Metrics,
    ready: Callable[[], None],
) -> None:
    """Serve on a socket until SIGTERM or SIGINT; call ``ready`` once all is loaded."""
    threadpoolctl.threadpool_limits(1)  # the workers share the cores already
    app = create_app(load_text_model(settings.model, mapped=True), description, settings, metrics)
    app.state.engine.warm_up()
    limits = settings.limits
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
    server = Server(config, SharedState(limits, metrics))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, server.handle_exit)
    ready()
    server.run([sock])
