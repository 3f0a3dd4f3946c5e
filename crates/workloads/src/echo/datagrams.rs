//! UDP requests and replies.

use lanlab_units::Instant;
use lanlab_wire::probe::{Header, Layout};
use lanlab_wire::session::{Message, Token};

use super::{Heard, Plan};

const MOST_REQUESTS: u64 = 1 << 62;

/// Whether a datagram of the right length is a request or reply of this session. One too short to carry the session
/// is accepted.
pub(super) fn is_probe_of(layout: Layout, datagram: &[u8], token: Token) -> bool {
    let tiny = matches!(layout, Layout::Tiny(_));
    layout
        .parse(datagram)
        .is_ok_and(|header| tiny || (header.session == token.short() && header.flow == 0))
}

#[derive(Debug)]
pub struct RequestWriter {
    token: Token,
    layout: Layout,
}

impl RequestWriter {
    pub fn new(plan: &Plan, token: Token) -> Self {
        Self { token, layout: Layout::of(plan.message_bytes) }
    }

    #[inline]
    pub fn write(&self, sequence: u64, now: Instant, message: &mut [u8]) {
        let session = self.token.short();
        let header = Header { flow: 0, session, sequence, send_time_ns: now.as_nanos() };
        self.layout.emit(&header, message);
    }
}

#[derive(Debug)]
pub struct ReplyReader {
    token: Token,
    layout: Layout,
    message_bytes: usize,
    expected: u64,
}

impl ReplyReader {
    pub fn new(plan: &Plan, token: Token) -> Self {
        let (layout, message_bytes) = (Layout::of(plan.message_bytes), plan.message_bytes);
        Self { token, layout, message_bytes, expected: 0 }
    }

    #[inline]
    pub fn read(&mut self, datagram: &[u8]) -> Heard {
        if datagram.len() == self.message_bytes && is_probe_of(self.layout, datagram, self.token) {
            let received = self.layout.parse(datagram).map_or(u64::MAX, |header| header.sequence);
            let sequence = self.layout.extend(received, self.expected);
            // Reject impossible numbers, so that sums cannot overflow.
            if sequence >= MOST_REQUESTS {
                return Heard::Foreign;
            }
            self.expected = self.expected.max(sequence + 1);
            return Heard::Reply(sequence);
        }
        match Message::parse(datagram) {
            Ok(message) if message.token.matches(&self.token) => Heard::Alive,
            _ => Heard::Foreign,
        }
    }
}
