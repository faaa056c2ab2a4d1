"""Simulation: the steps of several methods, and the run that performs them."""
