//! Received, unread bytes of a control connection.

use lanlab_wire::iperf3::{LENGTH_BYTES, State};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::messages::Failure;

/// Longest JSON text accepted; the results of 128 flows have 40 kB.
const MOST_TEXT_BYTES: usize = 1 << 20;

/// Received bytes: at most one text and what arrived with its end.
#[derive(Debug, Default)]
pub struct Inbox {
    octets: Vec<u8>,
}

impl Inbox {
    pub fn put(&mut self, octets: &[u8]) {
        self.octets.extend_from_slice(octets);
    }

    /// The next byte as a state; `None` if it has not arrived.
    pub fn state(&mut self) -> Result<Option<State>, Failure> {
        let Some(octet) = self.octets.first().copied() else { return Ok(None) };
        self.octets.remove(0);
        State::parse(octet).map(Some).map_err(|error| not_iperf3(error.to_string()))
    }

    /// The two numbers after [`State::ServerError`]; `None` if they have not arrived.
    pub fn error_numbers(&mut self) -> Option<(i32, i32)> {
        let numbers: [u8; 8] = self.octets.get(..8)?.try_into().ok()?;
        self.octets.drain(..8);
        let (own, system) = numbers.split_at(4);
        let number = |octets: &[u8]| octets.iter().fold(0, |all: i32, o| all << 8 | i32::from(*o));
        Some((number(own), number(system)))
    }

    /// The next JSON text; `None` if it has not arrived.
    pub fn json<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Failure> {
        let Some(length) = self.octets.get(..LENGTH_BYTES) else { return Ok(None) };
        let length = length.iter().fold(0_usize, |all, octet| all << 8 | usize::from(*octet));
        if length > MOST_TEXT_BYTES {
            return Err(not_iperf3(format!(
                "a text of {length} bytes is announced; allowed: {MOST_TEXT_BYTES}"
            )));
        }
        let Some(text) = self.octets.get(LENGTH_BYTES..LENGTH_BYTES + length) else {
            return Ok(None);
        };
        // serde would also accept a list of values for a structure.
        if text.trim_ascii_start().first().is_some_and(|first| *first != b'{') {
            return Err(not_iperf3("a text that is not its JSON: no object"));
        }
        let value = serde_json::from_slice(text)
            .map_err(|error| not_iperf3(format!("a text that is not its JSON: {error}")))?;
        self.octets.drain(..LENGTH_BYTES + length);
        Ok(Some(value))
    }
}

/// Append a text to what is sent, after its length.
pub fn put_text(outbox: &mut Vec<u8>, text: &Value) {
    let text = text.to_string();
    outbox.extend_from_slice(&(text.len() as u32).to_be_bytes());
    outbox.extend_from_slice(text.as_bytes());
}

/// The error for data that iperf3 never sends.
pub fn not_iperf3(found: impl std::fmt::Display) -> Failure {
    Failure::new("peer.protocol", format!("the peer does not speak iperf3's protocol: {found}"))
        .hint("check the program on that port; `iperf3 -s` listens on 5201")
}
