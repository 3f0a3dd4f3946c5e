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
mod medium_load;
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

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use control::*;
pub use copy::*;
pub use dataset::*;
pub use echo::*;
pub use failure::Failure;
pub use host::*;
pub use listen::*;
pub use medium::*;
pub use medium_load::*;
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
pub const SCHEMA_VERSION: u32 = 8;

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
pub enum Request {
    /// Return the current facts of this host. Ends in `description`.
    #[schemars(title = "DescribeRequest")]
    Describe {},
    /// Return the current clocks. Ends in `pong`.
    #[schemars(title = "PingRequest")]
    Ping {},
    /// Receive a stream. `ready` names the ports; ends in `stream_received`.
    #[schemars(title = "StreamReceiveRequest")]
    StreamReceive(StreamReceive),
    /// Send a stream to a ready receiver. Ends in `stream_sent`.
    #[schemars(title = "StreamSendRequest")]
    StreamSend(StreamSend),
    /// Send a stream to a peer without an engine, or receive one from it. Ends in `peer_streamed`.
    #[schemars(title = "PeerStreamRequest")]
    PeerStream(Box<PeerStream>),
    /// Measure round trips to a peer without an engine. Ends in `peer_echoed`.
    #[schemars(title = "PeerEchoRequest")]
    PeerEcho(Box<PeerEcho>),
    /// Serve clients without an engine. `ready` names the port; `peer_client` describes each
    /// client; when cancelled, the error has `peer_serve_ended`.
    #[schemars(title = "PeerServeRequest")]
    PeerServe(PeerServe),
    /// Answer echo requests. `ready` names the port; ends in `echo_responded`.
    #[schemars(title = "EchoRespondRequest")]
    EchoRespond(EchoRespond),
    /// Send echo requests to a ready responder. Ends in `echo_requested`.
    #[schemars(title = "EchoRequestRequest")]
    EchoRequest(EchoRequest),
    /// Answer a peer's path MTU probes. `ready` names the port; when
    /// cancelled, the error has `path_mtu_answered`.
    #[schemars(title = "PathMtuAnswerRequest")]
    PathMtuAnswer(PathMtuAnswer),
    /// Probe the path MTU to a peer. Ends in `path_mtu_probed`.
    #[schemars(title = "PathMtuProbeRequest")]
    PathMtuProbe(PathMtuProbe),
    /// Compute what a simulated Ethernet carries under a load. Ends in `medium_loaded`.
    #[schemars(title = "MediumLoadRequest")]
    MediumLoad(Box<MediumLoad>),
    /// Run a workload between modelled machines in virtual time. Ends in `simulated`.
    #[schemars(title = "SimulateRequest")]
    Simulate(Box<Simulate>),
    /// Listen on a segment. `ready` once frames are received; ends in `heard`. When cancelled, the
    /// error contains it.
    #[schemars(title = "ListenRequest")]
    Listen(Listen),
    /// Create a dataset, or verify that it exists. Ends in `dataset_made`.
    #[schemars(title = "DatasetRequest")]
    Dataset(Dataset),
    /// Make a directory for a trial and hold it. `ready` names it; when cancelled, it is removed and the
    /// error has `trial_directory_removed`.
    #[schemars(title = "TrialDirectoryRequest")]
    TrialDirectory(TrialDirectory),
    /// Measure the free space of a file system. Ends in `room_measured`.
    #[schemars(title = "MeasureRoomRequest")]
    MeasureRoom(MeasureRoom),
    /// Make free memory available on the host. Ends in `memory_ready`.
    #[schemars(title = "ReadyMemoryRequest")]
    ReadyMemory(ReadyMemory),
    /// Look up a name. Ends in `resolved`.
    #[schemars(title = "ResolveRequest")]
    Resolve(Resolve),
    /// Drop the host's file caches. Ends in `caches_dropped`.
    #[schemars(title = "DropCachesRequest")]
    DropCaches(DropCaches),
    /// Serve a directory by an embedded server. `ready` names its port; when cancelled, the error
    /// has `serve_ended`.
    #[schemars(title = "ServeRequest")]
    Serve(Serve),
    /// Prepare the trial of a copy. After `ready`, files may exist at the server. Ends in
    /// `copy_prepared`.
    #[schemars(title = "CopyPrepareRequest")]
    CopyPrepare(Box<CopyPrepare>),
    /// Copy files from or to a file service. Ends in `copied`.
    #[schemars(title = "CopyRequest")]
    Copy(Box<Copy>),
    /// Verify an upload. Ends in `copy_checked`.
    #[schemars(title = "CopyCheckRequest")]
    CopyCheck(Box<CopyCheck>),
    /// Remove what a trial wrote. Ends in `copy_emptied`.
    #[schemars(title = "CopyEmptyRequest")]
    CopyEmpty(Box<CopyEmpty>),
    /// Prepare a trial of stations. `ready` as for `copy_prepare`. Ends in `stations_prepared`.
    #[schemars(title = "StationsPrepareRequest")]
    StationsPrepare(Box<StationsPrepare>),
    /// Run stations that read and write blocks at a file service. Ends in `stationed`.
    #[schemars(title = "StationsRequest")]
    Stations(Box<Stations>),
    /// Remove what a trial of stations wrote. Ends in `stations_emptied`.
    #[schemars(title = "StationsEmptyRequest")]
    StationsEmpty(Box<StationsEmpty>),
    /// Prepare a trial of metadata. `ready` as for `copy_prepare`. Ends in `metadata_prepared`.
    #[schemars(title = "MetadataPrepareRequest")]
    MetadataPrepare(Box<MetadataPrepare>),
    /// Measure operations on names at a file service. Ends in `metadata_measured`.
    #[schemars(title = "MetadataRequest")]
    Metadata(Box<Metadata>),
    /// Remove what a trial of metadata wrote. Ends in `metadata_emptied`.
    #[schemars(title = "MetadataEmptyRequest")]
    MetadataEmpty(Box<MetadataEmpty>),
    /// List the shares or buckets of a server. Ends in `places_listed`.
    #[schemars(title = "ListPlacesRequest")]
    ListPlaces(Box<ListPlaces>),
    /// Carry frames between the hosts of a virtual LAN. `ready` once their interfaces exist; when
    /// cancelled, the error has `medium_ended`.
    #[schemars(title = "CarryFramesRequest")]
    CarryFrames(CarryFrames),
    /// Read the counts of a medium. Ends in `medium_read`.
    #[schemars(title = "ReadMediumRequest")]
    ReadMedium(ReadMedium),
    /// Bring up the interfaces of a virtual LAN's hosts, with addresses and neighbours. Ends in
    /// `hosts_set_up`.
    #[schemars(title = "SetUpHostsRequest")]
    SetUpHosts(SetUpHosts),
    /// Read the current state of the interfaces of a virtual LAN's hosts. Ends in `hosts_read`.
    #[schemars(title = "ReadHostsRequest")]
    ReadHosts(ReadHosts),
    /// Set the start time of a ready request. Ends in `armed`, or in the error `arm.late`.
    #[schemars(title = "ArmRequest")]
    Arm(Arm),
    /// End a request now. Ends in `cancelled`; the request itself ends in the error `cancelled`.
    #[schemars(title = "CancelRequest")]
    Cancel(Cancel),
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Reply {
    #[schemars(title = "HelloReply")]
    Hello(Hello),
    /// A measurement is set up and waits to be armed.
    #[schemars(title = "ReadyReply")]
    Ready(Ready),
    #[schemars(title = "ProgressReply")]
    Progress(Progress),
    /// The kernel's information on a TCP connection; several such lines may precede the result.
    #[schemars(title = "TcpSamplesReply")]
    TcpSamples(Box<TcpSamples>),
    /// File times of a copy; several such lines may precede its end.
    #[schemars(title = "CopiedFilesReply")]
    CopiedFiles(FileTimes),
    /// Readings of stations; several such lines may precede their end.
    #[schemars(title = "StationReadingsReply")]
    StationReadings(StationReadings),
    #[schemars(title = "StationSlicesReply")]
    StationSlices(StationSlices),
    /// A client of a peer server has ended; one line per client.
    #[schemars(title = "PeerClientReply")]
    PeerClient(Box<PeerClient>),
    #[schemars(title = "ClientSeenReply")]
    ClientSeen(ClientSeen),
    #[schemars(title = "ResultReply")]
    Result(Finished),
    /// A request has ended with an error, or a line could not be read.
    #[schemars(title = "ErrorReply")]
    Error(Failed),
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// Of `describe`.
    #[schemars(title = "DescriptionOutcome")]
    Description(Box<HostFacts>),
    /// Outcome of `ping`.
    #[schemars(title = "PongOutcome")]
    Pong(Pong),
    #[schemars(title = "ArmedOutcome")]
    Armed(Armed),
    /// Of `cancel`.
    #[schemars(title = "CancelledOutcome")]
    Cancelled(Cancelled),
    #[schemars(title = "MediumReadOutcome")]
    MediumRead(Box<MediumCounts>),
    /// Of `carry_frames`.
    #[schemars(title = "MediumEndedOutcome")]
    MediumEnded(Box<MediumCounts>),
    #[schemars(title = "HostsSetUpOutcome")]
    HostsSetUp {},
    #[schemars(title = "HostsReadOutcome")]
    HostsRead(HostsRead),
    #[schemars(title = "StreamReceivedOutcome")]
    StreamReceived(Box<StreamReceived>),
    /// Of `stream_send`.
    #[schemars(title = "StreamSentOutcome")]
    StreamSent(Box<StreamSent>),
    #[schemars(title = "PeerStreamedOutcome")]
    PeerStreamed(Box<PeerStreamed>),
    #[schemars(title = "PeerEchoedOutcome")]
    PeerEchoed(Box<PeerEchoed>),
    #[schemars(title = "PeerServeEndedOutcome")]
    PeerServeEnded(PeerServeEnded),
    #[schemars(title = "EchoRespondedOutcome")]
    EchoResponded(Box<EchoResponded>),
    #[schemars(title = "EchoRequestedOutcome")]
    EchoRequested(Box<EchoRequested>),
    #[schemars(title = "PathMtuAnsweredOutcome")]
    PathMtuAnswered(PathMtuAnswered),
    #[schemars(title = "PathMtuProbedOutcome")]
    PathMtuProbed(PathMtuProbed),
    #[schemars(title = "MediumLoadedOutcome")]
    MediumLoaded(Box<MediumLoaded>),
    #[schemars(title = "SimulatedOutcome")]
    Simulated(Box<Simulated>),
    /// Of `listen`.
    #[schemars(title = "HeardOutcome")]
    Heard(Box<Heard>),
    #[schemars(title = "DatasetMadeOutcome")]
    DatasetMade(DatasetMade),
    #[schemars(title = "TrialDirectoryRemovedOutcome")]
    TrialDirectoryRemoved(TrialDirectoryRemoved),
    #[schemars(title = "RoomMeasuredOutcome")]
    RoomMeasured(RoomMeasured),
    #[schemars(title = "MemoryReadyOutcome")]
    MemoryReady(MemoryReady),
    #[schemars(title = "ResolvedOutcome")]
    Resolved(Resolved),
    /// Of `drop_caches`.
    #[schemars(title = "CachesDroppedOutcome")]
    CachesDropped(CachesDropped),
    #[schemars(title = "ServeEndedOutcome")]
    ServeEnded(ServeEnded),
    #[schemars(title = "CopyPreparedOutcome")]
    CopyPrepared(CopyPrepared),
    /// Of `copy`.
    #[schemars(title = "CopiedOutcome")]
    Copied(Box<Copied>),
    #[schemars(title = "CopyCheckedOutcome")]
    CopyChecked(CopyChecked),
    /// Of `copy_empty`.
    #[schemars(title = "CopyEmptiedOutcome")]
    CopyEmptied(CopyEmptied),
    #[schemars(title = "StationsPreparedOutcome")]
    StationsPrepared(StationsPrepared),
    #[schemars(title = "StationedOutcome")]
    Stationed(Box<Stationed>),
    /// Of `stations_empty`.
    #[schemars(title = "StationsEmptiedOutcome")]
    StationsEmptied(StationsEmptied),
    #[schemars(title = "MetadataPreparedOutcome")]
    MetadataPrepared(MetadataPrepared),
    /// Of `metadata`.
    #[schemars(title = "MetadataMeasuredOutcome")]
    MetadataMeasured(Box<MetadataMeasured>),
    /// Of `metadata_empty`.
    #[schemars(title = "MetadataEmptiedOutcome")]
    MetadataEmptied(CopyEmptied),
    /// Of `list_places`.
    #[schemars(title = "PlacesListedOutcome")]
    PlacesListed(PlacesListed),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "exists for its schema only")]
pub struct Messages {
    command: Command,
    reply: Reply,
}
