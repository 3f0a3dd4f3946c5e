"""`lanlab nas`: which protocol of a file server is fastest, and for what."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from lanlab.cli.options.services import PasswordFilesOption, check_trust
from lanlab.cli.options.shared import (
    JsonOption,
    SeedOption,
    StoreOption,
    VerboseOption,
    argument,
    flag,
    option,
)
from lanlab.cli.terminal.remarks import can_ask, deliver, say, typed_command
from lanlab.errors import RunInterrupted, UsageError
from lanlab.services import schemes
from lanlab.store import RunRecord, TrialRecord, open_store, store_option
from lanlab.store.records import Level
from lanlab.units import format_duration, format_size

if TYPE_CHECKING:
    from lanlab.nas.plan import Speed
    from lanlab.plan.plan import PlannedTrial
    from lanlab.plan.running import Estimate
    from lanlab.run import Watcher
    from lanlab.workloads import Progress


def nas(
    host: str = argument("HOST", "Name or address of the server, or a URL at it.", ...),
    urls: list[str] | None = argument(
        "URL|DIRECTORY",
        "Share, folder, export or bucket to use for a service, in place of the usual one; "
        "or a directory of this machine where one is mounted.",
    ),
    user: str | None = option("--user", "NAME", "User to log in as."),
    share: str | None = option(
        "--share", "NAME", "SMB share to copy to. Default: the only one listed, or a prompt."
    ),
    password_file: PasswordFilesOption = None,
    trust: str | None = option(
        "--trust",
        "sha256:HEX|FILE",
        "Trusted certificate or host key, or a file of them. Default: the system's.",
    ),
    quick: bool = flag("--quick", "Measure for about 3 minutes, not 15."),
    yes: bool = flag("--yes -y", "Start without asking."),
    seed: SeedOption = None,
    store: StoreOption = None,
    verbose: VerboseOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find the fastest protocol of a file server, and for what.

    Looks at the usual ports of SMB, NFS, SFTP, FTP and WebDAV on HOST, and at nothing else. Then it
    copies one large file and many small files, up and down, and creates, renames and removes empty
    files, by 1 and 8 clients, over each service in random order, all from this machine (`lanlab
    copy --from HOST` measures from another). Every byte is compared, and lanlab's files are
    removed.

    Name a URL for a service at another port, for S3, or for a folder: `s3://KEY@nas:9000/BUCKET`.

    Examples: lanlab nas nas.lan --user me --share data;
    lanlab nas nas.lan --user me --share data --quick --yes --json;
    lanlab nas 192.168.7.2 smb://me@192.168.7.2/data/tmp nfs://192.168.7.2/volume1
    """
    from lanlab.cli.places.nas_targets import host_of, password_files
    from lanlab.cli.places.same_places import say_same_places
    from lanlab.cli.running.single import finish
    from lanlab.cli.running.watch import RunWatch
    from lanlab.nas import plan
    from lanlab.workloads.services.server_url import checked_trust

    files = password_files(password_file or ())
    checked_trust(trust)
    host, urls = host_of(host, urls or ())
    targets, left_out = _targets(host, urls, (user, share), files, trust)
    say_same_places(targets)
    check_trust(trust, targets)
    scale = plan.QUICK if quick else plan.USUAL
    say(f"checking {', '.join(targets)}")
    speed, refused = _check(host, targets, trust, store)
    for url, why in refused.items():
        say(f"{url}: left out: {why}")
    usable = [url for url in targets if url not in refused]
    if not usable or speed is None:
        raise UsageError(
            f"{host}: nothing can be measured",
            hint="see the reasons above; `lanlab copy 1x1kB URL` tests a single target",
        )
    if len(usable) == 1:
        raise UsageError(
            f"{host}: only {usable[0]} can be measured; a comparison needs two",
            hint=f"name one more URL or a mount; `lanlab copy many-small {usable[0]}` measures one",
        )
    tasks = plan.tasks(scale, speed, len(usable))
    expected_s = 1.3 * scale.budget_s
    what = f"{plan.in_words(tasks)}, {scale.trials} times over each of {len(usable)} targets"
    say(
        f"plan: {what}; needs {format_size(plan.bytes_needed(tasks))} on the server; takes about "
        f"{format_duration(expected_s)}"
    )
    _confirm(yes)
    study = plan.study(host, usable, tasks, scale.trials, _trust(trust, usable))
    with RunWatch(expected_s=expected_s) as watch:
        run, trials = _measured(study, store, seed, watch)
    _answer(host, run, trials, {**left_out, **refused}, what, as_json, store_option(store))
    finish(run, trials, verbose=verbose, summary=as_json, hint_of=_own_hint)


def _targets(
    host: str,
    urls: Sequence[str],
    login: tuple[str | None, str | None],
    files: Mapping[str, str],
    trust: str | None,
) -> tuple[list[str], dict[str, str]]:
    """What to measure, with its passwords; and why each other service is left out."""
    from lanlab.addresses import in_url
    from lanlab.cli.places.nas_targets import ask_passwords, targets_of, with_places
    from lanlab.nas import discovery

    targets, left_out = targets_of(host, urls, *login)
    if targets:
        ask_passwords(targets, files)
    targets, without_place = with_places(targets, trust)
    left_out |= without_place
    for service, why in left_out.items():
        say(f"{service}: left out: {why}")
    if targets:
        return targets, left_out
    silence = None if left_out else discovery.silence(host)
    if silence is not None:
        raise UsageError(
            f"{host}: no answer ({silence})", hint="check the name, and that the server is on"
        )
    ports = ", ".join(str(port) for port in dict.fromkeys(p for p, _ in discovery.PROBES.values()))
    listening = ", ".join(left_out) or f"no file service at port {ports}"
    raise UsageError(
        f"{host}: nothing to measure (found: {listening})",
        hint="name a share or folder, and another port, by a URL, e.g. `lanlab nas "
        f"smb://me@{in_url(host)}:4450/data`",
    )


#: The part of a hint that names an option of `copy`.
_OPTION = re.compile(r"[;,] [^;]*`--(?!trust)[^;]*")


def _own_hint(hint: str) -> str:
    return _OPTION.sub("", hint)


class _Silent:
    run_id: str | None = None

    def run_started(self, run: RunRecord, estimate: Estimate) -> None:
        self.run_id = run.id

    def trial_started(self, trial: PlannedTrial, estimate: Estimate) -> None: ...
    def trial_progress(self, trial: PlannedTrial, progress: Progress) -> None: ...
    def trial_ended(self, trial: TrialRecord) -> None: ...


def _check(
    host: str, targets: Sequence[str], trust: str | None, store: str | None
) -> tuple[Speed | None, dict[str, str]]:
    """
    Copy a large and some small files to each target once. After a failure, skip the target's other
    copies.

    Returns:
        The rate of the slowest usable target, and why the others cannot be used.
    """
    from lanlab.analysis.trials.failures import failures, place_and_reason
    from lanlab.nas import plan

    usable, refused = list(targets), dict[str, str]()
    slowest: list[float] = []
    for metric, dataset in plan.CHECKS.items():
        if not usable:
            return None, refused
        study = plan.check_study(host, usable, dataset, _trust(trust, usable))
        watch = _Silent()
        try:
            _, trials = _measured(study, store, None, watch)
        except RunInterrupted:
            raise RunInterrupted("interrupted during the check; nothing was measured") from None
        finally:
            if watch.run_id is not None:
                with open_store(store) as records:
                    # This copy is only made to plan the sizes, so it is not a result.
                    records.delete_run(watch.run_id)
        for one in failures(trials):
            _, why = place_and_reason(one.trial)
            hint = _own_hint(one.hint or "")
            refused[str(one.trial.factors["server"])] = f"{why}; {hint}" if hint else why
        usable = [url for url in usable if url not in refused]
        slowest.append(min((t.metrics[metric] for t in trials if t.status == "done"), default=0))
    return (plan.Speed(*slowest) if usable else None), refused


def _trust(trust: str | None, targets: Sequence[str]) -> dict[str, Level]:
    """The parameter for --trust if one of the targets has a certificate or host key."""
    known = schemes()
    has_identity = any(known[url.partition("://")[0].lower()].has_identity for url in targets)
    return {"trust": trust} if trust is not None and has_identity else {}


def _confirm(yes: bool) -> None:
    if yes:
        return
    if not can_ask():
        raise UsageError("cannot ask whether to start: no terminal", hint="add --yes")
    if not typer.confirm("Start?", default=True, err=True):
        raise typer.Exit(1)


def _measured(
    description: dict[str, object], store: str | None, seed: int | None, watch: Watcher
) -> tuple[RunRecord, list[TrialRecord]]:
    from lanlab.cli.terminal.memory import check_for_a_run
    from lanlab.run import RunRequest, new_run
    from lanlab.studies.load import parse_study

    check_for_a_run()
    study = parse_study(description, "lanlab nas")
    with open_store(store) as records:
        command = typed_command()
        request = RunRequest(
            study, "single", "loopback", None, seed, command=command, allows_commands=True
        )
        run = new_run(request, records, watch)
        return run, records.trials(run.id)


def _answer(
    host: str,
    run: RunRecord,
    trials: list[TrialRecord],
    left_out: Mapping[str, str],
    what: str,
    as_json: bool,
    option: str,
) -> None:
    from lanlab.analysis.trials.failures import by_kind, failures
    from lanlab.nas.network import adapter_bps
    from lanlab.report.answer.purposes import network_sentence, purposes_of
    from lanlab.report.document.document import Document

    found = purposes_of(run, trials)
    network = network_sentence(trials, found.names, adapter_bps(host, trials))
    failed = [
        {"server": own[0].trial.factors["server"], "trials": len(own), "reason": own[0].message}
        for own in by_kind(failures(trials))
    ]
    result = {"host": host, "run": run.id, "left_out": dict(left_out), "network": network}
    more = [*filter(None, [found.why]), f"Measured: {what}."]
    more += [f"not measured: {target}: {why}" for target, why in left_out.items()]
    deliver(
        Document(
            answer=[found.sentence, *filter(None, [network, found.disturbed])],
            body=[table for table in (found.table, found.reasons) if table.rows],
            more=more,
            next_step=f"`lanlab report {run.id}{option}` writes a page with figures",
            data={**result, "plan": what, "failed": failed, **found.to_json()},
        ),
        as_json,
    )
