//! Operations of programs on a TCP connection.

use std::net::SocketAddr;

use lanlab_messages::TcpFacts;
use lanlab_stack::ip::{ConnectionFacts, ConnectionId, Received, Refusal};
use lanlab_units::Instant;

use super::HostNode;
use super::keys::{ACCEPTED, connection_key};
use crate::program::Host;

pub(super) async fn connect(
    host: &Host<HostNode>,
    to: SocketAddr,
) -> Result<ConnectionId, Refusal> {
    let connection = host.with_node(|node, now| {
        let port = node.ip.any_port();
        node.ip.interface.connect(now, port, to)
    })?;
    host.until(connection_key(connection), "its connection to open", |node, _| {
        node.ip.interface.is_open(connection).then_some(())
    })
    .await;
    Ok(connection)
}

pub(crate) async fn accept(host: &Host<HostNode>, port: u16) -> ConnectionId {
    host.until(ACCEPTED, "a connection from a peer", |node, _| node.ip.accept(port)).await
}

/// Wait for data of a connection, at most `wanted` bytes; `None` at the time `until`. An error says
/// why no more data will arrive.
pub(super) async fn await_bytes(
    host: &Host<HostNode>,
    connection: ConnectionId,
    wanted: usize,
    what: &'static str,
    until: Option<Instant>,
) -> Option<Result<usize, Received>> {
    let look = |node: &mut HostNode, now| {
        let readable = node.ip.interface.readable_bytes(connection).min(wanted);
        if readable > 0 {
            return Some(Ok(readable));
        }
        match node.ip.interface.receive(now, connection, &mut []) {
            Received::Nothing | Received::Bytes(_) => None,
            over => Some(Err(over)),
        }
    };
    host.until_or(connection_key(connection), what, until, look).await
}

/// Send all of `data`, in parts as there is room; false if the connection accepts no more.
pub(super) async fn write_all(
    host: &Host<HostNode>,
    connection: ConnectionId,
    data: &[u8],
) -> bool {
    let mut written = 0;
    let mut write = |node: &mut HostNode, now| {
        written += node.ip.interface.send(now, connection, &data[written..]);
        if written == data.len() {
            return Some(true);
        }
        (!node.ip.interface.is_open(connection)).then_some(false)
    };
    host.until(connection_key(connection), "room in its send buffer", &mut write).await
}

/// Wait until the peer has received everything and closed its end; false if the connection broke.
pub(super) async fn await_end(host: &Host<HostNode>, connection: ConnectionId) -> bool {
    host.until(connection_key(connection), "its peer to close the connection", |node, now| {
        match node.ip.interface.receive(now, connection, &mut [0; 64]) {
            Received::End => Some(true),
            Received::Broken => Some(false),
            Received::Bytes(_) | Received::Nothing => None,
        }
    })
    .await
}

/// The counters of a connection as workloads report them. Counters that this TCP lacks are 0.
pub fn tcp_facts(counted: &ConnectionFacts) -> TcpFacts {
    TcpFacts {
        congestion_control: Some("reno".into()),
        segments_sent: counted.segments_sent,
        data_segments_sent: counted.data_segments_sent,
        retransmitted_segments: counted.retransmitted_segments,
        acknowledged_bytes: counted.accepted_bytes - counted.unacknowledged_bytes,
        received_bytes: counted.received_bytes,
        data_segments_received: counted.data_segments_received,
        maximum_segment_bytes: counted.mss_bytes,
        ..TcpFacts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledged_and_received_bytes_are_reported() {
        let counted = ConnectionFacts {
            accepted_bytes: 700,
            unacknowledged_bytes: 200,
            received_bytes: 300,
            ..Default::default()
        };
        let facts = tcp_facts(&counted);
        assert_eq!((facts.acknowledged_bytes, facts.received_bytes), (500, 300));
    }
}
