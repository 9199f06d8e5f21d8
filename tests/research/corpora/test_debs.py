"""Packages of Debian: every compression, whole and broken ones, and those that mean harm."""

import io
import lzma
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from funnelling.errors import InputError
from funnelling.research.corpora import apt
from funnelling.research.corpora.apt import files_in
from tests.research.corpora.makers import ar, deb, tar

FILES = {"./usr/share/a.html": b"ciao", "./usr/share/b.txt": b"no", "./usr/share/c.html": b"x" * 30_000}


def package(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "x.deb"
    path.write_bytes(content)
    return path


def read(path: Path) -> dict[str, bytes]:
    return dict(files_in(path, lambda name: name.endswith(".html")))


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message


@pytest.mark.parametrize("extension", [".xz", ".gz", ".bz2", ""])
def test_only_the_files_asked_for_are_given(tmp_path: Path, extension: str) -> None:
    found = read(package(tmp_path, deb(tar(FILES), extension)))
    assert found == {"./usr/share/a.html": b"ciao", "./usr/share/c.html": b"x" * 30_000}


@pytest.mark.skipif(not (shutil.which("dpkg-deb") and shutil.which("zstd")), reason="no dpkg-deb or zstd")
def test_zstd_by_dpkg(tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    (folder / "DEBIAN").mkdir(parents=True)
    (folder / "DEBIAN" / "control").write_text(
        "Package: x\nVersion: 1\nArchitecture: all\nMaintainer: m <m@example.org>\nDescription: d\n"
    )
    (folder / "a.html").write_text("ciao")
    path = tmp_path / "x.deb"
    subprocess.run(["dpkg-deb", "-Zzstd", "-b", folder, path], check=True, capture_output=True)
    assert read(path) == {"./a.html": b"ciao"}


def test_zstd_without_dpkg_names_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = package(
        tmp_path, ar({"debian-binary": b"2.0\n", "data.tar.zst": b"\x28\xb5\x2f\xfd" + b"\0" * 40})
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refusal(path).endswith("compressed with zstd, which takes dpkg-deb to read. Install dpkg.")


def test_names_that_climb_out_and_links_write_nothing(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    files = {"../../evil.html": b"evil", "/tmp/evil.html": b"evil"}
    links = {"./link.html": "/etc/passwd"}
    found = read(package(work, deb(tar(files, links))))
    assert found == files  # names, and nothing else
    assert os.listdir(tmp_path) == ["work"]
    assert os.listdir(work) == ["x.deb"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04 this is a zip",
        b"!<arch>\n",
        b"!<arch>\nshort",
        b"!<arch>\n" + b"x" * 60,
        ar({"debian-binary": b"2.0\n"}),
        ar({"data.tar.xz": b"not compressed at all"}),
        ar({"data.tar.xz": b""}),
        deb(tar(FILES))[:400],
        deb(tar(FILES), "")[:-12_000],
        deb(tar(FILES), ".gz")[:-40],
        deb(tar(FILES), ".bz2")[:-40],
        deb(b"\xff" * 2_000),
        ar({"data.tar": b""}).replace(b"0         `", b"-5        `"),
        ar({"data.tar": b""}).replace(b"0         `", b"many      `"),
    ],
)
def test_a_broken_package_is_one_line(tmp_path: Path, content: bytes) -> None:
    message = refusal(package(tmp_path, content))
    assert "not a Debian package, or a damaged one (" in message
    assert message.endswith("Download it again.")


def test_a_flipped_bit_is_noticed(tmp_path: Path) -> None:
    content = bytearray(deb(tar(FILES)))
    content[-60] ^= 0xFF
    assert "damaged" in refusal(package(tmp_path, bytes(content)))


def test_a_file_that_says_it_is_huge_is_not_read(tmp_path: Path) -> None:
    member = tarfile.TarInfo("./a.html")
    member.size = 7 * 2**30
    path = package(tmp_path, deb(member.tobuf() + b"x" * 1024))
    assert "a file of 7,516,192,768 bytes is in it" in refusal(path)


def test_a_bomb_is_put_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apt, "MAX_PACKAGE_BYTES", 2**20)
    member = tarfile.TarInfo("./zeros")
    member.size = 2**22
    stream = io.BytesIO()
    with lzma.LZMAFile(stream, "w") as compressed:
        compressed.write(member.tobuf())
        compressed.write(bytes(member.size))
    assert len(stream.getvalue()) < 5_000
    path = package(tmp_path, ar({"data.tar.xz": stream.getvalue()}))
    assert "it unpacks to more than 1,048,576 bytes" in refusal(path)


def test_a_long_name_may_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apt, "MAX_PACKAGE_BYTES", 2**20)
    member = tarfile.TarInfo("././@LongLink")
    member.type, member.size = tarfile.GNUTYPE_LONGNAME, 2**33
    path = package(tmp_path, deb(member.tobuf(tarfile.GNU_FORMAT) + bytes(2**21)))
    assert "it unpacks to more than" in refusal(path)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    assert refusal(tmp_path / "nowhere.deb").endswith("no such file. Check the path.")
    assert "damaged" in refusal(tmp_path)
