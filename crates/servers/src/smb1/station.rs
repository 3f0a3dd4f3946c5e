//! Sessions of `NetBEUI` that clients open to this server's station.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lanlab_connections::wired::{WiredNode, WiredPlan, WiredPort};
use lanlab_files::{Class, Fault, Result};
use lanlab_stack::profile::WINDOWS_NT;
use lanlab_wire::netbios_name::{Name, suffix};
use tokio::task::{JoinHandle, JoinSet};

use crate::{Bounds, StationOffer};

/// Join the link, claim the name, and serve each session that is opened. A station has 254 sessions at
/// most, so that their memory is bounded.
pub async fn serve<F>(
    offer: &StationOffer,
    bounds: &Bounds,
    accepted: &Arc<AtomicU64>,
    serve: impl Fn(WiredPort) -> F + Send + 'static,
) -> Result<(Arc<WiredNode>, JoinHandle<()>)>
where
    F: Future<Output = ()> + Send + 'static,
{
    let name = Name::new(&offer.name, suffix::SERVER).map_err(|error| {
        Fault::new(Class::Name, format!("`{}` is no NetBIOS name: {error}", offer.name))
    })?;
    let place = offer.place.clone();
    let plan = WiredPlan { place, name: Some(name), profile: WINDOWS_NT, listens: true };
    let failed = |error: std::io::Error| Fault::of_connection(format!("{:?}", plan.place), &error);
    let node = WiredNode::begin(&plan).map_err(failed)?;
    let what = format!("claim the name `{}`", offer.name);
    let claimed = tokio::time::timeout(bounds.login, node.claimed()).await;
    claimed
        .map_err(|_| Fault::new(Class::TimedOut, what.clone()))?
        .map_err(|error| Fault::of_connection(&what, &error))?;
    let accepted = Arc::clone(accepted);
    let task = tokio::spawn(accept(Arc::clone(&node), accepted, serve));
    Ok((node, task))
}

async fn accept<F>(
    node: Arc<WiredNode>,
    accepted: Arc<AtomicU64>,
    serve: impl Fn(WiredPort) -> F + Send,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut sessions = JoinSet::new();
    // The link ends only if its interface does.
    while let Ok(port) = node.accept().await {
        while sessions.try_join_next().is_some() {}
        accepted.fetch_add(1, Ordering::Relaxed);
        sessions.spawn(serve(port));
    }
}
