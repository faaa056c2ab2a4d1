"""How uncertain may a payload be? Ten thousand flights of the aerial manipulator, and a map.

The robot of paper A flies its reference motion with a load in its hand. What the load weighs is on the scales before
the flight; where its centre of mass is, nobody knows: somewhere within a distance of the hand, in any direction. Each
flight is inverse dynamics along the motion, and the thrust that each rotor then needs, which must neither vanish nor
exceed what the rotor can do.

The study varies mass and distance over a grid, and at each point of it the direction, the same directions at all
points. The map shows in which part of the directions a rotor saturates, and the lines where it does in 5 % and in half
of them: how much one may be wrong, for each mass. The flight next to the limit is computed again, rotor by rotor. The
numbers to look at are the distances on the 5 % line.

    python examples/payload_study.py [figure.png]
"""

from pathlib import Path

import numpy as np
from picture import BLUE, ORANGE, asked, panels

import jounce as jn
from jounce import study as st

MOST = 13.5  # N, that a rotor can push; it hovers with 8.1 N
HAND = "B4"  # the end of the first arm


def loaded(member):
    """The robot with a ball of 5 cm, whose centre is off in a direction that is drawn on the sphere."""
    up, turn = member["height"], 2 * np.pi * member["turn"]
    side = np.sqrt(1 - up**2)
    x, y, z = member["distance"] * np.array([side * np.cos(turn), side * np.sin(turn), up])
    ball = jn.Inertia.sphere(member["mass"], 0.05)
    return jn.robots.aerial_manipulator().payload(HAND, ball, jn.placement((x, y, z - 0.12)))


def thrusts(robot, member):
    """(T, 6) N, of the rotors along the reference motion."""
    rotors, times = jn.robots.TiltHex(), np.linspace(0.0, 30.0, 101)
    q, mixed = jn.robots.reference_motion(times, 2)
    v = robot.change_velocity_frame(q, mixed, "mixed", "body")
    wrench = robot.inverse_dynamics(q, v)[:, 0, :6]
    return rotors.thrust * np.linalg.solve(rotors.allocation(), wrench.T).T


def margin(flight):
    """What the rotors have left, N; below zero, one saturates."""
    return min(flight.motion.min(), MOST - flight.motion.max())


margin.unit = "N"


def study(grid=20, samples=25):
    return st.Study(
        title="Payload of the aerial manipulator",
        robot=loaded,
        parameters={
            "mass": st.Grid(np.linspace(0.05, 1.0, grid), unit="kg"),
            "distance": st.Grid(np.linspace(0.0, 0.4, grid), unit="m"),
            "height": st.Uniform(-1.0, 1.0),
            "turn": st.Uniform(0.0, 1.0),
        },
        scenario=thrusts,
        measures={"margin": margin},
        samples=samples,
    )


def main(path: Path, grid: int = 20, samples: int = 25, workers: int | None = None, store: Path | None = None) -> dict:
    flights = study(grid, samples)
    results = flights.run(workers=workers, store=store)
    cube = st.unstacked(results)
    part = (cube.margin < 0).mean("sample")
    allowed = {}
    for mass in cube.mass.values[:: max(1, grid // 4)]:
        fine = part.distance.values[part.sel(mass=mass).values <= 0.05]
        allowed[float(mass)] = float(fine.max()) if fine.size else float("nan")
        most = f"the centre of mass may be {100 * fine.max():.0f} cm off" if fine.size else "more than rotors can carry"
        print(f"{mass:.2f} kg: {most}")
    number = int(np.abs(results.margin.values).argmin())
    edge = flights.flight(number)
    labels = (
        (f"{flights.members:,} flights", "mass (kg)", "centre of mass off by (m)"),
        ("rotors of a flight at the limit", "time (s)", "thrust (N)"),
    )
    with panels(path, *labels) as axes:
        shades = axes[0].pcolormesh(
            cube.mass, cube.distance, 100 * part.T, shading="gouraud", cmap="cividis", rasterized=True
        )
        lines = axes[0].contour(cube.mass, cube.distance, part.T, [0.05, 0.5], colors=["w", ORANGE["color"]])
        axes[0].clabel(lines, fmt={0.05: "5 %", 0.5: "50 %"}, fontsize=7)
        axes[0].plot(edge.parameters["mass"], edge.parameters["distance"], "o", ms=5, mfc="none", mec="w")
        bar = axes[0].figure.colorbar(shades, ax=axes[0], label="flights that saturate (%)")
        bar.outline.set_visible(False)
        axes[1].plot(np.linspace(0.0, 30.0, 101), edge.motion, **BLUE | {"lw": 0.9})
        axes[1].axhline(MOST, color="0.2", lw=0.8)
        axes[1].axhline(0.0, color="0.2", lw=0.8)
        axes[1].set_ylim(-0.5, MOST + 0.5)
    return {"results": results, "part": part, "allowed": allowed, "edge": edge, "study": flights}


if __name__ == "__main__":
    main(asked("payload_study"))
