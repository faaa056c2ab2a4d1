"""The parts of a robot: joints, inertias, sections that move by functions, and constraints between bodies."""
