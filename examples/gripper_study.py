"""The design of a soft gripper, swept for the stiffness of its fingertips.

A finger is a tapered rod of silicone. How stiff its tip is decides how hard the gripper presses on something that is
larger than expected, and how much it gives way: the force over the way of the tip, pressed inwards by as much as it
carries in use. A designer chooses the radius at the root and how much the finger tapers; what comes out of the mould
is 10 % softer or stiffer than the data sheet says.

The study varies both radii over a grid, and the modulus at each point of it. On the left is the mean stiffness with
lines along which it is the same: designs to choose from. On the right, what the scatter of the material makes of one
design. The number to look at is how far the stiffness of the same design scatters: that of stiff fingers almost as much
as the modulus, by 9 %, that of the softest by 2.5 %, as the load bends them until they point along it.

    python examples/gripper_study.py [figure.png]
"""

from pathlib import Path

import numpy as np
from picture import BLUE, ORANGE, asked, panels

import jounce as jn
from jounce import study as st

FORCE = 0.2  # N, across the tip
LENGTH = 0.1  # m


def finger(member):
    root = member["root"]
    rod = jn.soft.Rod(
        LENGTH,
        radius=(root, root * member["taper"]),
        density=1070.0,
        young=member["modulus"],
        strain=jn.soft.polynomial(3, ("bend_y",)),
    )
    builder = jn.Builder()
    builder.add("finger", "world", placement=np.diag([1.0, -1.0, -1.0, 1.0]), body=rod)  # hanging down
    return builder.build()


def pressed(robot, member):
    """The way of the tip, m, across its axis, under the force."""
    ends = [
        robot.pose("finger", robot.equilibrium(wrenches={"finger": (force, 0, 0, 0, 0, 0)}, wrench_frame="mixed").q)
        for force in (0.0, FORCE)
    ]
    return float(ends[1][0, 3] - ends[0][0, 3])


def stiffness(flight):
    return FORCE / flight.motion


stiffness.unit = "N/m"


def study(grid=8, samples=8):
    return st.Study(
        title="Fingers of a soft gripper",
        robot=finger,
        parameters={
            "root": st.Grid(np.linspace(0.006, 0.012, grid), unit="m"),
            "taper": st.Grid(np.linspace(0.4, 1.0, grid)),
            "modulus": st.Normal(1e6, 1e5, unit="Pa", low=5e5),
        },
        scenario=pressed,
        measures={"stiffness": stiffness},
        samples=samples,
    )


def main(path: Path, grid: int = 8, samples: int = 8, workers: int | None = None) -> dict:
    designs = study(grid, samples)
    results = designs.run(workers=workers)
    cube = st.unstacked(results)
    mean, spread = cube.stiffness.mean("sample"), cube.stiffness.std("sample") / cube.stiffness.mean("sample")
    print(f"{designs.members} fingers, {st.failures(results)}: {mean.min().item():.3g} to {mean.max().item():.3g} N/m")
    print(f"the same design scatters by {100 * spread.min().item():.1f} to {100 * spread.max().item():.1f} %")
    middle = cube.stiffness.isel(root=grid // 2, taper=grid // 2).values
    labels = (
        (f"stiffness of the tip, {designs.members:,} fingers", "radius at the root (mm)", "radius of the tip over it"),
        ("one design, as it comes out of the mould", "modulus (MPa)", "stiffness (N/m)"),
    )
    with panels(path, *labels) as axes:
        x, y = 1e3 * cube.root.values, cube.taper.values
        shades = axes[0].pcolormesh(x, y, mean.T, shading="gouraud", cmap="cividis", rasterized=True)
        levels = [5, 10, 20, 40]
        axes[0].clabel(axes[0].contour(x, y, mean.T, levels, colors="w", linewidths=0.9), fontsize=7)
        axes[0].plot(x[grid // 2], y[grid // 2], "o", ms=5, mfc="none", mec=ORANGE["color"])
        axes[0].figure.colorbar(shades, ax=axes[0], label="N/m").outline.set_visible(False)
        axes[1].plot(1e-6 * cube.modulus.values, middle, "o", ms=3.5, color=BLUE["color"])
        axes[1].margins(x=0.05)
    return {"results": results, "cube": cube, "spread": spread, "study": designs}


if __name__ == "__main__":
    main(asked("gripper_study"))
