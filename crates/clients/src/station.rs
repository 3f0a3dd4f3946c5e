//! A session of a carrier on Ethernet to the server of a target.

use lanlab_connections::wired::{WiredPlan, WiredPort, counts_of, node_of};
use lanlab_files::{Carrier, CarrierCounts, Class, Fault, IpxFraming, Result, Target};
use lanlab_os::RawLinkPlace;
use lanlab_stack::node::{BadPeer, CarrierKind, Peer, SegmentFacts};

use crate::raw_link::{link_fault, raw_place};
use crate::transport;

/// Call the server by name, or the nearest server, from this host's station, which has its own
/// name.
pub async fn connect(target: &Target, carrier: CarrierKind) -> Result<WiredPort> {
    let Some(plan) = plan_of(target) else {
        return Err(Fault::new(Class::Unreachable, "found no interface")
            .hint("name the interface that leads to the server"));
    };
    let called = server_of(target, carrier)?;
    let node = node_of(&plan).map_err(|error| link_fault(name_of(&plan.place), &error))?;
    let title = carrier.title();
    let what = match called {
        Peer::Nearest => format!("call {called} over {title}"),
        _ => format!("call `{called}` over {title}"),
    };
    transport::within(target, &what, async {
        node.ready().await.map_err(|error| Fault::of_connection("claim a name", &error))?;
        node.call(called).await.map_err(|error| {
            let fault = Fault::of_connection(&what, &error);
            match (fault.class, node.segment()) {
                (Class::Unreachable, Some(segment)) => not_found(fault, segment),
                (Class::Unreachable, None) => fault.hint(
                    "see whether the name is right: `lanlab listen` shows the names of a segment",
                ),
                _ => fault,
            }
        })
    })
    .await
}

fn server_of(target: &Target, carrier: CarrierKind) -> Result<Peer> {
    if let Some(name) = &target.server_name {
        let bad_name = |bad: BadPeer| Fault::new(Class::Name, bad.message).hint(bad.hint);
        return carrier.server(name).map_err(bad_name);
    }
    carrier.nearest().ok_or_else(|| {
        Fault::new(Class::Unreachable, "found no name of the server")
            .hint("name the server in its URL")
    })
}

fn not_found(mut fault: Fault, SegmentFacts { framing, network }: SegmentFacts) -> Fault {
    let network = network
        .map_or("a network without a number".to_owned(), |number| format!("network {number:08X}"));
    let framing = framing.map_or("all framings", IpxFraming::name_of);
    fault.message = format!("{}; asked on {network} in {framing}", fault.message);
    fault.hint("`lanlab listen` shows the framings and servers of a segment")
}

/// This host's station for a target; `None` over TCP, or without a link.
fn plan_of(target: &Target) -> Option<WiredPlan> {
    match target.carrier {
        Carrier::Tcp => None,
        Carrier::Frames(carrier) => {
            let (framing, network) = (target.ipx.framing(), target.ipx.network);
            let plan = WiredPlan::new(raw_place(target.link.as_ref()?), carrier);
            let profile = target.system().map_or(plan.profile, |system| *system.station);
            Some(WiredPlan { framing, network, profile, ..plan })
        }
    }
}

#[derive(Debug)]
pub struct CarriedSince<'a> {
    target: &'a Target,
    before: CarrierCounts,
}

impl<'a> CarriedSince<'a> {
    pub fn begin(target: &'a Target) -> Self {
        Self { target, before: counted(target).unwrap_or_default() }
    }

    /// Counts so far; `None` if the target uses no station.
    pub fn counts(&self) -> Option<CarrierCounts> {
        counted(self.target).map(|counts| counts.since(&self.before))
    }
}

fn counted(target: &Target) -> Option<CarrierCounts> {
    counts_of(&plan_of(target)?)
}

fn name_of(place: &RawLinkPlace) -> String {
    match place {
        RawLinkPlace::Interface(name) => format!("interface `{name}`"),
        RawLinkPlace::Descriptor(number) => format!("descriptor {number}"),
    }
}
