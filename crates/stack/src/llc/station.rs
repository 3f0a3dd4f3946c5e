//! Answers of a station without a link: type 1, and frames for links that do not exist.

use lanlab_wire::llc::{Control, Header, Identification, Unnumbered};

/// The answer to XID or TEST of type 1; `None` for other PDUs. Append its header and, for TEST, the received
/// information; for XID the returned bytes.
pub fn answer_type_1(header: Header, receive_window: u8) -> Option<(Header, Option<[u8; 3]>)> {
    let Control::Unnumbered { kind, poll } = header.control else { return None };
    if header.is_response {
        return None;
    }
    let information = match kind {
        Unnumbered::Identification => {
            Some(Identification { has_type_2: true, receive_window }.to_wire())
        }
        Unnumbered::Test => None,
        _ => return None,
    };
    let answer = Header {
        destination_sap: header.source_sap,
        source_sap: header.destination_sap,
        is_response: true,
        control: Control::Unnumbered { kind, poll },
    };
    Some((answer, information))
}

/// The answer to a frame for a missing link: DM to a command of type 2, including DISC; `None` for responses and
/// type 1.
pub fn answer_without_link(header: Header) -> Option<Header> {
    let is_type_2 = match header.control {
        Control::Information { .. } | Control::Supervisory { .. } => true,
        Control::Unnumbered { kind, .. } => {
            matches!(kind, Unnumbered::Connect | Unnumbered::Disconnect)
        }
    };
    if header.is_response || !is_type_2 {
        return None;
    }
    let poll = header.control.poll();
    Some(Header {
        destination_sap: header.source_sap,
        source_sap: header.destination_sap,
        is_response: true,
        control: Control::Unnumbered { kind: Unnumbered::Disconnected, poll },
    })
}
