//! FTP on a station with its own TCP stack.

use std::sync::Arc;
use std::time::Duration;

use lanlab_connections::Wire;
use lanlab_connections::small::{SmallListener, SmallNode, SmallPlan};
use lanlab_files::{Class, Fault, Result};
use tokio::io::AsyncWriteExt;
use tokio::task::{JoinHandle, JoinSet};

use super::system::Host;
use super::{Dialogue, GREETING, Shared};
use crate::Bounds;
use crate::admission::{MemoryBudget, Proof, Reservation, UNIT_BYTES as EACH};
use crate::visits::Visits;

/// Default port at the station's address (RFC 959, section 8).
const PORT: u16 = 21;
/// Connections per client: control, data, and one still closing.
const OF_CLIENT: usize = 3;
/// Time for strangers to make room for the next connection.
const SOON: Duration = Duration::from_millis(100);
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
    };
    Ok((port, node, tokio::spawn(served.accept(listener))))
}

struct Served {
    node: Arc<SmallNode>,
    shared: Arc<Shared>,
    bounds: Bounds,
    visits: Arc<Visits>,
    clients: usize,
}

impl Served {
    async fn accept(self, listener: SmallListener) {
        let mut sessions = JoinSet::new();
        let places = MemoryBudget::new(self.clients * OF_CLIENT * EACH, Duration::ZERO);
        // The link ends only when its interface does.
        while let Ok(mut stream) = listener.accept().await {
            while sessions.try_join_next().is_some() {}
            let peer = stream.peer;
            let visitor = self.visits.arrive(peer.ip().to_string());
            let whose = peer.ip().into();
            // Strangers make room soon. The next connection waits in the stack meanwhile.
            let hold = tokio::time::timeout(SOON, places.hold(EACH, whose)).await;
            let Ok(Some(hold)) = hold else {
                visitor.refused("too many clients");
                // A new connection has room for this, and an error means that the client disconnected.
                let _ = stream.write_all(BUSY).await;
                continue;
            };
            let (places, patience) = (Arc::clone(&places), self.bounds.login);
            let (shared, node) = (Arc::clone(&self.shared), Arc::clone(&self.node));
            sessions.spawn(async move {
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
                let kept = async {
                    let kept = places.hold(OF_CLIENT * EACH, whose).await;
                    kept.inspect(Reservation::keep)
                };
                proof.demanded_with(patience, kept, Box::pin(serving)).await;
            });
        }
    }
}
