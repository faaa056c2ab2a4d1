"""MJCF, as text and in files, from strangers or not, through MuJoCo's compiler: a robot, or a `LoadError`."""

from __future__ import annotations

from jounce.loading import mjcf_compiler

from .urdf import works

mjcf_compiler.MAX_SECONDS = 2  # long runs are ended by this, not by the fuzzer
WORDS = (
    rb"""
0 | -1 | nan | inf | 1e308 | 1e-320 | 1 2 | 0 0 0 | 0 0 0 0 | 1000000 |  | true | auto | hinge | slide | ball | free |
sphere | capsule | box | mesh | world | %s | class='x' | <body> | </body> | <joint/> | <freejoint/> | <geom size='1'/> |
<site/> | <frame> | </frame> | <replicate count='3'> | </replicate> | <include file='x.xml'/> | <attach model='x'/> |
<composite/> | <compiler angle='radian'/> | <compiler eulerseq='xyz' balanceinertia='true'/> |
<default class='x'/> | <equality> | <joint joint1='a' joint2='b' polycoef='0 1 0 0 0'/> |
<inertial pos='0 0 0' mass='1' | diaginertia='1 1 1' |
fullinertia='1 1 1 0 0 0' | euler='0 0 1' | zaxis='0 0 1' | fromto='0 0 0 0 0 1' | stiffness='1 2' | springref='1' |
armature='1' | damping='1' | range='0 1' | limited='true' | <include file='../x.xml'/> | file='/dev/zero' |
meshdir='..' | <mesh name='m' file='../../a.stl'/> | <texture name='t' file='/etc/passwd'/> |
<geom type='mesh' mesh='m'/>
""".replace(b"\n", b" ")
    .strip()
    .split(b" | ")
)

SHORT = 200  # inputs of a short round


def seeds() -> list[bytes]:
    return []


def check(data: bytes) -> None:
    if b"mujoco" in data:  # otherwise MuJoCo is not involved
        works(data)
