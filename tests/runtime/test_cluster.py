"""A Dask cluster on this machine: the same bytes as without one, and a worker may die."""

import os
import re
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
import pytest

from funnelling import InputError, read_corpus
from funnelling.commands.parts import fit_parts
from funnelling.methods.registry import make_method
from funnelling.runtime import spread
from funnelling.runtime.spread import map_chunks, on_cluster
from funnelling.storage import save
from tests.commands.command import run_command, succeed
from tests.commands.from_python.folders import rows, write_parts

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, dashboard_address=None, protocol="tcp"
    ) as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_parts(tmp_path_factory.mktemp("world") / "parts", rows())


def _fitted(name: str, folder: Path) -> Any:
    return make_method(name, seed=0, jobs=2).fit(read_corpus(folder).split("train"))


def _bytes(model: Any, folder: Path) -> dict[str, bytes]:
    save(model, folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", ["fun-auto", "fun-kfcv", "naive"])
def test_the_model_is_the_same_to_the_bit(cluster: Any, folder: Path, tmp_path: Path, name: str) -> None:
    with on_cluster(cluster.scheduler_address):
        model = _fitted(name, folder)
    assert _bytes(model, tmp_path / "a") == _bytes(_fitted(name, folder), tmp_path / "b")


def test_joblibs_own_words_do_it_too(cluster: Any, folder: Path, tmp_path: Path) -> None:
    with distributed.Client(cluster), joblib.parallel_config(backend="dask"):
        model = _fitted("fun-tat", folder)
    assert _bytes(model, tmp_path / "a") == _bytes(_fitted("fun-tat", folder), tmp_path / "b")


def test_parts_are_counted_by_the_workers(cluster: Any, folder: Path, tmp_path: Path) -> None:
    method = make_method("fun-tat", seed=0)
    with on_cluster(cluster.scheduler_address):
        model = fit_parts(method, folder, tmp_path / "work")
    assert _bytes(model, tmp_path / "a") == _bytes(_fitted("fun-tat", folder), tmp_path / "b")


def test_a_worker_that_is_killed_is_replaced(folder: Path, tmp_path: Path) -> None:
    started = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, protocol="tcp"
    )
    with started, on_cluster(started.scheduler_address):
        victims = [worker.pid for worker in started.workers.values()]

        def kill() -> None:
            for victim in victims[:1]:
                time.sleep(0.5)
                os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        models = [_fitted("fun-tat", folder) for _ in range(3)]
        killer.join()
    expected = _bytes(_fitted("fun-tat", folder), tmp_path / "b")
    for number, model in enumerate(models):
        assert _bytes(model, tmp_path / str(number)) == expected


def _die_once(marks: Path, number: int) -> int:
    mark = marks / str(number)
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def _die(_number: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("n_workers", [1, 2])
def test_pieces_that_are_lost_are_done_again(n_workers: int, tmp_path: Path) -> None:
    with on_cluster(f"local:{n_workers}"):
        done = dict(map_chunks(_die_once, (tmp_path,), [(number,) for number in range(3)]))
    assert done == {0: 0, 1: 1, 2: 4}


def test_a_cluster_that_loses_everything_again_and_again_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "RETRY_BACKOFF_S", 0)
    monkeypatch.setattr(spread, "MAX_ATTEMPTS", 2)
    monkeypatch.setattr(spread, "NO_WORKERS_TIMEOUT_S", 30)  # that fail to start on a busy machine
    with on_cluster("local:2"), pytest.raises(InputError, match="lost its workers again and again"):
        list(map_chunks(_die, (), [(0,)]))


def test_a_cluster_that_is_left_without_workers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "POLL_S", 0.1)
    monkeypatch.setattr(spread, "NO_WORKERS_TIMEOUT_S", 0.5)
    started = distributed.LocalCluster(n_workers=1, dashboard_address=None, protocol="tcp")
    with started, on_cluster(started.scheduler_address):
        started.scale(0)
        with pytest.raises(InputError, match="lost its workers again and again, or all of them"):
            list(map_chunks(_long, (), [(0,)]))


def _long(_number: int) -> None:
    time.sleep(60)


def _refusal(address: str) -> str:
    with pytest.raises(InputError) as refused, on_cluster(address):
        pass
    return str(refused.value)


def test_an_address_where_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("funnelling.runtime.spread.SCHEDULER_TIMEOUT_S", 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    assert _refusal(address).startswith(f"{address}: no Dask scheduler answers there")


def test_a_cluster_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("funnelling.runtime.spread.SCHEDULER_TIMEOUT_S", 1)
    with distributed.LocalCluster(n_workers=0, dashboard_address=None, protocol="tcp") as empty:
        address = empty.scheduler_address
        assert _refusal(address) == (
            f"{address}: the cluster has no worker. Start some: dask worker {address}"
        )


def test_workers_of_another_version(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("funnelling.runtime.spread.version", lambda _: "9.9")
    address = cluster.scheduler_address
    assert re.fullmatch(
        rf"{address}: the workers have funnelling \S+, here is 9\.9\. Install the same version there\.",
        _refusal(address),
    )


@pytest.mark.parametrize("address", ["nowhere", "local", "local:0", "local:x", "localhost:8786"])
def test_what_is_no_address(address: str) -> None:
    assert _refusal(address) == (
        f"{address!r} is no address of a cluster. Write tcp://HOST:PORT, or local:N for N processes."
    )


def test_the_command_starts_a_cluster_of_its_own(folder: Path, tmp_path: Path) -> None:
    train = ["train", folder, "--method", "fun-tat", "-o"]
    done = run_command(*train, "a", "--cluster", "local:2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    succeed(*train, tmp_path / "b")
    assert (tmp_path / "a/model.json").read_bytes() == (tmp_path / "b/model.json").read_bytes()
