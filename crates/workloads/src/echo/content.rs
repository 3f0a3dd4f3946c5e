//! Content of requests to peers that are not engines, and the check of their replies.

use lanlab_wire::probe::{FULL_HEADER_LEN, Header, Layout};
use lanlab_wire::session::Token;

use super::Plan;

/// Bytes of each request of a trial: an engine's header without its time, and the same padding.
#[derive(Debug, Clone)]
pub struct Content {
    layout: Layout,
    session: u32,
    padding: Vec<u8>,
}

impl Content {
    pub fn new(plan: &Plan, token: Token, padding: Vec<u8>) -> Self {
        Self { layout: Layout::of(plan.message_bytes), session: token.short(), padding }
    }

    pub fn message(&self, sequence: u64) -> Vec<u8> {
        let mut message = self.padding.clone();
        self.write(sequence, &mut message);
        message
    }

    #[inline]
    pub fn write(&self, sequence: u64, message: &mut [u8]) {
        let header = Header { flow: 0, session: self.session, sequence, send_time_ns: 0 };
        self.layout.emit(&header, message);
    }

    pub fn difference(&self, sequence: u64, offset: usize, octets: &[u8]) -> Option<usize> {
        let head_bytes = self.padding.len().min(FULL_HEADER_LEN);
        let mut head = [0; FULL_HEADER_LEN];
        head[..head_bytes].copy_from_slice(&self.padding[..head_bytes]);
        self.write(sequence, &mut head[..head_bytes]);
        let head = &head[offset.min(head_bytes)..head_bytes];
        let (in_head, rest) = octets.split_at(head.len().min(octets.len()));
        let rest_at = offset + in_head.len();
        let differs = |one: &[u8], other: &[u8]| one.iter().zip(other).position(|(a, b)| a != b);
        if head.get(..in_head.len()) != Some(in_head) {
            return differs(in_head, head).map(|at| offset + at);
        }
        // Compared at once, as almost always nothing differs.
        if rest.is_empty() || self.padding.get(rest_at..rest_at + rest.len()) == Some(rest) {
            return None;
        }
        let padding = self.padding.get(rest_at..).unwrap_or_default();
        Some(rest_at + differs(rest, padding).unwrap_or(padding.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::plan;
    use super::*;
    use proptest::prelude::*;

    fn content(message_bytes: usize) -> Content {
        let plan = Plan { message_bytes, ..plan() };
        Content::new(&plan, Token([7; 16]), (0..message_bytes).map(|at| at as u8 ^ 0x5a).collect())
    }

    proptest! {
        #[test]
        fn changed_bytes_are_located(
            message_bytes in 1_usize..200, sequence: u64, cuts in (0.0..1.0, 0.0..1.0), flip in 1_u8..,
        ) {
            let content = content(message_bytes);
            let mut message = content.message(sequence);
            let from = (cuts.0 * message_bytes as f64) as usize;
            let piece = |message: &[u8]| message[from..].to_vec();
            prop_assert_eq!(content.difference(sequence, from, &piece(&message)), None);
            let at = from + (cuts.1 * (message_bytes - from) as f64) as usize;
            message[at] ^= flip;
            prop_assert_eq!(content.difference(sequence, from, &piece(&message)), Some(at));
        }

        #[test]
        fn any_bytes_are_compared(
            message_bytes in 1_usize..60, sequence: u64, offset in 0_usize..80, octets: Vec<u8>,
        ) {
            let _ = content(message_bytes).difference(sequence, offset, &octets);
        }
    }

    #[test]
    fn other_requests_and_overlong_replies_differ() {
        let content = content(32);
        let message = content.message(3);
        // The last byte of the number.
        assert_eq!(content.difference(4, 0, &message), Some(15));
        let longer = [&message[..], &[0]].concat();
        assert_eq!(content.difference(3, 0, &longer), Some(32));
        assert_eq!(content.difference(3, 40, &[]), None, "nothing differs nowhere");
    }
}
