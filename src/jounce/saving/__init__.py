"""Robots to files."""
