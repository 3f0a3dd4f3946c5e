//! Messages of historic services over the kernel's TCP: `NetBIOS` over TCP on port 139, elsewhere
//! the same framing without a session request (RFC 1002, [MS-SMB] 2.1).

use lanlab_connections::Messages;
use lanlab_files::{Class, Fault, Result, Target};
use lanlab_wire::nbss::{Framing, HEADER_LEN, Header, Packet};
use lanlab_wire::netbios_name::{Name, suffix};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::transport;

const SESSION_PORT: u16 = 139;
const DIRECT_PORT: u16 = 445;
/// Name that every Windows NT server and Samba accepts in addition to its own.
const ANY_SERVER: &str = "*SMBSERVER";
const MAX_ANSWER_BYTES: usize = 6;
/// Longest message that is accepted: the limit of a 17-bit length.
pub const LONGEST_MESSAGE: usize = lanlab_wire::nbss::MAX_SESSION_LEN;

/// Connect, with a session request on port 139.
pub async fn connect(target: &Target) -> Result<Messages> {
    let mut stream = transport::connect(target, DIRECT_PORT).await?;
    let framing = match target.port {
        Some(SESSION_PORT) => Framing::Session,
        _ => Framing::Direct,
    };
    if framing == Framing::Session {
        let called = called(target);
        let what = format!("session request to `{}`", called.text());
        transport::within(target, &what, request(&mut stream, called, &what)).await?;
    }
    Ok(over(stream, framing))
}

fn over(stream: TcpStream, framing: Framing) -> Messages {
    Messages::new(stream, framing, LONGEST_MESSAGE)
}

/// The name in the session request: the server's own, if it is a valid `NetBIOS` name.
fn called(target: &Target) -> Name {
    let own = target.server_name.as_deref().and_then(|name| name.split('.').next());
    own.filter(|name| name.parse::<u8>().is_err())
        .and_then(|name| Name::new(&name.to_uppercase(), suffix::SERVER).ok())
        .unwrap_or_else(|| {
            Name::new(ANY_SERVER, suffix::SERVER).unwrap_or_else(|_| unreachable!("a valid name"))
        })
}

async fn request(stream: &mut TcpStream, called: Name, what: &str) -> Result<()> {
    let calling = Name::new("LANLAB", suffix::WORKSTATION);
    let calling = calling.unwrap_or_else(|_| unreachable!("a valid name"));
    let wrong = |error: String| Fault::new(Class::Protocol, format!("{what}: {error}"));
    let mut octets = Vec::new();
    let packet = Packet::Request { called, calling };
    packet.emit(Framing::Session, &mut octets).map_err(|error| wrong(error.to_string()))?;
    let failed = |error| Fault::of_connection(what, &error);
    stream.write_all(&octets).await.map_err(failed)?;
    let mut head = [0; HEADER_LEN];
    stream.read_exact(&mut head).await.map_err(failed)?;
    let header =
        Header::parse(&head, Framing::Session).map_err(|error| wrong(error.to_string()))?;
    let mut payload = [0; MAX_ANSWER_BYTES];
    let Some(payload) = payload.get_mut(..header.len) else {
        return Err(wrong(format!("an answer of {} octets", header.len)));
    };
    stream.read_exact(payload).await.map_err(failed)?;
    match Packet::parse(header.kind, payload).map_err(|error| wrong(error.to_string()))? {
        Packet::Positive => Ok(()),
        Packet::Negative(refusal) => {
            let fault = Fault::new(Class::Refused, format!("{what}: found {refusal:?}"));
            Err(fault.hint("name the server by its NetBIOS name, or use port 445"))
        }
        Packet::Retarget { address, port } => {
            let fault = Fault::new(Class::Refused, format!("{what}: found another address"));
            Err(fault.hint(format!("connect to {address}, port {port}")))
        }
        other => Err(wrong(format!("found {other:?}; allowed: an answer"))),
    }
}

#[cfg(test)]
mod tests;
