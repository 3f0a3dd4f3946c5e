//! Asks whether a client is still connected: the server sends from socket 4001 to the socket after
//! the client's.

use crate::fields::{codes, fields};

pub const SERVER_SOCKET: u16 = 0x4001;

codes! {
    Sign {
        Question = b'?',
        Yes = b'Y',
        MessageWaits = b'!',
    }
}

fields! {
    Watchdog, Big, "ncp watchdog" => {
        connection: u8,
        sign: u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watchdog_queries_are_two_bytes() {
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
