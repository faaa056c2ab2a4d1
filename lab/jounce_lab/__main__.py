"""``python -m jounce_lab``: its commands, if it is not installed."""

import typer

from .commands import add

app = typer.Typer(no_args_is_help=True, add_completion=False)
add(app)
app()
