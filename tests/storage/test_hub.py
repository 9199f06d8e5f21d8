"""Models on the Hub: what comes from there, what goes there, what is refused; on a small Hub of our own."""

import errno
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling import Encoder, InputError, load_model
from funnelling.evaluation.registry import measure_languages
from funnelling.funnel.estimator import FunnelEstimator
from funnelling.research import PaperFunnelClassifier
from funnelling.runtime.messages import Style, speaking
from funnelling.storage import describe_model, folders, pull_model, push_model, save_model
from funnelling.storage.places import lasting, take_snapshot
from tests.artificial import text_corpus
from tests.funnels import any_funnel
from tests.storage.local_hub import READER, WRITER, WRONG, Files, LocalHub, used

TEXTS, LABELS, LANGUAGES = text_corpus()
ADDRESS = "hf://owner/name"


@pytest.fixture(scope="module")
def fitted() -> FunnelEstimator:
    return any_funnel(views=None, random_state=0).fit(TEXTS, LABELS, LANGUAGES)


@pytest.fixture(scope="module")
def compact() -> FunnelEstimator:
    return any_funnel(views=None, random_state=0, keep="nothing").fit(TEXTS, LABELS, LANGUAGES)


@pytest.fixture(scope="module")
def folder(fitted: FunnelEstimator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that keeps something of its documents, with a report."""
    path = tmp_path_factory.mktemp("models") / "model"
    truth = [[1, 0], [0, 1]]
    save_model(fitted, path, scores=measure_languages(truth, truth, ["en", "it"]))
    (path / "report.html").write_text("parts of texts", encoding="utf-8")
    return path


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    with used(tmp_path / "cache", monkeypatch) as hub:
        yield hub


def files_in(folder: Path) -> Files:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def arrays_of(files: Any) -> str:
    return next(name for name in files if name.startswith("arrays-"))


def probabilities(model: Any) -> Any:
    return model.predict_proba(TEXTS[:4], LANGUAGES[:4])


def refusal(address: str = ADDRESS) -> str:
    with pytest.raises(InputError) as refused:
        load_model(address)
    message = str(refused.value)
    assert "\n" not in message
    assert message.endswith(".")
    return message


class TestLoading:
    def test_a_model_is_the_one_in_the_folder(
        self, hub: LocalHub, folder: Path, fitted: FunnelEstimator
    ) -> None:
        hub.repository("owner/name", files_in(folder))
        for mapped in (False, True):
            np.testing.assert_array_equal(probabilities(load_model(ADDRESS, mapped)), probabilities(fitted))
        assert describe_model(ADDRESS) == describe_model(folder)
        loaded = PaperFunnelClassifier._of(take_snapshot(ADDRESS).load())
        np.testing.assert_array_equal(probabilities(loaded), probabilities(fitted))

    def test_only_the_files_of_the_model_are_downloaded(self, hub: LocalHub, folder: Path) -> None:
        more = {"evil.py": b"1 / 0", "model.pkl": b"x", "arrays-0123456789abcdef.safetensors": b"x"}
        hub.repository("owner/name", {**files_in(folder), **more})
        load_model(ADDRESS)
        asked = {path.rpartition("/")[2] for path in hub.asked("/resolve/")}
        assert asked == {"model.json", arrays_of(files_in(folder))}

    def test_a_token_goes_to_the_hub_and_to_no_other_host(self, hub: LocalHub, folder: Path) -> None:
        hub.repository("owner/name", files_in(folder), private=True)
        load_model(ADDRESS)
        assert {token for _, path, token in hub.requests if "resolve" in path} == {WRITER}
        assert set(hub.elsewhere) == {""}

    def test_all_files_are_asked_for_at_the_commit_of_the_first(self, hub: LocalHub, folder: Path) -> None:
        """Another model may be pushed between the first and the second."""
        repository = hub.repository("owner/name", files_in(folder))
        commit = repository.branches["main"]
        load_model(ADDRESS)
        assert any(f"/resolve/{commit}/arrays-" in path for path in hub.asked("/resolve/"))

    def test_a_revision_and_a_folder(self, hub: LocalHub, folder: Path, fitted: Any) -> None:
        files = {f"small/de/{name}": content for name, content in files_in(folder).items()}
        repository = hub.repository("owner/name", {"README.md": b"# Models"})
        commit = repository.add(files, "v1")
        for revision in ("v1", commit):
            model = load_model(f"{ADDRESS}/small/de@{revision}")
            np.testing.assert_array_equal(probabilities(model), probabilities(fitted))
        assert "no model of funnelling" in refusal(f"{ADDRESS}/small/de")

    def test_what_was_downloaded_needs_no_network(
        self, hub: LocalHub, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from huggingface_hub import constants

        repository = hub.repository("owner/name", files_in(folder))
        commit = repository.branches["main"]
        load_model(ADDRESS)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
        hub.requests.clear()
        load_model(ADDRESS)
        load_model(f"{ADDRESS}@{commit}")
        assert not hub.requests
        assert "HF_HUB_OFFLINE" in refusal("hf://owner/other")

    def test_a_newer_model_is_taken_and_equal_files_are_not_sent_again(
        self, hub: LocalHub, folder: Path, compact: Any, tmp_path: Path
    ) -> None:
        repository = hub.repository("owner/name", files_in(folder))
        load_model(ADDRESS)
        load_model(ADDRESS)
        assert len(hub.elsewhere) == 1
        save_model(compact, tmp_path / "compact")
        repository.add(files_in(tmp_path / "compact"))
        assert not hasattr(load_model(ADDRESS), "training_")

    def test_a_path_is_an_address_too(self, hub: LocalHub, folder: Path, compact: Any) -> None:
        hub.repository("owner/name", files_in(folder))
        load_model(Path(ADDRESS))
        with pytest.raises(InputError, match="funnelling push"):
            save_model(compact, Path(ADDRESS))

    @pytest.mark.parametrize("stderr", [None, io.StringIO()], ids=["none", "closed"])
    def test_a_program_without_a_console_loads_it(
        self, hub: LocalHub, folder: Path, monkeypatch: pytest.MonkeyPatch, stderr: Any
    ) -> None:
        hub.repository("owner/name", files_in(folder))
        if stderr is not None:
            stderr.close()
        monkeypatch.setattr(sys, "stderr", stderr)
        load_model(ADDRESS)

    @pytest.mark.parametrize(
        ("style", "shown"), [(Style(), True), (Style(quiet=True), False), (Style(as_json=True), False)]
    )
    def test_bars_are_shown_where_messages_are(
        self, hub: LocalHub, folder: Path, style: Style, shown: bool
    ) -> None:
        class Terminal(io.StringIO):
            def isatty(self) -> bool:
                return True

        from huggingface_hub import utils

        utils.enable_progress_bars()  # whatever other libraries did to them
        hub.repository("owner/name", files_in(folder))
        with redirect_stderr(Terminal()) as terminal, speaking(style):
            load_model(ADDRESS)
        assert ("model.json" in terminal.getvalue()) == shown


class TestRefusals:
    def test_what_is_not_there(self, hub: LocalHub, folder: Path) -> None:
        hub.repository("owner/name", files_in(folder))
        hub.repository("owner/other", {"config.json": b"{}"})
        assert "not found, or private" in refusal("hf://owner/nothing")
        assert "no such revision" in refusal(f"{ADDRESS}@nowhere")
        assert "no model of funnelling" in refusal("hf://owner/other")

    def test_what_one_may_not_read(
        self, hub: LocalHub, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hub.repository("owner/name", files_in(folder), private=True)
        hub.repository("owner/gated", files_in(folder), gated=True)
        monkeypatch.delenv("HF_TOKEN")
        assert "HF_TOKEN" in refusal()
        assert "Ask for access on its page" in refusal("hf://owner/gated")
        monkeypatch.setenv("HF_TOKEN", WRONG)
        assert "the token is not valid" in refusal()
        monkeypatch.setenv("HF_TOKEN", READER)
        load_model(ADDRESS)

    @pytest.mark.parametrize(
        "address",
        [
            "hf://",
            "hf://name",
            "hf://owner/../name",
            "hf://owner/name/../x",
            "hf://o w/name",
            "hf://a/b@../c",
            "hf://a/b@/tmp/x",
            "hf://a/b@c//d",
            "hf://a/b@c/",
            "hf://a/b@c..d",
            "hf://a/b//c",
            "hf://a/b..c",
        ],
    )
    def test_what_is_no_address(self, hub: LocalHub, address: str) -> None:
        assert "is no address on the Hub" in refusal(address)
        assert not hub.requests

    @pytest.mark.parametrize("status", [403, 429, 500, 503])
    def test_a_hub_that_does_not_answer(self, hub: LocalHub, status: int) -> None:
        hub.statuses["resolve"] = status
        assert refusal().startswith(f"{ADDRESS}: ")

    def test_a_host_that_is_no_hub(self, hub: LocalHub) -> None:
        hub.statuses["resolve"] = 404
        assert "nothing of this name is there" in refusal()

    @pytest.mark.parametrize("name", ["a/b.git", "a/b--c", "-a/b", f"a/{'b' * 100}"])
    def test_what_is_no_name_on_the_hub(self, hub: LocalHub, name: str) -> None:
        assert "is no name of a repository" in refusal(f"hf://{name}")
        assert not hub.requests

    @pytest.mark.usefixtures("hub")
    @pytest.mark.parametrize("endpoint", ["http://127.0.0.1:9", "http://hub.invalid", "nonsense"])
    def test_no_hub(self, monkeypatch: pytest.MonkeyPatch, compact: Any, endpoint: str) -> None:
        from huggingface_hub import constants

        template = endpoint + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "ENDPOINT", endpoint)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        assert "no connection to the Hub" in refusal()
        with pytest.raises(
            InputError, match=r"no connection to the Hub\. Check the network, or name a folder\."
        ):
            push_model(compact, "owner/name")

    def test_a_hub_that_takes_too_long(
        self, hub: LocalHub, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from huggingface_hub import constants, file_download

        hub.repository("owner/name", files_in(folder))
        monkeypatch.setattr(constants, "HF_HUB_ETAG_TIMEOUT", 0.1)
        monkeypatch.setattr(file_download, "_ETAG_RETRY_TIMEOUT", 0.1, raising=False)
        hub.seconds = 0.5
        assert "no connection to the Hub" in refusal()

    @pytest.mark.parametrize("command", [["predict", ADDRESS, "text"], ["pull", ADDRESS, "-o", "copy"]])
    def test_a_process_without_a_network_says_one_line(self, tmp_path: Path, command: list[str]) -> None:
        """The library tries again and says so, which is for people at a terminal."""
        told = {**os.environ, "HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path)}
        script = "import sys, time; time.sleep = lambda _: None; from funnelling.commands import main; "
        script += f"sys.exit(main({command}))"
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=tmp_path,
            env=told,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert "no connection to the Hub" in done.stderr

    @pytest.mark.usefixtures("hub")
    def test_a_disk_that_is_full(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import huggingface_hub

        def fail(*_: Any, **__: Any) -> None:
            raise OSError(errno.ENOSPC, "No space left on device", "/cache/blob")

        monkeypatch.setattr(huggingface_hub, "hf_hub_download", fail)
        assert refusal() == f"{ADDRESS}: /cache/blob: no space left on device. Check the disk, or HF_HOME."

    @pytest.mark.parametrize("file", ["model.json", "arrays"])
    def test_what_was_changed_on_its_way_is_refused_and_comes_whole_the_next_time(
        self, hub: LocalHub, folder: Path, file: str
    ) -> None:
        hub.repository("owner/name", files_in(folder))
        hub.changed = {name for name in files_in(folder) if name.startswith(file)}
        refusal()
        hub.changed = set()
        load_model(ADDRESS)

    def test_a_file_that_breaks_off_is_refused(self, hub: LocalHub, folder: Path) -> None:
        hub.repository("owner/name", files_in(folder))
        hub.cut = {arrays_of(files_in(folder))}
        assert refusal().startswith(f"{ADDRESS}: ")
        hub.cut = set()
        load_model(ADDRESS)

    @pytest.mark.parametrize("file", ["model.json", "arrays"])
    @pytest.mark.parametrize("cut", [False, True])
    def test_what_is_damaged_in_the_cache_comes_again(
        self, hub: LocalHub, folder: Path, tmp_path: Path, file: str, cut: bool
    ) -> None:
        hub.repository("owner/name", files_in(folder))
        load_model(ADDRESS)
        cached = next((tmp_path / "cache").rglob(f"{file}*")).resolve()
        content = cached.read_bytes()
        cached.write_bytes(content[:-20] if cut else content[:-3] + b"???")
        load_model(ADDRESS)
        assert cached.read_bytes() == content

    def test_what_is_damaged_on_the_hub_is_refused_by_its_address(self, hub: LocalHub, folder: Path) -> None:
        document = json.loads((folder / "model.json").read_bytes())
        files = {arrays_of(files_in(folder)): files_in(folder)[arrays_of(files_in(folder))]}
        for changes in ({"labels": ["other"]}, {"files": {"evil.py": "0" * 64}}, {"model": {"$": "Popen"}}):
            changed = folders.document_bytes(folder, {**document, **changes})
            hub.repository("owner/name", {**files, "model.json": changed})
            assert refusal().startswith(f"{ADDRESS}: the model is damaged: ")
        hub.repository("owner/name", {"model.json": b"{}"})
        assert refusal().startswith(f"{ADDRESS}: the model is damaged: model.json is cut off")

    def test_what_is_in_the_cache_stays_there_though_it_cannot_be_read(
        self, hub: LocalHub, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A newer version, which shares the cache, may read it."""
        hub.repository("owner/name", files_in(folder))
        load_model(ADDRESS)
        with monkeypatch.context() as older:
            older.setattr("funnelling.storage.folders.FORMAT", 0)
            assert "Upgrade funnelling" in refusal()
        sent = len(hub.asked("/resolve/"))
        load_model(ADDRESS)
        assert len(hub.asked("/resolve/")) == sent + 1  # whether there is a newer one

    @pytest.mark.parametrize(
        "files",
        [
            {"../../../evil.safetensors": "0" * 64},
            {"evil.py": "0" * 64},
            {"/etc/passwd": "0" * 64},
            ["arrays-0123456789abcdef.safetensors"],
            None,
        ],
    )
    def test_a_model_that_names_other_files_gets_none_of_them(
        self, hub: LocalHub, folder: Path, files: Any
    ) -> None:
        document = {**json.loads((folder / "model.json").read_bytes()), "files": files}
        document.pop("checksum")
        hub.repository("owner/name", {"model.json": folders.document_bytes(folder, document)})
        assert "the model is damaged" in refusal()
        assert {path.rpartition("/")[2] for path in hub.asked("/resolve/")} == {"model.json"}

    def test_a_model_is_not_written_there_but_by_a_push(self, fitted: Any) -> None:
        with pytest.raises(InputError, match="funnelling push"):
            save_model(fitted, ADDRESS)

    def test_without_the_library_a_line_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
        with pytest.raises(InputError, match=r"pip install 'funnelling\[hub\]'"):
            load_model(ADDRESS)


class TestPushing:
    def test_a_model_that_was_pushed_is_loaded_again(self, hub: LocalHub, fitted: Any, folder: Path) -> None:
        pushed = push_model(folder, "owner/name", keep="nothing", license="Apache-2.0", message="One\nTwo")
        files = hub.repositories["owner/name"].files()
        assert set(files) == {".gitattributes", "model.json", "README.md", arrays_of(pushed.files)}
        assert hub.repositories["owner/name"].messages[1:] == ["One\nTwo"]
        assert pushed.commit.startswith(f"{hub.address}/owner/name/commit/")
        assert set(hub.elsewhere) == {""}  # it was shown no token
        card = files["README.md"].decode()
        assert 'license: "apache-2.0"' in card
        assert f'load_model("{ADDRESS}")' in card
        np.testing.assert_array_equal(probabilities(load_model(ADDRESS)), probabilities(fitted))
        assert describe_model(ADDRESS)["scores"] == describe_model(folder)["scores"]

    def test_one_in_memory_is_pushed_too(self, hub: LocalHub, compact: Any) -> None:
        push_model(compact, "hf://owner/name/small@next")
        assert set(hub.repositories["owner/name"].files()) == {".gitattributes"}
        np.testing.assert_array_equal(
            probabilities(load_model(f"{ADDRESS}/small@next")), probabilities(compact)
        )

    def test_documents_are_not_sent_unless_one_says_so(
        self, hub: LocalHub, folder: Path, fitted: Any
    ) -> None:
        for model in (folder, fitted):
            with pytest.raises(
                InputError, match=r"the first 200 characters of each text.*--keep nothing.*--keep words"
            ):
                push_model(model, "owner/name")
        assert not hub.requests
        pushed = push_model(folder, "owner/name", keep="words")
        assert "report.html" in pushed.files
        assert hasattr(load_model(ADDRESS), "training_")

    def test_the_compact_copy_is_the_model_that_was_trained_compact(
        self, hub: LocalHub, fitted: Any, compact: Any, tmp_path: Path
    ) -> None:
        push_model(fitted, "owner/name", keep="nothing")
        save_model(compact, tmp_path / "compact")
        files, trained = hub.repositories["owner/name"].files(), files_in(tmp_path / "compact")
        for name in ("model.json", arrays_of(trained)):
            assert files[name] == trained[name]

    def test_what_the_old_model_had_goes_in_the_same_commit(self, hub: LocalHub, folder: Path) -> None:
        push_model(folder, "owner/name", keep="words")
        repository = hub.repositories["owner/name"]
        repository.add({**repository.files(), "notes.txt": b"mine", "other/report.html": b"another's"})
        before = len(repository.commits)
        pushed = push_model(folder, "owner/name", keep="nothing")
        assert len(repository.commits) == before + 1
        kept = {".gitattributes", "notes.txt", "other/report.html"}
        assert set(repository.files()) == {*kept, *pushed.files}
        assert "report.html" not in pushed.files

    def test_a_private_push_does_not_go_to_a_public_repository(self, hub: LocalHub, compact: Any) -> None:
        push_model(compact, "owner/private", private=True)
        assert hub.repositories["owner/private"].private
        push_model(compact, "owner/private", private=True)
        hub.repository("owner/name", {})
        with pytest.raises(InputError, match="everyone can read it"):
            push_model(compact, "owner/name", private=True)
        assert not hub.repositories["owner/name"].files()

    def test_a_push_that_comes_between_is_not_overwritten(self, hub: LocalHub, compact: Any) -> None:
        repository = hub.repository("owner/name", {})
        hub.between = lambda: repository.add({"model.json": b"theirs"})
        with pytest.raises(InputError, match="has changed meanwhile"):
            push_model(compact, "owner/name")
        assert repository.files() == {"model.json": b"theirs"}

    @pytest.mark.parametrize(("token", "says"), [(READER, "not allowed"), (WRONG, "token"), (None, "token")])
    def test_who_may_not_write_is_told(
        self, hub: LocalHub, compact: Any, monkeypatch: pytest.MonkeyPatch, token: str | None, says: str
    ) -> None:
        if token is None:
            monkeypatch.delenv("HF_TOKEN")
        else:
            monkeypatch.setenv("HF_TOKEN", token)
        for existing in (False, True):
            if existing:
                hub.repository("owner/name", {})
            with pytest.raises(InputError, match=says):
                push_model(compact, "owner/name")

    @pytest.mark.parametrize("part", ["preupload", "/commit/", "batch"])
    def test_a_push_that_fails_leaves_the_old_model(
        self, hub: LocalHub, folder: Path, compact: Any, part: str
    ) -> None:
        repository = hub.repository("owner/name", files_in(folder))
        hub.statuses[part] = 500
        with pytest.raises(InputError, match=r"hf://owner/name: the Hub did not do it: .*500"):
            push_model(compact, "owner/name")
        assert repository.files() == files_in(folder)

    @pytest.mark.parametrize(
        "files",
        [
            {"README.md": b"# By hand"},
            {"report.html": b"<html>"},
            {"model.json": b'{"format": "layers-model"}', "README.md": b"of another program"},
            {"model.json": b"[" * 10_000},
        ],
    )
    def test_what_is_not_of_a_model_is_replaced_only_by_force(
        self, hub: LocalHub, compact: Any, files: Files
    ) -> None:
        repository = hub.repository("owner/name", {**files, "notes.txt": b"mine"})
        for revision in ("", "@next"):
            with pytest.raises(InputError, match=f"not of a model: {' and '.join(sorted(files))}.*--force"):
                push_model(compact, f"owner/name{revision}")
        assert len(repository.commits) == 1
        pushed = push_model(compact, "owner/name", force=True)
        assert set(repository.files()) == {*pushed.files, "notes.txt"}

    def test_what_stands_beside_the_place_of_a_model_is_not_in_its_way(
        self, hub: LocalHub, compact: Any
    ) -> None:
        repository = hub.repository("owner/name", {"README.md": b"# By hand"})
        push_model(compact, "owner/name/small")
        assert repository.files()["README.md"] == b"# By hand"

    def test_a_report_that_is_a_link_is_not_followed(
        self, hub: LocalHub, folder: Path, tmp_path: Path
    ) -> None:
        shutil.copytree(folder, tmp_path / "model")
        (tmp_path / "secret").write_text("secret", encoding="utf-8")
        report = tmp_path / "model" / "report.html"
        report.unlink()
        try:
            report.symlink_to(tmp_path / "secret")
        except OSError:
            pytest.skip("this system makes no links")
        with pytest.raises(InputError, match=r"report\.html: is no regular file"):
            push_model(tmp_path / "model", "owner/name", keep="words")
        assert not hub.requests

    def test_what_is_no_model_is_not_sent(self, hub: LocalHub, folder: Path, tmp_path: Path) -> None:
        shutil.copytree(folder, tmp_path / "model")
        (tmp_path / "model" / arrays_of(files_in(folder))).write_bytes(b"damaged")
        for path in (tmp_path / "model", tmp_path, tmp_path / "nothing"):
            with pytest.raises(InputError, match=str(path)):
                push_model(path, "owner/name", keep="nothing")
        assert not hub.requests

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            ({"license": "a licence: [of my own"}, "is no licence"),
            ({"address": "owner/name@b ad"}, "is no address"),
            ({"keep": "words"}, "it stores nothing. Choose --keep nothing"),
        ],
    )
    def test_what_makes_no_sense(
        self, hub: LocalHub, compact: Any, arguments: dict[str, Any], says: str
    ) -> None:
        with pytest.raises(InputError, match=says):
            push_model(**{"model": compact, "address": "owner/name", **arguments})
        assert not hub.requests


class TestPulling:
    def test_a_copy_can_be_changed_and_has_no_page_of_another_author(
        self, hub: LocalHub, folder: Path, tmp_path: Path
    ) -> None:
        pages = {"README.md": b"<script>", "report.html": b"<script>"}
        hub.repository("owner/name", {**files_in(folder), **pages})
        pull_model("owner/name", tmp_path / "copy")
        assert files_in(tmp_path / "copy").keys() == files_in(folder).keys() - {"report.html"}
        for name in ("model.json", "README.md"):
            assert files_in(tmp_path / "copy")[name] == files_in(folder)[name]
        assert not any(path.is_symlink() for path in (tmp_path / "copy").iterdir())
        load_model(tmp_path / "copy").update(["a further cat"], [["cats"]], ["en"])

    def test_nothing_is_replaced_unasked_nor_by_what_is_damaged(
        self, hub: LocalHub, folder: Path, compact: Any, tmp_path: Path
    ) -> None:
        save_model(compact, tmp_path / "model")
        before = files_in(tmp_path / "model")
        files = files_in(folder)
        hub.repository("owner/name", files)
        with pytest.raises(InputError, match="--force"):
            pull_model(ADDRESS, tmp_path / "model")
        assert not hub.requests
        hub.changed = {arrays_of(files)}
        with pytest.raises(InputError, match="is not the file that was saved"):
            pull_model(ADDRESS, tmp_path / "model", force=True)
        assert files_in(tmp_path / "model") == before
        hub.changed = set()
        pull_model(ADDRESS, tmp_path / "model", force=True)
        assert files_in(tmp_path / "model")["model.json"] == files["model.json"]


class CountOfLetters:
    """What stands in for an encoder, which takes long to load: how often each letter is in a text."""

    def encode(self, texts: list[str], **_: Any) -> Any:
        counts = np.array([[text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts])
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


class TestEncoders:
    """Where an encoder is on one machine is nothing to another."""

    @pytest.fixture(scope="class")
    def encoder(self, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
        folder = tmp_path_factory.mktemp("encoders") / "encoder"
        folder.mkdir()
        (folder / "config.json").write_text("{}", encoding="utf-8")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("funnelling.spaces.outside._load", lambda _: CountOfLetters())
            yield folder

    @pytest.fixture(scope="class")
    def model(self, encoder: Path) -> FunnelEstimator:
        model = any_funnel(views=["encoder"], encoder=encoder, random_state=0, keep="nothing")
        return model.fit(TEXTS, LABELS, LANGUAGES)

    def test_no_folder_of_this_machine_is_pushed(
        self, hub: LocalHub, model: Any, encoder: Path, tmp_path: Path
    ) -> None:
        save_model(model, tmp_path / "model")
        for pushed in (model, tmp_path / "model"):
            push_model(pushed, "owner/name")
            files = hub.repositories["owner/name"].files()
            assert not any(str(encoder.parent).encode() in content for content in files.values())

    def test_a_folder_that_the_author_names_is_not_opened(
        self, hub: LocalHub, model: Any, encoder: Path, tmp_path: Path
    ) -> None:
        save_model(model, tmp_path / "model")
        assert str(encoder).encode() in (tmp_path / "model" / "model.json").read_bytes()
        hub.repository("owner/name", files_in(tmp_path / "model"))
        pull_model(ADDRESS, tmp_path / "copy")
        commit = hub.repositories["owner/name"].branches["main"]
        assert lasting(ADDRESS) == f"{ADDRESS}@{commit}"  # what processes load, for a folder of parts
        for place in (ADDRESS, lasting(ADDRESS), tmp_path / "copy"):
            loaded = take_snapshot(place).load() if place == ADDRESS else load_model(place)
            with pytest.raises(InputError, match="funnelling pull --encoder DIR"):
                loaded.predict(TEXTS, LANGUAGES)

    @pytest.mark.usefixtures("hub")
    def test_whoever_has_the_encoder_says_where(self, model: Any, encoder: Path, tmp_path: Path) -> None:
        push_model(model, "owner/name")
        pull_model(ADDRESS, tmp_path / "copy", encoder=encoder)
        for loaded in (
            load_model(tmp_path / "copy"),
            load_model(ADDRESS).set_params(views=[Encoder(encoder)]),
        ):
            np.testing.assert_array_equal(probabilities(loaded), probabilities(model))

    @pytest.mark.usefixtures("hub")
    def test_another_encoder_is_refused(
        self, model: Any, compact: Any, encoder: Path, tmp_path: Path
    ) -> None:
        push_model(model, "owner/name")
        push_model(compact, "owner/other")
        shutil.copytree(encoder, tmp_path / "encoder")
        (tmp_path / "encoder" / "config.json").write_text("[]", encoding="utf-8")
        for address, says in (("owner/name", "not the encoder"), ("owner/other", "Leave --encoder out")):
            with pytest.raises(InputError, match=says):
                pull_model(address, tmp_path / "copy", encoder=tmp_path / "encoder")
        assert not (tmp_path / "copy").exists()
