"""apt with lists of its own: what it is asked, what it brings, and that nothing is left of it."""

import os
import tempfile
from pathlib import Path

import pytest

from funnelling.errors import InputError
from funnelling.research.corpora import debian, libreoffice
from funnelling.research.corpora.apt import private_apt
from tests.research.corpora.fake_apt import install
from tests.research.corpora.makers import help_package, help_page, stanza, write_indices

pytestmark = pytest.mark.skipif(os.name != "posix", reason="apt is for Unix")


def use(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> Path:
    """Make the programs the machine's; gives the folder of temporary files."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(tempfile, "tempdir", None)
    return Path(environment["TMPDIR"])


@pytest.fixture
def served(tmp_path: Path) -> Path:
    folder = tmp_path / "served"
    folder.mkdir()
    return folder


def test_help_is_downloaded(tmp_path: Path, served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = use(monkeypatch, install(tmp_path, served))
    help_package(served, "en-us", {"open": help_page("Open", ("par_1", "Choose the file."))})
    help_package(served, "it", {"open": help_page("Apri", ("par_1", "Scegliete il file."))})
    help_package(served, "common", {"open": help_page("Common", ("par_1", "Pictures"))})
    corpus = libreoffice.build_libreoffice_help(["it"], min_words=3)
    assert [document.text for document in corpus.documents] == ["Apri\nScegliete il file."]
    assert "download libreoffice-help-en-us libreoffice-help-it\n" in (tmp_path / "log").read_text()
    assert not any(temporary.iterdir())
    with pytest.raises(InputError, match=r"^apt's sources: no package libreoffice-help-tlh\. .*: en, it\.$"):
        libreoffice.build_libreoffice_help(["tlh"])
    assert not any(temporary.iterdir())


def test_indices_are_fetched_in_the_languages_asked_for(
    tmp_path: Path, served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = use(monkeypatch, install(tmp_path, served))
    fields = {"Package": "chess", "Description_md5": "1"}
    write_indices(
        served,
        [stanza(**fields)],
        {
            "en": [stanza(**fields, Description_en="a game")],
            "it": [stanza(**fields, Description_it="un gioco")],
        },
    )
    (served / "deb.example.org_dists_stable_InRelease").write_text(
        " 0a1b 12 main/i18n/Translation-de\n 0a1b 12 main/i18n/Translation-de.bz2\n"
    )
    corpus = debian.build_debian_untagged(["it"], min_words=2)
    assert [document.text for document in corpus.documents] == ["un gioco"]
    assert 'Acquire::Languages { "en"; "it"; };' in (tmp_path / "log").read_text()
    with pytest.raises(InputError, match=r"^apt's sources: no index called Translation-sv\. .*: de\.$"):
        debian.build_debian_untagged(["sv"])
    assert not any(temporary.iterdir())


def test_everything_apt_writes_is_below_its_folder(
    tmp_path: Path, served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = use(monkeypatch, install(tmp_path, served))
    with private_apt():
        pass
    settings = (tmp_path / "log").read_text()
    for name in ("Dir::State", "Dir::State::lists", "Dir::State::status", "Dir::Cache"):
        assert f'\n{name} "{temporary}' in settings
    assert "#clear APT::Update::Post-Invoke-Success;" in settings
    assert 'Acquire::Languages { "none"; };' in settings


@pytest.mark.parametrize(
    ("update", "reason"),
    [
        (
            "print('Err:1 http://x InRelease\\n  Could not resolve x'); sys.exit(100)",
            "http://x InRelease Could not",
        ),
        (
            "print('E: The repository is not signed.', file=sys.stderr); sys.exit(100)",
            "E: The repository is not",
        ),
        ("print('odd'); sys.exit(1)", "(odd)"),
        ("sys.exit(1)", "(no reason was given)"),
        ("sys.stdout.buffer.write(b'E: \\xff\\n'); sys.exit(1)", "E: \ufffd"),
    ],
)
def test_a_failure_is_one_line(
    tmp_path: Path, served: Path, monkeypatch: pytest.MonkeyPatch, update: str, reason: str
) -> None:
    temporary = use(monkeypatch, install(tmp_path, served, update))
    with pytest.raises(InputError) as caught:
        libreoffice.build_libreoffice_help()
    message = str(caught.value)
    assert message.startswith("apt-get update failed (")
    assert reason in message
    assert message.endswith("or download elsewhere and give the folder as --source.")
    assert "\n" not in message
    assert not any(temporary.iterdir())


def test_without_apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"^apt-get was not found, .* give the folder as --source\.$"):
        libreoffice.build_libreoffice_help()


@pytest.mark.slow
def test_the_real_apt() -> None:
    """Where there is one, and a network."""
    try:
        corpus = debian.build_debian_untagged()
    except InputError as error:
        if not str(error).startswith("apt-get"):
            raise
        pytest.skip(str(error))
    groups = {document.group for document in corpus.documents}
    assert len(corpus.documents) == 5 * len(groups)
    assert len(groups) > 50
