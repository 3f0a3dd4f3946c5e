"""The options that a command has in its help."""

from typing import Any

import typer

from lanlab.cli.app import application


def shown_options(name: str) -> set[str]:
    group: Any = typer.main.get_command(application([name]))
    context = typer.Context(group.commands[name], help_option_names=["-h", "--help"])
    shown = [
        one for one in context.command.get_params(context) if not getattr(one, "hidden", False)
    ]
    return {option for one in shown for option in one.opts if option.startswith("-")}
