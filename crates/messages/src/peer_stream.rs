//! A stream whose other end is not an engine.

use lanlab_files::HostAddress;
pub use lanlab_files::OwnStack;
use schemars::JsonSchema;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::{Intervals, StreamReceived, StreamSent, StreamSpec};

/// Send a stream to a peer without an engine, or receive one from it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeerStream {
    pub spec: StreamSpec,
    pub protocol: PeerProtocol,
    pub direction: PeerDirection,
    /// Source address; absent: the system's choice.
    pub bind: Option<HostAddress>,
    pub peer: HostAddress,
    pub port: u16,
    /// Processor to which the threads of the flows are bound; absent: any.
    pub processor: Option<u16>,
    /// The engine's own TCP instead of the system's; absent: the system's.
    pub stack: Option<OwnStack>,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct StackFacts {
    pub memory_bytes: u64,
    /// Its maximum memory use: buffers, frames, gaps in received data, timers, connections.
    pub held_bytes: u64,
    pub sent_frames: u64,
    /// Received frames: ARP, and IPv4 to its address.
    pub received_frames: u64,
    pub dropped_frames: u64,
    pub mss_bytes: u64,
    /// Receive buffer of a connection, and thus its maximum window.
    pub receive_buffer_bytes: u64,
    pub send_buffer_bytes: u64,
    /// Maximum delay of the acknowledgement of a single segment; 0: no delay.
    pub delayed_ack_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PeerProtocol {
    Tcp,
    /// iperf3's protocol, with an iperf3 server as peer.
    Iperf3,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PeerDirection {
    Send,
    Receive,
    Both,
}

#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct PeerStreamed {
    pub sent: Option<StreamSent>,
    /// The part that the peer's TCP acknowledged, if the system reports it. Whether its program has
    /// read it is unknown.
    pub acknowledged: Option<Acknowledged>,
    /// Bytes that the peer sent back, including the warm-up; they were discarded.
    pub returned_bytes: Option<u64>,
    pub received: Option<StreamReceived>,
    /// The peer's own counts, if it reports them, including the warm-up.
    pub report: Option<PeerReport>,
    /// Time that this end waited, with no data in flight, before its end message. The times of the
    /// report include it.
    pub waited_ns: u64,
    /// Counts of this end's own TCP, if it was used.
    pub stack: Option<StackFacts>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Acknowledged {
    /// In a trial with a time: from the first measured message to the end of sending; otherwise to
    /// the last acknowledgement. The longest of all flows.
    pub window_ns: u64,
    pub window_bytes: u64,
    pub total_bytes: u64,
    pub intervals: Intervals,
    pub flows: Vec<AcknowledgedFlow>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AcknowledgedFlow {
    pub window_ns: u64,
    pub window_bytes: u64,
    pub total_bytes: u64,
}

/// An iperf3 server's report of a test, with its names. Omitted values are 0.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct PeerReport {
    #[serde(deserialize_with = "amount")]
    pub cpu_util_total: f64,
    #[serde(deserialize_with = "amount")]
    pub cpu_util_user: f64,
    #[serde(deserialize_with = "amount")]
    pub cpu_util_system: f64,
    /// Whether `retransmits` is known: 1 for yes; 0 or -1 for no.
    #[serde(deserialize_with = "signed")]
    pub sender_has_retransmits: i64,
    /// Congestion control of its connections. `null` has crashed servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_used: Option<String>,
    #[serde(deserialize_with = "few")]
    pub streams: Vec<PeerReportFlow>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct PeerReportFlow {
    /// Its number: 1, 3, 4 and so on.
    #[serde(deserialize_with = "signed")]
    pub id: i64,
    #[serde(deserialize_with = "whole")]
    pub bytes: u64,
    /// Retransmitted segments; -1: unknown.
    #[serde(deserialize_with = "signed")]
    pub retransmits: i64,
    /// Jitter as in RFC 1889, seconds (UDP).
    #[serde(deserialize_with = "amount")]
    pub jitter: f64,
    #[serde(deserialize_with = "signed")]
    pub errors: i64,
    #[serde(deserialize_with = "signed")]
    pub omitted_errors: i64,
    #[serde(deserialize_with = "signed")]
    pub packets: i64,
    #[serde(deserialize_with = "signed")]
    pub omitted_packets: i64,
    /// Start, seconds.
    #[serde(deserialize_with = "amount")]
    pub start_time: f64,
    /// End, seconds.
    #[serde(deserialize_with = "amount")]
    pub end_time: f64,
}

/// Maximum bytes that a test can transfer: 1 Tbit/s for three months.
const MOST_COUNTED: f64 = 1e18;

/// Maximum time of a test, seconds, and maximum CPU use, per cent.
const MOST_AMOUNT: f64 = 1e9;

/// A count for which some versions write -1 as the largest 64-bit number.
fn signed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let number = number(deserializer, u64::MAX as f64)?;
    Ok(if number >= i64::MAX as f64 { -1 } else { number as i64 })
}

/// A count, which some JSON libraries write with an exponent.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    number(deserializer, MOST_COUNTED).map(|number| number as u64)
}

/// A number. JSON libraries write `null` for values that are not numbers, such as an average of
/// nothing.
fn number<'de, D: Deserializer<'de>>(deserializer: D, most: f64) -> Result<f64, D::Error> {
    let number: f64 = Option::deserialize(deserializer)?.unwrap_or_default();
    if number.abs() <= most {
        return Ok(number);
    }
    Err(D::Error::custom(format!("found {number:e}; allowed: at most {most:e}")))
}

/// A time or share, at least 0.
fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    number(deserializer, MOST_AMOUNT).map(|number| number.max(0.0))
}

/// Maximum flows in a report: twice as many as a test has, for both directions.
const MOST_REPORTED: usize = 512;

/// Flows of a report, limited to the possible number, because a short text could otherwise request
/// much memory.
fn few<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PeerReportFlow>, D::Error> {
    struct Few;
    impl<'de> Visitor<'de> for Few {
        type Value = Vec<PeerReportFlow>;

        fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
            write!(formatter, "at most {MOST_REPORTED} flows")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut flows: A) -> Result<Self::Value, A::Error> {
            let mut found = Vec::new();
            while let Some(flow) = flows.next_element()? {
                if found.len() == MOST_REPORTED {
                    return Err(A::Error::invalid_length(found.len() + 1, &self));
                }
                found.push(flow);
            }
            Ok(found)
        }
    }
    deserializer.deserialize_seq(Few)
}
