"""Motions through time: steps of several methods, and the run that takes them."""
