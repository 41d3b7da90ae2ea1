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
def audit_verify(
    data: Data = None,
    json: Json = False,
    heads: Annotated[Path | None, typer.Option(help="A file with heads that were kept elsewhere (audit head --json, an export).")] = None,
    channel: Annotated[bool, typer.Option("--channel", help="Hold it against what stands in the audit channel, too.")] = False,
    file: Annotated[Path | None, typer.Option(help="Judge an exported file instead of the database.")] = None,
) -> None:
    """Check every chain and every row behind it; exit 1 names the first broken entry of each."""
    from bot.cli.auditing import verify_audit

    raise typer.Exit(verify_audit(data, as_json=json, heads=heads, file=file, channel=channel))


@audit.command("head")
def audit_head(data: Data = None, json: Json = False) -> None:
    """Print the newest head, to be kept where nobody who can change the database can change it."""
    from bot.cli.auditing import show_head

    raise typer.Exit(show_head(data, as_json=json))


@audit.command("export")
def audit_export(
    data: Data = None,
    run: Annotated[str | None, typer.Option(help="One run only.")] = None,
    since: Annotated[str | None, typer.Option(help="From this time on, such as 2026-11-30 or 2026-11-30T14:05:00+00:00.")] = None,
    until: Annotated[str | None, typer.Option(help="Before this time.")] = None,
    actor: Annotated[str | None, typer.Option(help="A Slack user id, clock or pullcord.")] = None,
    event: Annotated[list[str] | None, typer.Option(help="Only these events, such as approved; may be repeated.")] = None,
    decisions: Annotated[bool, typer.Option("--decisions", help="Only what was decided and how runs ended.")] = False,
) -> None:
    """Print the entries as JSON lines with what proves them, and the head as the last line."""
    from bot.cli.auditing import export_audit

    raise typer.Exit(export_audit(data, run_id=run, since=since, until=until, actor=actor, events=event or [], decisions=decisions))


@plan.command("check")
def plan_check(file: Annotated[Path, typer.Argument(help="JSON, YAML or plain notation.")], data: Data = None, json: Json = False) -> None:
    """Validate and grade a plan file: its digest, order and reasons, or its faults (exit 1)."""
    from bot.cli.planning import check_plan

    raise typer.Exit(check_plan(file, data, as_json=json))


@policy.command("check")
def policy_check(file: Annotated[Path | None, typer.Argument()] = None, data: Data = None, json: Json = False) -> None:
    """Read a policy file: exit 2 with file, line and fix if it cannot be used, and remarks on what was probably not meant."""
    from bot.cli.planning import check_policy

    raise typer.Exit(check_policy(file, data, as_json=json))


@policy.command("explain")
def policy_explain(
    plan: Annotated[str, typer.Argument(help="A plan file (JSON, YAML, plain notation), or notation itself.")],
    who: Annotated[str | None, typer.Option("--as", help="Somebody, as the policy names them: could they approve it?")] = None,
    groups: Annotated[list[str] | None, typer.Option("--in", help="A group or channel in which they are; may be repeated.")] = None,
    asked_in: Annotated[str, typer.Option(help="The channel in which it would be asked, for rules that look at it.")] = "",
    policy: Annotated[Path | None, typer.Option(help="A policy file instead of the one that is set.")] = None,
    data: Data = None,
    json: Json = False,
) -> None:
    """Say what would happen to a plan, step by step, and which line of the policy says so; exit 1 if it could not run at all."""
    from bot.cli.explaining import explain_plan

    raise typer.Exit(explain_plan(plan, data, policy=policy, who=who, groups=groups or [], asked_in=asked_in, as_json=json))


@policy.command("example")
def policy_example(profile: Annotated[str, typer.Argument(help="personal, team, external or demo.")]) -> None:
    """Print a policy file to begin from: every key, each with what it does."""
    from bot.cli.planning import print_example

    raise typer.Exit(print_example(profile))


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
