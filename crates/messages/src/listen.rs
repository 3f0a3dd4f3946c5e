//! Listening on a segment: protocols and stations.

use lanlab_files::LinkPlace;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Receive all frames of a segment and report protocols and stations. Nothing is sent.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listen {
    pub link: LinkPlace,
    /// Stop after this time, ns: 1 ms to 1 day.
    pub longest_ns: u64,
    /// Stop after this number of frames, 1 to 1,000,000,000.
    pub most_frames: u64,
    /// Write each frame to this file, pcap with nanoseconds; the file must not exist.
    pub pcap: Option<String>,
}

/// Results of listening. Each list is sorted and bounded, with a count of omitted entries.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Heard {
    pub interface: String,
    pub mac: String,
    pub elapsed_ns: u64,
    pub frames: u64,
    /// Their bytes, from the destination address to the end of the padding.
    pub bytes: u64,
    pub kernel_drops: u64,
    /// Frames that are too short, or whose type or length field is invalid.
    pub unreadable_frames: u64,
    /// Unicast frames between two other stations. Without any, unicast answers do not arrive here,
    /// as behind a switch.
    pub frames_between_others: u64,
    pub recorded_frames: u64,
    /// Frames missing from that file because the disk was too slow.
    pub unrecorded_frames: u64,
    pub protocols: Vec<ProtocolHeard>,
    pub other_protocol_frames: u64,
    pub stations: Vec<StationHeard>,
    pub other_station_frames: u64,
    pub names: Vec<NameHeard>,
    /// Names omitted from the list, counted each time they were heard.
    pub other_names: u64,
    pub servers: Vec<ServerHeard>,
    /// Servers omitted from the list, counted each time they were heard.
    pub other_servers: u64,
    pub unanswered: Vec<QuestionHeard>,
    pub answered_questions: u64,
    /// Queries omitted from the list, counted each time they were heard.
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
    /// Its name, or its number if the name is unknown.
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
    /// IPv4 and IPX addresses that it used, at most eight.
    pub addresses: Vec<String>,
    /// Frame types in which it used IPX, without queries for routers or servers: stations also send
    /// these in frame types that they do not use.
    pub ipx_framings: Vec<FramingHeard>,
    /// Time from the start to the first frame, ns.
    pub first_ns: u64,
    pub last_ns: u64,
}

/// How a name was heard, from the weakest to the strongest evidence that its station has it.
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
    /// Address of the server: a hardware address, or an IPX address.
    pub address: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QuestionHeard {
    pub question: String,
    pub asked: String,
    pub mac: String,
    pub times: u64,
    /// Time from its last query to the end of listening, ns. If it is short, an answer may still
    /// follow.
    pub last_before_end_ns: u64,
}
