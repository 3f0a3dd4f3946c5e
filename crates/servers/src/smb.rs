//! SMB 2 and 3, by the `smb-server` crate in this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lanlab_files::{Class, Fault, Result};
use smb_server::{Access, BuildError, LocalFsBackend, Share, SmbServer};
use tracing::instrument::WithSubscriber;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};

use crate::{Bounds, Offer, Serving};

/// The one share, unless another name is asked for.
const SHARE: &str = "lanlab";

/// Octets of the longest data of a call. A connection holds a few of them in memory.
const MAX_DATA_OCTETS: u32 = 1 << 20;

/// Connections at once: at least the first, and the second more than are expected. The crate closes
/// those beyond; it does not tell who has logged in, and lets each take one record before that.
const MIN_CONNECTIONS: usize = 256;
const SPARE_CONNECTIONS: usize = 64;

/// A client logs in with four round trips. A silent stranger has no longer: until then he keeps a
/// connection from others.
const LOGIN: Duration = Duration::from_secs(10);

/// Begin to serve.
///
/// The crate opens its own socket: it waits with the backlog of tokio, 1024.
pub async fn serve(offer: &Offer, bounds: &Bounds) -> Result<Serving> {
    let address = crate::listening_at(offer)?;
    let backend = LocalFsBackend::new(&offer.root)
        .map_err(|error| Fault::of_file(offer.root.display(), &error))?
        .watch_host_changes(false);
    let backend = if offer.read_only { backend.read_only() } else { backend };
    // Leases and durable handles would have clients cache, and the server keep what they left.
    let name = offer.names.share.as_deref().unwrap_or(SHARE);
    let share = Share::new(name, backend).leases(false).durable_handles(false).change_notify(false);
    let builder = SmbServer::builder()
        .listen(address)
        .max_read_size(MAX_DATA_OCTETS)
        .max_write_size(MAX_DATA_OCTETS)
        .max_connections(MIN_CONNECTIONS.max(bounds.connections + SPARE_CONNECTIONS))
        .handshake_timeout(LOGIN.min(bounds.login / 2))
        // A record has to be whole by then.
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
    let accepted = Arc::new(AtomicU64::new(0));
    let count = Count { accepted: Arc::clone(&accepted), spans: AtomicU64::new(0) };
    let task = tokio::spawn(async move {
        // It ends only when it is stopped, and then this task does, too.
        let _ = server.serve().with_subscriber(count).await;
    });
    Ok(Serving {
        port: bound.port(),
        share: Some(name.to_owned()),
        trust_sha256: None,
        accepted,
        station: None,
        task,
    })
}

fn refused(error: &BuildError) -> Fault {
    Fault::new(Class::Name, format!("SMB: {error}"))
}

/// Counts the connections of a server that does not tell of them but in its traces: each has a span
/// named `conn`.
struct Count {
    accepted: Arc<AtomicU64>,
    spans: AtomicU64,
}

impl Subscriber for Count {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span()
            && metadata.name() == "conn"
            && metadata.target().starts_with("smb_server")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        self.accepted.fetch_add(1, Ordering::Relaxed);
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}
