//! One attempt: messages go over loopback for a few milliseconds, in one way to send and to receive.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use lanlab_os as os;
use lanlab_os::{
    DatagramOptions, DatagramSocket, Interest, Readiness, ReceiveBatch, SendBatch, Usage,
};
use lanlab_units::Instant;

use super::{Case, ROUND_NS};
use crate::messages::{Failure, Io, Receive, Transport};
use crate::workloads::padding;
use crate::workloads::setup::is_idle;
use crate::workloads::stream::flow_scheduler::is_alone;
use crate::workloads::stream::flow_threads::{self, Flow, Turn};
use crate::workloads::stream::hand_over::{group_of, hand_over};
use crate::workloads::stream::joined::{self, JOINED_BYTES};

pub(super) fn try_once(case: Case, sender: Io, receive: Receive) -> io::Result<(f64, f64)> {
    let (messages, usage) = match case.transport {
        Transport::Udp => datagrams(case, sender, receive)?,
        Transport::Tcp => octets(case, receive)?,
    };
    Ok(rate_and_cost(messages, usage))
}

fn rate_and_cost(messages: f64, usage: Usage) -> (f64, f64) {
    let cpu_ns = (usage.user_ns + usage.system_ns) as f64;
    (messages * 1e9 / ROUND_NS as f64, cpu_ns / messages.max(1.0))
}

/// What came of receiving; `None` if nothing was there.
fn unless_idle(received: io::Result<usize>) -> Result<Option<usize>, Failure> {
    match received {
        Ok(received) => Ok(Some(received)),
        Err(error) if is_idle(&error) => Ok(None),
        Err(error) => Err(Failure::system("receive", &error)),
    }
}

fn on_loopback<T>(open: impl Fn(SocketAddr) -> io::Result<T>) -> io::Result<T> {
    open(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0))
        .or_else(|_| open(SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), 0)))
}

fn receive_during<F: Flow + Send>(
    mut flow: F,
    shared: impl FnOnce() -> F::Shared + Send,
    receive: Receive,
    send: impl FnOnce() -> io::Result<()>,
) -> io::Result<(F, Usage)> {
    thread::scope(|scope| {
        let receiver = scope.spawn(move || {
            os::prepare_thread();
            let mut shared = shared();
            let before = os::thread_usage();
            flow_threads::drive_receivers(std::slice::from_mut(&mut flow), &mut shared, receive)
                .map_err(|failure| io::Error::other(failure.message))?;
            Ok::<_, io::Error>((flow, os::thread_usage().since(before)))
        });
        let before = os::thread_usage();
        let outcome = send();
        let own = os::thread_usage().since(before);
        let (flow, usage) =
            receiver.join().map_err(|_| io::Error::other("the receiver stopped"))??;
        outcome.map(|()| (flow, usage.plus(own)))
    })
}

struct CountingDatagrams {
    socket: DatagramSocket,
    alone: bool,
    end: Instant,
    messages: u64,
}

impl Flow for CountingDatagrams {
    type Shared = ReceiveBatch;

    fn turn(&mut self, now: Instant, batch: &mut ReceiveBatch) -> Result<Turn, Failure> {
        if now >= self.end {
            return Ok(Turn::Over);
        }
        if unless_idle(self.socket.receive_batch(batch, self.alone))?.is_none() {
            return Ok(Turn::Blocked);
        }
        self.messages += batch.received().map(|each| each.datagrams().count() as u64).sum::<u64>();
        Ok(Turn::Again)
    }

    fn watch(&self, readiness: &Readiness, key: usize) -> io::Result<()> {
        readiness.watch(self.socket.plain(), key, Interest::Read)
    }

    fn forget(&self, readiness: &Readiness) -> io::Result<()> {
        readiness.forget(self.socket.plain())
    }
}

fn receiving_socket(case: Case, sender: Io) -> io::Result<(DatagramSocket, usize)> {
    let options = DatagramOptions {
        receive_buffer_bytes: case.receive_buffer_bytes.map(|bytes| bytes as usize),
        ..DatagramOptions::default()
    };
    let socket = on_loopback(|address| DatagramSocket::bind(address, &options))?;
    socket.set_receive_timeout(Some(Duration::from_millis(1)))?;
    if sender == Io::Segment {
        joined::enable(&socket, case.receive_buffer_bytes)?;
        return Ok((socket, JOINED_BYTES));
    }
    Ok((socket, case.message_bytes + 1))
}

fn datagrams(case: Case, sender: Io, receive: Receive) -> io::Result<(f64, Usage)> {
    let (socket, buffer_bytes) = receiving_socket(case, sender)?;
    let address = socket.plain().local_addr()?;
    let own = SocketAddr::new(address.ip(), 0);
    let source = DatagramSocket::bind(own, &DatagramOptions::default())?;
    source.plain().connect(address)?;
    let group = group_of(sender, case.message_bytes);
    let end = os::monotonic().plus_nanos(ROUND_NS);
    let alone = is_alone(1, receive);
    let flow = CountingDatagrams { socket, alone, end, messages: 0 };
    let (flow, usage) = receive_during(
        flow,
        || ReceiveBatch::new(os::BATCH_MESSAGES, buffer_bytes),
        receive,
        || {
            let mut messages = SendBatch::new(group, case.message_bytes, padding());
            while os::monotonic() < end {
                hand_over(&source, &mut messages, (sender, group), true)?;
            }
            Ok(())
        },
    )?;
    Ok((flow.messages as f64, usage))
}

struct CountingOctets {
    stream: TcpStream,
    alone: bool,
    octets: u64,
}

impl Flow for CountingOctets {
    type Shared = Vec<u8>;

    fn turn(&mut self, _now: Instant, buffer: &mut Vec<u8>) -> Result<Turn, Failure> {
        let outcome = if self.alone {
            io::Read::read(&mut &self.stream, buffer)
        } else {
            os::receive_now(&self.stream, buffer)
        };
        match unless_idle(outcome)? {
            None => Ok(Turn::Blocked),
            Some(0) => Ok(Turn::Over),
            Some(octets) => {
                self.octets += octets as u64;
                Ok(Turn::Again)
            }
        }
    }

    fn watch(&self, readiness: &Readiness, key: usize) -> io::Result<()> {
        readiness.watch(&self.stream, key, Interest::Read)
    }

    fn forget(&self, readiness: &Readiness) -> io::Result<()> {
        readiness.forget(&self.stream)
    }
}

fn octets(case: Case, receive: Receive) -> io::Result<(f64, Usage)> {
    let listener = on_loopback(TcpListener::bind)?;
    let source = TcpStream::connect(listener.local_addr()?)?;
    let (stream, _) = listener.accept()?;
    let flow = CountingOctets { stream, alone: is_alone(1, receive), octets: 0 };
    let (flow, usage) = receive_during(
        flow,
        || vec![0; 1_048_576],
        receive,
        || {
            let message = vec![0x5a; case.message_bytes];
            let end = os::monotonic().plus_nanos(ROUND_NS);
            while os::monotonic() < end {
                (&source).write_all(&message)?;
            }
            source.shutdown(Shutdown::Write)
        },
    )?;
    Ok((messages_in(flow.octets, case.message_bytes), usage))
}

fn messages_in(octets: u64, message_bytes: usize) -> f64 {
    octets as f64 / message_bytes as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::WaysOf;
    use crate::workloads::stream::tests::{assert_watched_until_forgotten, datagram_pair, pair};

    const CASE: Case = Case {
        transport: Transport::Udp,
        message_bytes: 512,
        receive_buffer_bytes: None,
        of: WaysOf::Send { beside: Receive::Block },
    };

    #[test]
    fn rates_are_reported_per_second_and_per_message() {
        let usage = Usage { user_ns: 4_000_000, system_ns: 2_000_000, ..Usage::default() };
        // 8 ms.
        assert_eq!(rate_and_cost(8_000.0, usage), (1_000_000.0, 750.0));
        assert_eq!(rate_and_cost(0.0, usage), (0.0, 6_000_000.0));
        assert_eq!((messages_in(1_024, 512), messages_in(768, 512)), (2.0, 1.5));
    }

    #[test]
    fn nothing_to_receive_is_no_failure_and_another_error_is_one() {
        use io::ErrorKind::{PermissionDenied, WouldBlock};
        let of = |received| unless_idle(received).ok();
        assert_eq!([of(Ok(3)), of(Err(WouldBlock.into()))], [Some(Some(3)), Some(None)]);
        assert_eq!(of(Err(PermissionDenied.into())), None);
    }

    #[test]
    #[cfg(all(target_os = "linux", not(lanlab_portable)))]
    fn a_receiver_has_the_buffers_of_its_case() {
        let buffers = |receive_buffer_bytes, sender| {
            let case = Case { receive_buffer_bytes, ..CASE };
            let (socket, bytes) = receiving_socket(case, sender).unwrap();
            (socket2::SockRef::from(socket.plain()).recv_buffer_size().unwrap(), bytes)
        };
        let plain = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let usual = socket2::SockRef::from(&plain).recv_buffer_size().unwrap();
        assert_eq!(buffers(None, Io::Single), (usual, 513));
        // Linux tells twice what it was asked for (socket(7)).
        assert_eq!(buffers(Some(100_000), Io::Batch), (200_000, 513));
        assert_eq!(buffers(Some(100_000), Io::Segment), (200_000, 65_536));
        let (joined, _) = buffers(None, Io::Segment);
        assert!(joined > usual, "room for joined datagrams: {joined}");
    }

    #[test]
    fn every_io_mode_carries_messages_and_reports_their_cost() {
        use Receive::{Block, Poll, Spin};
        let datagrams = [Io::Single, Io::Batch, Io::Segment].map(|sender| (Transport::Udp, sender));
        for (transport, sender) in [&datagrams[..], &[(Transport::Tcp, Io::Single)]].concat() {
            if sender == Io::Segment && !os::capabilities().segment {
                continue;
            }
            for receive in [Block, Poll, Spin] {
                // A round is short: on a busy host nothing may arrive in one.
                let carries = |_| {
                    let (rate, cost) =
                        try_once(Case { transport, ..CASE }, sender, receive).unwrap();
                    // A message in a round of 8 ms is 125 in a second.
                    let is_whole = transport == Transport::Tcp || rate % 125.0 == 0.0;
                    assert!(is_whole && rate >= 0.0 && cost >= 0.0, "{rate} at {cost}");
                    rate > 125.0 && (cost > 0.0 || !os::capabilities().thread_usage)
                };
                assert!((0..2_000).any(carries), "{transport:?} {sender:?} {receive:?}");
            }
        }
    }

    #[test]
    fn flows_that_count_are_watched_until_they_are_forgotten() {
        let (socket, far) = datagram_pair();
        far.send(b"one").unwrap();
        let (alone, end) = (false, Instant::ZERO);
        assert_watched_until_forgotten(&CountingDatagrams { socket, alone, end, messages: 0 });
        let (stream, mut far) = pair();
        far.write_all(b"one").unwrap();
        assert_watched_until_forgotten(&CountingOctets { stream, alone, octets: 0 });
    }
}
