//! Converts the reason why a carrier's session ended into a connection error.

use std::io::{self, ErrorKind};

use lanlab_stack::carrier::Why;

pub fn why_ended(why: Why) -> io::Error {
    let (kind, message) = match why {
        Why::AddressFamily => {
            (ErrorKind::AddrNotAvailable, "the carrier has no addresses of this family")
        }
        Why::NameNotFound => (ErrorKind::HostUnreachable, "no station answers for it"),
        Why::NotListening => (ErrorKind::ConnectionRefused, "the station takes no calls for it"),
        Why::NoResources => (ErrorKind::ConnectionRefused, "the station has no session left"),
        Why::NoAnswer => (ErrorKind::TimedOut, "the station did not go on with the session"),
        Why::Closed => (ErrorKind::NotConnected, "the session is closed"),
        Why::ByPeer => (ErrorKind::UnexpectedEof, "the other end has closed the session"),
        Why::ByPeerAbnormally => (ErrorKind::ConnectionReset, "the other end ended the session"),
        Why::Link(ended) => {
            let message = format!("the link to the station ended: {ended:?}");
            return io::Error::new(ErrorKind::ConnectionReset, message);
        }
        Why::Protocol => (ErrorKind::InvalidData, "what the other end sent makes no sense"),
        Why::MalformedFrame => {
            (ErrorKind::InvalidData, "the other end sent a frame with a malformed header")
        }
    };
    io::Error::new(kind, message)
}
