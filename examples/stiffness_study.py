"""How stiff must the joints of an arm be? Peak torque rate over stiffness, load and speed, with Sobol indices.

The motors of an elastic arm lead their links by the deflection of springs. To move the links as desired, they apply
B theta'' + tau with theta = q + tau / K, so the rate of their torque is B (q''' + tau''' / K) + tau': inverse dynamics
to third order. One would expect that stiff springs are best. They are not: soft ones smooth what the motors have to do,
until they are so soft that the motors have to swing far to move the links.

Stiffness, load and duration of a swing are drawn evenly over two decades, up to 4 kg, and around 0.8 s. On the left
each member is a point. On the right is which part of the variance of the logarithm each parameter causes. The number to
look at is the stiffness at which the rate is least, whatever the load: a thirtieth of that of the springs.

    python examples/stiffness_study.py [figure.png]
"""

from pathlib import Path

import numpy as np
from arm import add_arm
from numpy.polynomial import Polynomial
from picture import BLUE, asked, panels

import jounce as jn
from jounce import study as st

K = np.array([12e3, 12e3, 6e3, 1.5e3])  # N m/rad, the springs that the factor multiplies
B = np.array([1.2, 1.2, 0.5, 0.05])  # kg m^2, the motors, reflected through their gears
STEP = Polynomial([0, 0, 0, 0, 0, 0, 462, -1980, 3465, -3080, 1386, -252])  # at rest up to the fifth derivative
STEPS = [STEP, *(STEP.deriv(k) for k in range(1, 6))]
START, END = np.array([-0.8, 0.9, 0.9, -0.4]), np.array([0.8, 0.2, 1.4, 0.6])  # rad


def motor_torques(robot, member):
    """(T, 2, 4) torques of the motors, N m, and their rates, along the swing."""
    x, duration = np.linspace(0.0, 1.0, 201)[:, None], member["duration"]
    rows = [step(x) / duration**k * (END - START) for k, step in enumerate(STEPS)]
    stack = np.stack(rows[1:], axis=1)  # velocity to the fifth derivative
    tau = robot.inverse_dynamics(START + rows[0], stack)  # (T, 4, 4): to its third derivative
    return B * (stack[:, 1:3] + tau[:, 2:4] / (member["stiffness"] * K)) + tau[:, :2]


def peak_rate(flight):
    return np.abs(flight.motion[:, 1]).max()


def peak_torque(flight):
    return np.abs(flight.motion[:, 0]).max()


peak_rate.unit, peak_torque.unit = "N m/s", "N m"


def study(samples=512):
    return st.Study(
        title="Stiffness of an elastic arm",
        robot=add_arm(jn.Builder(), load=0.0).build(),
        parameters={
            "stiffness": st.LogUniform(0.01, 1.0),
            "load": st.Uniform(0.0, 4.0, unit="kg"),
            "duration": st.Uniform(0.75, 0.85, unit="s"),
        },
        edits={"load": st.Payload("hand")},
        scenario=motor_torques,
        measures={"peak torque rate": peak_rate, "peak torque": peak_torque},
        samples=samples,
        method="saltelli",
        seed=1,
    )


def main(path: Path, samples: int = 512, workers: int | None = None) -> dict:
    members = study(samples)
    results = members.run(workers=workers)
    results["logarithm"] = np.log(results["peak torque rate"])
    results.attrs["measures"] = [*results.attrs["measures"], "logarithm"]
    indices = st.sobol_indices(results, "logarithm")
    alone = dict(zip(indices.parameter.values.tolist(), indices.first_order.values.tolist(), strict=True))
    worst = st.worst(results, "peak torque rate", 1)
    print("of the variance of the logarithm of the peak torque rate:")
    print(", ".join(f"{part:.0%} by {name} alone" for name, part in alone.items()), end=", ")
    print(f"{1 - sum(alone.values()):.0%} by several together")
    print(f"worst: {worst['peak torque rate'].item():.3g} N m/s at {worst.stiffness.item():.2g} of the stiffness")
    best = st.worst(results, "peak torque rate", 1, largest=False)
    print(f"least: {best['peak torque rate'].item():.3g} N m/s at {best.stiffness.item():.2g} of the stiffness")
    labels = (
        (f"{members.members:,} members", "stiffness, relative", "peak torque rate (N m/s)"),
        ("which parameter matters", "part of the variance", ""),
    )
    with panels(path, *labels) as axes:
        drawn = axes[0].scatter(
            results.stiffness, results["peak torque rate"], 3, results["load"], lw=0, cmap="cividis", rasterized=True
        )
        axes[0].set(xscale="log", ylim=(0, None))
        axes[0].tick_params(which="minor", labelbottom=False)
        axes[0].figure.colorbar(drawn, ax=axes[0], label="load (kg)").outline.set_visible(False)
        place = np.arange(3)[::-1]
        for key, shift, colour, words in (
            ("first_order", 0.17, BLUE["color"], "alone"),
            ("total", -0.17, "0.6", "with others"),
        ):
            middle = indices[key].values
            ends = np.abs(np.stack([indices[f"{key}_low"], indices[f"{key}_high"]]) - middle)
            axes[1].barh(place + shift, middle, 0.3, xerr=ends, color=colour, label=words, error_kw={"lw": 0.8})
        axes[1].set_yticks(place, indices.parameter.values)
        axes[1].set_xlim(0, 1)
        axes[1].legend(frameon=False, fontsize=7.5, loc="lower right")
    return {"results": results, "indices": indices, "study": members}


if __name__ == "__main__":
    main(asked("stiffness_study"))
