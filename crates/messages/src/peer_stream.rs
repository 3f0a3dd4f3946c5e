//! A stream whose other end is no engine.

use lanlab_files::HostAddress;
pub use lanlab_files::OwnStack;
use schemars::JsonSchema;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::{Intervals, StreamReceived, StreamSent, StreamSpec};

/// Send a stream to a peer that is no engine, or receive one from it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeerStream {
    pub spec: StreamSpec,
    pub protocol: PeerProtocol,
    pub direction: PeerDirection,
    /// Address to connect from; absent: the system's choice.
    #[serde(default)]
    pub bind: Option<HostAddress>,
    pub peer: HostAddress,
    pub port: u16,
    /// The processor that the threads of the flows are bound to; absent: any.
    #[serde(default)]
    pub processor: Option<u16>,
    /// The engine's own TCP, in place of the system's; absent: the system's.
    #[serde(default)]
    pub stack: Option<OwnStack>,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct StackFacts {
    pub memory_bytes: u64,
    /// The most that it held in all: buffers, frames, gaps in what was received, timers, connections.
    pub held_bytes: u64,
    pub sent_frames: u64,
    /// Frames that came: ARP, and IPv4 to its address.
    pub received_frames: u64,
    pub dropped_frames: u64,
    pub mss_bytes: u64,
    /// Receive buffer of a connection, and so its largest window.
    pub receive_buffer_bytes: u64,
    pub send_buffer_bytes: u64,
    /// How long the acknowledgement of a single segment waited at most; 0: not at all.
    pub delayed_ack_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PeerProtocol {
    Tcp,
    /// iperf3's protocol: it is an iperf3 server.
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
    /// What of it the peer's TCP acknowledged, where the system tells. That its program has read it is
    /// not known.
    pub acknowledged: Option<Acknowledged>,
    /// Bytes that the peer sent back meanwhile, warm-up included; they were read and discarded.
    pub returned_bytes: Option<u64>,
    pub received: Option<StreamReceived>,
    /// What the peer counted, if it says so; warm-up included.
    pub report: Option<PeerReport>,
    /// Time that this end waited, with nothing on its way, until it said that the test was over: the times of
    /// the report include it.
    pub waited_ns: u64,
    /// What this end's own TCP counted, if it was used.
    pub stack: Option<StackFacts>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Acknowledged {
    /// For an amount of time from the first measured message to the end of sending; else to the last
    /// acknowledgement. The longest of all flows.
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

/// What an iperf3 server reported of a test, by the names that it uses. What it left out is 0.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct PeerReport {
    #[serde(deserialize_with = "amount")]
    pub cpu_util_total: f64,
    #[serde(deserialize_with = "amount")]
    pub cpu_util_user: f64,
    #[serde(deserialize_with = "amount")]
    pub cpu_util_system: f64,
    /// Whether `retransmits` is known: 1; 0 or -1: it is not.
    #[serde(deserialize_with = "signed")]
    pub sender_has_retransmits: i64,
    /// Congestion control of its connections. Servers were seen to crash on one that is `null`.
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
    /// Segments sent again; -1: it does not know.
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
    /// When it began, seconds.
    #[serde(deserialize_with = "amount")]
    pub start_time: f64,
    /// When it ended, seconds.
    #[serde(deserialize_with = "amount")]
    pub end_time: f64,
}

/// Most bytes that a test can have moved: 1 Tbit/s for three months.
const MOST_COUNTED: f64 = 1e18;

/// Longest time of a test, seconds, and most of a processor, per cent.
const MOST_AMOUNT: f64 = 1e9;

/// A count in which some versions write -1 as the largest number of 64 bits.
fn signed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let number = number(deserializer, u64::MAX as f64)?;
    Ok(if number >= i64::MAX as f64 { -1 } else { number as i64 })
}

/// A count, which libraries for JSON may write as a number with an exponent.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    number(deserializer, MOST_COUNTED).map(|number| number as u64)
}

/// A number; of one that is none, as an average of nothing, libraries for JSON write `null`.
fn number<'de, D: Deserializer<'de>>(deserializer: D, most: f64) -> Result<f64, D::Error> {
    let number: f64 = Option::deserialize(deserializer)?.unwrap_or_default();
    if number.abs() <= most {
        return Ok(number);
    }
    Err(D::Error::custom(format!("found {number:e}; allowed: at most {most:e}")))
}

/// A time or a share, none of which is below 0.
fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    number(deserializer, MOST_AMOUNT).map(|number| number.max(0.0))
}

/// Most flows that a report may have: twice as many as a test has in both directions.
const MOST_REPORTED: usize = 512;

/// Flows of a report, which are no more than there can be: a short text could ask for much memory.
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
