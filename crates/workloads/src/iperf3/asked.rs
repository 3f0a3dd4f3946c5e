//! A client's test request, parsed and checked against the server's bounds.

use serde_json::{Map, Value};

use super::{Test, sentence};
use crate::messages::Failure;

const MOST_STREAMS: u64 = 128;
const MOST_OMIT_S: u64 = 600;
const MOST_TCP_BYTES: u64 = 1 << 20;
const UDP_BYTES: std::ops::RangeInclusive<u64> = 16..=65_507;
const BUFFER_BYTES: std::ops::RangeInclusive<u64> = 1024..=(1 << 29);
const MOST_RATE_BPS: u64 = 400_000_000_000;
const MOST_NAME_BYTES: usize = 15;

/// Limits of a server on what clients may request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub flows: u16,
    pub time_s: u64,
    /// Bit/s over all flows of a client per direction; `None`: unlimited.
    pub rate_bps: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The test. Its duration is the maximum, without the omitted part.
    pub test: Test,
    pub omit_s: u64,
    pub dscp: u8,
    /// Whether datagram numbers have 64 bits.
    pub is_wide: bool,
}

/// Why a request is refused, and the number of iperf3's own error message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    pub failure: Failure,
    /// The error number of [`lanlab_wire::iperf3::State::ServerError`].
    pub number: i32,
}

impl Asked {
    pub fn read(text: &Map<String, Value>, bounds: &Bounds) -> Result<Self, Refused> {
        let wishes = Wishes(text);
        let is_udp = wishes.flag("udp");
        if is_udp == wishes.flag("tcp") {
            return Err(refused("protocol", "neither TCP nor UDP", "one of them", 13));
        }
        for key in ["fqrate", "authtoken"] {
            if text.contains_key(key) {
                let found = format!("the client asked for `{key}`, which is not served");
                let failure = Failure::new("client.refused", found);
                return Err(Refused { failure, number: sentence::NOT_IMPLEMENTED });
            }
        }
        let omit_s = wishes.within("omit", 0, 0..=MOST_OMIT_S, sentence::OMIT)?;
        let most_s = bounds.time_s.saturating_sub(omit_s);
        let flows = wishes.within("parallel", 1, 1..=bounds.flows.into(), sentence::FLOWS)?;
        let (usual, sizes, number) = if is_udp {
            (1460, UDP_BYTES, sentence::UDP_BYTES)
        } else {
            (128 << 10, 1..=MOST_TCP_BYTES, sentence::TCP_BYTES)
        };
        let message_bytes = wishes.within("len", usual, sizes, number)?;
        // A client that counts bytes or blocks sends no duration.
        let time_s = wishes.within("time", 0, 0..=most_s, sentence::TIME)?;
        let rate_bps = wishes.within("bandwidth", 0, 0..=MOST_RATE_BPS, sentence::RATE)?;
        let (is_both, is_back) = (wishes.flag("bidirectional"), wishes.flag("reverse"));
        if let Some(most) = bounds.rate_bps {
            let all = rate_bps * flows;
            if rate_bps == 0 || all > most {
                let found = if rate_bps == 0 { "no rate".into() } else { format!("{all} bit/s") };
                let allowed = format!("at most {most} bit/s for all flows together (`-b`)");
                return Err(refused("bandwidth", found, allowed, sentence::RATE));
            }
        }
        let window = wishes.within("window", 0, 0..=*BUFFER_BYTES.end(), sentence::BUFFER)?;
        let dscp = wishes.within("TOS", 0, 0..=255, sentence::TYPE_OF_SERVICE)? >> 2;
        let congestion = text.get("congestion").and_then(Value::as_str).map(str::to_owned);
        if congestion.as_ref().is_some_and(|name| is_udp || name.len() > MOST_NAME_BYTES) {
            let found = "a name that is none";
            return Err(refused("congestion", found, "one of TCP's", sentence::CONGESTION));
        }
        Ok(Self {
            test: Test {
                is_udp,
                directions: (is_both || is_back, is_both || !is_back),
                time_s: if time_s == 0 { most_s } else { time_s },
                flows: flows as u16,
                message_bytes: message_bytes as usize,
                rate_bps,
                nodelay: wishes.flag("nodelay"),
                buffer_bytes: (window >= *BUFFER_BYTES.start()).then_some(window as u32),
                congestion,
            },
            omit_s,
            dscp: dscp as u8,
            is_wide: wishes.flag("udp_counters_64bit"),
        })
    }
}

impl Bounds {
    pub const WIDEST: Self = Self { flows: MOST_STREAMS as u16, time_s: 86_400, rate_bps: None };
}

struct Wishes<'a>(&'a Map<String, Value>);

impl Wishes<'_> {
    /// An optional flag, encoded as boolean or number.
    fn flag(&self, key: &str) -> bool {
        match self.0.get(key) {
            Some(Value::Bool(flag)) => *flag,
            Some(Value::Number(number)) => number.as_f64() != Some(0.0),
            _ => false,
        }
    }

    fn within(
        &self,
        key: &str,
        usual: u64,
        allowed: std::ops::RangeInclusive<u64>,
        number: i32,
    ) -> Result<u64, Refused> {
        let Some(found) = self.0.get(key) else { return Ok(usual) };
        let value = found.as_f64().filter(|value| value.fract() == 0.0);
        match value.map(|value| value as u64) {
            Some(value) if allowed.contains(&value) && found.as_f64() >= Some(0.0) => Ok(value),
            _ => {
                let range = format!("{} to {}", allowed.start(), allowed.end());
                let found: String = found.to_string().chars().take(40).collect();
                Err(refused(key, found, range, number))
            }
        }
    }
}

fn refused(
    key: &str,
    found: impl std::fmt::Display,
    allowed: impl std::fmt::Display,
    number: i32,
) -> Refused {
    let failure = Failure::new(
        "client.refused",
        format!("the client asked for `{key}`: found {found}; allowed: {allowed}"),
    );
    Refused { failure, number }
}

pub(super) fn unreadable(failure: Failure) -> Refused {
    Refused { failure, number: sentence::PARAMETERS }
}
