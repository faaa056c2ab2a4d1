"""Files of `Trajectory.save`: a valid motion, or a `LoadError`."""

from __future__ import annotations

import io
import tempfile
import zipfile
from dataclasses import fields
from pathlib import Path

import numpy as np

import jounce as jn

from .urdf import expect_short

WORDS = [
    *(b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06", b"\x93NUMPY", b"\x01\x00", b"\x02\x00", b"\x03\x00"),
    *(b"'<f8'", b"'>f8'", b"'|O'", b"'<f4'", b"'<U3'", b"'|V8'", b"'<U0'", b"[('a', '<f8')]", b"True", b"False"),
    *(b"(2, 1)", b"(0,)", b"()", b"(-1,)", b"(4611686018427387904, 4)", b"(2,)", b"(1e9,)", b"{'descr'", b"}", b"\n"),
    *(
        b"\x00\x00\x00\x00\x00\x00\xf8\x7f",
        b"\x00\x00\x00\x00\x00\x00\xf0\x7f",
        b"\xff\xff\xff\xff",
        b"time.npy",
        b"q.npy",
    ),
]
SHORT = 600  # inputs of a short round
FOLDER = tempfile.TemporaryDirectory()  # until the process ends
PLACE = Path(FOLDER.name) / "motion.npz"


def motion(count: int) -> jn.Trajectory:
    numbers = np.linspace(0.5, 1.0, 3 * count).reshape(count, 3)
    return jn.Trajectory(
        np.arange(float(count)), numbers, *[numbers[:, :1]] * 3,
        q_names=("a.x", "b", "c"), v_names=("c",), q_units=("m", "rad", "1"), v_units=("rad/s",),
    )  # fmt: skip


def seeds() -> list[bytes]:
    """Two motions, and one whose arrays are in another order, with entries that are stored in unusual ways."""
    found = []
    for count in (0, 2):
        motion(count).save(PLACE)
        found.append(PLACE.read_bytes())
    for how in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", how) as archive:
            for field in reversed(fields(jn.Trajectory)):
                entry = io.BytesIO()
                np.lib.format.write_array(entry, np.asarray(getattr(motion(2), field.name), order="F"), (1, 0))
                archive.writestr(f"{field.name}.npy", entry.getvalue())
        found.append(packed.getvalue())
    return found


def check(data: bytes) -> None:
    for content in (data, with_right_sums(data)):
        PLACE.write_bytes(content)
        try:
            found = jn.Trajectory.load(PLACE)
        except jn.LoadError as error:
            expect_short(error)
            continue
        repr(found)
        found.save(PLACE)
        again = jn.Trajectory.load(PLACE)
        for field in fields(found):
            np.testing.assert_array_equal(getattr(found, field.name), getattr(again, field.name))


def with_right_sums(data: bytes) -> bytes:
    """The same archive with its checksums fixed, so that its contents are read."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w") as mended:
                for entry in entries[:20]:
                    if entry.compress_type == zipfile.ZIP_STORED and entry.file_size < 10**5:
                        with archive.open(entry) as stream:
                            stream._expected_crc = None  # what zipfile compares with
                            mended.writestr(entry.filename, stream.read())
            return packed.getvalue()
    except Exception:  # not an archive at all
        return data
