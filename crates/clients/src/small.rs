//! This host's station with its own TCP, for connections to a target's server.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

pub use lanlab_connections::small::make_way;
use lanlab_connections::small::{SmallNode, SmallPlan, SmallStream, facts_of, node_of};
use lanlab_files::{Class, Fault, Result, Target};
use lanlab_stack::ip::small::Facts;

use crate::raw_link::{link_fault, raw_place};
use crate::transport;

/// Connections of an FTP session: for commands, for a file, and one that is closing.
const CONNECTIONS: usize = 3;
/// With little memory, the closing connection is aborted if its place is needed. All its data has
/// been acknowledged by then, because the server has confirmed the file.
const LEAST_CONNECTIONS: usize = 2;

/// The station of a target; `None` for the system's TCP, or if the plan is impossible.
pub fn plan_of(target: &Target) -> Option<SmallPlan> {
    let stack = target.options.stack()?;
    let peer = match target.address?.ip() {
        IpAddr::V4(peer) => Some(peer),
        IpAddr::V6(_) => return None,
    };
    let plan = SmallPlan {
        place: raw_place(&stack.link),
        address: stack.address,
        peer,
        tcp: stack.profile(target.receive_buffer_bytes, target.send_buffer_bytes, true).ok()?,
        connections: LEAST_CONNECTIONS,
        memory_bytes: stack.memory_bytes,
    };
    let connections = plan.clone().filled().connections;
    Some(SmallPlan { connections: connections.clamp(LEAST_CONNECTIONS, CONNECTIONS), ..plan })
}

/// Counts of the station of a target; `None` if none was used.
pub fn counted(target: &Target) -> Option<Facts> {
    facts_of(&plan_of(target)?)
}

/// Connect to an address of the server from this host's station; `None` if the target uses the
/// system's TCP.
pub async fn connect(target: &Target, to: SocketAddr) -> Result<Option<SmallStream>> {
    if target.options.stack().is_none() {
        return Ok(None);
    }
    let Some(plan) = plan_of(target) else {
        let message = format!("the small stack cannot reach {to} with these buffers");
        return Err(Fault::new(Class::Unsupported, message));
    };
    let node = station(&plan)?;
    let what = format!("connect to {to} over the small stack");
    transport::within(target, &what, async {
        node.ready().await.map_err(|error| Fault::of_connection("the small stack", &error))?;
        node.connect(to).await.map_err(|error| Fault::of_connection(&what, &error))
    })
    .await
    .map(Some)
}

fn station(plan: &SmallPlan) -> Result<Arc<SmallNode>> {
    let mut random = [0; 8];
    getrandom::fill(&mut random)
        .map_err(|error| Fault::new(Class::Local, format!("random numbers: {error}")))?;
    node_of(plan, u64::from_le_bytes(random)).map_err(|error| link_fault("the small stack", &error))
}
