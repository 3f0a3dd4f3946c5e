//! SMB 2 and 3, by the `smb-server` crate in this process.

mod lenient;
mod traces;

use std::sync::Arc;
use std::time::Duration;

use lanlab_files::{Class, Fault, Result};
use smb_server::{Access, BuildError, LocalFsBackend, Share, SmbServer};
use tracing::instrument::WithSubscriber;

use lenient::Lenient;
use traces::Traces;

use crate::admission::{MemoryBudget, UNIT_BYTES};
use crate::visits::Visits;
use crate::{Bounds, Offer, Serving};

/// Default name of the only share.
const SHARE: &str = "lanlab";

/// Maximum data bytes per call. A connection buffers a few of them.
const MAX_DATA_OCTETS: u32 = 1 << 20;

/// Maximum connections before login, each of which may hold a 68 KiB record. As many more can wait
/// to be counted, and log in meanwhile; the crate closes any others.
const STRANGERS: usize = 256;

/// Login takes four round trips.
const LOGIN: Duration = Duration::from_secs(10);

pub async fn serve(offer: &Offer, bounds: &Bounds) -> Result<Serving> {
    let address = crate::listening_at(offer)?;
    let backend = LocalFsBackend::new(&offer.root)
        .map_err(|error| Fault::of_file(offer.root.display(), &error))?
        .watch_host_changes(false);
    let backend = if offer.read_only { backend.read_only() } else { backend };
    // Leases and durable handles would make clients cache, and the server keep state of vanished clients.
    let name = offer.options.share().unwrap_or(SHARE);
    let share = Share::new(name, Lenient(backend))
        .leases(false)
        .durable_handles(false)
        .change_notify(false);
    let builder = SmbServer::builder()
        .listen(address)
        .max_read_size(MAX_DATA_OCTETS)
        .max_write_size(MAX_DATA_OCTETS)
        .max_connections(2 * STRANGERS + bounds.connections)
        .handshake_timeout(LOGIN.min(bounds.login / 2))
        // Time-out for a complete record.
        .io_timeout(bounds.record);
    let (builder, share) = match (&offer.credentials, offer.read_only) {
        (Some(user), read_only) => {
            let access = if read_only { Access::Read } else { Access::ReadWrite };
            (builder.user(&user.user, &user.secret), share.user(&user.user, access))
        }
        (None, true) => (builder, share.public_read_only()),
        (None, false) => (builder, share.public()),
    };
    let server = builder.share(share).build().map_err(|error| refused(&error))?;
    let bound = server.bind().await;
    let bound =
        bound.map_err(|error| Fault::of_connection(format_args!("listen at {address}"), &error))?;
    // The crate opens its own socket, with a queue that a crowd fills: clients then wait a second to resend their SYN.
    lanlab_os::lengthen_accept_queue(bound.port(), crate::BACKLOG.cast_signed());
    let visits = Arc::new(Visits::default());
    let strangers = MemoryBudget::crowded(STRANGERS * UNIT_BYTES, bounds);
    let traces = Traces::new(&visits, offer.credentials.is_some(), (strangers, bound.port()));
    let task = tokio::spawn(async move {
        // The server ends only when stopped, and then this task does, too.
        let _ = server.serve().with_subscriber(traces).await;
    });
    let (port, share) = (bound.port(), Some(name.to_owned()));
    Ok(Serving { port, share, trust_sha256: None, visits, station: None, task })
}

fn refused(error: &BuildError) -> Fault {
    Fault::new(Class::Name, format!("SMB: {error}"))
}
