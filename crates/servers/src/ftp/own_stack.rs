//! FTP on a station with its own TCP stack.

use std::sync::Arc;
use std::time::Duration;

use lanlab_connections::Wire;
use lanlab_connections::small::{SmallListener, SmallNode, SmallPlan};
use lanlab_files::{Class, Fault, Result};
use tokio::io::AsyncWriteExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinHandle, JoinSet};

use super::system::Host;
use super::{Dialogue, GREETING, Shared};
use crate::Bounds;
use crate::admission::{MemoryBudget, Proof, TICK, UNIT_BYTES as EACH};
use crate::visits::Visits;

/// Default port at the station's address (RFC 959, section 8).
const PORT: u16 = 21;
/// Connections per client: control, data, and one still closing.
const OF_CLIENT: usize = 3;
const BUSY: &[u8] = b"421 Too many clients\r\n";

/// Minimum connections of a server: all that one client needs, and one for the next client.
pub const LEAST_CONNECTIONS: usize = OF_CLIENT + 1;

/// Start serving; returns the port and a handle that stops it. The number of clients is limited by memory for their
/// connections. Clients that have not logged in are evicted for others, as over the system's TCP.
pub async fn serve(
    plan: &SmallPlan,
    port: u16,
    shared: Arc<Shared>,
    bounds: &Bounds,
    visits: &Arc<Visits>,
) -> Result<(u16, Arc<SmallNode>, JoinHandle<()>)> {
    let port = if port == 0 { PORT } else { port };
    let mut random = [0; 8];
    getrandom::fill(&mut random)
        .map_err(|error| Fault::new(Class::Local, format!("random numbers: {error}")))?;
    let failed = |error: std::io::Error| Fault::of_connection("the small stack", &error);
    let node = SmallNode::begin(plan, u64::from_le_bytes(random)).map_err(failed)?;
    node.ready().await.map_err(failed)?;
    let listener = node.listen(port).map_err(failed)?;
    let clients = (plan.connections - 1) / OF_CLIENT;
    let served = Served {
        node: Arc::clone(&node),
        shared,
        bounds: *bounds,
        visits: Arc::clone(visits),
        clients,
        waiting: plan.connections - clients * OF_CLIENT,
    };
    Ok((port, node, tokio::spawn(served.accept(listener))))
}

struct Served {
    node: Arc<SmallNode>,
    shared: Arc<Shared>,
    bounds: Bounds,
    visits: Arc<Visits>,
    clients: usize,
    waiting: usize,
}

impl Served {
    async fn accept(self, listener: SmallListener) {
        let mut sessions = JoinSet::new();
        let places = Arc::new(Semaphore::new(self.clients));
        let strangers = MemoryBudget::crowded(self.clients * EACH, &self.bounds);
        // The link ends only when its interface does.
        while let Ok(mut stream) = listener.accept().await {
            while sessions.try_join_next().is_some() {}
            let peer = stream.peer_address();
            let visitor = self.visits.arrive(peer.ip().to_string());
            if sessions.len() >= self.clients + self.waiting {
                visitor.refused("too many clients");
                // A new connection has room for this, and an error means that the client disconnected.
                let _ = stream.write_all(BUSY).await;
                continue;
            }
            let (places, strangers) = (Arc::clone(&places), Arc::clone(&strangers));
            let (shared, node) = (Arc::clone(&self.shared), Arc::clone(&self.node));
            let patience = self.bounds.login;
            sessions.spawn(async move {
                let Some(_place) = place(&places, &strangers, patience).await else {
                    let _ = stream.write_all(BUSY).await;
                    return;
                };
                let Some(hold) = strangers.hold(EACH, peer.ip().into()).await else { return };
                if stream.write_all(GREETING).await.is_err() {
                    return;
                }
                let proof = Proof::new(hold, visitor);
                let host = Host::at(shared, proof.clone(), node);
                let dialogue = Dialogue::new(host, Wire::Small(stream), peer);
                let serving = async {
                    // An error means that the client disconnected.
                    let _ = dialogue.run().await;
                };
                proof.demanded(patience, Box::pin(serving)).await;
            });
        }
    }
}

/// Wait for a place for a client. To free one, clients that do not log in are evicted.
async fn place(
    places: &Arc<Semaphore>,
    strangers: &MemoryBudget,
    patience: Duration,
) -> Option<OwnedSemaphorePermit> {
    let ending = async {
        loop {
            tokio::time::sleep(TICK).await;
            strangers.end_idle(EACH);
        }
    };
    tokio::select! {
        biased;
        place = Arc::clone(places).acquire_owned() => place.ok(),
        never = ending => never,
        () = tokio::time::sleep(patience) => None,
    }
}
