//! `NetWare`'s core protocol over IPX: the redirector of the `stack` crate.

use std::time::Duration;

use lanlab_connections::{MessageTransport, SessionClock};
use lanlab_files::{Carrier, Class, Fault, PacketBurst, Result, Target};
use lanlab_sessions::{Agreed, Redirected};
use lanlab_stack::ncp::client::{Client, Plan, User};
use lanlab_stack::profile::netware::{NETWARE_3, OWN_BURST_PACKETS};

use crate::station;

pub use lanlab_sessions::File;

pub type Session = Redirected<Client, MessageTransport, SessionClock>;

pub async fn connect(target: &Target) -> Result<Session> {
    let Some(volume) = target.share.clone() else {
        return Err(
            Fault::new(Class::Missing, "found no volume").hint("name a volume of the server")
        );
    };
    let Carrier::Frames(carrier) = target.carrier else {
        return Err(Fault::new(Class::Unsupported, "NCP does not go over TCP"));
    };
    let transport = MessageTransport::Frames(station::connect(target, carrier).await?);
    let user = target.credentials.as_ref();
    let user = user.map(|user| User { name: user.user.clone(), password: user.secret.clone() });
    let plan = Plan {
        volume,
        user,
        most_data_bytes: NETWARE_3.most_data_bytes,
        large_packets: true,
        burst_packets: (target.options.ncp().packet_burst == PacketBurst::On)
            .then_some(OWN_BURST_PACKETS),
        carrier: transport.facts(0),
    };
    let patience = Duration::from_nanos(target.timeout_ns);
    Redirected::begin(
        Client::new(plan),
        Client::CONNECTED,
        (transport, Agreed::default()),
        (SessionClock::new(), patience),
        &target.directory,
    )
    .await
}
