"""Robots and results for people to read: trees, tables, the style of the plots."""
