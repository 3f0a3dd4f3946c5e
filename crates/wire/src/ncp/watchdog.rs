//! Whether a client is there still: the server asks, from socket 4001, the socket after that of the client.

use crate::fields::{codes, fields};

/// Socket from which a server asks.
pub const SERVER_SOCKET: u16 = 0x4001;

codes! {
    Sign {
        /// The server asks whether the client is there.
        Question = b'?',
        /// The client is there.
        Yes = b'Y',
        /// A message waits at the server.
        MessageWaits = b'!',
    }
}

fields! {
    /// A packet.
    Watchdog, Big, "ncp watchdog" => {
        /// Low octet of the connection.
        connection: u8,
        sign: u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_two_octets() {
        let mut octets = Vec::new();
        Watchdog { connection: 7, sign: Sign::Question.to_wire() }.emit(&mut octets);
        assert_eq!(octets, b"\x07?");
        let found = Watchdog::parse(b"\x07Y").unwrap();
        assert_eq!(Sign::from_wire(found.sign), Some(Sign::Yes));
        assert_eq!(
            Watchdog::parse(b"?").unwrap_err().to_string(),
            "ncp watchdog: need 2 octets, got 1"
        );
        assert_eq!(Sign::from_wire(b'x'), None);
    }
}
