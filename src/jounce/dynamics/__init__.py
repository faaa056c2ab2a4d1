"""Computations on a model outside the core: derivatives by the state, linearization, closed forms, statics."""
