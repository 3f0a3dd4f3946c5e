//! SMB 1 ([MS-CIFS]) over `NetBIOS` over TCP, directly over TCP, or over a carrier on Ethernet: the redirector
//! of the `stack` crate.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lanlab_connections::{MessageTransport, SessionClock};
use lanlab_files::{Carrier, Class, Fault, Result, Signing, Target};
use lanlab_sessions::{Agreed, Redirected};
use lanlab_stack::smb::client::{Client, Plan, User};
use lanlab_wire::smb1::time::ticks_from_unix_ns;

use crate::transport::{server_name, tcp_agreed};
use crate::{station, tcp_messages};

pub use lanlab_sessions::File;

pub type Session = Redirected<Client, MessageTransport, SessionClock>;

pub async fn connect(target: &Target) -> Result<Session> {
    let Some(share) = target.share.clone() else {
        return Err(Fault::new(Class::Missing, "found no share").hint("name a share of the server"));
    };
    let mut nonce = [0; 8];
    getrandom::fill(&mut nonce)
        .map_err(|error| Fault::new(Class::Local, format!("random octets: {error}")))?;
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let user = target.credentials.as_ref().map(|user| User {
        name: user.user.clone(),
        password: user.secret.clone(),
        domain: user.domain.clone().unwrap_or_default(),
    });
    let transport = match target.carrier {
        Carrier::Tcp => MessageTransport::Tcp(tcp_messages::connect(target).await?),
        Carrier::Frames(carrier) => {
            MessageTransport::Frames(station::connect(target, carrier).await?)
        }
    };
    let options = target.options.smb1();
    let plan = Plan {
        dialect: options.dialect.map(Into::into),
        server: server_name(target)?,
        share,
        user,
        nonce,
        time: ticks_from_unix_ns(since_1970.as_nanos().cast_signed()),
        raw: options.raw,
        multiplexed: true,
        requires_signatures: options.signing == Signing::Required,
        carrier: transport.facts(tcp_messages::LONGEST_MESSAGE),
    };
    let agreed = transport.connection().map_or_else(Agreed::default, |stream| Agreed {
        no_delay: stream.nodelay().ok(),
        tcp: tcp_agreed(options.tcp_profile, stream),
    });
    let patience = Duration::from_nanos(target.timeout_ns);
    Redirected::begin(
        Client::new(plan),
        Client::CONNECTED,
        (transport, agreed),
        (SessionClock::new(), patience),
        &target.directory,
    )
    .await
}
