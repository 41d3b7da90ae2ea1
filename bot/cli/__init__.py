"""The command line. Each command imports what it needs when it runs, so that `pullcord runs` does not wait for a model library.

Exit codes: 0 fine, 1 the answer is no, 2 wrong use or configuration. Errors are one line on standard error that says what to do.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from bot.errors import ConfigurationError, Refused

app = typer.Typer(
    name="pullcord",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A Slack bot whose plans are approved by people and run by plain code, with a cord that really stops the train.",
)
audit = typer.Typer(no_args_is_help=True, help="The record of who did what.")
plan = typer.Typer(no_args_is_help=True, help="Plan files.")
policy = typer.Typer(no_args_is_help=True, help="Policy files.")
db = typer.Typer(no_args_is_help=True, help="The database.")
app.add_typer(audit, name="audit")
app.add_typer(plan, name="plan")
app.add_typer(policy, name="policy")
app.add_typer(db, name="db")

Data = Annotated[Path | None, typer.Option("--data", help="Folder of a demo or a small installation.")]
Json = Annotated[bool, typer.Option("--json", help="As data.")]


@app.command()
def demo(
    data: Annotated[Path, typer.Option("--data", help="Where the demo keeps everything.")] = Path("pullcord-data"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free port.")] = 8765,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page.")] = True,
    policy: Annotated[Path | None, typer.Option(help="A policy file instead of the demo's own.")] = None,
    tools: Annotated[list[Path] | None, typer.Option(help="A Python file with tools of your own; may be repeated.")] = None,
) -> None:
    """Try it: local workspace, bot and database. Needs no key and no Slack."""
    from bot.cli.demo import run_demo

    raise typer.Exit(run_demo(data, port=port, browser=browser, policy=policy, tools=tools or []))


@app.command()
def start(data: Data = None) -> None:
    """Run the bot against the Slack that the environment names."""
    from bot.cli.serving import run_bot

    raise typer.Exit(run_bot(data))


@app.command()
def workspace(
    data: Data = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free port.")] = 8765,
    manifest: Annotated[Path | None, typer.Option(help="The app's manifest; Pullcord's own if not given.")] = None,
    people: Annotated[Path | None, typer.Option(help="JSON or YAML with the people and channels.")] = None,
) -> None:
    """Run the local Slack-compatible workspace alone."""
    from bot.cli.serving import run_workspace

    raise typer.Exit(run_workspace(data, port=port, manifest=manifest, people=people))


@app.command()
def check(data: Data = None, json: Json = False) -> None:
    """Look at settings, tokens, channels, policy, database and model: each line is ok, or says what to do."""
    from bot.cli.checking import run_check

    raise typer.Exit(run_check(data, as_json=json))


@app.command()
def runs(data: Data = None, json: Json = False, limit: Annotated[int, typer.Option(min=1)] = 50) -> None:
    """List the newest runs."""
    from bot.cli.showing import list_runs

    raise typer.Exit(list_runs(data, as_json=json, limit=limit))


@app.command()
def show(
    run: Annotated[str, typer.Argument(help="Such as R-7K2QX.")],
    data: Data = None,
    json: Json = False,
    attempts: Annotated[bool, typer.Option("--attempts", help="Print the planner's raw answers.")] = False,
) -> None:
    """Show one run: its plan, steps, approvals, answer and record."""
    from bot.cli.showing import show_run

    raise typer.Exit(show_run(data, run, as_json=json, attempts=attempts))


@audit.command("verify")
def audit_verify(data: Data = None, json: Json = False) -> None:
    """Check every chain; exit 1 names the first broken entry of each."""
    from bot.cli.showing import verify_audit

    raise typer.Exit(verify_audit(data, as_json=json))


@audit.command("export")
def audit_export(data: Data = None, run: Annotated[str | None, typer.Option(help="One run only.")] = None) -> None:
    """Print the entries as JSON lines."""
    from bot.cli.showing import export_audit

    raise typer.Exit(export_audit(data, run))


@plan.command("check")
def plan_check(file: Annotated[Path, typer.Argument(help="JSON, YAML or plain notation.")], data: Data = None, json: Json = False) -> None:
    """Validate and grade a plan file: its digest, order and reasons, or its faults (exit 1)."""
    from bot.cli.planning import check_plan

    raise typer.Exit(check_plan(file, data, as_json=json))


@policy.command("check")
def policy_check(file: Annotated[Path | None, typer.Argument()] = None, data: Data = None) -> None:
    """Read a policy file: exit 2 with file, line and fix if it cannot be used, and remarks on what was probably not meant."""
    from bot.cli.planning import check_policy

    raise typer.Exit(check_policy(file, data))


@db.command("upgrade")
def db_upgrade(data: Data = None) -> None:
    """Bring the database to this version. Safe to run twice and from two processes."""
    from bot.cli.showing import upgrade_database

    raise typer.Exit(upgrade_database(data))


def main() -> None:
    """Entry point: turns our own errors into one line and an exit code."""
    try:
        app()
    except ConfigurationError as fault:
        sys.stderr.write(f"pullcord: {fault}\n")
        sys.exit(2)
    except Refused as no:
        words = f"there is no run {no.facts.get('run')}; `pullcord runs` lists them" if no.kind == "unknown_run" else str(no)
        sys.stderr.write(f"pullcord: {words}\n")
        sys.exit(1)
