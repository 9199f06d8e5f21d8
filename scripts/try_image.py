"""Build the image and use it as docs/deploying.md says: read-only, as a user without a name.

    python scripts/try_image.py            # with docker or podman, or without an engine, on Debian as root
    python scripts/try_image.py --built    # with the image that was built before

Without an engine, buildah runs the Dockerfile on a Debian from mmdebstrap in place of the official image of
Python, and bubblewrap runs what comes of it, with the service as process 1. It prints what was measured, and
fails where the image does not do what is promised.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parent.parent
IMAGE = "localhost/funnelling"
BASE = "localhost/funnelling-base"
# As in the official image, and what it has besides.
DEBIAN = "trixie"
PACKAGES = "python3,python3-venv,python3-dev,gcc,libc6-dev,ca-certificates"
MOST_BYTES = 400 * 10**6
USER = os.getuid() or 12_345  # no such user is in the image
GROUP = os.getgid() or USER
PORT = 8_000
START_SECONDS = 180
STOP_SECONDS = 45

Mounts = dict[Path, str]


def output(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


class Engine(ABC):
    """What builds images and runs them."""

    @abstractmethod
    def build(self) -> None:
        """Build the image."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What the image says of how it is to be run."""

    @abstractmethod
    def size(self) -> int:
        """The bytes of all its files."""

    @abstractmethod
    def start(
        self, arguments: list[str], mounts: Mounts, **options: Any
    ) -> tuple[subprocess.Popen[str], int]:
        """Run it on a read-only root; the process that waits for it, and the number of its process 1 here."""

    def run(self, arguments: list[str], mounts: Mounts) -> subprocess.CompletedProcess[str]:
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process, _ = self.start(arguments, mounts, **pipes)
        out, error = process.communicate()
        return subprocess.CompletedProcess(arguments, process.returncode, out, error)


@dataclass
class Containers(Engine):
    """Docker or podman."""

    program: str

    def build(self) -> None:
        subprocess.run([self.program, "build", "--tag", IMAGE, ROOT], check=True)

    def _inspect(self) -> dict[str, Any]:
        image: dict[str, Any] = json.loads(output(self.program, "image", "inspect", IMAGE))[0]
        return image

    def settings(self) -> dict[str, Any]:
        return dict(self._inspect()["Config"])

    def size(self) -> int:
        return int(self._inspect()["Size"])

    def start(
        self, arguments: list[str], mounts: Mounts, **options: Any
    ) -> tuple[subprocess.Popen[str], int]:
        name = f"try-{time.monotonic_ns()}"
        shared = [f"--volume={folder}:{place}" for folder, place in mounts.items()]
        limits = ["--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges"]
        if self.program == "podman" and os.getuid():
            limits.append("--userns=keep-id")  # else another user's files would come of it
        outside = [f"--user={USER}:{GROUP}", f"--publish=127.0.0.1:{PORT}:{PORT}", f"--name={name}", *shared]
        process = subprocess.Popen(
            [
                self.program,
                "run",
                "--rm",
                *limits,
                *outside,
                "--entrypoint",
                arguments[0],
                IMAGE,
                *arguments[1:],
            ],
            text=True,
            **options,
        )
        for _ in range(START_SECONDS * 10):
            looked = subprocess.run(
                [self.program, "inspect", "--format={{.State.Pid}}", name], capture_output=True, text=True
            )
            if process.poll() is not None or looked.stdout.strip() not in ("", "0"):
                break
            time.sleep(0.1)
        return process, int(looked.stdout.strip() or 0)


class Folders(Engine):
    """No engine: buildah builds in a chroot, bubblewrap runs the files."""

    NEEDED = ("buildah", "mmdebstrap", "bwrap", "setpriv")

    def build(self) -> None:
        base = ROOT / "build" / "image" / f"{DEBIAN}.tar"
        if not base.exists():
            base.parent.mkdir(parents=True, exist_ok=True)
            without = [
                f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "info", "locale", "man")
            ]
            subprocess.run(
                [
                    "mmdebstrap",
                    "--quiet",
                    "--variant=minbase",
                    f"--include={PACKAGES}",
                    *without,
                    DEBIAN,
                    base,
                ],
                check=True,
            )
        container = self._buildah("from", "scratch")
        self._buildah("add", "--quiet", container, base, "/")
        self._buildah("commit", "--quiet", "--rm", container, BASE)
        # What this machine trusts, and where it installs from, hold for the build too.
        shared = [
            f"--volume={path}:{path}:ro"
            for path in ("/etc/ssl/certs", "/etc/pip.conf")
            if Path(path).exists()
        ]
        how = ["--isolation=chroot", "--network=host", "--format=docker", "--layers", "--pull=never"]
        what = [f"--build-arg=BASE={BASE}", *shared, f"--tag={IMAGE}", ROOT]
        subprocess.run(["buildah", "build", *how, *what], check=True)

    def _buildah(self, *arguments: str | Path) -> str:
        return output("buildah", *arguments)

    def _files(self) -> Path:
        folder = ROOT / "build" / "image" / "root"
        if not folder.exists():
            container = self._buildah("from", IMAGE)
            shutil.copytree(self._buildah("mount", container), folder, symlinks=True)
            self._buildah("rm", container)
        return folder

    def settings(self) -> dict[str, Any]:
        return dict(json.loads(self._buildah("inspect", "--type=image", IMAGE))["Docker"]["config"])

    def size(self) -> int:
        return sum(path.lstat().st_size for path in self._files().rglob("*"))

    def start(
        self, arguments: list[str], mounts: Mounts, **options: Any
    ) -> tuple[subprocess.Popen[str], int]:
        settings = self.settings()
        variables = [word for entry in settings["Env"] for word in ("--setenv", *entry.split("=", 1))]
        shared = [
            word
            for folder, place in mounts.items()
            for word in (
                ("--ro-bind" if place.endswith(":ro") else "--bind"),
                str(folder),
                place.removesuffix(":ro"),
            )
        ]
        user = [f"--reuid={USER}", f"--regid={GROUP}", "--clear-groups", "--no-new-privs"]
        apart = [
            "--unshare-user",
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
            "--as-pid-1",
            "--clearenv",
        ]
        root = ["--ro-bind", str(self._files()), "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
        root += ["--chdir", settings["WorkingDir"]]
        told, tell = os.pipe()
        process = subprocess.Popen(
            [
                "setpriv",
                *user,
                "bwrap",
                *apart,
                *root,
                *shared,
                *variables,
                "--info-fd",
                str(tell),
                *arguments,
            ],
            pass_fds=(tell,),
            text=True,
            **options,
        )
        os.close(tell)
        with open(told, encoding="utf-8") as facts:
            text = facts.read()
        return process, json.loads(text)["child-pid"] if text else 0


def engine() -> Engine:
    """What this machine has."""
    for program in ("docker", "podman"):
        if shutil.which(program) and not subprocess.run([program, "info"], capture_output=True).returncode:
            return Containers(program)
    missing = [name for name in Folders.NEEDED if shutil.which(name) is None]
    if missing or os.getuid():
        sys.exit(
            "No container engine works here. Start docker or podman; or, as root on Debian: "
            "apt-get install buildah mmdebstrap bubblewrap"
        )
    return Folders()


def ask(path: str, body: Any = None) -> tuple[int, bytes]:
    service = HTTPConnection("127.0.0.1", PORT, timeout=30)
    content = None if body is None else json.dumps(body)
    service.request("GET" if body is None else "POST", path, content, {"Content-Type": "application/json"})
    answer = service.getresponse()
    return answer.status, answer.read()


def wait_until_healthy(process: subprocess.Popen[str], log: Path) -> float:
    """The seconds until the first good answer."""
    started = time.monotonic()
    while time.monotonic() - started < START_SECONDS and process.poll() is None:
        try:
            if ask("/healthz")[0] == 200:
                return time.monotonic() - started
        except (OSError, HTTPException):
            time.sleep(0.02)
    sys.exit(f"The service did not become healthy: {log.read_text(encoding='utf-8')}")


def memory(pid: int) -> int:
    """The resident bytes of a process and of those that it started; what they share counts for each."""
    statuses = [path for path in Path("/proc").glob("[0-9]*/status") if path.exists()]
    facts = {}
    for status in statuses:
        try:
            facts[int(status.parent.name)] = dict(
                line.split(":", 1) for line in status.read_text(encoding="utf-8").splitlines()
            )
        except OSError:  # it has ended
            continue
    family = {pid}
    while more := {child for child, fact in facts.items() if int(fact["PPid"]) in family} - family:
        family |= more
    return sum(
        1_024 * int(facts[member].get("VmRSS", "0 kB").split()[0]) for member in family if member in facts
    )


@contextmanager
def serving(engine: Engine, mounts: Mounts, log: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    with log.open("w", encoding="utf-8") as lines:
        arguments = ["funnelling", "serve", "/model", "--host", "0.0.0.0"]
        process, pid = engine.start(arguments, mounts, stderr=lines)
    try:
        yield process, pid
    finally:
        if process.poll() is None:
            os.kill(pid or process.pid, signal.SIGKILL)  # where the engine told none, its own process


def expect(holds: bool, promise: str, *found: object) -> None:
    if not holds:
        sys.exit(f"Not so: {promise} {' '.join(map(str, found))}")
    print(f"{promise}: yes", flush=True)


def try_image(engine: Engine) -> None:
    size = engine.size()
    expect(size < MOST_BYTES, f"{size / 10**6:.0f} MB, under {MOST_BYTES / 10**6:.0f}")
    settings = engine.settings()
    expect(settings["User"].split(":")[0] not in ("", "0", "root"), "not root unless you say so")
    expect(settings["Entrypoint"] == ["funnelling"], "runs funnelling")
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        data, cache = folder / "data", folder / "cache"
        for shared in (data, cache):
            shared.mkdir()
            os.chown(shared, USER, GROUP)
        mounts: Mounts = {data: "/data", cache: "/cache"}
        wrote = engine.run(["python3", "-c", "open('/written', 'w')"], mounts)
        expect("Read-only file system" in wrote.stderr, "the root is read-only", wrote.stderr)

        started = time.monotonic()
        made = engine.run(["funnelling", "quickstart", "-o", "/data/quickstart"], mounts)
        expect(made.returncode == 0, "trains into a mounted folder", made.stderr)
        print(f"seconds of quickstart: {time.monotonic() - started:.1f}")
        documents, model = "/data/quickstart/documents.jsonl", data / "quickstart" / "model"
        expect(model.stat().st_uid == USER, "the model is the user's who ran it")
        predict = ["funnelling", "predict", "/data/quickstart/model"]
        for table in ("/data/labelled.xlsx", "/data/labelled.parquet"):
            written = engine.run([*predict, documents, "-o", table], mounts)
            read = engine.run([*predict, table, "-o", f"{table}.csv"], mounts)
            expect(
                written.returncode == read.returncode == 0,
                f"writes {table}, and reads it",
                written.stderr,
                read.stderr,
            )

        log = folder / "log.txt"
        with serving(engine, {model: "/model:ro", cache: "/cache"}, log) as (process, pid):
            print(f"seconds to the first answer of /healthz: {wait_until_healthy(process, log):.1f}")
            status, answer = ask("/v1/predict", {"documents": [{"text": "Un lecteur de musique"}]})
            expect(
                (status, b'"fr"' in answer) == (200, True), "labels a text whose language it detects", answer
            )
            print(f"resident MB, of two processes: {memory(pid) / 10**6:.0f}")
            check = settings["Healthcheck"]["Test"][1:]
            if isinstance(engine, Folders):  # another sandbox with the same network; an engine asks by itself
                expect(engine.run(check, {}).returncode == 0, "the health check passes")
            os.kill(pid, signal.SIGHUP)
            until = time.monotonic() + START_SECONDS
            while "was loaded anew" not in log.read_text(encoding="utf-8") and time.monotonic() < until:
                time.sleep(0.1)
            expect("was loaded anew" in log.read_text(encoding="utf-8"), "SIGHUP loads the model anew")
            expect(ask("/healthz")[0] == 200, "and it answers on")
            os.kill(pid, signal.SIGTERM)
            started = time.monotonic()
            ended = process.wait(STOP_SECONDS)
            expect(ended == 0, f"SIGTERM ends it, within {time.monotonic() - started:.1f} s", ended)
        if isinstance(engine, Folders):
            expect(engine.run(check, {}).returncode != 0, "without a service the health check fails")


if __name__ == "__main__":
    chosen = engine()
    if sys.argv[1:] != ["--built"]:
        shutil.rmtree(ROOT / "build" / "image" / "root", ignore_errors=True)
        chosen.build()
    try_image(chosen)
