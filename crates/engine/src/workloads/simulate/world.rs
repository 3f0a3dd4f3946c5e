//! Execution of a simulated world.

use std::cell::RefCell;
use std::rc::Rc;

use lanlab_sim::programs::{HostNode, IpNode, Station};
use lanlab_sim::{Bounds, Ended, HostId, World};
use lanlab_stack::ip::TcpProfile;
use lanlab_units::Instant;

use super::check::{Checked, MOST_FRAMES, SLICE_EVENTS, world_plan};
use super::programs::Programs;
use super::{outcomes, service};
use crate::messages::{
    Failure, Outcome, Simulate, Simulated, SimulatedMachine, SimulatedWork, SimulationEnd,
};
use crate::running::{Failed, Measured, Running};
use crate::workloads::pcap_file::PcapFile;

const MOST_PCAP_BYTES: u64 = 2 << 30;
const MOST_NAMED: usize = 8;

/// Run a world to its end, or until the driver cancels.
pub fn run(request: &Simulate, checked: &Checked, running: &Running) -> Measured {
    let machines = &request.world.machines;
    let plan = world_plan(request, checked.medium);
    let hosts = machines.len() as u16;
    let node = |host: u16, _| HostNode {
        ip: IpNode::new(host, hosts, tcp(&machines[usize::from(host)]), request.seed),
        station: station(&request.work, host, hosts - 1),
    };
    let bad = |bad: lanlab_sim::BadWorld| Failure::new("request.value", bad.to_string());
    let world = World::new(&plan, request.seed, node).map_err(bad)?;
    for (host, machine) in (0..).zip(machines) {
        if let Some(freeze) = machine.freeze {
            world.host(host).freeze(freeze.after_ns, freeze.for_ns);
        }
    }
    let file = request.pcap.as_deref().map(PcapFile::create).transpose()?;
    let file = file.map(|file| Rc::new(RefCell::new(file)));
    if let Some(file) = &file {
        let file = Rc::clone(file);
        world.record(move |at, frame| file.borrow_mut().add(at.as_nanos(), frame));
    }
    let programs = Programs::start(request, checked, &world)?;
    let (end, failure) = run_slices(request, checked, &world, &programs, running, file.as_deref());
    let facts = outcomes::facts(&world, hosts, &programs.stores(), programs.timed(), end);
    let done = failure.is_none();
    // Unfinished programs have no result.
    let ended = if done { programs.outcomes(checked, &world, running) } else { Ok(Vec::new()) };
    drop(world);
    let recorded = file.and_then(Rc::into_inner).map_or(Ok(()), |file| file.into_inner().end());
    let outcomes = ended?;
    let outcome = Outcome::Simulated(Box::new(Simulated { outcomes, world: facts }));
    match failure.or(recorded.err()) {
        None => Ok(outcome),
        Some(failure) => Err(Box::new(Failed { failure, outcome: Some(outcome) })),
    }
}

/// Run to the end; returns its time, and the failure if programs have not ended.
fn run_slices(
    request: &Simulate,
    checked: &Checked,
    world: &World<HostNode>,
    programs: &Programs,
    running: &Running,
    file: Option<&RefCell<PcapFile>>,
) -> (SimulationEnd, Option<Failure>) {
    let most_events = request.world.bounds.events;
    let mut events = 0;
    loop {
        events = most_events.min(events + SLICE_EVENTS);
        let until = Instant::from_nanos(checked.latest_end_ns);
        let ended = world.run(&Bounds { events, until });
        programs.report(running);
        let virtual_s = world.facts().now.as_nanos() as f64 / 1e9;
        return match ended {
            Ended::ProgramsDone => (SimulationEnd::ProgramsDone, None),
            Ended::Events => {
                let written = file.map_or(0, |file| file.borrow().written_bytes);
                let frames = world.frames_under_way() as u64;
                match next_after(events, most_events, written, frames, running.is_cancelled()) {
                    Next::Slice => continue,
                    Next::Cancelled => (SimulationEnd::Cancelled, Some(Failure::cancelled())),
                    Next::FileTooLong => {
                        let message = format!(
                            "the file of frames has more than {MOST_PCAP_BYTES} bytes after {virtual_s} \
                             s of virtual time"
                        );
                        let failure = Failure::new("simulate.pcap_too_long", message)
                            .hint("simulate less time, or without `pcap`");
                        (SimulationEnd::Events, Some(failure))
                    }
                    Next::TooManyFrames => {
                        let message = format!(
                            "the world has {frames} frames at once after {virtual_s} s of virtual time; \
                             allowed: {MOST_FRAMES}"
                        );
                        let failure = Failure::new("simulate.frames", message)
                            .hint("simulate fewer machines, or smaller queues");
                        (SimulationEnd::Events, Some(failure))
                    }
                    Next::NoMoreEvents => {
                        let message = format!(
                            "the world has not come to its end after {most_events} events and \
                             {virtual_s} s of virtual time"
                        );
                        let failure = Failure::new("simulate.events", message)
                            .hint("simulate less, or raise `world.bounds.events`");
                        (SimulationEnd::Events, Some(failure))
                    }
                }
            }
            Ended::Time => {
                let message = format!(
                    "the world has not come to its end after {virtual_s} s of virtual time"
                );
                let failure = Failure::new("simulate.time", message)
                    .hint("simulate less, or raise `world.bounds.virtual_time_ns`");
                (SimulationEnd::Time, Some(failure))
            }
            Ended::Deadlock(waiting) => {
                let named: Vec<String> = waiting
                    .iter()
                    .take(MOST_NAMED)
                    .map(|program| format!("`{}` waits for {}", program.name, program.waits_for))
                    .collect();
                let message = format!(
                    "after {virtual_s} s of virtual time nothing can happen any more: {}",
                    named.join("; ")
                );
                (SimulationEnd::Deadlock, Some(Failure::new("simulate.deadlock", message)))
            }
        };
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Next {
    Slice,
    Cancelled,
    FileTooLong,
    TooManyFrames,
    NoMoreEvents,
}

fn next_after(
    events: u64,
    most_events: u64,
    written_bytes: u64,
    frames: u64,
    is_cancelled: bool,
) -> Next {
    if is_cancelled {
        Next::Cancelled
    } else if written_bytes > MOST_PCAP_BYTES {
        Next::FileTooLong
    } else if frames > MOST_FRAMES {
        Next::TooManyFrames
    } else if events < most_events {
        Next::Slice
    } else {
        Next::NoMoreEvents
    }
}

fn station(work: &SimulatedWork, host: HostId, last: HostId) -> Option<Station> {
    match work {
        SimulatedWork::Stream(_) | SimulatedWork::Echo(_) => None,
        SimulatedWork::Copy(copy) => {
            service::station(&copy.spec.service, copy.profile.as_deref(), host, last)
        }
        SimulatedWork::Stations(stations) => {
            service::station(&stations.spec.service, stations.profile.as_deref(), host, last)
        }
    }
}

fn tcp(asked: &SimulatedMachine) -> TcpProfile {
    let tcp = &asked.tcp;
    TcpProfile {
        mss_bytes: tcp.mss_bytes,
        receive_buffer_bytes: tcp.window_bytes as usize,
        send_buffer_bytes: asked.send_buffer_bytes as usize,
        send_rings: TcpProfile::LONG_SEND_RINGS,
        delayed_ack_ns: (tcp.delayed_ack_ns > 0).then_some(tcp.delayed_ack_ns),
        is_modern: false,
        nagle: tcp.nagle,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::SimulatedTcp;
    use crate::output::Output;
    use crate::workloads::simulate::check::check;
    use crate::workloads::simulate::check::tests::request;

    #[test]
    fn a_world_runs_until_a_bound_or_cancellation() {
        assert_eq!(next_after(100_000, 100_001, 2_147_483_648, 65_536, false), Next::Slice);
        assert_eq!(next_after(100_000, 100_001, 2_147_483_649, 65_537, false), Next::FileTooLong);
        assert_eq!(next_after(100_000, 100_001, 0, 65_537, false), Next::TooManyFrames);
        assert_eq!(next_after(100_000, 100_000, 0, 0, false), Next::NoMoreEvents);
        assert_eq!(next_after(100_000, 100_001, 2_147_483_649, 0, true), Next::Cancelled);
    }

    #[test]
    fn zero_delay_means_immediate_acknowledgements() {
        let delay = |delayed_ack_ns| {
            let tcp = SimulatedTcp { delayed_ack_ns, ..SimulatedTcp::default() };
            super::tcp(&SimulatedMachine { tcp, ..SimulatedMachine::default() }).delayed_ack_ns
        };
        assert_eq!([0, 1_000].map(delay), [None, Some(1_000)]);
    }

    #[test]
    fn progress_counts_all_received_bytes() {
        let request = request(&[
            ("/work/spec/message_size_bytes", "2"),
            ("/work/spec/amount", r#"{"time_ns": 5000000000}"#),
        ]);
        let checked = check(&request).unwrap();
        let running = Running::new(1, Output::new(std::io::sink()));
        let Ok(Outcome::Simulated(found)) = run(&request, &checked, &running) else {
            panic!("no result")
        };
        assert!(found.world.events > 2 * SLICE_EVENTS, "{}", found.world.events);
        let crate::messages::RoleOutcome::StreamReceived(received) = &found.outcomes[1] else {
            panic!("no receiver")
        };
        let messages = received.total_messages;
        assert!(messages > 74_000, "{messages}");
        assert_eq!(running.progress.counted(), (messages, 2 * messages));
    }
}
