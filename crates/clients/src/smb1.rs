//! SMB 1 ([MS-CIFS]) over `NetBIOS` over TCP, directly over TCP, or over `NetBEUI`: the redirector of the
//! `stack` crate.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lanlab_files::{Carrier, Class, Dialect, Fault, Result, Target};
use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::smb;
use lanlab_stack::smb::client::{Client, Plan, User};
use lanlab_wire::smb1::strings::CodePage;
use lanlab_wire::smb1::time::ticks_from_unix_ns;

use crate::kernel_port::{KernelPort, LONGEST_MESSAGE};
use crate::port::Port;
use crate::redirected::Redirected;
use crate::{transport, wired_port};

pub use crate::redirected::File;

/// A session: connection, user and share.
pub type Session = Redirected<Client>;

/// Connect, log in, and connect to the share.
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
    let (port, carrier) = match target.carrier {
        Carrier::Tcp => {
            let facts = CarrierFacts { longest_message: LONGEST_MESSAGE, keeps_raw: true };
            (Port::Kernel(KernelPort::connect(target).await?), facts)
        }
        Carrier::Nbf => {
            let port = wired_port::connect(target).await?;
            let facts = port.facts();
            (Port::Wired(port), facts)
        }
    };
    let plan = Plan {
        dialect: target.dialect.map(dialect),
        server: transport::server_name(target)?,
        share,
        user,
        // What Samba takes for DOS unless its `dos charset` says otherwise.
        code_page: CodePage::Cp850,
        nonce,
        time: ticks_from_unix_ns(since_1970.as_nanos().cast_signed()),
        raw: target.raw,
        requires_signatures: target.requires_signatures,
        carrier,
    };
    let patience = Duration::from_nanos(target.timeout_ns);
    let directory = &target.directory;
    Redirected::begin(Client::new(plan), port, Client::CONNECTED, directory, patience).await
}

fn dialect(dialect: Dialect) -> smb::Dialect {
    match dialect {
        Dialect::Core => smb::Dialect::Core,
        Dialect::Lanman1 => smb::Dialect::LanMan1,
        Dialect::Lm12x002 => smb::Dialect::LanMan2,
        Dialect::Nt1 => smb::Dialect::Nt,
    }
}
