//! iperf3's formats: the octets of its control connection, its cookie, and the header of its
//! datagrams.
//!
//! Source: exchanges between client and server of iperf 3.12 (Debian 12) over loopback, recorded
//! with tshark and strace on 2026-11-26. The control connection carries one octet per state, and
//! JSON texts preceded by their length. Integers are big-endian, except in datagrams that open a
//! UDP flow.

use core::ops::Range;

use crate::Error;
use crate::fields::codes;

/// Length of a cookie: 36 characters and a zero.
pub const COOKIE_BYTES: usize = 37;
pub const LENGTH_BYTES: usize = 4;
/// Length of a datagram that opens a flow, and of its answer.
pub const HELLO_BYTES: usize = 4;

const FORMAT: &str = "iperf3";
const COOKIE_CHARACTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

pub const HELLO: [u8; HELLO_BYTES] = *b"9876";
pub const HELLO_ANSWER: [u8; HELLO_BYTES] = *b"6789";

codes! {
    #[derive(PartialOrd, Ord)]
    State {
        TestStart = 1,
        TestRunning = 2,
        TestEnd = 4,
        ParameterExchange = 9,
        CreateStreams = 10,
        ServerTerminate = 11,
        ClientTerminate = 12,
        ExchangeResults = 13,
        DisplayResults = 14,
        Done = 16,
        /// The server failed; its own error number and the system's follow. Not observed: servers
        /// that failed closed the connection.
        ServerError = 254,
        AccessDenied = 255,
    }
}

impl State {
    /// Read an octet.
    ///
    /// # Errors
    /// [`Error::Forbidden`] for an octet that iperf3 was never seen to send.
    pub fn parse(octet: u8) -> Result<Self, Error> {
        Self::from_wire(octet).ok_or_else(|| Error::forbidden(FORMAT, "state", 0, octet))
    }
}

pub fn cookie(random: [u8; COOKIE_BYTES - 1]) -> [u8; COOKIE_BYTES] {
    let mut cookie = [0; COOKIE_BYTES];
    for (character, octet) in cookie.iter_mut().zip(random) {
        *character = COOKIE_CHARACTERS[usize::from(octet % 32)];
    }
    cookie
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub seconds: u32,
    pub microseconds: u32,
    /// Counted from 1 in each flow.
    pub number: u64,
}

const SECONDS: Range<usize> = 0..4;
const MICROSECONDS: Range<usize> = 4..8;
const NUMBER: usize = 8;

impl Head {
    /// Length of a header, whose number has 64 bits if `is_wide`, as both ends agreed.
    pub fn octets(is_wide: bool) -> usize {
        NUMBER + if is_wide { 8 } else { 4 }
    }

    pub fn parse(datagram: &[u8], is_wide: bool) -> Result<Self, Error> {
        let need = Self::octets(is_wide);
        let Some(head) = datagram.get(..need) else {
            return Err(Error::Truncated { format: FORMAT, need, got: datagram.len() });
        };
        let number = head[NUMBER..].iter().fold(0, |all, octet| all << 8 | u64::from(*octet));
        Ok(Self { seconds: word(&head[SECONDS]), microseconds: word(&head[MICROSECONDS]), number })
    }

    /// Write it to the start of `datagram`, truncated if there is no room.
    pub fn emit(&self, datagram: &mut [u8], is_wide: bool) {
        let mut head = [0; NUMBER + 8];
        head[SECONDS].copy_from_slice(&self.seconds.to_be_bytes());
        head[MICROSECONDS].copy_from_slice(&self.microseconds.to_be_bytes());
        if is_wide {
            head[NUMBER..].copy_from_slice(&self.number.to_be_bytes());
        } else {
            head[NUMBER..NUMBER + 4].copy_from_slice(&(self.number as u32).to_be_bytes());
        }
        let octets = Self::octets(is_wide).min(datagram.len());
        datagram[..octets].copy_from_slice(&head[..octets]);
    }
}

fn word(octets: &[u8]) -> u32 {
    octets.iter().fold(0, |all, octet| all << 8 | u32::from(*octet))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_no_iperf3_writes_is_named() {
        let known: Vec<u8> = (0..=255).filter(|octet| State::parse(*octet).is_ok()).collect();
        assert_eq!(known, [1, 2, 4, 9, 10, 11, 12, 13, 14, 16, 254, 255]);
        assert!(known.iter().all(|octet| State::parse(*octet).unwrap() as u8 == *octet));
        let error = State::parse(b'H').unwrap_err();
        assert_eq!(error.to_string(), "iperf3: field `state` at octet 0 has forbidden value 0x48");
    }

    #[test]
    fn a_cookie_is_36_characters_and_a_zero() {
        let cookie = cookie(std::array::from_fn(|place| (37 * place) as u8));
        assert_eq!(cookie[36], 0);
        assert!(cookie[..36].iter().all(|octet| COOKIE_CHARACTERS.contains(octet)));
        assert_eq!(&cookie[..4], b"afkp");
    }

    #[test]
    fn truncated_heads_are_refused() {
        for (is_wide, octets) in [(false, 12), (true, 16)] {
            let error = Head::parse(&vec![0; octets - 1], is_wide).unwrap_err();
            let said = format!("iperf3: need {octets} octets, got {}", octets - 1);
            assert_eq!(error.to_string(), said);
        }
    }

    proptest::proptest! {
        #[test]
        fn emit_then_parse_is_identity(seconds: u32, microseconds: u32, number: u32) {
            let head = Head { seconds, microseconds, number: number.into() };
            for is_wide in [false, true] {
                let mut datagram = [0xff; 20];
                head.emit(&mut datagram, is_wide);
                proptest::prop_assert_eq!(Head::parse(&datagram, is_wide), Ok(head));
            }
        }

        #[test]
        fn parse_never_panics(datagram: Vec<u8>, is_wide: bool) {
            let _ = Head::parse(&datagram, is_wide);
        }
    }
}
