"""Loops and contacts: motions that obey them, their forces, and results derived from these."""
