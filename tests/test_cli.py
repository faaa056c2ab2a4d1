"""The command line: its commands, its errors, and commands that other packages add, or would add if installed."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest

from time_limits import HANG

COMMAND = [sys.executable, "-c", "from jounce.cli import main; main()"]


def run(*arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    places = [*([str(path)] if path else []), *sys.path]
    environment = {**os.environ, "COLUMNS": "100", "PYTHONPATH": os.pathsep.join(places)}
    command = [*COMMAND, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=HANG, check=False)


def called(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The same in this process, which is faster."""
    from jounce.cli import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
        patch.setattr(sys, "argv", ["jounce", *arguments])
        patch.setenv("COLUMNS", "100")
        warnings.simplefilter("ignore", DeprecationWarning)  # between versions of typer and click
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
            if isinstance(end.code, str):
                print(end.code, file=err)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def test_a_package_adds_a_command(tmp_path: Path) -> None:
    (tmp_path / "greeting.py").write_text(
        "def add(app):\n    @app.command()\n    def greet():\n        print('good day')\n"
    )
    about = tmp_path / "greeting-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[jounce.commands]\ngreeting = greeting:add\n")
    assert run("greet", path=tmp_path).stdout == "good day\n"
    assert "greet" in run("--help", path=tmp_path).stdout


@pytest.mark.parametrize("name", ["bench", "reproduce"])
def test_commands_of_a_package_that_is_not_installed(name: str) -> None:
    if entry_points(group="jounce.commands"):
        pytest.skip("jounce-lab is installed")
    said = f"jounce: {name!r} is a command of jounce-lab: pip install ./lab, in a clone of the repository\n"
    for options in (["all", "--quick"], ["--help"]):
        done = run(name, *options)
        assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


def test_the_lab_has_them() -> None:
    environment = {**os.environ, "COLUMNS": "100", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "jounce_lab", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=HANG, check=True)
    assert "bench" in done.stdout
    assert "reproduce" in done.stdout


# --- errors ---------------------------------------------------------------------------------------------

SWING = """<robot name="swing"> <link name="frame"/> <link name="seat"> <inertial>
  <origin xyz="0 0 -2"/> <mass value="30"/> <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/> </inertial>
  </link> <joint name="chain" type="continuous"> <axis xyz="0 1 0"/> <parent link="frame"/>
  <child link="seat"/> </joint> </robot>"""
RUBBING = SWING.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/> <dynamics friction="12.1"/>')
BALL = """<mujoco model="ball"> <option gravity="0 0 -10"/> <worldbody> <body name="ball"> <freejoint name="ball"/>
  <inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/> </body> </worldbody> </mujoco>"""


@pytest.fixture
def swing(tmp_path: Path) -> Path:
    path = tmp_path / "swing.urdf"
    path.write_text(SWING)
    return path


def test_the_version() -> None:
    import jounce

    said = run("--version").stdout
    assert said.startswith(f"jounce {jounce.__version__}: ")
    assert said == f"{jounce.build_info()}\n"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["simulate", "nowhere.urdf"], 1, "nowhere.urdf: does not exist"),
        (["convert", "nowhere.urdf", "out.xml"], 1, "nowhere.urdf: does not exist"),
        (["simulate"], 2, "Missing argument 'FILE'"),
        (["simulte"], 2, "No such command 'simulte'"),
        (["simulate", "SWING", "--tim", "1"], 2, "No such option"),
        (["simulate", "SWING", "--time", "abc"], 2, "Invalid value for '--time': 'abc', expected a number"),
        (["simulate", "SWING", "--time", "-1"], 2, "--time is -1, expected a positive number of seconds"),
        (["simulate", "SWING", "--time", "nan"], 2, "--time is nan, expected a positive number of seconds"),
        (["simulate", "SWING", "--rate", "0"], 2, "--rate is 0, expected a positive number of states per second"),
        (
            ["simulate", "SWING", "--method", "euler"],
            2,
            "--method is 'euler', expected 'taylor' or 'rkmk' or 'implicit'",
        ),
        (["simulate", "SWING", "--hold", "0"], 2, "--hold is 0, expected a positive frequency, Hz"),
        (
            ["simulate", "SWING", "--v", "chain=1e308"],
            1,
            "simulation stopped at t = 0 s: the acceleration is not finite",
        ),
        (["simulate", "SWING", "--hold", "1e300"], 2, "--hold is 1e+300, expected a positive frequency, Hz, up to 1e6"),
        (["simulate", "SWING", "--hold", "1", "--method", "taylor"], 2, "with --hold, expected 'rkmk' or 'implicit'"),
        (["simulate", "SWING", "--q", "chian=1"], 2, "--q: no coordinate is named 'chian': did you mean 'chain'?"),
        (["simulate", "SWING", "--v", "chain"], 2, "--v is 'chain', expected a coordinate and a number"),
        (["simulate", "SWING", "--q", "chain=inf"], 2, "--q is 'chain=inf', expected a coordinate and a number"),
        (["simulate", "SWING", "--gravity", "1,2"], 2, "'--gravity': '1,2', expected three numbers, such as 0,0,-9.81"),
        (["simulate", "SWING", "--base", "flying"], 2, "--base is 'flying', expected 'fixed' or 'floating'"),
        (["simulate", "SWING", "--save", "a.txt"], 2, "--save is 'a.txt', expected a name that ends in .npz or .csv"),
        (["simulate", "SWING", "--plot", "no/a.png"], 2, "--plot is 'no/a.png', but there is no folder 'no'"),
        (["simulate", "SWING", "--start", "no.npz"], 1, "no.npz: does not exist"),
        (["simulate", "no.urdf"], 1, "jounce: no.urdf: does not exist"),
        (["simulate", "SWING", "--rtol", "2"], 2, "--rtol and --atol are 2.0 and 1e-10, expected 0 <= rtol < 1"),
        (["convert", "SWING", "out.txt"], 2, "OUT is 'out.txt', expected a name that ends in .urdf, or in .xml or"),
        (["convert", "SWING", "SWING"], 2, "the file to be converted itself"),
        (["convert", "SWING", "out.xml", "--skip", "spings"], 2, "did you mean 'springs'"),
        (["convert", "SWING", "no/out.xml"], 1, "cannot be written: No such file or directory"),
        (["convert", "SWING", "out.xml", "--skip", "spings"], 2, "--skip is ['spings']"),
        (["convert", "SWING", "out.xml", "--base", "flot"], 2, "--base is 'flot', expected 'fixed' or 'floating'"),
        (["info", "SWING", "--allow", "no"], 2, "--allow is 'no', expected a folder that exists"),
        (["info", "SWING", "--friction", "-1"], 2, "Invalid value for '--friction': '-1', expected a speed at which"),
        (["info", "SWING", "--friction", "some"], 2, "such as 0.01 rad/s and m/s, or 'off'"),
        (["info"], 2, "Missing argument 'FILE'"),
        (["view"], 2, "Missing argument 'FILE'"),
        (["simulate", "SWING", "--time-limit", "0"], 2, "--time-limit is 0.0, expected a positive number of seconds"),
        (["view", "SWING", "--port", "x"], 2, "Invalid value for '--port': 'x', expected a whole number"),
    ],
)
def test_errors_are_one_line(
    arguments: list[str], code: int, said: str, swing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(swing.parent)
    done = called(*(str(swing) if word == "SWING" else word for word in arguments))
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("jounce: ")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("module", ["jounce", "jounce.cli"])
def test_as_a_module(module: str, swing: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", module, "info"]
    done = subprocess.run(
        [*command, str(swing)], capture_output=True, text=True, env=environment, timeout=HANG, check=True
    )
    assert done.stdout.startswith("swing, URDF, ")
    done = subprocess.run(
        [*command, "no.urdf"], capture_output=True, text=True, env=environment, timeout=HANG, check=False
    )
    assert (done.returncode, done.stderr) == (1, "jounce: no.urdf: does not exist\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", [["info", "SWING"], ["simulate", "SWING", "--time", "0.1"], ["--help"]])
def test_a_full_disk_is_one_line(command: list[str], swing: Path) -> None:
    words = [str(swing) if word == "SWING" else word for word in command]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            timeout=HANG,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, "jounce: standard output: No space left on device\n")


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes of Unix")
@pytest.mark.parametrize("command", [["info", "SWING"], ["simulate", "SWING", "--time", "0.1"], ["--help"]])
def test_a_closed_pipe_ends_quietly(command: list[str], swing: Path) -> None:
    words = [str(swing) if word == "SWING" else word for word in command]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [*COMMAND, *words],
            stdout=writer, stderr=subprocess.PIPE, text=True, env=environment, timeout=HANG, check=False,
        )  # fmt: skip
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("command", [[], ["info"], ["view"], ["simulate"], ["convert"], ["demo"]])
def test_help_names_no_types_of_python(command: list[str]) -> None:
    done = called(*command, "--help")
    assert done.returncode == 0
    assert "--help" in done.stdout
    for word in ("bool", "list[", "<str>", "BOOLEAN"):
        assert word not in done.stdout
    assert not re.search(r"\bfile\b +<", done.stdout)  # arguments are upper case, as in the usage of other tools


def test_nothing_but_the_name_shows_the_help() -> None:
    done = called()
    assert "simulate" in done.stdout + done.stderr
    assert done.returncode in (0, 2)


CTRL_C = """
import os, signal
from jounce.cli import main
from jounce.simulation.run import Run
tried = Run.tried
def interrupted(run, *arguments):
    if run.steps == 1000:
        os.kill(os.getpid(), signal.SIGINT)
    tried(run, *arguments)
Run.tried = interrupted
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell ignores it
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs Ctrl-C")
def test_ctrl_c_ends_quietly(swing: Path) -> None:
    """In the midst of a long simulation."""
    command = [sys.executable, "-c", CTRL_C, "simulate", str(swing), "--time", "1e6", "--rate", "1", "--q", "chain=1"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=HANG, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr.strip()) == (130, "", "")


# --- completion -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "offered"),
    [("jounce sim", "simulate"), ("jounce convert --ba", "--base"), ("jounce simulate a.urdf --method im", "implicit")],
)
def test_completion(words: str, offered: str) -> None:
    places = os.pathsep.join(sys.path)
    environment = {**os.environ, "PYTHONPATH": places, "_JOUNCE_COMPLETE": "complete_bash", "COMP_WORDS": words}
    environment["COMP_CWORD"] = str(len(words.split()) - 1)
    done = subprocess.run(COMMAND, capture_output=True, text=True, env=environment, timeout=HANG, check=False)
    assert offered in done.stdout.split()


def test_the_start_imports_little() -> None:
    """No command's libraries, so that completion is fast."""
    code = "import sys; sys.argv = ['jounce', '--version']; from jounce.cli import main\n"
    code += "try: main()\nexcept SystemExit: pass\n"
    code += "print([m for m in ('matplotlib', 'mujoco', 'scipy', 'viser', 'rich.progress') if m in sys.modules])"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


# --- simulate -------------------------------------------------------------------------------------------


def test_simulate_saves_what_the_library_computes(swing: Path, tmp_path: Path) -> None:
    import jounce as jn

    done = run(
        *("simulate", str(swing), "--time", "2", "--rate", "50", "--q", "chain=0.3", "--v", "chain=-0.1"),
        *("--save", str(tmp_path / "motion.npz"), "--plot", str(tmp_path / "motion.png")),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].startswith("swing: 2 s of motion, 101 states, method taylor, in ")
    assert "\nchain " in done.stdout
    motion = jn.Trajectory.load(tmp_path / "motion.npz")
    expected = jn.simulate(jn.load(swing), [0.3], [-0.1], np.linspace(0, 2, 101))
    assert np.allclose(motion.q, expected.q, rtol=0, atol=1e-12)
    assert np.allclose(motion.time, expected.time, rtol=0, atol=1e-15)
    assert (tmp_path / "motion.png").stat().st_size > 10_000


def test_simulate_goes_on_from_a_file(swing: Path, tmp_path: Path) -> None:
    import jounce as jn

    (tmp_path / "start.json").write_text('{"q": {"chain": 0.3}}')
    files = [tmp_path / name for name in ("one.npz", "two.npz", "both.npz")]
    called("simulate", str(swing), "--time", "1", "--start", str(tmp_path / "start.json"), "--save", str(files[0]))
    called("simulate", str(swing), "--time", "1", "--start", str(files[0]), "--save", str(files[1]))
    called("simulate", str(swing), "--time", "2", "--q", "chain=0.3", "--save", str(files[2]))
    _, two, both = (jn.Trajectory.load(file) for file in files)
    assert np.allclose(two.q[-1], both.q[-1], rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is not JSON: Expecting property name"),
        ("[1]", "holds [1], expected "),
        ('{"q": {"chain": "a"}}', "holds {'chain': 'a'}, expected "),
        ('{"q": {"chan": 1}}', "q: no coordinate is named 'chan': did you mean 'chain'?"),
    ],
)
def test_a_start_that_is_none(content: str, said: str, swing: Path, tmp_path: Path) -> None:
    (tmp_path / "start.json").write_text(content)
    done = called("simulate", str(swing), "--start", str(tmp_path / "start.json"))
    assert done.returncode == 1
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_motion_of_another_robot(swing: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.urdf"
    other.write_text(SWING.replace('"chain"', '"rope"'))
    called("simulate", str(other), "--time", "1", "--save", str(tmp_path / "other.csv"))
    done = called("simulate", str(swing), "--start", str(tmp_path / "other.csv"))
    assert "is a motion of another robot: chain, rope differ" in done.stderr


def test_simulate_under_another_gravity_and_held(swing: Path, tmp_path: Path) -> None:
    import jounce as jn

    motions = []
    for options in (["--gravity", "0,0,-1.62"], ["--hold", "2"], ["--hold", "2", "--method", "rkmk"]):
        file = tmp_path / "motion.npz"
        done = called("simulate", str(swing), "--time", "1", "--q", "chain=0.5", "--v", "chain=1", *options,
                   "--save", str(file))  # fmt: skip
        assert done.returncode == 0, done.stderr
        motions.append(jn.Trajectory.load(file))
    moon = jn.simulate(jn.load(swing, gravity=(0, 0, -1.62)), [0.5], [1.0], [0.0, 1.0])
    assert np.allclose(motions[0].q[-1], moon.q[-1], rtol=0, atol=1e-8)
    w, t = 4 * np.pi, motions[1].time
    for held in motions[1:]:  # critically damped: x = v t exp(-w t)
        assert np.allclose(held.q[:, 0] - 0.5, t * np.exp(-w * t), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("option", "missing", "extra"), [("--view=m.html", "viser", "view"), ("--plot=m.png", "matplotlib", "demo")]
)
def test_what_is_missing_is_said_before_the_run(option: str, missing: str, extra: str, swing: Path) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; from jounce.cli import main; main()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code, "simulate", str(swing), option, "--time", "1e6", "--rate", "1"],
        capture_output=True, text=True, env=environment, timeout=HANG, check=False, cwd=swing.parent,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert f"the package {missing}: pip install 'jounce[{extra}]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_quaternion_of_no_length() -> None:
    from jounce import robots
    from jounce.commands.start import start_of

    with pytest.raises(ValueError, match=r"^the quaternion of 'base' has length 0, expected 1$"):
        start_of(robots.quadrotor_arm(), None, ["base.qw=0"], [])


def test_simulate_with_friction(tmp_path: Path) -> None:
    import jounce as jn

    (tmp_path / "swing.urdf").write_text(RUBBING)
    files = tmp_path / "with.npz", tmp_path / "without.npz"
    options = ["--time", "2", "--v", "chain=1", "--gravity", "0,0,0"]
    done = called("simulate", str(tmp_path / "swing.urdf"), *options, "--friction", "0.01", "--save", str(files[0]))
    assert (done.returncode, done.stderr) == (0, "")
    assert "method implicit" in done.stdout
    done = called("simulate", str(tmp_path / "swing.urdf"), *options, "--friction", "off", "--save", str(files[1]))
    assert (done.returncode, done.stderr) == (0, "")
    slowed, free = (jn.Trajectory.load(file) for file in files)
    assert free.v[-1, 0] == pytest.approx(1, abs=1e-9)
    # I v' = -f tanh(v / s), so sinh(v / s) falls by exp(-f t / (I s)); I = 1 + 30 * 2^2 kg m^2
    decay = 12.1 * slowed.time / (121 * 0.01)
    exact = 0.01 * np.arcsinh(np.exp(np.log(np.sinh(100.0)) - decay))
    assert np.allclose(slowed.v[:, 0], exact, rtol=0, atol=1e-6)
    assert exact[-1] == pytest.approx(0.8, abs=1e-6)


LINKAGE = """<mujoco> <default> <geom type="capsule" size=".01" contype="0" conaffinity="0"/> </default> <worldbody>
<body name="crank"> <joint name="motor" axis="0 -1 0"/> <geom fromto="0 0 0 .1 0 0"/>
  <body pos=".1 0 0"> <joint name="elbow" axis="0 -1 0"/> <geom fromto="0 0 0 .3 0 0"/>
    <site name="end" pos=".3 0 0"/> </body> </body>
<body pos=".34 0 0"> <joint name="rocker" axis="0 -1 0"/> <geom fromto="0 0 0 .27 0 0"/>
  <site name="tip" pos=".27 0 0"/> </body>
</worldbody> <equality> <connect name="pin" site1="end" site2="tip"/> </equality> </mujoco>"""


def test_simulate_keeps_the_joints_that_are_named(tmp_path: Path) -> None:
    """The others close the loop; if they cannot, all give way."""
    pytest.importorskip("mujoco")
    import jounce as jn

    file, saved = tmp_path / "linkage.xml", tmp_path / "motion.npz"
    file.write_text(LINKAGE)
    robot = jn.load(file)
    for named, kept in (("motor=0.3", 0.3), ("rocker=0.0", None)):
        options = ["--q", named, "--q", "elbow=0.5", "--v", "motor=5", "--time", "0.01", "--save", str(saved)]
        options = options if kept is None else [*options[:2], *options[4:]]
        done = called("simulate", str(file), *options)
        assert done.returncode == 0, done.stderr
        motion = jn.Trajectory.load(saved)
        assert np.abs(robot.residual(motion.q)).max() < 1e-10
        if kept is not None:
            assert (motion.q[0, 0], motion.v[0, 0]) == (kept, 5.0)


def test_simulate_a_floating_base(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    import jounce as jn

    (tmp_path / "ball.xml").write_text(BALL)
    options = ["--q", "ball.z=3", "--q", "ball.qx=1", "--v", "ball.wz=1", "--time", "0.5"]
    done = called("simulate", str(tmp_path / "ball.xml"), *options, "--save", str(tmp_path / "ball.npz"))
    assert done.returncode == 0, done.stderr
    motion = jn.Trajectory.load(tmp_path / "ball.npz")
    assert np.allclose(motion.q[0, 3:], [np.sqrt(0.5), 0, 0, np.sqrt(0.5)])  # scaled to unit length
    assert motion.q[-1, 2] == pytest.approx(3 - 10 * 0.5**2 / 2, abs=1e-9)


def test_a_motion_that_ends_early_is_kept(tmp_path: Path) -> None:
    import jounce as jn

    massless = SWING.replace('<mass value="30"/>', '<mass value="0"/>').replace('"1"', '"0"')
    (tmp_path / "swing.urdf").write_text(massless)
    done = called("simulate", str(tmp_path / "swing.urdf"), "--time", "1")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("jounce: ")
    (tmp_path / "swing.urdf").write_text(SWING)
    options = ["--time", "1e6", "--rate", "0.001", "--v", "chain=30", "--time-limit", "0.2"]
    done = called("simulate", str(tmp_path / "swing.urdf"), *options, "--save", str(tmp_path / "part.npz"))
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert 0 < jn.Trajectory.load(tmp_path / "part.npz").time[-1] < 1e6


# --- convert --------------------------------------------------------------------------------------------


def test_convert_there_and_back(swing: Path, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    import jounce as jn

    one, two = tmp_path / "swing.xml", tmp_path / "again.urdf"
    done = run("convert", str(swing), str(one))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{one}: 2 links, 1 degree of freedom\n"
    assert '<mujoco model="swing">' in one.read_text()
    done = called("convert", str(one), str(two), "--name", "bench")
    assert (done.returncode, done.stderr) == (0, "")
    assert '<robot name="bench">' in two.read_text()
    robot, back = jn.load(swing), jn.load(two)
    rng = np.random.default_rng(0)
    q, v, a = robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))
    assert np.allclose(robot.inverse_dynamics(q, v, a), back.inverse_dynamics(q, v, a), rtol=0, atol=1e-11)


@pytest.mark.parametrize("target", ["out.xml", "out.urdf"])
def test_convert_keeps_friction_if_asked(target: str, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    import jounce as jn

    source, out = tmp_path / "swing.urdf", tmp_path / target
    source.write_text(RUBBING)
    done = called("convert", str(source), str(out))
    assert done.returncode == 0
    assert "--friction 0.01 includes it, smoothed at 0.01 rad/s or m/s, and --friction off leaves" in done.stderr
    assert "friction=" not in done.stderr
    assert not jn.load(out, friction=0.01).damping_force([0.0], [1.0]).any()
    done = called("convert", str(source), str(out), "--friction", "off")
    assert (done.returncode, done.stderr) == (0, "")
    done = called("convert", str(source), str(out), "--friction", "0.01")
    assert (done.returncode, done.stderr) == (0, "")
    assert jn.load(out, friction=0.01).damping_force([0.0], [1.0]) == pytest.approx(12.1)
    # and from there on
    done = called("convert", str(out), str(tmp_path / "again.xml"))
    assert "(--friction 0.01 includes it" in done.stderr or ": --friction 0.01 includes it" in done.stderr


def test_info_names_options(tmp_path: Path) -> None:
    source = tmp_path / "swing.urdf"
    source.write_text(RUBBING)
    done = called("info", str(source))
    assert "is left out: --friction 0.01 includes it" in done.stdout
    done = called("info", str(source), "--friction", "0.01")
    assert "nothing ignored, nothing odd" in done.stdout
    assert "12.1" in done.stdout


def test_view_does_not_mind_friction(tmp_path: Path) -> None:
    pytest.importorskip("viser")
    source = tmp_path / "swing.urdf"
    source.write_text(RUBBING)
    done = called("view", str(source), "--save", str(tmp_path / "page.html"))
    assert (done.returncode, done.stderr) == (0, "")


def test_hints_are_options() -> None:
    from jounce.commands.options import in_shell_terms

    for said, expected in (
        ("URDF cannot express springs of joints 'a'; skip='springs' leaves out these", "--skip springs leaves"),
        ("of 'b'; skip=('springs', 'armature') leaves out these", "; --skip springs --skip armature leaves out these"),
        ("mesh not found: pass allow= to jounce.load with the folder that it is in", ": pass --allow with the folder"),
        ("to read it nevertheless, pass allow='/a b'", "pass --allow '/a b'"),
        ("outside the folder of the file: pass allow='/a b' to jounce.load; 'c'", "file: pass --allow '/a b'; 'c'"),
        ("pass allow= to jounce.load with the folder 'b', or", "pass --allow with the folder 'b', or"),
    ):
        assert expected in in_shell_terms(said)
    for said, expected in (
        ("panda: does not exist; did you mean jn.robots.panda() or 'a:panda'?", "; did you mean 'a:panda'?"),
        ("pand: does not exist; did you mean 'a:pan' or jn.robots.panda()?", "; did you mean 'a:pan'?"),
        ("panda: does not exist; did you mean jn.robots.panda()?", ""),
    ):
        assert in_shell_terms(said).partition("does not exist")[2] == expected
    assert in_shell_terms("skip=1 friction=2.urdf: does not exist") == "skip=1 friction=2.urdf: does not exist"


def test_convert_what_the_other_lacks(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    (tmp_path / "ball.xml").write_text(BALL)
    done = called("convert", str(tmp_path / "ball.xml"), str(tmp_path / "ball.urdf"))
    assert done.returncode == 1
    assert "URDF cannot express gravity other than (0, 0, -9.81)" in done.stderr
    assert "; --skip gravity leaves out these" in done.stderr
    assert not (tmp_path / "ball.urdf").exists()
    done = called("convert", str(tmp_path / "ball.xml"), str(tmp_path / "ball.urdf"), "--skip", "gravity")
    assert (done.returncode, done.stderr) == (0, "")


# --- the page -------------------------------------------------------------------------------------------


def test_the_page_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")
    page = (Path(__file__).parents[1] / "docs/command_line.md").read_text(encoding="utf-8")
    (file,) = re.findall(r"^```xml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "pendulum.urdf").write_text(file)
    monkeypatch.chdir(tmp_path)
    count = 0
    for block in re.findall(r"^```console\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        for said in re.split(r"^\$ jounce ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = said.partition("\n")
            done = called(*command.split())
            found, shown = (
                re.sub(r"in \S+ s$", "in a moment", text, flags=re.MULTILINE).strip()
                for text in (done.stdout + done.stderr, expected)
            )
            assert found == shown, command
            count += 1
    assert count == 9
