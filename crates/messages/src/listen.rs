//! Listening on a segment: who speaks what there.

use lanlab_files::LinkPlace;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Listen to all frames of a segment, and say who speaks what. Nothing is sent.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listen {
    pub link: LinkPlace,
    /// Stop after this time, ns: 1 ms to 1 day.
    pub longest_ns: u64,
    /// Stop after this number of frames, 1 to 1,000,000,000.
    pub most_frames: u64,
    /// Write each frame to this file, pcap with nanoseconds; it must not exist.
    #[serde(default)]
    pub pcap: Option<String>,
}

/// What was heard on a segment. Each list is in order, bounded, and says what it leaves out.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Heard {
    pub interface: String,
    pub mac: String,
    pub elapsed_ns: u64,
    pub frames: u64,
    /// Their bytes, from destination address to the end of the padding.
    pub bytes: u64,
    pub kernel_drops: u64,
    /// Frames that are too short, or have neither a type nor a length.
    pub unreadable_frames: u64,
    /// Frames to one station that is not this one, sent by another: with none of them, answers to
    /// single stations do not come here, as behind a switch.
    pub frames_between_others: u64,
    pub recorded_frames: u64,
    /// Frames missing from that file, as the disk could not keep up.
    pub unrecorded_frames: u64,
    pub protocols: Vec<ProtocolHeard>,
    pub other_protocol_frames: u64,
    pub stations: Vec<StationHeard>,
    pub other_station_frames: u64,
    pub names: Vec<NameHeard>,
    /// Names that are not in the list, counted each time they were heard.
    pub other_names: u64,
    pub servers: Vec<ServerHeard>,
    /// Servers that are not in the list, counted each time they were heard.
    pub other_servers: u64,
    pub unanswered: Vec<QuestionHeard>,
    pub answered_questions: u64,
    /// Questions that are not in the list, counted each time they were heard.
    pub other_questions: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FramingHeard {
    EthernetIi,
    #[serde(rename = "raw_802_3")]
    Raw8023,
    /// A length, then LLC (IEEE 802.2).
    #[serde(rename = "llc")]
    Llc,
    Snap,
    /// A length, then 3Com's header.
    ThreeCom,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProtocolHeard {
    pub framing: FramingHeard,
    /// Its name, or its number where it has no known name.
    pub protocol: String,
    pub frames: u64,
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StationHeard {
    pub mac: String,
    pub frames: u64,
    pub bytes: u64,
    pub protocols: Vec<String>,
    /// Addresses of IPv4 and IPX that it used, at most eight.
    pub addresses: Vec<String>,
    /// Framings in which it spoke IPX. What looks for routers or servers is left out: stations do that in
    /// framings that they do not use.
    pub ipx_framings: Vec<FramingHeard>,
    /// First heard this long after the start, ns.
    pub first_ns: u64,
    pub last_ns: u64,
}

/// How a name was heard, from the weakest to the strongest sign that its station has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NameSign {
    Used,
    Claimed,
    Announced,
    Answered,
    Released,
}

/// A `NetBIOS` name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NameHeard {
    pub name: String,
    pub suffix: u8,
    /// `NetBEUI` or `NetBIOS over UDP`.
    pub protocol: String,
    pub mac: String,
    pub is_group: Option<bool>,
    pub sign: NameSign,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ServerHeard {
    pub kind: String,
    pub name: String,
    pub protocol: String,
    /// Where it is: a hardware address, or an address of IPX.
    pub address: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QuestionHeard {
    pub question: String,
    pub asked: String,
    pub mac: String,
    pub times: u64,
    /// Time from its last question to the end of listening, ns: too short, and an answer may still
    /// have come.
    pub last_before_end_ns: u64,
}
