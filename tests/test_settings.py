"""What a user sets once: the file, the environment, the options, and which of them takes precedence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cli
from evalhouse.warehouse.commands.settings import SETTINGS
from evalhouse.warehouse.render.style import Theme
from evalhouse.warehouse.shell.prompt import COLOURS

CHANGED = {
    "db": "other.duckdb",
    "sample": "true",
    "format": "json",
    "digits": "3",
    "level": "0.01",
    "theme": "dark",
    "threads": "2",
    "quiet": "true",
}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of settings that is there, and says nothing yet."""
    kept = tmp_path / "config.toml"
    kept.write_text("")
    monkeypatch.setenv("EVALHOUSE_CONFIG", str(kept))
    monkeypatch.chdir(tmp_path)
    return kept


def held(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, tuple[str, str]]:
    """By setting what holds, and where it was said."""
    assert cli.main(["config", "--format", "ndjson", *words]) == 0
    rows = map(json.loads, capsys.readouterr().out.splitlines())
    return {row["setting"]: (row["value"], row["where"]) for row in rows}


def failed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What is said of a mistake in the settings."""
    with pytest.raises(SystemExit) as stopped:
        cli.main([*words] or ["config"])
    assert stopped.value.code == 2
    return capsys.readouterr().err


def test_every_setting_can_be_said_in_the_file_in_the_environment_and_on_the_line(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert set(CHANGED) == {setting.name for setting in SETTINGS}
    monkeypatch.delenv("EVALHOUSE_SAMPLE")
    for setting in SETTINGS:
        if setting.name == "format":
            continue
        text = CHANGED[setting.name]
        file.write_text(f"# mine\n{setting.name} = {json.dumps(text)}\n")
        assert held(capsys)[setting.name] == (text, f"{file}:2")
        monkeypatch.setenv(setting.variable, text)
        assert held(capsys)[setting.name] == (text, f"${setting.variable}")
        words = [f"--{setting.name}"] if text == "true" else [f"--{setting.name}", text]
        assert held(capsys, *words)[setting.name] == (text, f"--{setting.name}")
        monkeypatch.delenv(setting.variable)


def test_what_nobody_set_is_the_default(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("EVALHOUSE_SAMPLE")
    assert {where for name, (_, where) in held(capsys).items() if name != "format"} == {"default"}


def test_numbers_and_truths_of_toml_need_no_quotes(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text('digits = 2\nlevel = 0.01\nquiet = true\n"threads" = 3\n')
    found = held(capsys)
    assert [found[name][0] for name in ("digits", "level", "quiet", "threads")] == ["2", "0.01", "true", "3"]
    assert found["threads"][1] == f"{file}:4"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\ndigts = 2\n", "config.toml:2: there is no setting 'digts'; did you mean digits?"),
        ("digits = 99\n", "config.toml:1: digits is '99', and must be a whole number from 0 to 15"),
        (f"digits = '{'0' * 20}99'\n", "and must be a whole number from 0 to 15"),
        ("level = 2\n", "config.toml:1: level is '2', and must be a number between 0 and 1, such as 0.01 or 1%"),
        ('theme = "pink"\n', "config.toml:1: theme is 'pink', and must be one of auto, light, dark"),
        ('format = "pdf"\n', "config.toml:1: format is 'pdf', and must be one of table, json, ndjson"),
        ("quiet = 7\n", "config.toml:1: quiet is '7', and must be true or false"),
        ("threads = 0\n", "config.toml:1: threads is '0', and must be a whole number from 1 to 1024"),
        ("[db]\npath = 1\n", "config.toml:1: db is a dict, and must be one value"),
        ("digits = 2\ndigits = 3\n", "config.toml:2: this is not TOML: cannot overwrite a value"),
        ("digits = \n", "config.toml:1: this is not TOML: invalid value"),
    ],
)
def test_a_mistake_in_the_file_is_told_with_its_line(
    file: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    file.write_text(text)
    for words in (["config"], ["query", "show systems"]):
        said = failed(capsys, *words)
        assert message in said
        assert "evalhouse config" not in said  # which fails, too


def test_a_file_that_cannot_be_read_is_told(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_bytes(b"digits = 1\n# \xff\n")
    assert "config.toml:2: this is not UTF-8" in failed(capsys)
    file.unlink()
    assert "config.toml: there is no such file, which $EVALHOUSE_CONFIG names" in failed(capsys)
    file.mkdir()
    assert "config.toml: it cannot be read: is a directory" in failed(capsys)


def test_a_mistake_in_the_environment_is_told_with_its_variable(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVALHOUSE_LEVEL", "often")
    assert "$EVALHOUSE_LEVEL: level is 'often', and must be a number between 0 and 1" in failed(capsys)


def test_help_needs_no_settings(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("digts = 2\n")
    with pytest.raises(SystemExit) as stopped:
        cli.main(["--help"])
    assert stopped.value.code == 0


def test_a_level_stands_in_what_it_changes(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("level = 0.01\n")

    def said(*statements: str) -> list[str]:
        cli.main(["query", "; ".join(statements), "--format", "json"])
        return [json.loads(line)["statement"] for line in capsys.readouterr().out.splitlines()]

    compared = "compare F for GE, UMASS on TST3"
    assert said(
        compared,
        f"{compared} level 0.1",
        "score F for GE on TST3",
        "score F for GE on TST3 interval",
        f"expect better {compared}",
        "table F for GE, UMASS on TST3",
        "table F for GE, UMASS on TST3 against GE",
    ) == [
        f"{compared} level 0.01",
        f"{compared} level 0.1",
        "score F for GE on TST3",
        "score F for GE on TST3 level 0.01 interval studentized",
        f"expect better {compared} level 0.01",
        "table F for GE, UMASS on TST3",
        "table F for GE, UMASS against GE on TST3 level 0.01",
    ]


@pytest.mark.long
def test_pictures_are_dark_where_that_is_set(file: Path) -> None:
    drawn = {}
    for theme in ("auto", "light", "dark"):
        for ending in ("svg", "html", "png", "pdf"):
            to = f"{theme}.{ending}"
            assert cli.main(["query", f'plot score F for all on TST3 to "{to}"', "--theme", theme, "--quiet"]) == 0
            drawn[to] = Path(to).read_bytes()
    for ending in ("svg", "png"):
        assert drawn[f"auto.{ending}"] == drawn[f"light.{ending}"] != drawn[f"dark.{ending}"]
    assert b'fill="white"' in drawn["light.svg"]
    assert b'fill="white"' not in drawn["dark.svg"]
    assert b"prefers-color-scheme: dark) {\nsvg.marks" in drawn["auto.html"]
    assert b"svg.marks { background-color: #14181d !important; }" in drawn["auto.html"]
    assert b"svg.marks [fill=" not in drawn["light.html"]
    assert b"prefers-color-scheme: dark) {\nsvg.marks" not in drawn["dark.html"]
    assert b"svg.marks [fill=" in drawn["dark.html"]


def luminance(colour: str) -> float:
    """How light a colour is, from 0 to 1 (WCAG 2.2)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(
    ("theme", "papers", "least"),
    [("auto", ("#000000", "#ffffff"), 4.5), ("light", ("#ffffff",), 7), ("dark", ("#000000",), 7)],
)
def test_colours_of_the_shell_can_be_read(theme: Theme, papers: tuple[str, ...], least: float) -> None:
    for colour in COLOURS[theme].values():
        for paper in papers:
            light, dark = sorted((luminance(colour), luminance(paper)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= least, (theme, colour, paper)
