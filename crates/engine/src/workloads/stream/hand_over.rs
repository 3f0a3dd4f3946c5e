//! Sending of messages to the system over UDP.

use std::io;

use lanlab_os::{DatagramSocket, SendBatch};

use crate::messages::Io;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    One,
    Batch,
    Segments,
}

/// The call for `count` messages with `io`. A single message is not split, and may exceed a packet.
fn call_for(io: Io, count: usize) -> Call {
    match io {
        Io::Segment if count > 1 => Call::Segments,
        Io::Batch => Call::Batch,
        _ => Call::One,
    }
}

/// Send the first `count` messages of `batch`, or as many as one call accepts; `wait` blocks until there is room.
/// Returns the number accepted.
///
/// # Errors A system error: none was sent.
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
    fn a_message_is_never_split() {
        use Call::{Batch, One, Segments};
        let calls = |io| [1, 2, 64].map(|count| call_for(io, count));
        assert_eq!(calls(Io::Segment), [One, Segments, Segments]);
        assert_eq!(calls(Io::Batch), [Batch; 3]);
        assert_eq!([calls(Io::Single), calls(Io::Auto)], [[One; 3]; 2]);
    }
}
