//! Listening on a segment: who speaks what there.

use lanlab_files::LinkPlace;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Listen to all frames of a segment, and say who speaks what. Nothing is sent.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listen {
    /// Where.
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
    /// Name of the interface.
    pub interface: String,
    /// Its hardware address.
    pub mac: String,
    /// How long was listened, ns.
    pub elapsed_ns: u64,
    /// Frames heard, those that cannot be read included.
    pub frames: u64,
    /// Their bytes, from destination address to the end of the padding.
    pub bytes: u64,
    /// Frames that the kernel dropped before they were read.
    pub kernel_drops: u64,
    /// Frames that are too short, or have neither a type nor a length.
    pub unreadable_frames: u64,
    /// Frames to one station that is not this one, sent by another: with none of them, answers to
    /// single stations do not come here, as behind a switch.
    pub frames_between_others: u64,
    /// Frames in the pcap file.
    pub recorded_frames: u64,
    /// Frames missing from that file, as the disk could not keep up.
    pub unrecorded_frames: u64,
    /// Protocols, by framing and name.
    pub protocols: Vec<ProtocolHeard>,
    /// Frames of protocols that are not in the list.
    pub other_protocol_frames: u64,
    /// Stations, by address.
    pub stations: Vec<StationHeard>,
    /// Frames of stations that are not in the list.
    pub other_station_frames: u64,
    /// Names.
    pub names: Vec<NameHeard>,
    /// Names that are not in the list, counted each time they were heard.
    pub other_names: u64,
    /// Servers.
    pub servers: Vec<ServerHeard>,
    /// Servers that are not in the list, counted each time they were heard.
    pub other_servers: u64,
    /// Questions to which no answer was heard.
    pub unanswered: Vec<QuestionHeard>,
    /// Questions to which an answer was heard.
    pub answered_questions: u64,
    /// Questions that are not in the list, counted each time they were heard.
    pub other_questions: u64,
}

/// How frames of a protocol are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FramingHeard {
    /// A type (Ethernet II).
    EthernetIi,
    /// A length, then IPX without LLC.
    #[serde(rename = "raw_802_3")]
    Raw8023,
    /// A length, then LLC (IEEE 802.2).
    #[serde(rename = "llc")]
    Llc,
    /// A length, then SNAP.
    Snap,
    /// A length, then 3Com's header.
    ThreeCom,
}

/// A protocol in one framing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProtocolHeard {
    /// How its frames are marked.
    pub framing: FramingHeard,
    /// Its name, or its number where it has no known name.
    pub protocol: String,
    /// Its frames.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A station.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StationHeard {
    /// Its hardware address.
    pub mac: String,
    /// Frames that it sent.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Protocols that it spoke.
    pub protocols: Vec<String>,
    /// Addresses of IPv4 and IPX that it used, at most eight.
    pub addresses: Vec<String>,
    /// Framings in which it spoke IPX. What looks for routers or servers is left out: stations do that in
    /// framings that they do not use.
    pub ipx_framings: Vec<FramingHeard>,
    /// First heard this long after the start, ns.
    pub first_ns: u64,
    /// Last heard, likewise.
    pub last_ns: u64,
}

/// How a name was heard, from the weakest to the strongest sign that its station has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NameSign {
    /// As the sender of a datagram or question.
    Used,
    /// The station asked whether another has it.
    Claimed,
    /// The station announced it as its own.
    Announced,
    /// The station answered for it.
    Answered,
    /// The station gave it up.
    Released,
}

/// A `NetBIOS` name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NameHeard {
    /// As people write it.
    pub name: String,
    /// Its last byte: what it stands for.
    pub suffix: u8,
    /// `NetBEUI` or `NetBIOS over UDP`.
    pub protocol: String,
    /// Hardware address of the station.
    pub mac: String,
    /// Whether it is the name of a group; `null` where that was not said.
    pub is_group: Option<bool>,
    /// How it was heard.
    pub sign: NameSign,
}

/// A server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ServerHeard {
    /// What it is.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Protocol by which it is known.
    pub protocol: String,
    /// Where it is: a hardware address, or an address of IPX.
    pub address: String,
}

/// A question to which no answer was heard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QuestionHeard {
    /// Protocol and kind of the question.
    pub question: String,
    /// What was asked for.
    pub asked: String,
    /// Hardware address of the station that asked.
    pub mac: String,
    /// How often it asked.
    pub times: u64,
    /// Time from its last question to the end of listening, ns: too short, and an answer may still
    /// have come.
    pub last_before_end_ns: u64,
}
