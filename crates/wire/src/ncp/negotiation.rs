//! Negotiation between client and server, and the server's description of itself.

use chrono::{DateTime, Datelike, Timelike};

use crate::fields::fields;

use super::text::messages;

fields! {
    /// Data length of a read or write, proposed by the client or accepted by the server.
    Buffer, Big, "ncp buffer" => {
        octets: u16,
    }
}

fields! {
    /// Packet length including the IPX header, proposed by the client.
    Packet, Big, "ncp packet size" => {
        octets: u16,
        security: u8,
    }
}

fields! {
    AcceptedPacket, Big, "ncp packet size" => {
        octets: u16,
        echo_socket: u16,
        security: u8,
    }
}

fields! {
    Moment, Big, "ncp time" => {
        /// Two-digit year; 80 to 99 mean 19xx.
        year: u8,
        month: u8,
        day: u8,
        hour: u8,
        minute: u8,
        second: u8,
        weekday: u8,
    }
}

messages! {
    ServerInformation, "ncp server information" => {
        name: [u8; 48],
        version: u8,
        subversion: u8,
        most_connections: u16,
        connections: u16,
        most_volumes: u16,
        revision: u8,
        fault_tolerance: u8,
        transactions: u8,
        peak_connections: u16,
        parts: [u8; 9],
        reserved: [[u8; 8]; 7],
        reserved_end: [u8; 2],
    }
}

impl Moment {
    /// A time in UTC, s since 1970.
    pub fn from_unix(since_1970_s: i64) -> Self {
        let moment = DateTime::from_timestamp_secs(since_1970_s).unwrap_or_default();
        let [month, day, hour, minute, second, weekday] = [
            moment.month(),
            moment.day(),
            moment.hour(),
            moment.minute(),
            moment.second(),
            moment.weekday().num_days_from_sunday(),
        ]
        .map(|number| number as u8);
        let year = moment.year().rem_euclid(100) as u8;
        Self { year, month, day, hour, minute, second, weekday }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_has_two_digits_and_a_week_begins_on_sunday() {
        let moment = Moment::from_unix(1_795_741_384);
        let expected = [26, 11, 27, 1, 3, 4, 5];
        let mut octets = Vec::new();
        moment.emit(&mut octets);
        assert_eq!(octets, expected);
    }

    #[test]
    fn server_information_is_128_bytes() {
        let octets: Vec<u8> = (0..128).collect();
        let found = ServerInformation::parse(&octets).unwrap();
        assert_eq!((found.version, found.subversion, found.most_connections), (48, 49, 0x3233));
        let mut again = Vec::new();
        found.emit(&mut again);
        assert_eq!(again, octets);
        assert!(ServerInformation::parse(&octets[..127]).is_err());
    }
}
