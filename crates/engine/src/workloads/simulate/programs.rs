//! The programs of a world: started, observed and summarised.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;

use lanlab_sim::World;
use lanlab_sim::programs::echo::{Answered, Echo, Requested, request, respond};
use lanlab_sim::programs::stream::{
    Agreement, Stream, receive_tcp, receive_udp, send_tcp, send_udp,
};
use lanlab_sim::programs::{HostNode, SERVER_PORT, addresses_of};
use lanlab_stack::ip::Refusal;
use lanlab_workloads::Progress;
use lanlab_workloads::virtual_time::Task;

use super::check::{Checked, Work};
use super::copy::Copying;
use super::outcomes;
use super::stations::Stationing;
use crate::messages::{
    Failure, RoleOutcome, Simulate, SimulatedMachine, SimulatedSent, SimulatedStoreFacts,
    SimulatedWork, StreamReceived, StreamSent, Transport,
};
use crate::running::Running;

pub enum Programs {
    Stream {
        sender: Task<Result<StreamSent, Refusal>>,
        receiver: Task<Result<StreamReceived, Refusal>>,
        progress: Rc<Progress>,
        reported: Cell<(u64, u64)>,
    },
    Echo {
        requesters: Vec<Task<Result<Requested, Refusal>>>,
        answered: Rc<Answered>,
        refused: Option<Refusal>,
        progress: Rc<Progress>,
        reported: Cell<(u64, u64)>,
    },
    Copy(Copying),
    Stations(Stationing),
}

fn buffers(machine: &SimulatedMachine) -> (usize, usize) {
    (machine.receive_buffer_bytes as usize, machine.send_buffer_bytes as usize)
}

fn address(host: u16, ip_version: u8) -> SocketAddr {
    let [ipv4, ipv6] = addresses_of(host);
    SocketAddr::new(if ip_version == 4 { ipv4 } else { ipv6 }, SERVER_PORT)
}

impl Programs {
    /// Start them at the beginning of virtual time.
    pub fn start(
        asked: &Simulate,
        checked: &Checked,
        world: &World<HostNode>,
    ) -> Result<Self, Failure> {
        let machines = &asked.world.machines;
        let last = machines.len() as u16 - 1;
        let reported = Cell::new((0, 0));
        match (&asked.work, &checked.work) {
            (SimulatedWork::Stream(asked), Work::Stream(plan)) => {
                let stream = Stream {
                    plan: Rc::new(plan.as_ref().clone()),
                    sent: Rc::default(),
                    received: Rc::default(),
                    to: address(last, asked.ip_version),
                    agreement: Rc::<Agreement>::default(),
                };
                let progress = Rc::clone(&stream.received);
                let (from, to) = (world.host(0), world.host(last));
                let sizes = (buffers(&machines[0]), buffers(&machines[1]));
                let (receiver, sender) = match asked.spec.transport {
                    Transport::Udp => (
                        to.spawn("receiver", receive_udp(to.clone(), stream.clone(), sizes.1)),
                        from.spawn("sender", send_udp(from.clone(), to, stream, sizes.0)),
                    ),
                    Transport::Tcp => {
                        let window_bytes = machines[1].tcp.window_bytes;
                        let receiving = receive_tcp(to.clone(), stream.clone(), window_bytes);
                        (
                            to.spawn("receiver", async { Ok(receiving.await) }),
                            from.spawn("sender", send_tcp(from.clone(), to, stream, sizes.0.1)),
                        )
                    }
                };
                Ok(Self::Stream { sender, receiver, progress, reported })
            }
            (SimulatedWork::Echo(asked), Work::Echo(plan)) => {
                let progress = Rc::<Progress>::default();
                let echo = |machine| Echo {
                    plan: Rc::new(plan.clone()),
                    reply_bytes: asked.reply_size_bytes.unwrap_or(asked.spec.message_size_bytes)
                        as usize,
                    // Separate for each: a finished requester cancels what belongs to it.
                    progress: Rc::default(),
                    to: address(last, asked.ip_version),
                    buffers: buffers(machine),
                };
                let answered = Rc::<Answered>::default();
                let responder = echo(&machines[usize::from(last)]);
                let refused = respond(&world.host(last), &responder, &answered).err();
                let requesters = (0..last)
                    .map(|id| {
                        let host = world.host(id);
                        let echo = echo(&machines[usize::from(id)]);
                        let counted = Rc::clone(&progress);
                        let work = async move {
                            let own = Rc::clone(&echo.progress);
                            let requested = request(host, echo).await;
                            let (messages, bytes) = own.counted();
                            counted.count(messages, bytes);
                            requested
                        };
                        world.host(id).spawn(format!("requester {}", id + 1), work)
                    })
                    .collect();
                Ok(Self::Echo { requesters, answered, refused, progress, reported })
            }
            (SimulatedWork::Copy(copy), Work::Copy(dataset, sizes)) => {
                super::copy::start(world, machines, &copy.spec, (dataset, sizes)).map(Self::Copy)
            }
            (SimulatedWork::Stations(stations), Work::Stations(_)) => {
                super::stations::start(world, machines, &stations.spec).map(Self::Stations)
            }
            // The check derives the plan from the workload's own specification.
            _ => unreachable!("the plan is that of another workload"),
        }
    }

    pub fn report(&self, running: &Running) {
        let ((messages, bytes), reported) = match self {
            Self::Stream { progress, reported, .. } | Self::Echo { progress, reported, .. } => {
                (progress.counted(), reported)
            }
            Self::Copy(copying) => (copying.progress.counted(), &copying.reported),
            Self::Stations(stationing) => (stationing.counted(), &stationing.reported),
        };
        let before = reported.replace((messages, bytes));
        running.count(messages - before.0, bytes - before.1);
    }

    pub fn outcomes(
        &self,
        checked: &Checked,
        world: &World<HostNode>,
        running: &Running,
    ) -> Result<Vec<RoleOutcome>, Failure> {
        match (self, &checked.work) {
            (Self::Stream { sender, receiver, .. }, _) => Ok(vec![
                RoleOutcome::StreamSent(Box::new(result(sender.take())?)),
                RoleOutcome::StreamReceived(Box::new(result(receiver.take())?)),
            ]),
            (Self::Echo { requesters, answered, refused, .. }, Work::Echo(plan)) => {
                result(Some(refused.map_or(Ok(()), Err)))?;
                let mut roles = Vec::with_capacity(requesters.len() + 1);
                for (id, requester) in (0..).zip(requesters) {
                    let cpu = outcomes::cpu(&world.host(id));
                    let requested = outcomes::requested(plan, result(requester.take())?, cpu);
                    roles.push(RoleOutcome::EchoRequested(Box::new(requested)));
                }
                let cpu = outcomes::cpu(&world.host(requesters.len() as u16));
                let responded = outcomes::responded(plan, answered, cpu);
                roles.push(RoleOutcome::EchoResponded(Box::new(responded)));
                Ok(roles)
            }
            (Self::Copy(copying), _) => {
                let copied = copying.take(running, outcomes::cpu(&world.host(0)))?;
                Ok(vec![RoleOutcome::Copied(Box::new(copied)), RoleOutcome::FilesServed])
            }
            (Self::Stations(stationing), _) => {
                let stationed = stationing.take(running, world)?;
                Ok(vec![RoleOutcome::Stationed(Box::new(stationed)), RoleOutcome::FilesServed])
            }
            _ => unreachable!("the plan is that of another workload"),
        }
    }

    pub fn stores(&self) -> Vec<Option<SimulatedStoreFacts>> {
        match self {
            Self::Copy(copying) => copying.served.facts(),
            Self::Stations(stationing) => stationing.files.facts(),
            _ => Vec::new(),
        }
    }

    pub fn timed(&self) -> Vec<SimulatedSent> {
        if let Self::Copy(copying) = self { copying.sent.borrow().clone() } else { Vec::new() }
    }
}

fn result<T>(ended: Option<Result<T, Refusal>>) -> Result<T, Failure> {
    let defect = || Failure::new("engine.defect", "a program ended without a result");
    let refused = |refusal: Refusal| Failure::new("simulate.refused", refusal.to_string());
    ended.ok_or_else(defect)?.map_err(refused)
}
