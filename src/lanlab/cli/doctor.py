"""`lanlab doctor`: what this machine can do, what is missing, how to get it."""

from __future__ import annotations

import dataclasses

import typer

from lanlab.cli.options import JsonOption, StoreOption


def doctor(store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Say what this machine can do, what is missing and how to get it.

    Exits with 1 if there is a testbed that this machine cannot have, or the store cannot be used.
    Other programs that can measure (`--driver`) and file servers that can be run are listed too;
    lanlab does without.

    Example: lanlab doctor
    """
    from lanlab.cli.terminal import answer, print_json
    from lanlab.services import services_of
    from lanlab.store.readiness import readiness
    from lanlab.testbeds.needs import needs
    from lanlab.testbeds.registry import TESTBEDS
    from lanlab.testbeds.servers import server_needs
    from lanlab.workloads.drivers.found import driver_needs

    kept = readiness(store)
    served = services_of("copy")
    drivers = [dataclasses.asdict(need) for need in driver_needs()]
    servers = [dataclasses.asdict(need) for need in server_needs()]
    found = {name: needs(name) for name in TESTBEDS}
    able = {name: all(need.found or not need.required for need in found[name]) for name in found}
    if as_json:
        print_json(
            {
                name: {
                    "able": able[name],
                    "needs": [dataclasses.asdict(need) for need in found[name]],
                }
                for name in found
            }
            | {
                "drivers": drivers,
                "services": served,
                "servers": servers,
                "store": dataclasses.asdict(kept),
            }
        )
    else:
        from rich.table import Table

        console = answer()
        for name in found:
            console.print(f"testbed {name}: {'ready' if able[name] else 'not possible here'}")
            table = Table(box=None, pad_edge=False, show_header=False)
            for need in found[name]:
                mark = "ok" if need.found else "MISSING" if need.required else "without"
                advice = "" if need.found else need.how_to_get
                table.add_row("  " + mark, need.name, need.detail, advice)
            console.print(table)
        console.print(f"store {kept.place}: {'ready' if kept.is_usable else 'not usable'}")
        console.print(f"  {kept.detail}")
        if kept.how_to_get:
            console.print(f"  {kept.how_to_get}")
        console.print(f"file services: {', '.join(services_of('copy'))}")
        console.print("  each but a directory with a server of its own (`lanlab copy --service`)")
        for each in servers:
            each["name"] = f"{each['name']} ({', '.join(each['services'])})"
        for title, listed in (
            ("drivers: other programs that can measure a condition (`--driver`)", drivers),
            ("servers: real file servers that can be run on a host of a testbed", servers),
        ):
            console.print(title)
            table = Table(box=None, pad_edge=False, show_header=False)
            for each in listed:
                mark = "ok" if each["found"] else "without"
                advice = "" if each["found"] else each["how_to_get"]
                table.add_row("  " + mark, each["name"], each["detail"], advice)
            console.print(table)
    if not (all(able.values()) and kept.is_usable):
        raise typer.Exit(1)
