//! Stations with SMB on XNS on the offline medium, in virtual time.

mod datagrams;
mod hostile;
mod replayed;
mod schedules;
mod sessions;
mod smb;
mod stranger;
mod waits;

use lanlab_stack::node::{CarrierKind, SessionId};
use lanlab_stack::profile::xns::{self, XnsProfile};
use lanlab_stack::profile::{Profile, WINDOWS_NT};

use crate::pair::{ms, open_over, pair_over, pattern};
use crate::peer::Peer;
use crate::segment::Segment;

/// A stack with 3+, and one as Xerox has it.
const THREE_PLUS: Profile = WINDOWS_NT;

/// Window and sockets for each session as observed in Dodo's services.
const XEROX: XnsProfile =
    XnsProfile { window: 8, has_session_sockets: true, asks_each: true, ..xns::THREE_PLUS };
pub const OF_XEROX: Profile = Profile { name: "xerox", xns: &XEROX, ..WINDOWS_NT };

fn pair([calling, called]: [Profile; 2], [from, to]: [Peer; 2]) -> (Segment<Peer>, SessionId) {
    pair_over(CarrierKind::Spp, [calling, called], [from, to], 1)
}

fn open(segment: &mut Segment<Peer>, from: usize, to: usize) -> SessionId {
    open_over(segment, from, to)
}
