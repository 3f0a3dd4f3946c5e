//! The thread of a station, and connections to and from it.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::task::Poll;

use lanlab_os::{self as os, Interest, LinkDescriptor, RawFrames, RawLink, Wake};
use lanlab_stack::ip::small::{FIRST_PORT, Facts, PORTS};
use lanlab_stack::ip::{ConnectionId, FramedStation, Reach, Refusal, Station, StationConfig};
use lanlab_wire::ethernet::Mac;

use crate::link_thread::{AtLink, LINK, LinkThread};
use crate::wired::FrameLink;

use super::listener::SmallListener;
use super::plan::SmallPlan;
use super::shared::{Shared, State};
use super::stream::SmallStream;

/// A station on its link. It ends with its last user.
#[derive(Debug)]
pub struct SmallNode {
    shared: Arc<Shared>,
    address: std::net::Ipv4Addr,
    _thread: LinkThread<State>,
}

impl SmallNode {
    /// Open the link, and begin to check that the address is free and to find the peer. `random` determines
    /// initial sequence numbers and ports.
    ///
    /// # Errors
    /// As [`RawLink::open`]; a system error; `OutOfMemory` if the plan exceeds its memory limit.
    pub fn begin(plan: &SmallPlan, random: u64) -> io::Result<Arc<Self>> {
        let most_bytes = plan.most_bytes();
        if most_bytes > plan.memory_bytes {
            let found = plan.memory_bytes;
            let message = format!("found {found} bytes of memory; allowed: {most_bytes} or more");
            return Err(io::Error::new(ErrorKind::OutOfMemory, message));
        }
        let link = RawLink::open(&plan.place, RawFrames::ToAddress(plan.address))?;
        let descriptor = LinkDescriptor::of(&link)?;
        Self::at(plan, Box::new(link), descriptor, random)
    }

    pub fn at(
        plan: &SmallPlan,
        link: Box<dyn FrameLink>,
        descriptor: LinkDescriptor,
        random: u64,
    ) -> io::Result<Arc<Self>> {
        let readiness = os::Readiness::new(2)?;
        readiness.watch(&descriptor, LINK, Interest::Read)?;
        let config = StationConfig {
            mac: link.mac(),
            address: plan.address,
            peer: plan.peer,
            tcp: plan.tcp,
            connections: plan.connections,
            seed: random,
        };
        let station = Station::new(config, os::monotonic());
        let first_port = (random >> 32) as u16 % PORTS;
        let facts = Facts::new(plan.tcp, plan.memory_bytes);
        let state =
            State::new(FramedStation::new(station, facts), link, plan.connections, first_port);
        let shared = Arc::new(Shared::new(state, Wake::new()?));
        // The link is watched through its descriptor.
        let thread = LinkThread::begin("small-stack", &shared, readiness, descriptor)?;
        Ok(Arc::new(Self { shared, address: plan.address, _thread: thread }))
    }

    /// Wait until connections can be opened.
    ///
    /// # Errors
    /// `AddrInUse` if another station has the address; `HostUnreachable` if the peer does not answer; errors
    /// of the link.
    pub async fn ready(&self) -> io::Result<()> {
        poll_fn(|cx| {
            let mut state = self.shared.state();
            state.check()?;
            let address = self.address;
            match state.framed.station.reach() {
                Reach::Known => Poll::Ready(Ok(())),
                Reach::Asking => {
                    state.wait(cx);
                    Poll::Pending
                }
                Reach::Taken(mac) => Poll::Ready(Err(io::Error::new(
                    ErrorKind::AddrInUse,
                    format!("{address} is the address of another station, {}", Mac(mac)),
                ))),
                Reach::Unanswered => Poll::Ready(Err(io::Error::new(
                    ErrorKind::HostUnreachable,
                    format!("no station on {} answers for the peer", state.link.interface()),
                ))),
            }
        })
        .await
    }

    /// Open a connection to the peer.
    ///
    /// # Errors
    /// `ConnectionRefused`; `WouldBlock` at the limit of connections; errors of the link.
    pub async fn connect(self: &Arc<Self>, to: SocketAddr) -> io::Result<SmallStream> {
        let opened = self.shared.with(|state| {
            let now = os::monotonic();
            for _ in 0..PORTS {
                state.next_port = (state.next_port + 1) % PORTS;
                let port = FIRST_PORT + state.next_port;
                match state.framed.station.interface.connect(now, port, to) {
                    Err(Refusal::PortInUse(_)) => {}
                    opened => return opened,
                }
            }
            Err(Refusal::Full)
        });
        let id = opened.map_err(|refusal| match refusal {
            Refusal::Full => {
                io::Error::new(ErrorKind::WouldBlock, "the small stack has no room for another")
            }
            refusal => io::Error::other(refusal),
        })?;
        let stream = self.stream(id, to);
        poll_fn(|cx| stream.poll_open(cx)).await?;
        Ok(stream)
    }

    fn stream(self: &Arc<Self>, id: ConnectionId, peer: SocketAddr) -> SmallStream {
        SmallStream::new(Arc::clone(self) as _, Arc::clone(&self.shared), id, peer)
    }

    /// Accept connections to `port`; 0: any free port.
    pub fn listen(self: &Arc<Self>, port: u16) -> io::Result<SmallListener> {
        let mut state = self.shared.state();
        let wanted = if port > 0 { port..=port } else { FIRST_PORT..=FIRST_PORT + PORTS };
        let found = wanted.into_iter().find(|&port| state.framed.station.interface.listen(port));
        drop(state);
        match found {
            Some(port) => {
                Ok(SmallListener::new(Arc::clone(self) as _, Arc::clone(&self.shared), port))
            }
            None => Err(ErrorKind::AddrInUse.into()),
        }
    }

    /// Wait until no connection is left, including released ones.
    pub async fn closed(&self) {
        poll_fn(|cx| {
            let mut state = self.shared.state();
            if state.broken.is_some() || state.framed.station.interface.live_connections() == 0 {
                return Poll::Ready(());
            }
            state.wait(cx);
            Poll::Pending
        })
        .await;
    }

    pub fn is_usable(&self) -> bool {
        let state = self.shared.state();
        let is_lost = matches!(state.framed.station.reach(), Reach::Taken(_) | Reach::Unanswered);
        state.broken.is_none() && !is_lost
    }

    pub fn facts(&self) -> Facts {
        self.shared.state().framed.facts
    }

    pub fn address(&self, port: u16) -> SocketAddr {
        SocketAddr::V4(SocketAddrV4::new(self.address, port))
    }
}
