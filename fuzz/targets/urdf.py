"""URDF, as text and in files, from strangers or not: a robot whose numbers are finite, or a `LoadError`."""

from __future__ import annotations

import pickle
import tempfile
import warnings
import zlib
from pathlib import Path

import numpy as np

import jounce as jn

WORDS = (
    rb"""
0 | -1 | nan | -inf | 1e308 | 1e-320 | 0x10 | 1_0 | 1 2 | 0 0 0 | 1 2 3 |  | world | revolute | continuous | prismatic |
fixed | floating | planar | spherical | base | arm | hand | <link name='x'/> | <mimic joint='elbow'/> |
</joint> | <!-- | --> | <![CDATA[ | ]]> | &#0; |
&amp; | <!DOCTYPE robot [ | <?xml version='1.0' encoding='utf-16'?> | xmlns:x='y' |
<inertial> | <mass value='1'/> | <origin xyz='0 0 1' rpy='0 0 1'/> | <axis xyz='0 0 1'/> |
<limit | <dynamics damping='1' friction='1'/> | <parent link='base'/> | <child link='arm'/> | multiplier='-1' |
<visual> <geometry> <mesh filename='package://home/a.stl'/> </geometry> </visual> | ../a.stl | /dev/zero |
file:///etc/passwd |
model://tmp/a.obj | <texture filename='../../a.png'/>
""".replace(b"\n", b" ")
    .strip()
    .split(b" | ")
)

SHORT = 3000  # inputs of a short round
_FOLDER = tempfile.TemporaryDirectory()


def seeds() -> list[bytes]:
    return []


def check(data: bytes) -> None:
    works(data)


def expect_short(error: Exception) -> None:
    assert len(str(error)) < 2000, "a long message"


def works(data: bytes) -> None:
    """As text, and as a file in one of the two modes."""
    path = Path(_FOLDER.name, "robot.xml")
    path.write_bytes(data)
    untrusted = zlib.crc32(data) % 2 == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", jn.LoadWarning)
        for source, base in ((data, "fixed"), (path, "floating")):
            try:
                robot = jn.load(source, base, untrusted=untrusted)
            except jn.LoadError as error:
                expect_short(error)
                continue
            str(robot)
            pickle.dumps(robot)  # which reads what it looks like
            if robot.nv > 200:
                return
            zero = np.zeros(robot.nv)
            try:
                torque = robot.inverse_dynamics(robot.neutral(), zero, zero)
            except jn.RangeError:
                continue
            assert np.isfinite(torque).all(), torque
