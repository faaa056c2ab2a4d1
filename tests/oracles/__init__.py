"""Independent computations of the same quantities; they share no code with the library or with each other."""
