//! Workloads: one folder each.

pub mod copy;
pub mod dataset;
pub mod echo;
pub mod metadata;
pub mod path_mtu;
mod pcap_file;
pub mod recorded;
mod segment;
pub mod serve;
mod setup;
pub mod simulate;
pub mod stations;
pub mod stream;
mod worker_threads;

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

/// Bytes to fill messages with, in an order that contains every value once in 256: no runs of equal bytes that a
/// device could treat differently.
fn padding() -> impl FnMut() -> u8 {
    let mut octet = 0_u8;
    move || {
        octet = octet.wrapping_mul(5).wrapping_add(113);
        octet
    }
}

/// A message of this length, shared by all senders: separate ones of many clients would not stay in
/// a processor's cache.
fn shared_message(bytes: usize) -> Arc<[u8]> {
    static LAST: Mutex<Option<Weak<[u8]>>> = Mutex::new(None);
    let mut last = LAST.lock();
    if let Some(message) = last.as_ref().and_then(Weak::upgrade)
        && message.len() == bytes
    {
        return message;
    }
    let message: Arc<[u8]> = std::iter::repeat_with(padding()).take(bytes).collect();
    *last = Some(Arc::downgrade(&message));
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_of_messages_of_one_length_share_them() {
        let one = shared_message(1000);
        assert!(Arc::ptr_eq(&one, &shared_message(1000)));
        assert_eq!(one[..4], [113, 166, 175, 220]);
        let other = shared_message(1001);
        assert_eq!(other[..1000], one[..]);
        assert_eq!(shared_message(1000), one);
    }
}
