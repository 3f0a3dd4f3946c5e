//! Messages between driver and engine: one JSON object per line, in both directions.
//!
//! These types are the only definition. `lanlab-engine schema` prints them as JSON Schema, against
//! which the driver checks the engine. A change that a driver could notice raises
//! [`SCHEMA_VERSION`].
//!
//! The engine first sends [`Reply::Hello`]. Each [`Command`] has an `id` that the driver chooses,
//! and ends in exactly one `result` or `error` with that id. `ready` and `progress` may come before
//! it. All times are whole nanoseconds; points in time are on the engine's monotonic clock. All
//! sizes are bytes, all rates bit/s or messages/s.

mod control;
mod copy;
mod dataset;
mod echo;
mod failure;
mod host;
mod listen;
mod medium;
mod metadata;
mod path_mtu;
mod peer_echo;
mod peer_serve;
mod peer_stream;
mod serve;
mod shared;
mod simulate;
mod stations;
mod storage;
mod stream;
mod virtual_hosts;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

pub use control::*;
pub use copy::*;
pub use dataset::*;
pub use echo::*;
pub use failure::Failure;
pub use host::*;
pub use listen::*;
pub use medium::*;
pub use metadata::*;
pub use path_mtu::*;
pub use peer_echo::*;
pub use peer_serve::*;
pub use peer_stream::*;
pub use serve::*;
pub use shared::*;
pub use simulate::*;
pub use stations::*;
pub use storage::*;
pub use stream::*;
pub use virtual_hosts::*;

/// Raised if a driver of the previous version could misunderstand a change.
pub const SCHEMA_VERSION: u32 = 9;

/// Longest line that the engine reads, bytes, including the line feed. A simulated world of 255
/// machines needs a third of it.
pub const MAX_LINE_BYTES: usize = 1_048_576;

/// Longest line that the engine sends, bytes: a result with whole histograms, or with 1000 flows.
pub const MAX_REPLY_BYTES: usize = 1_048_576;

/// Time between two `progress` lines of a request.
pub const PROGRESS_INTERVAL_NS: u64 = 250_000_000;

/// The same for a driver on another host: with protocol overhead, the lines use less than 1 kB/s.
pub const REMOTE_PROGRESS_INTERVAL_NS: u64 = 500_000_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// Chosen by the driver; not in use by another open request.
    pub id: u64,
    pub request: Request,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(transform = titled("", "Request"))]
pub enum Request {
    /// Return the current facts of this host. Ends in `description`.
    Describe {},
    /// Return the current clocks. Ends in `pong`.
    Ping {},
    /// Receive a stream. `ready` names the ports; ends in `stream_received`.
    StreamReceive(StreamReceive),
    /// Send a stream to a ready receiver. Ends in `stream_sent`.
    StreamSend(StreamSend),
    /// Send a stream to a peer without an engine, or receive one from it. Ends in `peer_streamed`.
    PeerStream(Box<PeerStream>),
    /// Measure round trips to a peer without an engine. Ends in `peer_echoed`.
    PeerEcho(Box<PeerEcho>),
    /// Serve clients without an engine. `ready` names the port; `peer_client` describes each
    /// client; when cancelled, the error has `peer_serve_ended`.
    PeerServe(PeerServe),
    /// Answer echo requests. `ready` names the port; ends in `echo_responded`.
    EchoRespond(EchoRespond),
    /// Send echo requests to a ready responder. Ends in `echo_requested`.
    EchoRequest(EchoRequest),
    /// Answer a peer's path MTU probes. `ready` names the port; when
    /// cancelled, the error has `path_mtu_answered`.
    PathMtuAnswer(PathMtuAnswer),
    /// Probe the path MTU to a peer. Ends in `path_mtu_probed`.
    PathMtuProbe(PathMtuProbe),
    /// Run a workload between modelled machines in virtual time. Ends in `simulated`.
    Simulate(Box<Simulate>),
    /// Listen on a segment. `ready` once frames are received; ends in `heard`. When cancelled, the
    /// error contains it.
    Listen(Listen),
    /// Create a dataset, or verify that it exists. Ends in `dataset_made`.
    Dataset(Dataset),
    /// Make a directory for a trial and hold it. `ready` names it; when cancelled, it is removed and the
    /// error has `trial_directory_removed`.
    TrialDirectory(TrialDirectory),
    /// Measure the free space of a file system. Ends in `room_measured`.
    MeasureRoom(MeasureRoom),
    /// Make free memory available on the host. Ends in `memory_ready`.
    ReadyMemory(ReadyMemory),
    /// Look up a name. Ends in `resolved`.
    Resolve(Resolve),
    /// Drop the host's file caches. Ends in `caches_dropped`.
    DropCaches(DropCaches),
    /// Serve a directory by an embedded server. `ready` names its port; when cancelled, the error
    /// has `serve_ended`.
    Serve(Serve),
    /// Prepare the trial of a copy: make its directory at the service and mark it; for a download,
    /// upload the files. After `ready`, files may exist at the server. Ends in `copy_prepared`.
    CopyPrepare { spec: Box<CopySpec> },
    /// Copy files from or to a file service. `ready` is sent when all connections are open; ends in
    /// `copied`.
    Copy { spec: Box<CopySpec> },
    /// Verify an upload over a new connection. Ends in `copy_checked`, or in the error `copy.wrong`.
    CopyCheck { spec: Box<CopySpec> },
    /// Remove only what a trial wrote. Ends in `copy_emptied`.
    CopyEmpty { spec: Box<CopySpec> },
    /// Prepare a trial of stations. `ready` as for `copy_prepare`. Ends in `stations_prepared`.
    StationsPrepare { spec: Box<StationsSpec> },
    /// Run stations that read and write blocks at a file service. `ready` is sent when all are
    /// connected; ends in `stationed`.
    Stations { spec: Box<StationsSpec> },
    /// Remove what a trial of stations wrote. Ends in `stations_emptied`.
    StationsEmpty { spec: Box<StationsSpec> },
    /// Prepare a trial of metadata. `ready` as for `copy_prepare`. Ends in `metadata_prepared`.
    MetadataPrepare { spec: Box<MetadataSpec> },
    /// Measure operations on names at a file service, one kind after the other. `ready` is sent when
    /// all clients are connected. Ends in `metadata_measured`, or in the error `metadata.wrong` if a
    /// name is missing or unexpected.
    Metadata { spec: Box<MetadataSpec> },
    /// Remove what a trial of metadata wrote. Ends in `metadata_emptied`.
    MetadataEmpty { spec: Box<MetadataSpec> },
    /// List the shares or buckets of a server. Ends in `places_listed`.
    ListPlaces(Box<ListPlaces>),
    /// Carry frames between the hosts of a virtual LAN. `ready` once their interfaces exist; when
    /// cancelled, the error has `medium_ended`.
    CarryFrames(CarryFrames),
    /// Read the counts of a medium. Ends in `medium_read`.
    ReadMedium(ReadMedium),
    /// Bring up the interfaces of a virtual LAN's hosts, with addresses and neighbours. Ends in
    /// `hosts_set_up`.
    SetUpHosts(SetUpHosts),
    /// Read the current state of the interfaces of a virtual LAN's hosts. Ends in `hosts_read`.
    ReadHosts(ReadHosts),
    /// Set the start time of a ready request. Ends in `armed`, or in the error `arm.late`.
    Arm(Arm),
    /// End a request now. Ends in `cancelled`; the request itself ends in the error `cancelled`.
    Cancel(Cancel),
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(transform = titled("", "Reply"))]
pub enum Reply {
    Hello(Hello),
    /// A measurement is set up and waits to be armed.
    Ready(Ready),
    Progress(Progress),
    /// The kernel's information on a TCP connection; several such lines may precede the result.
    TcpSamples(Box<TcpSamples>),
    /// File times of a copy; several such lines may precede its end.
    CopiedFiles(FileTimes),
    /// Readings of stations; several such lines may precede their end.
    StationReadings(StationReadings),
    StationSlices(StationSlices),
    /// A client of a peer server has ended; one line per client.
    PeerClient(Box<PeerClient>),
    ClientSeen(ClientSeen),
    Result(Finished),
    /// A request has ended with an error, or a line could not be read.
    Error(Failed),
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[schemars(transform = titled("", "Outcome"))]
pub enum Outcome {
    Description(Box<HostFacts>),
    Pong(Pong),
    Armed(Armed),
    Cancelled(Cancelled),
    MediumRead(Box<MediumCounts>),
    MediumEnded(Box<MediumCounts>),
    HostsSetUp {},
    HostsRead(HostsRead),
    StreamReceived(Box<StreamReceived>),
    StreamSent(Box<StreamSent>),
    PeerStreamed(Box<PeerStreamed>),
    PeerEchoed(Box<PeerEchoed>),
    PeerServeEnded(PeerServeEnded),
    EchoResponded(Box<EchoResponded>),
    EchoRequested(Box<EchoRequested>),
    PathMtuAnswered(PathMtuAnswered),
    PathMtuProbed(PathMtuProbed),
    Simulated(Box<Simulated>),
    Heard(Box<Heard>),
    DatasetMade(DatasetMade),
    TrialDirectoryRemoved(TrialDirectoryRemoved),
    RoomMeasured(RoomMeasured),
    MemoryReady(MemoryReady),
    Resolved(Resolved),
    CachesDropped(CachesDropped),
    ServeEnded(ServeEnded),
    CopyPrepared(CopyPrepared),
    Copied(Box<Copied>),
    CopyChecked(CopyChecked),
    CopyEmptied(CopyEmptied),
    StationsPrepared(StationsPrepared),
    Stationed(Box<Stationed>),
    StationsEmptied(StationsEmptied),
    MetadataPrepared(MetadataPrepared),
    MetadataMeasured(Box<MetadataMeasured>),
    MetadataEmptied(CopyEmptied),
    PlacesListed(PlacesListed),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "exists for its schema only")]
pub struct Messages {
    command: Command,
    reply: Reply,
}

/// Entitle each variant of a tagged enum, so that the types generated from them have names.
fn titled(prefix: &str, suffix: &str) -> impl FnMut(&mut Schema) {
    move |schema| {
        let variants = schema.get_mut("oneOf").and_then(|variants| variants.as_array_mut());
        for variant in variants.into_iter().flatten() {
            let mut fields = variant["properties"].as_object().into_iter().flatten();
            let tag = fields.find_map(|(_, field)| field["const"].as_str()).unwrap_or_default();
            let name: String = tag.split('_').map(capitalised).collect();
            variant["title"] = format!("{prefix}{name}{suffix}").into();
        }
    }
}

fn capitalised(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}
