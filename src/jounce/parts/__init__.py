"""What a robot is made of: joints, inertias, sections that move by functions, and what ties bodies together."""
