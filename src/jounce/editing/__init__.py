"""Robots made from other robots: with joints locked, with other drives, put together, cut to pieces."""
