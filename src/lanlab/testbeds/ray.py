"""
Nodes of a Ray cluster as hosts: Ray places an actor on each, watches it and restarts it, and the
actor runs the engine.

The nodes need only Ray, and listen only on a trial's ports: an engine's input and output pass
through its actor.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from lanlab.addresses import ip_family
from lanlab.engine.command import EngineCommand
from lanlab.engine.travelling import TravellingEngine, machine_name, travelling_engine
from lanlab.errors import RunError, UnmetNeed, UsageError
from lanlab.testbeds.base import Host, LinkFacts, Testbed
from lanlab.testbeds.link import check_unshaped
from lanlab.testbeds.ray_cluster import Cluster, Node
from lanlab.testbeds.ray_engine import ActorError, ActorLost, ActorProcess, ActorSilent, RemoteActor
from lanlab.testbeds.remote.installed_engine import (
    END_AFTER_SILENCE_S,
    HEARTBEAT_S,
    REMOVE_VARIABLE,
)

MAX_HOSTS = 64
PREFIX = "ray:"
#: If nodes have died, wait for others: something may restart them.
_RETURN_WITHIN_S = 30.0
#: Time for actors to start. Ray notices a node that is cut off after 65 s.
_START_WITHIN_S = 75.0
#: Attempts to choose nodes: one may die while its actor is started.
_ATTEMPTS = 3
_COPIES_AT_ONCE = 8
#: Time for an engine to be written to a node: 16 MB at 1 Mbit/s are 130 s.
_COPY_WITHIN_S = 600.0
#: Time after which a node that does not answer counts as lost. Restarting an actor takes some
#: seconds.
_LOST_AFTER_S = 20.0
#: Interval of polling the cluster: Ray reports changes of its nodes only on request.
_POLL_S = 0.5


@dataclass
class _Place:
    node: Node
    actor: RemoteActor
    facts: dict[str, str]
    engine: TravellingEngine
    path: str = ""
    was_copied: bool = False

    def keep_engine(self, content: object) -> None:
        """Install the engine there.

        Args:
            content: As Ray stores it.

        Raises:
            RunError: No directory is suitable, or the engine does not start.
        """
        sha256 = self.engine.sha256
        try:
            path = self.actor.call("keep_engine", sha256, content, within_s=_COPY_WITHIN_S)
        except ActorError as error:
            raise RunError(
                f"{self.node.address}: cannot store the engine: {error}",
                hint="free some space, or set XDG_CACHE_HOME of Ray to a directory that lets "
                f"programs start; it takes {len(self.engine.content) // 1000000 + 1} MB",
            ) from None
        self.path, self.was_copied = path, True

    def start_engine(self) -> EngineCommand:
        argv = (self.path, "--end-after-silence", str(END_AFTER_SILENCE_S))
        process = ActorProcess(self.actor, argv)
        label = self.node.address
        return EngineCommand((), label, None, HEARTBEAT_S, lambda: process.why_lost, process.begin)


class RayTestbed(Testbed):
    #: A call of an actor takes 2 ms, and on a busy machine 100 ms; a late start is repeated.
    start_lead_s = 0.25

    def __init__(self, text: str, hosts: int, link: str) -> None:
        """
        Args:
            text: The part after `ray:` in the testbed's name: HOST:PORT of the head node.
            hosts: Number of nodes to use, the first ones by address.
            link: `unshaped`: the network exists.

        Raises:
            UsageError: The cluster cannot be joined or has too few nodes, or a node cannot have an
                engine.
            LabError: For the same reasons. Nothing is left behind.
        """
        self.name = f"{PREFIX}{text}"
        check_unshaped(self.name, link, "the network between nodes is measured as it is")
        if not 2 <= hosts <= MAX_HOSTS:
            raise UsageError(f"{self.name}: {hosts} hosts; allowed: 2 to {MAX_HOSTS}")
        self.link = LinkFacts.as_it_is("network")
        self._places: list[_Place] = []
        self._closed = False
        self._cluster = Cluster(text)
        try:
            self._occupy(hosts)
            self._copy_engines()
        except BaseException:
            self.close()
            raise
        self.hosts = tuple(
            Host(
                f"host{number}",
                {ip_family(ipaddress.ip_address(place.node.address).version): place.node.address},
                (),
                called=place.node.address,
                start_engine=place.start_engine,
                runs_programs=False,
            )
            for number, place in enumerate(self._places)
        )

    def _occupy(self, hosts: int) -> None:
        for left in reversed(range(_ATTEMPTS)):
            nodes = self._choose(hosts)
            actors = [self._start_actor(node) for node in nodes]
            deadline = time.monotonic() + _START_WITHIN_S
            try:
                self._places = [
                    _place(node, actor, deadline) for node, actor in zip(nodes, actors, strict=True)
                ]
                return
            except BaseException as error:
                for actor in actors:
                    actor.end()
                if not isinstance(error, ActorLost):
                    raise
                if not left:
                    raise RunError(f"{self.name}: cannot start an actor: {error}") from error
                # Ray may list a node for some time after it died.
                time.sleep(_POLL_S)

    def _choose(self, hosts: int) -> list[Node]:
        deadline = time.monotonic() + _RETURN_WITHIN_S
        while len(nodes := self._cluster.nodes()) < hosts:
            if not self._cluster.has_lost_nodes() or time.monotonic() > deadline:
                raise UsageError(
                    f"{self.name}: too few live nodes with a free processor: found "
                    f"{len(nodes)}; needed: {hosts}",
                    hint="add nodes with `ray start`, or measure with fewer hosts",
                )
            time.sleep(_POLL_S)
        return nodes[:hosts]

    def _start_actor(self, node: Node) -> RemoteActor:
        ray = self._cluster.ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        from lanlab.testbeds import ray_actor

        ray.cloudpickle.register_pickle_by_value(ray_actor)
        there = NodeAffinitySchedulingStrategy(node.id, soft=False)
        options = {"num_cpus": 1, "max_restarts": -1, "scheduling_strategy": there}
        handle = ray.remote(ray_actor.NodeActor).options(**options).remote()
        return RemoteActor(ray, handle, node.address)

    def _copy_engines(self) -> None:
        without = []
        for place in self._places:
            path = place.actor.call("find_engine", place.engine.sha256)
            if path is None:
                without.append(place)
            else:
                place.path = path
        contents = {place.engine.sha256: place.engine.content for place in without}
        stored = {sha256: self._cluster.ray.put(content) for sha256, content in contents.items()}
        with ThreadPoolExecutor(_COPIES_AT_ONCE) as pool:
            list(pool.map(lambda place: place.keep_engine(stored[place.engine.sha256]), without))

    def facts(self) -> dict[str, object]:
        hosts: dict[str, dict[str, object]] = {
            host.name: {
                "label": host.label,
                "addresses": dict(host.addresses),
                "ray_node": place.node.id,
                **place.facts,
                "engine": {
                    "path": place.path,
                    "sha256": place.engine.sha256,
                    "was_copied": place.was_copied,
                },
            }
            for host, place in zip(self.hosts, self._places, strict=True)
        }
        return {**super().facts(), "ray": self._cluster.ray.__version__, "reached": hosts}

    def damage(self) -> str | None:
        """See `Testbed.damage`: a node that is gone. A restarting actor is waited for."""
        for host, place in zip(self.hosts, self._places, strict=True):
            deadline = time.monotonic() + _LOST_AFTER_S
            while (why := _why_unreached(place.actor, deadline)) is not None:
                is_there = any(node.id == place.node.id for node in self._cluster.nodes())
                if not is_there or time.monotonic() > deadline:
                    return f"{host.name}: {place.node.address}: {why}"
                time.sleep(_POLL_S)
        return None

    def close(self) -> None:
        """See `Testbed.close`; what was started on the nodes ends with the actors."""
        if self._closed:
            return
        self._closed = True
        everything = bool(os.environ.get(REMOVE_VARIABLE))
        for place in self._places:
            # Where the node is gone, nothing can be removed.
            with contextlib.suppress(ActorError):
                place.actor.call("remove_engine", place.path, even_from_cache=everything)
        for place in self._places:
            place.actor.end()
        self._cluster.close()


def _place(node: Node, actor: RemoteActor, deadline: float) -> _Place:
    """
    A node whose actor has begun.

    Raises:
        ActorLost: The node is gone.
        UsageError: It has no room for the actor, or there is no engine for it.
    """
    try:
        facts = actor.call("facts", within_s=max(1.0, deadline - time.monotonic()))
    except ActorSilent:
        raise UsageError(
            f"{node.address}: no actor of lanlab started there within {_START_WITHIN_S:g} s; it "
            "needs one free processor of the node",
            hint="`ray status` shows what uses the cluster",
        ) from None
    if facts["system"] != "Linux":
        raise UnmetNeed(f"{node.address}: found {facts['system']}; allowed: Linux")
    engine = travelling_engine(machine_name(facts["architecture"]), node.address)
    return _Place(node, actor, facts, engine)


def _why_unreached(actor: RemoteActor, deadline: float) -> str | None:
    try:
        actor.call("facts", within_s=max(1.0, deadline - time.monotonic()))
    except ActorError as error:
        return str(error)
    return None
