"""`shared/files.py`: a file is written whole or not at all, wherever its name leads, and never in its input's place."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from locobench.shared.errors import InputError
from locobench.shared.files import check_output, whole_file, write_whole


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    with whole_file(tmp_path / "deep" / "file") as stream:
        stream.write(b"new")
        assert not (tmp_path / "deep" / "file").exists()
    assert (tmp_path / "deep" / "file").read_bytes() == b"new"
    assert names(tmp_path / "deep") == ["file"]


def test_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    with pytest.raises(ZeroDivisionError), whole_file(tmp_path / "file") as stream:
        stream.write(b"ne")
        raise ZeroDivisionError
    assert (tmp_path / "file").read_text() == "old"
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("there", [True, False])
def test_link_stays_and_what_it_leads_to_is_written(tmp_path: Path, there: bool) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to("far/file")
    if there:
        (tmp_path / "far" / "file").write_text("old")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "file").read_text() == "new"
    assert names(tmp_path / "far") == ["file"]


def test_device_is_written_into_and_stays(tmp_path: Path) -> None:
    device = tmp_path / "null"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        device.write_bytes(b"")
    except OSError:
        pytest.skip("devices can be neither made nor used here")
    write_whole(device, "gone")
    assert stat.S_ISCHR(device.stat().st_mode)
    assert names(tmp_path) == ["null"]


def test_pipe_is_written_into_and_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE) as reader:
        write_whole(tmp_path / "pipe", "through")
        assert reader.communicate(timeout=30)[0] == b"through"
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert names(tmp_path) == ["pipe"]


def test_new_file_has_the_permissions_that_the_umask_leaves(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from locobench.shared.files import write_whole\n"
        "write_whole(pathlib.Path(sys.argv[1]), '')"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "file"], umask=0o027, check=True)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_replaced_file_passes_on_its_permissions(tmp_path: Path) -> None:
    (tmp_path / "file").touch(mode=0o600)
    write_whole(tmp_path / "file", "new")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600


def test_name_as_long_as_the_file_system_allows_is_written(tmp_path: Path) -> None:
    path = tmp_path / ("ü" * 127)
    write_whole(path, "new")
    assert path.read_text() == "new"


def test_folder_in_the_files_place_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(InputError, match="file: cannot be written: Is a directory; fix that or name another path"):
        write_whole(tmp_path / "file", "new")
    assert names(tmp_path) == ["file"]


def test_output_that_is_an_input_by_another_name_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.touch()
    (tmp_path / "hard").hardlink_to(source)
    (tmp_path / "soft").symlink_to(source)
    (tmp_path / "new").symlink_to("not yet there")
    for output, other in (("source", "source"), ("hard", "source"), ("soft", "source"), ("new", "not yet there")):
        with pytest.raises(InputError, match="the same file as"):
            check_output(tmp_path / output, [tmp_path / other])


def test_output_beside_its_inputs_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "source").touch()
    check_output(tmp_path / "other", [tmp_path / "source", tmp_path / "none"])
    check_output(Path(os.devnull), [Path(os.devnull)])
