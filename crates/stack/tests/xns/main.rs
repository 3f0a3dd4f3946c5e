//! Stations with SMB on XNS on the offline medium, in virtual time.

#[path = "../nbf/chance.rs"]
mod chance;
#[path = "../nbf/copying.rs"]
#[allow(dead_code, reason = "what tests of NetBEUI need of it besides")]
mod copying;
mod datagrams;
mod hostile;
#[path = "../support/memory_files.rs"]
mod memory_files;
#[path = "../nbf/pair.rs"]
mod pair;
#[path = "../nbf/peer.rs"]
#[allow(dead_code, reason = "what tests of NetBEUI need of it besides")]
mod peer;
#[path = "../replay/mod.rs"]
mod replay;
mod replayed;
#[path = "../nbf/schedule.rs"]
mod schedule;
mod schedules;
#[path = "../nbf/segment.rs"]
#[allow(dead_code, reason = "what tests of NetBEUI need of it besides")]
mod segment;
mod sessions;
mod smb;
mod stranger;
#[path = "../nbf/tshark.rs"]
mod tshark;
mod waits;

use lanlab_stack::node::{CarrierKind, SessionId};
use lanlab_stack::profile::{Profile, WINDOWS_NT};
use lanlab_stack::xns::profile::XEROX;

use pair::{ms, open_over, pair_over, pattern};
use peer::Peer;
use segment::Segment;

/// A stack with 3+, and one as Xerox has it.
const THREE_PLUS: Profile = WINDOWS_NT;
const OF_XEROX: Profile = Profile { name: "xerox", xns: &XEROX, ..WINDOWS_NT };

fn pair([calling, called]: [Profile; 2], [from, to]: [Peer; 2]) -> (Segment<Peer>, SessionId) {
    pair_over(CarrierKind::Spp, [calling, called], [from, to], 1)
}

fn open(segment: &mut Segment<Peer>, from: usize, to: usize) -> SessionId {
    open_over(CarrierKind::Spp, segment, from, to)
}
