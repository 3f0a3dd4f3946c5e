//! Carrier sessions that clients open to this server's Ethernet station.

use std::sync::Arc;
use std::time::Duration;

use lanlab_connections::MessageTransport;
use lanlab_connections::wired::{WiredNode, WiredPlan};
use lanlab_files::{Class, Fault, Result};
use lanlab_served::{Files, Served};
use lanlab_stack::file_server::FileServer;
use lanlab_stack::node::CarrierKind;
use lanlab_stack::systems::System;
use lanlab_wire::netbios_name::{Name, suffix};
use tokio::task::JoinSet;

use crate::admission::{MemoryBudget, Proof, UNIT_BYTES as EACH};
use crate::file_sessions::serve_client;
use crate::visits::Visits;
use crate::{Bounds, Serving, Station, StationOffer};

/// Of every four sessions of a station, strangers (clients before login) may have this many.
const STRANGERS_OF_FOUR: usize = 3;

/// Time for NCP clients to log in: shells connect when a station starts, and wait at a prompt. The
/// watchdog ends vanished ones, and clients before login are evicted for others.
const AT_A_PROMPT: Duration = Duration::from_hours(7 * 24);

/// Join the link, claim the name, and serve each session. A station has at most 254 sessions, which bounds their
/// memory. Clients before login are evicted for others, as over TCP.
pub async fn serve<S: FileServer + Clone + Send + Sync + 'static>(
    (offer, system): (&StationOffer, Option<&'static System>),
    bounds: &Bounds,
    (server, root): (S, Arc<Served>),
    share: String,
) -> Result<Serving> {
    let name = Name::new(&offer.name, suffix::SERVER).map_err(|error| {
        Fault::new(Class::Name, format!("`{}` is no NetBIOS name: {error}", offer.name))
    })?;
    let place = offer.place.clone();
    let plan = WiredPlan::new(place, offer.carrier);
    let (framing, network) = (offer.ipx.framing(), offer.ipx.network);
    let profile = system.map_or(plan.profile, |system| *system.station);
    let sessions = offer.carrier.sessions(&profile);
    let plan = WiredPlan { name: Some(name), listens: true, framing, network, profile, ..plan };
    let failed = |error: std::io::Error| Fault::of_connection(format!("{:?}", plan.place), &error);
    let node = WiredNode::begin(&plan).map_err(failed)?;
    let what = format!("claim the name `{}`", offer.name);
    let claimed = tokio::time::timeout(bounds.login, node.ready()).await;
    claimed
        .map_err(|_| Fault::new(Class::TimedOut, what.clone()))?
        .map_err(|error| Fault::of_connection(&what, &error))?;
    let strangers = (usize::from(sessions) * STRANGERS_OF_FOUR).div_ceil(4);
    // A newcomer gets a place at once: its station expects an answer.
    let strangers = MemoryBudget::new(strangers * EACH, Duration::ZERO);
    let patience = if offer.carrier == CarrierKind::Ncp { AT_A_PROMPT } else { bounds.login };
    let visits = Arc::new(Visits::default());
    let serving =
        accept(Arc::clone(&node), (strangers, patience), Arc::clone(&visits), (server, root));
    let (task, station) = (tokio::spawn(serving), Some(Station::Frames(node)));
    Ok(Serving { port: 0, share: Some(share), trust_sha256: None, visits, station, task })
}

async fn accept<S: FileServer + Clone + Send + Sync + 'static>(
    node: Arc<WiredNode>,
    (strangers, patience): (Arc<MemoryBudget>, Duration),
    visits: Arc<Visits>,
    (server, root): (S, Arc<Served>),
) {
    let mut sessions = JoinSet::new();
    // The link ends only when its interface does.
    while let Ok((port, station)) = node.accept().await {
        while sessions.try_join_next().is_some() {}
        let visitor = visits.arrive(station.to_string());
        let (strangers, server) = (Arc::clone(&strangers), server.clone());
        let (transport, files) = (MessageTransport::Frames(port), Files::new(Arc::clone(&root)));
        sessions.spawn(async move {
            let hold = strangers.hold(EACH, station.into());
            let Ok(Some(hold)) = tokio::time::timeout(patience, hold).await else { return };
            let proof = Proof::new(hold, visitor);
            let serving = Box::pin(serve_client(transport, server, files, proof.clone()));
            proof.demanded(patience, serving).await;
        });
    }
}
