//! The interfaces of hosts whose frames this process carries, each in its host's network namespace.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use super::ethtool::set_offloads;
use super::namespace::{self, own_network};
use super::packet_socket::PacketSocket;
use super::rtnetlink::{Rtnetlink, SendingQueue};
use super::tap::Tap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortKind {
    Tap,
    /// One end of a virtual cable (veth), with a packet socket at the other: for systems without `/dev/net/tun`.
    PacketSocket,
}

#[derive(Debug, Clone)]
pub struct PortPlan {
    pub namespace_pid: u32,
    pub interface: String,
    pub mac: [u8; 6],
}

const CLOSE_AT_ONCE: usize = 64;

#[derive(Debug)]
pub struct Port(Kind);

#[derive(Debug)]
enum Kind {
    Tap(Tap),
    PacketSocket(PacketSocket),
}

#[derive(Debug)]
pub struct PortQueue {
    rtnetlink: Rtnetlink,
    index: i32,
}

/// Make the interface of each host, down, in the network namespace of its process.
///
/// # Errors
/// A system error with the failed step: no such process, no right to its namespace, no `/dev/net/tun`, or an
/// existing interface of that name.
pub fn make_ports(plans: &[PortPlan], kind: PortKind) -> io::Result<Vec<(Port, PortQueue)>> {
    match kind {
        PortKind::Tap => namespace::in_networks(plans, |plan| plan.namespace_pid, make_tap),
        PortKind::PacketSocket => make_cables(plans),
    }
}

fn make_tap(mut rtnetlink: Rtnetlink, plan: &PortPlan) -> io::Result<(Port, PortQueue)> {
    let tap = Tap::open(&plan.interface)?;
    let index = rtnetlink.index_of(&plan.interface)?;
    rtnetlink.set_address(index, plan.mac)?;
    Ok((Port(Kind::Tap(tap)), PortQueue { rtnetlink, index }))
}

/// A virtual cable (veth) from each host to this process's namespace, with a socket at this end.
fn make_cables(plans: &[PortPlan]) -> io::Result<Vec<(Port, PortQueue)>> {
    let here = own_network()?;
    let plans: Vec<_> =
        plans.iter().enumerate().map(|(number, plan)| (format!("port{number}"), plan)).collect();
    let make = |mut rtnetlink: Rtnetlink, (end, plan): &(String, &PortPlan)| {
        let made = rtnetlink.add_cable(&plan.interface, plan.mac, end, here.as_fd());
        made.map_err(|error| {
            io::Error::new(error.kind(), format!("a virtual cable (veth): {error}"))
        })?;
        // With offloads, frames would arrive without checksums, or joined.
        set_offloads(&plan.interface, false)?;
        let index = rtnetlink.index_of(&plan.interface)?;
        Ok(PortQueue { rtnetlink, index })
    };
    let queues = namespace::in_networks(&plans, |(_, plan)| plan.namespace_pid, make)?;
    let mut rtnetlink = Rtnetlink::open()?;
    let take_up = |((end, _), queue): (&(String, &PortPlan), PortQueue)| {
        set_offloads(end, false)?;
        let index = rtnetlink.index_of(end)?;
        rtnetlink.take_up_silently(index)?;
        Ok((Port(Kind::PacketSocket(PacketSocket::open(index)?)), queue))
    };
    plans.iter().zip(queues).map(take_up).collect()
}

impl Port {
    /// The next frame that the host has sent, from its destination address on, without padding and
    /// check sequence; `None` if there is none now.
    pub fn receive(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match &self.0 {
            Kind::Tap(tap) => tap.receive(into),
            Kind::PacketSocket(socket) => socket.receive(into),
        }
    }

    /// Hand a frame to the host; `false` if its interface is down.
    pub fn send(&self, frame: &[u8]) -> io::Result<bool> {
        match &self.0 {
            Kind::Tap(tap) => tap.send(frame),
            Kind::PacketSocket(socket) => socket.send(frame),
        }
    }

    /// Frames of the host dropped for lack of room on their way here, since the last call. The host's interface
    /// counts those before a TAP.
    pub fn new_drops(&self) -> u64 {
        match &self.0 {
            Kind::Tap(_) => 0,
            Kind::PacketSocket(socket) => socket.new_drops(),
        }
    }

    /// Buffer for frames sent by the host, bytes of the kernel's memory; `None` for a TAP, whose
    /// queue counts frames.
    pub fn buffer_bytes(&self) -> Option<u64> {
        match &self.0 {
            Kind::Tap(_) => None,
            Kind::PacketSocket(socket) => Some(socket.buffer_bytes()),
        }
    }

    pub fn leave(ports: Vec<Self>) {
        let mut sockets = Vec::new();
        for port in ports {
            match port.0 {
                Kind::Tap(tap) => tap.leave(),
                Kind::PacketSocket(socket) => sockets.push(socket),
            }
        }
        // The kernel takes 20 ms to close one, or several at once.
        while !sockets.is_empty() {
            let some = sockets.split_off(sockets.len().saturating_sub(CLOSE_AT_ONCE));
            std::thread::scope(|scope| {
                for socket in some {
                    scope.spawn(move || drop(socket));
                }
            });
        }
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.0 {
            Kind::Tap(tap) => tap.as_fd(),
            Kind::PacketSocket(socket) => socket.as_fd(),
        }
    }
}

impl PortQueue {
    /// Limit the host's rate with a queue before its interface. Frames in it still count against the sending
    /// socket's buffer, so a full queue blocks the sender.
    pub fn set(&mut self, queue: &SendingQueue) -> io::Result<()> {
        self.rtnetlink.set_token_bucket(self.index, queue)
    }
}
