//! How many requests a closed loop may have on their way.

use crate::messages::{EchoSpec, Failure, Timestamps, Transport};
use crate::workloads::setup::check_range;

pub const REQUEST_BYTES: u64 = 32;
/// A quarter of the sequence numbers that are remembered, so that a repeated reply differs from a late one.
const MOST_REQUESTS: u64 = 16_384;
const MOST_TINY_REQUESTS: u64 = 64;
/// What the buffers of a connection hold on every system. The requester does not read while it writes:
/// with more bytes on their way, both ends could wait for room for ever.
const MOST_TCP_BYTES: u64 = 65_536;

pub fn check(spec: &EchoSpec) -> Result<(), Failure> {
    let most = if spec.message_size_bytes == 1 { MOST_TINY_REQUESTS } else { MOST_REQUESTS };
    let requests = u64::from(spec.outstanding_requests);
    check_range("outstanding_requests", requests, 1, most)?;
    if requests == 1 {
        return Ok(());
    }
    if spec.rate_requests_per_s.is_some() {
        return Err(Failure::value("outstanding_requests", requests, "1 with a rate"));
    }
    if spec.timestamps == Timestamps::Kernel {
        // The stamp of the last request sent is not that of the request which was answered.
        return Err(Failure::value("timestamps", "kernel", "program with several requests"));
    }
    let given = [spec.socket.send_buffer_bytes, spec.socket.receive_buffer_bytes];
    let buffer_bytes = given.into_iter().flatten().map(u64::from).min().unwrap_or(u64::MAX);
    let most_bytes = MOST_TCP_BYTES.min(buffer_bytes);
    let bytes = requests * u64::from(spec.message_size_bytes);
    if spec.transport == Transport::Tcp && bytes > most_bytes {
        let allowed = format!(
            "{most_bytes} bytes in all over tcp, which is {} requests of {} bytes",
            most_bytes / u64::from(spec.message_size_bytes),
            spec.message_size_bytes
        );
        return Err(Failure::value("outstanding_requests", requests, allowed));
    }
    Ok(())
}
