"""Loops and contacts: motions that obey them, their forces, and what follows from those."""
