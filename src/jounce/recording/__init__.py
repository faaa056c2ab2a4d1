"""Functions that users write in NumPy, recorded as lists of operations that the core runs."""
