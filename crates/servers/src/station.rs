//! Carrier sessions that clients open to this server's Ethernet station.

use std::sync::Arc;
use std::time::Duration;

use lanlab_connections::wired::{WiredNode, WiredPlan, WiredPort};
use lanlab_files::{Class, Fault, Result, SystemProfile};
use lanlab_stack::node::CarrierKind;
use lanlab_wire::netbios_name::{Name, suffix};
use tokio::task::{JoinHandle, JoinSet};

use crate::admission::{MemoryBudget, Proof, UNIT_BYTES as EACH};
use crate::visits::Visits;
use crate::{Bounds, StationOffer};

/// Of every four sessions of a station, strangers (clients before login) may have this many.
const STRANGERS_OF_FOUR: usize = 3;

/// Time for NCP clients to log in: shells connect when a station starts, and wait at a prompt. The
/// watchdog ends vanished ones, and clients before login are evicted for others.
const AT_A_PROMPT: Duration = Duration::from_hours(7 * 24);

/// Join the link, claim the name, and serve each session. A station has at most 254 sessions, which bounds their
/// memory. Clients before login are evicted for others, as over TCP.
pub async fn serve<F>(
    offer: &StationOffer,
    bounds: &Bounds,
    visits: &Arc<Visits>,
    serve: impl Fn(WiredPort, Proof) -> F + Send + Sync + 'static,
) -> Result<(Arc<WiredNode>, JoinHandle<()>)>
where
    F: Future<Output = ()> + Send + 'static,
{
    let name = Name::new(&offer.name, suffix::SERVER).map_err(|error| {
        Fault::new(Class::Name, format!("`{}` is no NetBIOS name: {error}", offer.name))
    })?;
    let place = offer.place.clone();
    let plan = WiredPlan::new(place, offer.carrier);
    let (framing, network) = (offer.ipx.framing(), offer.ipx.network);
    let profile = SystemProfile::over(offer.carrier, offer.profile);
    let profile = profile.map_or(plan.profile, |system| *system.numbers().station);
    let of_carrier = match offer.carrier {
        CarrierKind::Spp => &profile.xns.sessions,
        _ => &profile.sessions,
    };
    let sessions = of_carrier.value;
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
    let visits = Arc::clone(visits);
    let task = tokio::spawn(accept(Arc::clone(&node), (strangers, patience), visits, serve));
    Ok((node, task))
}

async fn accept<F>(
    node: Arc<WiredNode>,
    (strangers, patience): (Arc<MemoryBudget>, Duration),
    visits: Arc<Visits>,
    serve: impl Fn(WiredPort, Proof) -> F + Send + Sync + 'static,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut sessions = JoinSet::new();
    let serve = Arc::new(serve);
    // The link ends only when its interface does.
    while let Ok((port, station)) = node.accept().await {
        while sessions.try_join_next().is_some() {}
        let visitor = visits.arrive(station.to_string());
        let (strangers, serve) = (Arc::clone(&strangers), Arc::clone(&serve));
        sessions.spawn(async move {
            let hold = strangers.hold(EACH, station.into());
            let Ok(Some(hold)) = tokio::time::timeout(patience, hold).await else { return };
            let proof = Proof::new(hold, visitor);
            let serving = Box::pin(serve(port, proof.clone()));
            proof.demanded(patience, serving).await;
        });
    }
}
