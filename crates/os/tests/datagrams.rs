//! Datagram sockets, alone, in batches and in segments, on loopback.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use lanlab_os::{BATCH_MESSAGES, DatagramOptions, DatagramSocket, ReceiveBatch, SendBatch};

const LOOPBACK: [&str; 2] = ["127.0.0.1:0", "[::1]:0"];

fn bind(address: &str) -> Option<DatagramSocket> {
    let address: SocketAddr = address.parse().unwrap();
    match DatagramSocket::bind(address, &DatagramOptions::default()) {
        Ok(socket) => {
            socket.set_receive_timeout(Some(Duration::from_secs(10))).unwrap();
            Some(socket)
        }
        // A machine without IPv6.
        Err(error) if address.is_ipv6() && error.kind() == ErrorKind::AddrNotAvailable => None,
        Err(error) => panic!("{address}: {error}"),
    }
}

/// Two sockets that are each other's peer; sender, receiver.
fn pair(address: &str) -> Option<(DatagramSocket, DatagramSocket)> {
    let (sender, receiver) = (bind(address)?, bind(address)?);
    sender.plain().connect(receiver.plain().local_addr().unwrap()).unwrap();
    receiver.plain().connect(sender.plain().local_addr().unwrap()).unwrap();
    Some((sender, receiver))
}

fn numbered(count: usize, message_bytes: usize) -> SendBatch {
    let mut batch = SendBatch::new(count, message_bytes, || 0xee);
    for index in 0..count {
        batch.message(index)[0] = index as u8;
    }
    batch
}

/// Receive until `count` datagrams are here: first byte and length of each.
fn receive(socket: &DatagramSocket, batch: &mut ReceiveBatch, count: usize) -> Vec<(u8, usize)> {
    let mut found = Vec::new();
    while found.len() < count {
        socket.receive_batch(batch, true).unwrap();
        for received in batch.received() {
            found.extend(received.datagrams().map(|datagram| (datagram[0], datagram.len())));
        }
    }
    found
}

fn expected(count: usize, message_bytes: usize) -> Vec<(u8, usize)> {
    (0..count).map(|index| (index as u8, message_bytes)).collect()
}

#[test]
fn a_batch_arrives_whole_and_in_order() {
    for (sender, receiver) in LOOPBACK.into_iter().filter_map(pair) {
        for (count, size) in [(1, 1), (2, 2), (40, 500), (BATCH_MESSAGES, 64)] {
            let mut messages = numbered(count, size);
            let mut sent = 0;
            while sent < count {
                // What a system without batches sends is the first message only.
                let taken = sender.send_batch(&mut messages, count - sent, true).unwrap();
                assert!(taken >= 1);
                sent += taken;
                if taken < count && sent < count {
                    messages = SendBatch::new(count - sent, size, || 0xee);
                    for index in 0..count - sent {
                        messages.message(index)[0] = (sent + index) as u8;
                    }
                }
            }
            let mut buffers = ReceiveBatch::new(BATCH_MESSAGES, size + 1);
            assert_eq!(receive(&receiver, &mut buffers, count), expected(count, size));
        }
    }
}

#[test]
fn one_buffer_receives_one_datagram_at_a_time() {
    for (sender, receiver) in LOOPBACK.into_iter().filter_map(pair) {
        let mut buffer = ReceiveBatch::new(1, 100);
        for number in 0..3 {
            sender.plain().send(&[number, 0]).unwrap();
        }
        for number in 0..3 {
            assert_eq!(receiver.receive_batch(&mut buffer, true).unwrap(), 1);
            let found: Vec<_> = buffer.received().map(|received| received.bytes.to_vec()).collect();
            assert_eq!(found, [[number, 0]]);
        }
    }
}

#[test]
fn truncated_datagrams_are_detected() {
    let (sender, receiver) = pair(LOOPBACK[0]).unwrap();
    for buffers in [1, 4] {
        sender.plain().send(&[7; 100]).unwrap();
        let mut batch = ReceiveBatch::new(buffers, 11);
        // A buffer of one byte more than the message: what fills it is no such message.
        assert_eq!(receive(&receiver, &mut batch, 1), [(7, 11)]);
    }
}

#[test]
fn an_empty_receive_returns_no_earlier_datagram() {
    let (sender, receiver) = pair(LOOPBACK[0]).unwrap();
    receiver.set_receive_timeout(Some(Duration::from_millis(20))).unwrap();
    for buffers in [1, 4] {
        let mut batch = ReceiveBatch::new(buffers, 100);
        sender.plain().send(&[1]).unwrap();
        assert_eq!(receiver.receive_batch(&mut batch, true).unwrap(), 1);
        let error = receiver.receive_batch(&mut batch, true).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
        assert_eq!(batch.received().count(), 0);
    }
}

#[test]
fn segments_arrive_as_separate_datagrams() {
    for (sender, receiver) in LOOPBACK.into_iter().filter_map(pair) {
        let messages = numbered(20, 300);
        // To a receiver that does not join them, and to one that does.
        sender.send_segments(&messages, 20, true).unwrap();
        let mut batch = ReceiveBatch::new(BATCH_MESSAGES, 301);
        assert_eq!(receive(&receiver, &mut batch, 20), expected(20, 300));
        receiver.enable_segment_receive().unwrap();
        sender.send_segments(&messages, 20, true).unwrap();
        sender.plain().send(&[99; 10]).unwrap();
        let mut joined = ReceiveBatch::new(BATCH_MESSAGES, 65_536);
        let mut all = expected(20, 300);
        all.push((99, 10));
        assert_eq!(receive(&receiver, &mut joined, 21), all);
    }
}

#[test]
fn invalid_segment_sizes_are_refused() {
    let (sender, receiver) = pair(LOOPBACK[0]).unwrap();
    // 64 times 2000 bytes are more than a buffer of the kernel may have.
    assert!(sender.send_segments(&numbered(64, 2000), 64, true).is_err());
    let mut buffer = [0; 3000];
    assert_eq!(receiver.try_receive(&mut buffer).unwrap(), None);
}

#[test]
fn peeking_for_a_datagram_does_not_block() {
    let (sender, receiver) = pair(LOOPBACK[0]).unwrap();
    let mut buffer = [0; 10];
    assert_eq!(receiver.try_receive(&mut buffer).unwrap(), None);
    sender.plain().send(b"abc").unwrap();
    // On loopback a datagram is there when its sending returns.
    assert_eq!(receiver.try_receive(&mut buffer).unwrap(), Some(3));
    assert_eq!(&buffer[..3], b"abc");
    assert_eq!(receiver.try_receive(&mut buffer).unwrap(), None);
}

#[test]
fn a_closed_port_is_reported() {
    let (sender, receiver) = pair(LOOPBACK[0]).unwrap();
    drop(receiver);
    sender.plain().send(&[0]).unwrap();
    let mut buffer = [0; 10];
    let error = loop {
        match sender.try_receive(&mut buffer) {
            Ok(_) => std::thread::yield_now(),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn local_drop_reports_can_be_enabled() {
    for socket in LOOPBACK.into_iter().filter_map(bind) {
        socket.enable_local_drop_reports().unwrap();
    }
}

#[test]
fn socket_buffers_are_granted_in_full_or_refused() {
    let address: SocketAddr = LOOPBACK[0].parse().unwrap();
    let with = |send, receive| {
        let options = DatagramOptions {
            send_buffer_bytes: send,
            receive_buffer_bytes: receive,
            ..DatagramOptions::default()
        };
        DatagramSocket::bind(address, &options)
    };
    let socket = with(Some(20_000), Some(30_000)).unwrap();
    let plain = socket2::SockRef::from(socket.plain());
    assert!(plain.send_buffer_size().unwrap() >= 20_000);
    assert!(plain.recv_buffer_size().unwrap() >= 30_000);
    for (name, refused) in
        [("send", with(Some(1 << 30), None)), ("receive", with(None, Some(1 << 30)))]
    {
        // Where the system grants even this there is nothing to refuse.
        if let Err(error) = refused {
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            let said = error.to_string();
            assert!(
                said.starts_with(&format!("{name} buffer: asked for 1073741824 bytes, granted"))
            );
        }
    }
}

#[test]
fn dscp_values_are_applied() {
    let options = DatagramOptions { dscp: 46, ..DatagramOptions::default() };
    for address in LOOPBACK {
        let address: SocketAddr = address.parse().unwrap();
        let Ok(socket) = DatagramSocket::bind(address, &options) else { continue };
        let plain = socket2::SockRef::from(socket.plain());
        let class = if address.is_ipv4() { plain.tos_v4() } else { plain.tclass_v6() };
        assert_eq!(class.unwrap(), 46 << 2);
    }
}

#[test]
fn a_port_in_use_is_an_error() {
    let taken = bind(LOOPBACK[0]).unwrap();
    let address = taken.plain().local_addr().unwrap();
    let error = DatagramSocket::bind(address, &DatagramOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
}
