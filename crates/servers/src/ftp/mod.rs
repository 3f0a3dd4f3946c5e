//! FTP (RFC 959, RFC 2428, RFC 3659), with TLS for both connections where it is offered (RFC 4217).
//!
//! Data connections run between the two addresses of the control connection: opened by the client (EPSV, PASV) or
//! by the server (PORT, EPRT). Each connection buffers at most a block of a file and a line of a command.

mod data;
mod dialogue;
pub mod files;
mod line_ends;
mod moving;
mod own_stack;
mod system;
mod transfers;

use std::sync::Arc;

use crate::admission::Admission;
use crate::identity::Identity;
use crate::visits::Visits;
use crate::{Bounds, Offer, Serving, Station};
use lanlab_served::Confined;

use data::Tls;
use lanlab_connections::Wire;
use lanlab_files::{Credentials, Result, ServiceKind};
use system::Host;

pub use dialogue::Dialogue;
pub use lanlab_served::changes::Changes;
pub use lanlab_served::{Found, Names};
pub use own_stack::LEAST_CONNECTIONS;
pub use system::{Listing, System, Way};

/// Memory of a connection before login: a command line and the TLS handshake.
const STRANGER_BYTES: usize = 64 << 10;

pub const GREETING: &[u8] = b"220 lanlab FTP server\r\n";

#[derive(Debug)]
pub struct Shared {
    confined: Confined,
    credentials: Option<Credentials>,
    tls: Option<Tls>,
}

pub async fn serve(offer: &Offer, bounds: &Bounds) -> Result<Serving> {
    if let Some(plan) = &offer.own_stack {
        let shared = Arc::new(Shared {
            confined: crate::confined(offer)?,
            credentials: offer.credentials.clone(),
            tls: None,
        });
        let visits = Arc::new(Visits::default());
        let (port, node, task) =
            own_stack::serve(plan, offer.port, shared, bounds, &visits).await?;
        let station = Some(Station::OwnTcp(node));
        return Ok(Serving { port, share: None, trust_sha256: None, visits, station, task });
    }
    let (listener, port) = crate::listen(offer)?;
    let identity =
        (offer.service == ServiceKind::Ftps).then(|| Identity::new(offer.bind.ip())).transpose()?;
    let shared = Arc::new(Shared {
        confined: crate::confined(offer)?,
        credentials: offer.credentials.clone(),
        tls: identity.as_ref().map(Tls::new).transpose()?,
    });
    let visits = Arc::new(Visits::default());
    let admission = Admission::new(bounds, STRANGER_BYTES, &visits).greeting(GREETING);
    let task = tokio::spawn(admission.serve(listener, move |stream, peer, proof| {
        let host = Host::new(Arc::clone(&shared), proof);
        let dialogue = Dialogue::new(host, Wire::Plain(stream), peer);
        async move {
            // An error means that the client disconnected.
            let _ = dialogue.run().await;
        }
    }));
    let trust_sha256 = identity.map(|identity| identity.sha256());
    Ok(Serving { port, share: None, trust_sha256, visits, station: None, task })
}
