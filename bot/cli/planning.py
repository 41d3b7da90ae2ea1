"""`plan check`, `policy check` and `policy example`: the rules, asked without a bot."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from rich.console import Console

from bot.core import notation, policy
from bot.core.catalogue import Catalogue
from bot.core.estimate import order_line
from bot.core.plan import Plan, digest, numbered
from bot.core.policy import Policy
from bot.core.validation import validate
from bot.core.wording import sentence
from bot.errors import ConfigurationError
from bot.policies import example
from bot.settings import Settings, load
from bot.tools.secrets import open_secrets

console = Console(highlight=False, soft_wrap=True)


def check_plan(file: Path, data: Path | None, *, as_json: bool) -> int:
    """0 and the grades of a valid plan; 1 and the faults of one that is not, or that policy denies."""
    from bot.app import read_policy

    settings = load(data)
    rules = read_policy(settings.policy)
    catalogue, digests = asyncio.run(tools_of(settings, rules))
    try:
        plan = numbered(read_plan(file, catalogue))
    except notation.NotationError as fault:
        return say_faults([str(each) for each in fault.faults], as_json=as_json)
    names = open_secrets(os.environ, source=settings.secrets, keyring=settings.keyring).names()
    faults = validate(plan, catalogue, max_steps=rules.limits.steps, secrets=names)
    if faults:
        return say_faults([str(fault) for fault in faults], as_json=as_json)
    verdict = policy.evaluate(plan, catalogue, rules)
    called = {step.tool for step in plan.steps}
    found = {
        "ok": not verdict.denied,
        "digest": digest(plan, {name: value for name, value in digests.items() if name in called}),
        "risk": verdict.level,
        "order": order_line(plan),
        "runs_at_once": verdict.releases,
        "approvals": 0 if verdict.releases else verdict.quorum,
        "steps": [_step(plan, grade, catalogue) for grade in verdict.grades],
        "faults": [str(fault) for fault in verdict.denied],
    }
    if as_json:
        sys.stdout.write(json.dumps(found, ensure_ascii=False, indent=1) + "\n")
    else:
        _print(found)
    return 1 if verdict.denied else 0


def read_plan(file: Path, catalogue: Catalogue) -> Plan:
    """JSON and YAML by their look, plain notation otherwise. Raises `ConfigurationError` with what is wrong with the file."""
    try:
        text = file.read_text()
    except OSError as fault:
        raise ConfigurationError(f"{file}: cannot be read ({fault.strerror}); name a plan file") from fault
    except UnicodeDecodeError as fault:
        raise ConfigurationError(f"{file}: this is not a text file in UTF-8; name a plan file") from fault
    if file.suffix not in (".json", ".yml", ".yaml") and not text.lstrip().startswith("{"):
        return notation.parse(text, catalogue=catalogue)
    try:
        return Plan.model_validate(yaml.safe_load(text))
    except yaml.YAMLError as fault:
        raise ConfigurationError(f"{file}: {' '.join(str(fault).split())}") from fault
    except ValidationError as fault:
        first = fault.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        says = f"{where}: {first['msg']}" if where else "this is no plan; it needs `goal` and `steps`"
        raise ConfigurationError(f"{file}: {says}") from fault


async def tools_of(settings: Settings, rules: Policy) -> tuple[Catalogue, dict[str, Any]]:
    from bot.app import registry, with_slack

    tools = with_slack(registry(settings), rules)
    return tools.catalogue, tools.digests()


def say_faults(faults: list[str], *, as_json: bool) -> int:
    if as_json:
        sys.stdout.write(json.dumps({"ok": False, "faults": faults}, ensure_ascii=False, indent=1) + "\n")
    for fault in () if as_json else faults:
        console.print(f"fault: {fault}", markup=False)
    return 1


def _step(plan: Plan, grade: Any, catalogue: Catalogue) -> dict[str, Any]:
    step = plan.step(grade.step)
    return {
        "id": step.id,
        "number": step.number,
        "does": sentence(step, catalogue[step.tool]),
        "risk": grade.level,
        "mode": grade.mode,
        "reasons": list(grade.reasons),
        "rules": list(grade.rules),
        "confirms": grade.confirms,
    }


def _print(found: dict[str, Any]) -> None:
    console.print(f"{found['risk']} risk · digest {found['digest'][:8]} · order {found['order']}", markup=False)
    wait = "runs at once: it only reads" if found["runs_at_once"] else f"waits for {found['approvals']} approval(s)"
    console.print(wait)
    for step in found["steps"]:
        again = " · asks again before it runs" if step["confirms"] else ""
        why = "; ".join(step["reasons"])
        console.print(f"  {step['number']} · {step['does']} · {step['risk']}, {step['mode']}: {why}{again}", markup=False)
    for fault in found["faults"]:
        console.print(f"refused: {fault}", markup=False)


def check_policy(file: Path | None, data: Path | None, *, as_json: bool) -> int:
    """0 with remarks. A file that cannot be used raises `ConfigurationError`; as data it is said on standard output, with 2."""
    from bot.app import read_policy

    settings = load(data)
    try:
        rules = read_policy(file or settings.policy)
    except ConfigurationError as fault:
        if not as_json:
            raise
        sys.stdout.write(json.dumps({"ok": False, "fault": str(fault)}, ensure_ascii=False, indent=1) + "\n")
        return 2
    catalogue, _ = asyncio.run(tools_of(settings, rules))
    remarks = policy.remarks(rules, catalogue)
    if as_json:
        found = {"ok": True, "profile": rules.profile, "approvers": list(rules.approvers), "rules": len(rules.rules), "remarks": remarks}
        sys.stdout.write(json.dumps(found, ensure_ascii=False, indent=1) + "\n")
        return 0
    for remark in remarks:
        console.print(f"remark: {remark}", markup=False)
    on_trial = sum(rule.shadow for rule in rules.rules)
    trial = f" ({on_trial} on trial)" if on_trial else ""
    console.print(f"ok: profile {rules.profile}, {len(rules.approvers)} approver entries, {len(rules.rules)} rules{trial}", markup=False)
    return 0


def print_example(name: str) -> int:
    """Print a policy file to begin from. Raises `ConfigurationError` for a name that there is none of."""
    sys.stdout.write(example(name))
    return 0
