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
use crate::workloads::stream::flow_threads::{self, Flow, Turn};
use crate::workloads::stream::joined::{self, JOINED_BYTES};
use crate::workloads::stream::segments_at_once;

/// Messages received per second and CPU time of both threads for each, nanoseconds.
pub(super) fn try_once(case: Case, sender: Io, receive: Receive) -> io::Result<(f64, f64)> {
    let (messages, usage) = match case.transport {
        Transport::Udp => datagrams(case, sender, receive)?,
        Transport::Tcp => octets(case, receive)?,
    };
    let cpu_ns = (usage.user_ns + usage.system_ns) as f64;
    Ok((messages * 1e9 / ROUND_NS as f64, cpu_ns / messages.max(1.0)))
}

fn on_loopback<T>(open: impl Fn(SocketAddr) -> io::Result<T>) -> io::Result<T> {
    open(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0))
        .or_else(|_| open(SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), 0)))
}

/// Run the receiving side on a thread of its own, and `send` here.
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
        match self.socket.receive_batch(batch, self.alone) {
            Ok(_) => {
                self.messages +=
                    batch.received().map(|each| each.datagrams().count() as u64).sum::<u64>();
                Ok(Turn::Again)
            }
            Err(error) if is_idle(&error) => Ok(Turn::Blocked),
            Err(error) => Err(Failure::system("receive", &error)),
        }
    }

    fn watch(&self, readiness: &Readiness, key: usize) -> io::Result<()> {
        readiness.watch(self.socket.plain(), key, Interest::Read)
    }

    fn forget(&self, readiness: &Readiness) -> io::Result<()> {
        readiness.forget(self.socket.plain())
    }
}

fn datagrams(case: Case, sender: Io, receive: Receive) -> io::Result<(f64, Usage)> {
    let options = DatagramOptions {
        receive_buffer_bytes: case.receive_buffer_bytes.map(|bytes| bytes as usize),
        ..DatagramOptions::default()
    };
    let socket = on_loopback(|address| DatagramSocket::bind(address, &options))?;
    let address = socket.plain().local_addr()?;
    let own = SocketAddr::new(address.ip(), 0);
    let source = DatagramSocket::bind(own, &DatagramOptions::default())?;
    source.plain().connect(address)?;
    socket.set_receive_timeout(Some(Duration::from_millis(1)))?;
    let segment = sender == Io::Segment;
    let group = match sender {
        Io::Single => 1,
        Io::Segment => segments_at_once(case.message_bytes),
        _ => os::BATCH_MESSAGES,
    };
    if segment {
        joined::enable(&socket, case.receive_buffer_bytes)?;
    }
    let buffer_bytes = if segment { JOINED_BYTES } else { case.message_bytes + 1 };
    let end = os::monotonic().plus_nanos(ROUND_NS);
    let alone = receive == Receive::Block;
    let flow = CountingDatagrams { socket, alone, end, messages: 0 };
    let (flow, usage) = receive_during(
        flow,
        || ReceiveBatch::new(os::BATCH_MESSAGES, buffer_bytes),
        receive,
        || {
            let mut messages = SendBatch::new(group, case.message_bytes, padding());
            while os::monotonic() < end {
                match sender {
                    Io::Segment if group > 1 => source.send_segments(&messages, group, true)?,
                    Io::Batch => drop(source.send_batch(&mut messages, group, true)?),
                    _ => source.send_one(messages.message(0), true)?,
                }
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
        match outcome {
            Ok(0) => Ok(Turn::Over),
            Ok(octets) => {
                self.octets += octets as u64;
                Ok(Turn::Again)
            }
            Err(error) if is_idle(&error) => Ok(Turn::Blocked),
            Err(error) => Err(Failure::system("read", &error)),
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
    let flow = CountingOctets { stream, alone: receive == Receive::Block, octets: 0 };
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
    Ok((flow.octets as f64 / case.message_bytes as f64, usage))
}
