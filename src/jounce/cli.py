"""The command line: the commands of `jounce.commands`, and those that other packages add.

A package adds commands through an entry point of the group ``jounce.commands``: a function that takes the app.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from jounce._extras import needed
from jounce.commands.output import guarded_output

if TYPE_CHECKING:
    import typer

_COMMANDS = ("demo", "info", "view", "simulate", "convert", "study")


def main() -> None:
    """Entry point of the ``jounce`` command."""
    with guarded_output():
        try:
            code: Any = _run()
        except KeyboardInterrupt:
            code = 130
    sys.exit(code if isinstance(code, int) else 0)


def _run() -> Any:
    """The exit code of a command, or what it returned."""
    for module in ("rich", "typer"):
        try:
            needed(module, "the command line")
        except ImportError as fault:
            sys.exit(f"jounce: {fault}")
    import typer

    try:
        return _command().main(standalone_mode=False, prog_name="jounce")
    except typer.Abort:  # Ctrl-C, in old versions of typer
        return 130
    except Exception as fault:  # a wrong option or argument, which new versions of typer have a class of their own for
        if not hasattr(fault, "format_message"):
            raise
        return _misuse(fault)


def _command() -> Any:
    """The app as typer runs it, with options that take no value shown as such: new versions of typer add <bool>."""
    import typer

    group: Any = typer.main.get_command(_app())
    for command in (group, *group.commands.values()):
        for option in command.get_params(typer.Context(command)):
            if getattr(option, "is_flag", False):
                option.metavar = ""
    return group


def _app() -> typer.Typer:
    import typer

    app = typer.Typer(help="The dynamics of robots to any order in time.", no_args_is_help=True)

    def tell_version(wanted: bool) -> None:
        if wanted:
            from jounce.core_build import build_info

            print(build_info())
            raise typer.Exit

    @app.callback()
    def root(
        version: bool = typer.Option(
            False,
            "--version",
            help="Show the version and what was built, and exit.",
            callback=tell_version,
            is_eager=True,
        ),
    ) -> None: ...

    for name in _COMMANDS:
        import_module(f"jounce.commands.{name}").add(app)
    for entry in entry_points(group="jounce.commands"):
        entry.load()(app)
    known = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    for name in {"bench", "reproduce"} - known:
        _missing(app, name)
    return app


def _misuse(fault: Any) -> int:
    """Says in one line what is wrong with the arguments; without any, shows the help."""
    if type(fault).__name__ == "NoArgsIsHelpError":
        fault.show()
    else:
        print(f"jounce: {' '.join(fault.format_message().split())}", file=sys.stderr)
    return int(fault.exit_code)


def _missing(app: typer.Typer, name: str) -> None:
    """Adds a placeholder for a command of another package, which says, also for --help, which package that is."""
    anything = {"allow_extra_args": True, "ignore_unknown_options": True}

    @app.command(name, hidden=True, add_help_option=False, context_settings=anything)
    def missing() -> None:
        sys.exit(f"jounce: {name!r} is a command of jounce-lab: pip install ./lab, in a clone of the repository")


if __name__ == "__main__":
    main()
