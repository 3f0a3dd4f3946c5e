//! `NetWare`'s core protocol on a directory: the server of the `stack` crate on sessions over IPX.
//!
//! Its password protection is weak; see docs/security.md.

use std::sync::Arc;

use lanlab_files::{Class, Fault, Result};
use lanlab_served::Served;
use lanlab_stack::dos_names::can_be_asked_for;
use lanlab_stack::ncp::server::{self, Server, User};
use lanlab_stack::profile::netware::NETWARE_3;

use crate::{Bounds, Offer, Serving, station};

/// Default volume name, which shells look for.
const VOLUME: &str = "SYS";

pub async fn serve(offer: &Offer, bounds: &Bounds) -> Result<Serving> {
    let Some(station) = &offer.station else {
        return Err(Fault::new(Class::Unsupported, "NCP is not served over TCP"));
    };
    let root = Served::new(&offer.root, offer.read_only, can_be_asked_for)
        .map_err(|error| Fault::of_file(offer.root.display(), &error))?;
    let root = Arc::new(root);
    let user = offer.credentials.as_ref();
    let volume = offer.options.share().unwrap_or(VOLUME).to_owned();
    let server = Server::new(server::Offer {
        name: station.name.clone(),
        volume: volume.clone(),
        user: user.map(|user| User { name: user.user.clone(), password: user.secret.clone() }),
        read_only: offer.read_only,
        netware: NETWARE_3,
    });
    station::serve((station, None), bounds, (server, root), volume).await
}
