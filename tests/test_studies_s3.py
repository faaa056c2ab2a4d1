"""Studies in an object store: a server of S3 on the loopback, and what is killed, refused or not there."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from clusters import wait
from jounce import study as st
from time_limits import HANG

if sys.version_info < (3, 11):
    pytest.skip("the packages of the extra 'study' need Python 3.11 or newer", allow_module_level=True)
pytest.importorskip("resource", reason="the study of these tests is one for Unix")

from test_studies_cluster import Slow, study

_MISSING = [each for each in ("s3fs", "moto", "flask", "flask_cors") if importlib.util.find_spec(each) is None]
pytestmark = [
    pytest.mark.night,
    pytest.mark.skipif(bool(_MISSING), reason=f"pip install s3fs 'moto[s3,server]' ({', '.join(_MISSING)} missing)"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]

_SERVER = """
import time
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(*server.get_host_and_port(), flush=True)
time.sleep(1e6)
"""
_BUCKET = "import s3fs; s3fs.S3FileSystem().mkdir('flights')"


@pytest.fixture(params=["open"])
def s3(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A bucket, whose address and keys are in the environment; or, if closed, a server that knows no such keys."""
    import s3fs

    closed = {"INITIAL_NO_AUTH_ACTION_COUNT": "0"} if request.param == "closed" else {}
    command = [sys.executable, "-c", _SERVER]
    server = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=os.environ | closed
    )
    try:
        assert server.stdout is not None
        host, port = server.stdout.readline().split()
        settings = {
            "AWS_ACCESS_KEY_ID": "mine",
            "AWS_SECRET_ACCESS_KEY": "mine too",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        }
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        s3fs.S3FileSystem.clear_instance_cache()  # they know the address of the last server
        if not closed:
            subprocess.run([sys.executable, "-c", _BUCKET], check=True, timeout=HANG)
        yield "s3://flights"
    finally:
        server.kill()
        server.wait()
        server.stdout.close()  # type: ignore[union-attr]


def test_a_run_that_is_killed_goes_on(s3: str, tmp_path: Path) -> None:
    """Killed twice: bit for bit the results of a run that stores them on a disk, and of one that stores none."""
    asked = study(tmp_path / "log", samples=200, seconds=0.05)
    slow: Slow = asked.scenario  # type: ignore[assignment]
    serial = replace(asked, scenario=Slow(tmp_path / "log", 0.05)).run(store=tmp_path / "disk.zarr", workers=2)
    Path(slow.log).unlink()
    code = f"""
import sys; sys.path[:0] = {sys.path!r}
from pathlib import Path
from test_studies_cluster import study
from jounce.study import store
store._REST = 0.0  # so that a run of five seconds writes more than once
if __name__ == "__main__":
    study(Path({str(tmp_path / "log")!r}), samples=200, seconds=0.05).run(store="{s3}/run/s.zarr", workers=2)
"""
    (tmp_path / "driver.py").write_text(code, encoding="utf-8")
    stored: set[int] = set()
    for least in (30, 100):
        with subprocess.Popen([sys.executable, str(tmp_path / "driver.py")], stderr=subprocess.DEVNULL) as driver:
            wait(lambda driver=driver, least=least: driver.poll() is not None or _stored(s3).size >= least)
            driver.kill()
        assert driver.returncode == -9
        done = _stored(s3)
        assert stored <= set(done.tolist())
        stored = set(done.tolist())
        half = st.read(f"{s3}/run/s.zarr").isel(member=done)
        assert half.load().equals(serial.isel(member=done).load())
    Path(slow.log).unlink()
    found = asked.run(store=f"{s3}/run/s.zarr", workers=1).load()
    assert found.identical(serial.load())
    assert found.identical(asked.run(workers=2))
    assert not stored & set(slow.computed()[: 200 - len(stored)])


def _stored(s3: str) -> np.ndarray:
    try:
        return np.flatnonzero(st.read(f"{s3}/run/s.zarr")["status"].values == 0)
    except (FileNotFoundError, st.StudyError):
        return np.empty(0)


def test_what_is_in_a_bucket_is_left_alone(s3: str, tmp_path: Path) -> None:
    import s3fs

    asked = study(tmp_path / "log", samples=8, seconds=0.0)
    asked.run(store=f"{s3}/s.zarr", workers=1)
    with pytest.raises(st.StudyError, match=r"s\.zarr belongs to another study, 'Study', which differs in"):
        replace(asked, seed=1).run(store=f"{s3}/s.zarr", workers=1)
    files = s3fs.S3FileSystem()
    files.pipe("s3://flights/mine/thesis.tex", b"years")
    for place in (s3, f"{s3}/mine"):
        with pytest.raises(st.StudyError, match=f"{place} holds something else than the results of a study"):
            asked.run(store=place, workers=1)
    assert files.cat("s3://flights/mine/thesis.tex") == b"years"


def test_places_that_are_not_there(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are named before a member is computed."""
    import s3fs

    from jounce.study.store import is_there

    def refused(place: str, words: str) -> None:
        with pytest.raises(st.StudyError, match=words):
            asked.run(store=place, workers=1)
        with pytest.raises(st.StudyError, match=words):
            is_there(place)  # as `jounce study` asks

    asked = study(tmp_path / "log", samples=8)
    with pytest.raises(st.StudyError, match=r"s3://missing/s\.zarr cannot be opened: .*bucket does not exist"):
        asked.run(store="s3://missing/s.zarr", workers=1)
    refused("nowhere://flights/s.zarr", r"nowhere://flights/s\.zarr cannot be opened: Protocol not known: nowhere")
    s3fs.S3FileSystem.clear_instance_cache()
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    refused(f"{s3}/t.zarr", r"s3://flights/t\.zarr cannot be opened: Unable to locate credentials")
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize("s3", ["closed"], indirect=True)
def test_keys_that_are_wrong(s3: str, tmp_path: Path) -> None:
    with pytest.raises(st.StudyError, match=r"s3://flights/s\.zarr cannot be opened: .*(Forbidden|denied)"):
        study(tmp_path / "log", samples=8).run(store=f"{s3}/s.zarr", workers=1)
    assert not (tmp_path / "log").exists()
