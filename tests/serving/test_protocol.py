"""What `serving/protocol.py` relies on inside uvicorn: no contract of uvicorn's keeps it as it is."""

import inspect
from typing import Any
from unittest.mock import MagicMock

import pytest
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from funnelling.serving.protocol import HttpConnection, Server, SharedState

CURE = (
    f"uvicorn {uvicorn.__version__} differs from what src/funnelling/serving/protocol.py was written for. "
    "Read what is named here in uvicorn, adapt protocol.py until tests/serving/test_service.py passes, and "
    "bring this file up to date."
)

# What is overridden, with the parameters that uvicorn passes.
OVERRIDDEN = {
    HttpConnection: {
        "connection_made": ["transport"],
        "connection_lost": ["exc"],
        "data_received": ["data"],
        "on_message_begin": [],
        "on_url": ["url"],
        "on_header": ["name", "value"],
        "on_headers_complete": [],
        "on_body": ["body"],
        "on_message_complete": [],
        "on_response_complete": [],
        "pause_writing": [],
        "resume_writing": [],
        "shutdown": [],
        "_should_upgrade": [],
        "_start_asgi_task": ["cycle", "app"],
    },
    Server: {"__init__": ["config"], "capture_signals": [], "shutdown": ["sockets"]},
    SharedState: {"__init__": []},
}
# Where uvicorn uses what we override, call or set: a hook that is no longer called holds nothing.
CALLS = {
    HttpToolsProtocol.on_headers_complete: {"_should_upgrade", "_start_asgi_task", "should_upgrade"},
    HttpToolsProtocol.on_body: {"_should_upgrade"},
    HttpToolsProtocol.on_message_complete: {"_should_upgrade"},
    HttpToolsProtocol.on_response_complete: {"_start_asgi_task", "_unset_keepalive_if_required", "pipeline"},
    HttpToolsProtocol.data_received: {"_unset_keepalive_if_required", "feed_data"},
    HttpToolsProtocol.connection_lost: {"connections", "parser", "cycle"},
    HttpToolsProtocol.shutdown: {"cycle", "response_complete", "close", "keep_alive"},
    uvicorn.Server.serve: {"capture_signals"},
    uvicorn.Server._serve: {"lifespan", "shutdown", "startup"},
    uvicorn.Server.shutdown: {
        "servers",
        "server_state",
        "connections",
        "shutdown",
        "timeout_graceful_shutdown",
    },
}
# What we read or set.
ATTRIBUTES = {
    "connection": {
        *("cycle", "flow", "parser", "pipeline", "transport", "loop", "tasks", "server_state"),
        *("headers", "url"),
        *("_unset_keepalive_if_required", "_should_upgrade", "_start_asgi_task"),
    },
    "cycle": {
        *("disconnected", "keep_alive", "message_event", "response_started", "response_complete"),
        "run_asgi",
    },
    "state": {"connections", "tasks", "default_headers"},
    "server": {"config", "server_state", "force_exit", "handle_exit"},
}


@pytest.fixture
def uvicorns() -> dict[str, Any]:
    """Objects of uvicorn's own classes, as they are before they are used."""
    config = uvicorn.Config(MagicMock(), http=HttpToolsProtocol)
    state = ServerState()
    connection = HttpToolsProtocol(config, state, {}, _loop=MagicMock())
    connection.on_message_begin()
    return {
        "connection": connection,
        "cycle": RequestResponseCycle(**dict.fromkeys(parameters(RequestResponseCycle), MagicMock())),
        "state": state,
        "server": uvicorn.Server(config),
    }


def parameters(function: Any) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name != "self"]


def test_what_is_overridden_is_what_uvicorn_has() -> None:
    for ours, methods in OVERRIDDEN.items():
        theirs = ours.__mro__[1]
        for name, expected in methods.items():
            assert hasattr(theirs, name), f"{theirs.__name__}.{name} is gone. {CURE}"
            assert parameters(getattr(theirs, name)) == expected, f"{theirs.__name__}.{name} changed. {CURE}"


def test_nothing_else_is_overridden_by_accident(uvicorns: dict[str, Any]) -> None:
    for ours, kind in ((HttpConnection, "connection"), (Server, "server"), (SharedState, "state")):
        theirs = {*dir(uvicorns[kind]), "__init__"} - set(dir(object))
        common = theirs & vars(ours).keys()
        made = {
            "__module__",
            "__firstlineno__",
            "__static_attributes__",
        }  # of every class, from Python 3.13 on
        assert common <= {*OVERRIDDEN[ours], *made}, f"uvicorn's {kind} has our names now. {CURE}"


def test_the_hooks_are_still_called() -> None:
    for function, names in CALLS.items():
        missing = names - _names_in(function)
        assert not missing, f"{function.__qualname__} no longer uses {', '.join(sorted(missing))}. {CURE}"


def test_what_is_read_and_set_is_still_there(uvicorns: dict[str, Any]) -> None:
    for kind, names in ATTRIBUTES.items():
        missing = {name for name in names if not hasattr(uvicorns[kind], name)}
        assert not missing, f"uvicorn's {kind} has no {', '.join(sorted(missing))}. {CURE}"


def _names_in(function: Any) -> set[str]:
    code = inspect.unwrap(function).__code__
    return {*code.co_names, *code.co_varnames}
