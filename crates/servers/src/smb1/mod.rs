//! SMB 1 on a directory: the `stack` crate's server over the kernel's TCP, or over an Ethernet carrier.
//!
//! A connection may begin with a `NetBIOS` session request, as on port 139, or without, as on port 445. The
//! password protection of these dialects is weak; see docs/security.md.

use std::sync::Arc;

use lanlab_connections::{MessageTransport, Messages};
use lanlab_files::{Class, Fault, Result};
use lanlab_served::{Files, Served};
use lanlab_stack::dos_names::can_be_asked_for;
use lanlab_stack::smb::client::User;
use lanlab_stack::smb::server::{self, Server};
use lanlab_wire::nbss::Framing;

use crate::admission::Admission;
use crate::file_sessions::serve_client;
use crate::visits::Visits;
use crate::{Bounds, Offer, Serving, listen, station};

/// Default names of the server and its only share.
const NAME: &str = "lanlab";

/// Longest message before login, bytes.
const LONGEST_OF_STRANGERS: usize = 8 << 10;

const STRANGER_BYTES: usize = 32 << 10;

pub async fn serve(offer: &Offer, bounds: &Bounds) -> Result<Serving> {
    let root = Served::new(&offer.root, offer.read_only, can_be_asked_for)
        .map_err(|error| Fault::of_file(offer.root.display(), &error))?;
    let root = Arc::new(root);
    let options = offer.options.smb1();
    if options.requires_signatures && offer.credentials.is_none() {
        return Err(Fault::new(Class::Unsupported, "required signatures need a user"));
    }
    let user = offer.credentials.as_ref().map(|user| User {
        name: user.user.clone(),
        password: user.secret.clone(),
        domain: user.domain.clone().unwrap_or_default(),
    });
    let (oldest, newest) = options.dialects();
    let share = options.share.unwrap_or_else(|| NAME.to_owned());
    let server = Server::new(server::Offer {
        name: options.server_name.unwrap_or_else(|| NAME.to_owned()),
        share: share.clone(),
        user,
        read_only: offer.read_only,
        dialects: oldest.into()..=newest.into(),
    });
    let server = if options.requires_signatures { server.requiring_signatures() } else { server };
    if let Some(station) = &offer.station {
        let system = options.profile.map(|asked| asked.0);
        let server = match system {
            Some(system) => server.of(system),
            None => server,
        };
        return station::serve((station, system), bounds, (server, root), share).await;
    }
    let visits = Arc::new(Visits::default());
    let (listener, port) = listen(offer)?;
    let admission = Admission::new(bounds, STRANGER_BYTES, &visits);
    let task = tokio::spawn(admission.serve(listener, move |stream, _, proof| {
        let (server, files) = (server.clone(), Files::new(Arc::clone(&root)));
        async move {
            let messages = Messages::new(stream, Framing::Direct, LONGEST_OF_STRANGERS);
            let transport = MessageTransport::Tcp(messages.with_requests());
            serve_client(transport, server, files, proof).await;
        }
    }));
    Ok(Serving { port, share: Some(share), trust_sha256: None, visits, station: None, task })
}
