//! Limits on requests in flight in a closed loop.

use crate::messages::{EchoSpec, Failure, Timestamps, Transport};
use crate::workloads::setup::check_range;

pub const REQUEST_BYTES: u64 = 32;
/// A quarter of the remembered sequence numbers, so that duplicate replies can be distinguished from late ones.
const MOST_REQUESTS: u64 = 16_384;
const MOST_TINY_REQUESTS: u64 = 64;
/// Capacity of a connection's buffers on every system. The requester does not read while it writes: with more bytes
/// in flight, both ends could wait for room forever.
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
        // The timestamp of the last request sent may not belong to the answered request.
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
