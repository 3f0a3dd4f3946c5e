//! How messages are handed to the system over UDP.

use std::io;

use lanlab_os::{self as os, DatagramSocket, SendBatch};

use super::segments_at_once;
use crate::messages::Io;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    One,
    Batch,
    Segments,
}

/// The call for `count` messages with `io`. One message needs no cutting up, and may be larger than a
/// packet.
fn call_for(io: Io, count: usize) -> Call {
    match io {
        Io::Segment if count > 1 => Call::Segments,
        Io::Batch => Call::Batch,
        _ => Call::One,
    }
}

/// Messages that are handed over at once by a sender without a rate.
pub fn group_of(io: Io, message_bytes: usize) -> usize {
    match io {
        Io::Single => 1,
        Io::Segment => segments_at_once(message_bytes),
        Io::Batch | Io::Auto => os::BATCH_MESSAGES,
    }
}

/// Hand over the first `count` messages of `batch`, or as many as one call takes; with `wait` until
/// there is room. Gives how many the system took.
///
/// # Errors
/// The system's own: none was taken then.
#[inline]
pub fn hand_over(
    socket: &DatagramSocket,
    batch: &mut SendBatch,
    (io, count): (Io, usize),
    wait: bool,
) -> io::Result<usize> {
    match call_for(io, count) {
        Call::One => socket.send_one(batch.message(0), wait).map(|()| 1),
        Call::Batch => socket.send_batch(batch, count, wait),
        Call::Segments => socket.send_segments(batch, count, wait).map(|()| count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_is_never_cut_up() {
        use Call::{Batch, One, Segments};
        let calls = |io| [1, 2, 64].map(|count| call_for(io, count));
        assert_eq!(calls(Io::Segment), [One, Segments, Segments]);
        assert_eq!(calls(Io::Batch), [Batch; 3]);
        assert_eq!([calls(Io::Single), calls(Io::Auto)], [[One; 3]; 2]);
    }

    #[test]
    fn as_many_messages_as_one_call_takes_go_at_once() {
        let groups = |io| [100, 1_472].map(|size| group_of(io, size));
        assert_eq!([groups(Io::Single), groups(Io::Batch)], [[1, 1], [64, 64]]);
        assert_eq!([groups(Io::Segment), groups(Io::Auto)], [[64, 44], [64, 64]]);
    }
}
