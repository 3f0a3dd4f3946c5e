//! NetBIOS over IPX.

mod hostile;
mod schedules;
mod sessions;
mod smb;
mod waits;

use lanlab_stack::node::{CarrierKind, SessionId};
use lanlab_stack::profile::Profile;

use crate::pair::{ms, open_over, pair_over, pattern};
use crate::peer::Peer;
use crate::segment::Segment;

fn pair([calling, called]: [Profile; 2], [from, to]: [Peer; 2]) -> (Segment<Peer>, SessionId) {
    pair_over(CarrierKind::Nbipx, [calling, called], [from, to], 1)
}

fn open(segment: &mut Segment<Peer>, from: usize, to: usize) -> SessionId {
    open_over(segment, from, to)
}
