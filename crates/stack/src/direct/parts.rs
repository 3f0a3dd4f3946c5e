//! The packets of a client's multiplexed write: each is executed, and one answer lists the received packets.
//!
//! Source: [MS-CIFS] 2.2.4.26. Only the last packet is numbered, so only it is executed exactly once. The others
//! may arrive twice or late; once the client has sent another request, a late packet would write stale data.

use std::collections::VecDeque;

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::multiplexed::Written;
use lanlab_wire::smb1::writer::Writer;

pub(super) type Identity = (u32, u16);

const MOST_FORMER: usize = 8;
const MOST_WAITING: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Parts {
    current: Option<Identity>,
    former: VecDeque<Identity>,
    waiting: VecDeque<bool>,
    mask: u32,
    refused: Option<Vec<u8>>,
}

impl Parts {
    pub(super) fn go_on(&mut self, identity: Option<Identity>) {
        if self.current == identity {
            return;
        }
        if let Some(former) = std::mem::replace(&mut self.current, identity) {
            if self.former.len() >= MOST_FORMER {
                self.former.pop_front();
            }
            self.former.push_back(former);
        }
        (self.mask, self.refused) = (0, None);
    }

    pub(super) fn take(&mut self, identity: Identity, is_last: bool) -> bool {
        let is_late = !is_last && self.former.contains(&identity);
        if is_late || self.waiting.len() >= MOST_WAITING {
            return false;
        }
        self.go_on(Some(identity));
        self.waiting.push_back(is_last);
        true
    }

    /// Record the answer to an executed packet. Returns whether to send it, as updated.
    pub(super) fn answer(&mut self, header: &Header, message: &mut Vec<u8>) -> bool {
        let Some(is_last) = self.waiting.pop_front() else { return true };
        if self.current != Some((header.pid, header.mid)) {
            return is_last;
        }
        let written = Block::first(header, message).and_then(|block| Written::parse(&block));
        match written {
            Ok(Written { mask }) if header.status.is_success() => self.mask |= mask,
            _ => {
                self.refused.get_or_insert_with(|| message.clone());
            }
        }
        if !is_last {
            return false;
        }
        let mask = std::mem::take(&mut self.mask);
        if let Some(refused) = self.refused.take() {
            *message = refused;
        } else {
            message.clear();
            Written { mask }.emit(&mut Writer::begin(message, header));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use lanlab_wire::smb1::command;
    use lanlab_wire::smb1::status::{Status, error};

    use super::*;

    fn answer(parts: &mut Parts, mid: u16, mask: Option<u32>) -> Option<Result<u32, ()>> {
        let asked = Header { mid, ..Header::request(command::WRITE_MPX, 0, 0) };
        let status = if mask.is_some() { error::SUCCESS } else { error::DISK_FULL };
        let header = asked.response(Status::of(status, 0));
        let mut message = vec![];
        let mut writer = Writer::begin(&mut message, &header);
        match mask {
            Some(mask) => Written { mask }.emit(&mut writer),
            None => writer.empty(),
        }
        parts.answer(&header, &mut message).then(|| {
            let header = Header::parse(&message).unwrap();
            let block = Block::first(&header, &message).unwrap();
            if header.status.is_success() {
                Ok(Written::parse(&block).unwrap().mask)
            } else {
                Err(())
            }
        })
    }

    #[test]
    fn one_reply_acknowledges_all_packets_since_the_previous_one() {
        let mut parts = Parts::default();
        for (mask, is_last) in [(1, false), (4, false), (8, true)] {
            assert!(parts.take((0, 5), is_last));
            let said = answer(&mut parts, 5, Some(mask));
            assert_eq!(said, is_last.then_some(Ok(13)));
        }
        assert!(parts.take((0, 5), true));
        assert_eq!(answer(&mut parts, 5, Some(2)), Some(Ok(2)));
    }

    #[test]
    fn an_error_in_any_packet_ends_the_request() {
        let mut parts = Parts::default();
        assert!(parts.take((0, 5), false) && parts.take((0, 5), true));
        assert_eq!(answer(&mut parts, 5, None), None);
        assert_eq!(answer(&mut parts, 5, Some(2)), Some(Err(())));
    }

    #[test]
    fn a_late_packet_is_ignored() {
        let mut parts = Parts::default();
        // A duplicate is ignored once the next write has begun.
        assert!(parts.take((0, 5), true) && parts.take((0, 5), false));
        assert_eq!(answer(&mut parts, 5, Some(2)), Some(Ok(2)));
        assert!(parts.take((0, 6), false));
        assert_eq!(answer(&mut parts, 5, Some(1)), None);
        assert!(!parts.take((0, 5), false));
        assert_eq!(answer(&mut parts, 6, Some(4)), None);
        assert!(parts.take((0, 6), true));
        assert_eq!(answer(&mut parts, 6, Some(8)), Some(Ok(12)));
        parts.go_on(None);
        assert!(!parts.take((0, 6), false));
    }
}
