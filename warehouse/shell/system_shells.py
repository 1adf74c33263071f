"""Completion for the shells of the system: SCRIPTS, the texts that `evalhouse completion` prints, made from the options
of the command line itself. Statements are not completed here; the shell of evalhouse does that.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from warehouse.render import FORMATS


@dataclass(frozen=True, slots=True)
class Option:
    """An option: what it is called and does, whether a value follows, and which there are, or that it is a file."""

    name: str
    meaning: str
    valued: bool
    values: tuple[str, ...]
    is_file: bool


@dataclass(frozen=True, slots=True)
class Command:
    """A command with its options, and the words that may stand behind it (none: files)."""

    name: str
    meaning: str
    options: tuple[Option, ...]
    values: tuple[str, ...]


def _commands(parser: argparse.ArgumentParser) -> tuple[Command, ...]:
    """The commands of a parser, the nameless one first, which is the line without a command."""
    (several,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    meanings = {action.dest: action.help or "" for action in several._get_subactions()}
    return (
        _command("", "", parser),
        *(_command(name, meanings[name], each) for name, each in several.choices.items()),
    )


def _command(name: str, meaning: str, parser: argparse.ArgumentParser) -> Command:
    options: list[Option] = []
    values: list[str] = []
    for action in parser._actions:
        choices = tuple(map(str, action.choices or ()))
        if isinstance(action, argparse._SubParsersAction) or not action.option_strings:
            values += choices
        else:
            known = tuple(each.name for each in FORMATS) if "--format" in action.option_strings else choices
            text = (action.help or "").replace("%%", "%")
            options.append(Option(action.option_strings[-1], text, action.nargs != 0, known, action.metavar == "FILE"))
    return Command(name, meaning, tuple(options), tuple(values))


def _valued(commands: tuple[Command, ...]) -> dict[str, Option]:
    """Every option that takes a value, by name; an option means the same in every command."""
    return {option.name: option for command in commands for option in command.options if option.valued}


def bash(parser: argparse.ArgumentParser) -> str:
    """A script for bash."""
    commands = _commands(parser)
    names = "|".join(command.name for command in commands if command.name)
    lines = [
        "# evalhouse completion bash > ~/.local/share/bash-completion/completions/evalhouse",
        "_evalhouse() {",
        '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD - 1]}"',
        '    local command="" each words values',
        '    for each in "${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do',
        f'        case "$each" in {names}) command="$each"; break ;; esac',
        "    done",
        '    case "$before" in',
    ]
    for name, option in _valued(commands).items():
        offered = "-f" if option.is_file else f'-W "{" ".join(option.values)}"'
        lines.append(f'        {name}) mapfile -t COMPREPLY < <(compgen {offered} -- "$word"); return ;;')
    lines += ["    esac", '    case "$command" in']
    for command in commands:
        words = " ".join(option.name for option in command.options)
        lines.append(f'        "{command.name}") words="{words}" values="{" ".join(command.values)}" ;;')
    lines += [
        "    esac",
        '    if [[ "$word" == -* ]]; then',
        '        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")',
        '    elif [[ -n "$values" ]]; then',
        '        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")',
        "    else",
        '        mapfile -t COMPREPLY < <(compgen -f -- "$word")',
        "    fi",
        "}",
        "complete -o filenames -F _evalhouse evalhouse",
    ]
    return "\n".join(lines) + "\n"


def zsh(parser: argparse.ArgumentParser) -> str:
    """A script for zsh."""
    first, *commands = _commands(parser)
    described = " ".join(_single(f"{command.name}:{command.meaning}") for command in commands)
    lines = [
        "#compdef evalhouse",
        "# evalhouse completion zsh > a folder of $fpath, as _evalhouse",
        "_evalhouse() {",
        "    local context state state_descr line curcontext=$curcontext",
        "    typeset -A opt_args",
        f"    _arguments -C {_zsh_options(first)} '1:command:->command' '*::argument:->argument'",
        '    case "$state" in',
        f"        command) local -a commands=({described}); _describe command commands ;;",
        '        argument) case "$line[1]" in',
    ]
    for command in commands:
        behind = f"'*:value:({' '.join(command.values)})'" if command.values else "'*:file:_files'"
        lines.append(f"            {command.name}) _arguments {_zsh_options(command)} {behind} ;;")
    lines += [
        "        esac ;;",
        "    esac",
        "}",
        'if [ "$funcstack[1]" = _evalhouse ]; then _evalhouse "$@"; else compdef _evalhouse evalhouse; fi',
    ]
    return "\n".join(lines) + "\n"


def _zsh_options(command: Command) -> str:
    specs = []
    for option in command.options:
        meaning = option.meaning.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
        behind = "_files" if option.is_file else f"({' '.join(option.values)})" if option.values else " "
        follows = f":value:{behind}" if option.valued else ""
        specs.append(_single(f"{option.name}[{meaning}]{follows}"))
    return " ".join(specs)


def fish(parser: argparse.ArgumentParser) -> str:
    """A script for fish."""
    first, *commands = _commands(parser)
    names = " ".join(command.name for command in commands)
    lines = [
        "# evalhouse completion fish > ~/.config/fish/completions/evalhouse.fish",
        f"set -l commands {names}",
        'complete -c evalhouse -f -n "not __fish_seen_subcommand_from $commands"',
    ]
    for command in commands:
        lines.append(
            'complete -c evalhouse -n "not __fish_seen_subcommand_from $commands" '
            f"-a {command.name} -d {_single(command.meaning)}"
        )
    for command in (first, *commands):
        where = f"__fish_seen_subcommand_from {command.name}" if command.name else "__fish_use_subcommand"
        begin = f'complete -c evalhouse -n "{where}"'
        if command.name and command.values:
            lines.append(f"{begin} -f -a {_single(' '.join(command.values))}")
        for option in command.options:
            behind = (
                " -r -F" if option.is_file else f" -x -a {_single(' '.join(option.values))}" if option.valued else ""
            )
            lines.append(f"{begin} -l {option.name.removeprefix('--')} -d {_single(option.meaning)}{behind}")
    return "\n".join(lines) + "\n"


def _single(text: str) -> str:
    """Text in single quotes, for zsh and fish alike; a quote inside is printed as a typographic one."""
    return "'" + text.replace("'", "’") + "'"


SCRIPTS: Mapping[str, Callable[[argparse.ArgumentParser], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
"""By the name of the shell."""
