"""The commands of ``jounce``, one file each: a function ``add`` that takes the app. `jounce.cli` collects them.

They import what they need when they run, so that the command line starts fast.
"""
