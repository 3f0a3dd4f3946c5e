//! The end that sends requests, in a closed loop or on schedule.

use lanlab_messages::EndedBy;
use lanlab_stack::ip::Refusal;
use lanlab_units::{Instant, Pace};
use lanlab_workloads::echo::{
    ClosedLoop, Counts, Due, Heard, LastHeard, RateListener, RateSchedule, RateSender, Step,
};

use super::channel::{Channel, Way};
use super::{Echo, Requested};
use crate::program::Host;
use crate::programs::HostNode;
use crate::programs::connection::tcp_facts;

/// Send the requests of an echo from `host`.
pub async fn request(host: Host<HostNode>, echo: Echo) -> Result<Requested, Refusal> {
    let mut channel = Channel::open(&host, &echo).await?;
    let start = host.now();
    let (ended_by, counts) = match echo.plan.pace {
        None => closed_loop(&host, &echo, &mut channel, start).await?,
        Some(pace) => on_schedule(&host, &echo, &mut channel, pace, start).await?,
    };
    let tcp = match channel.way {
        Way::Datagrams { .. } => None,
        Way::Connection { id, .. } => Some(host.with_node(|node, now| {
            node.ip.interface.close(now, id);
            tcp_facts(&node.ip.interface.facts(id))
        })),
    };
    Ok(Requested { ended_by, counts, tcp })
}

async fn closed_loop(
    host: &Host<HostNode>,
    echo: &Echo,
    channel: &mut Channel,
    start: Instant,
) -> Result<(EndedBy, Counts), Refusal> {
    let mut requester = ClosedLoop::new(&echo.plan, &echo.progress, start);
    loop {
        let now = host.now();
        // The world's time limit ends the program before silence does.
        match requester.next(now).unwrap_or(Step::Over(EndedBy::Silence)) {
            Step::Measure => {}
            Step::Send(sequence) => {
                let handed = channel.send(sequence, now).await?;
                requester.handed(handed, now);
                // Otherwise it would never listen if more requests can be in flight than are ever
                // sent.
                while !requester.is_full() && channel.has_reply() {
                    let heard = channel.next(host.now()).await;
                    requester.heard(heard, host.now());
                }
            }
            Step::Listen(until) => {
                let heard = channel.next(until).await;
                requester.heard(heard, host.now());
            }
            Step::Wait(until) => host.clock().sleep_until(until).await,
            Step::Over(ended_by) => return Ok((ended_by, requester.counts)),
        }
    }
}

/// One program sends and listens. On one processor it takes the same turns as two threads.
async fn on_schedule(
    host: &Host<HostNode>,
    echo: &Echo,
    channel: &mut Channel,
    pace: Pace,
    start: Instant,
) -> Result<(EndedBy, Counts), Refusal> {
    let schedule = RateSchedule::new(&echo.plan, pace, start);
    let last_heard = LastHeard::new(start);
    let mut sender = RateSender::new(&echo.plan, &echo.progress, &last_heard, schedule);
    let mut listener = RateListener::new(&echo.plan, &echo.progress, &last_heard, schedule);
    loop {
        let now = host.now();
        // A responder of the same world is always alive.
        listener.heard(Heard::Alive, now);
        let (until, all_sent) = match sender.next(now) {
            Due::Send(sequence) => {
                let handed = channel.send(sequence, now).await?;
                sender.handed(handed, now);
                continue;
            }
            Due::SayAlive => continue,
            Due::Wait(until) | Due::Rest(until) => (until, false),
            // Checks for the end about fifty times a second, like the real requester.
            Due::Over => (now.plus_nanos(LOOK_NS), true),
        };
        if let Some(ended_by) = listener.end(now, all_sent).unwrap_or(Some(EndedBy::Silence)) {
            let ended_by = listener.close(&sender, ended_by, now);
            return Ok((ended_by, listener.counts));
        }
        let heard = channel.next(until).await;
        listener.heard(heard, host.now());
    }
}

const LOOK_NS: u64 = 20_000_000;
