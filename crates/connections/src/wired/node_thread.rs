//! The thread of a link.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Weak};
use std::task::Poll;

use lanlab_files::CarrierCounts;
use lanlab_os::{self as os, LinkDescriptor, RawFrames, RawLink, Wake};
use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::node::{Node, Peer, Readiness, SegmentFacts, SessionId};
use lanlab_wire::ethernet::Mac;

use super::frame_link::{Driven, FrameLink, offline};
use super::plan::WiredPlan;
use super::port::WiredPort;
use super::reader::Reader;
use super::recording::sink_of;
use super::shared::Shared;
use super::state::State;
use crate::link_thread::{AtLink, LinkThread};

/// A node on a link. It ends with its last user.
#[derive(Debug)]
pub struct WiredNode {
    shared: Arc<Shared>,
    /// `None` for a link driven by its medium.
    _thread: Option<LinkThread<State>>,
}

impl WiredNode {
    /// Open the link and begin to claim the name and to learn the network.
    pub fn begin(plan: &WiredPlan) -> io::Result<Arc<Self>> {
        if let Some(open) = offline(&plan.place) {
            let wake = Wake::new()?;
            let shared = Arc::new_cyclic(|own: &Weak<Shared>| {
                Shared::new(joined(plan, open(own.clone() as Weak<dyn Driven>)), wake)
            });
            return Ok(Arc::new(Self { shared, _thread: None }));
        }
        let link = RawLink::open(&plan.place, RawFrames::Historic)?;
        let descriptor = LinkDescriptor::of(&link)?;
        Self::at(plan, Box::new(link), descriptor)
    }

    pub(super) fn at(
        plan: &WiredPlan,
        link: Box<dyn FrameLink>,
        descriptor: LinkDescriptor,
    ) -> io::Result<Arc<Self>> {
        let readiness = os::Readiness::new(2)?;
        let mut state = joined(plan, link);
        state.reader = Some(Reader::new(descriptor, &readiness)?);
        let shared = Arc::new(Shared::new(state, Wake::new()?));
        let thread = LinkThread::begin("frames", &shared, readiness, ())?;
        Ok(Arc::new(Self { shared, _thread: Some(thread) }))
    }

    /// Wait until sessions can be opened: the node has its name and knows its network.
    ///
    /// # Errors
    /// `AddrInUse` if another station has the name; errors of the link.
    pub async fn ready(&self) -> io::Result<()> {
        poll_fn(|cx| {
            let mut state = self.shared.state();
            if let Err(error) = state.check() {
                return Poll::Ready(Err(error));
            }
            match state.readiness {
                Readiness::Ready => Poll::Ready(Ok(())),
                Readiness::NameInConflict => {
                    let error =
                        io::Error::new(ErrorKind::AddrInUse, "another station has our name");
                    Poll::Ready(Err(error))
                }
                Readiness::Waiting => {
                    state.ready_waiters.push(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Call another station, and wait for the session.
    pub async fn call(self: &Arc<Self>, to: Peer) -> io::Result<WiredPort> {
        let id = self.shared.with(|state| {
            let id = state.node.open(state.link.now(), to);
            state.inboxes.open(id);
            id
        });
        // Created first, to close the session even if the caller stops waiting.
        let mut port = self.port(
            id,
            CarrierFacts { longest_message: 0, keeps_raw: false, is_one_at_a_time: false },
        );
        port.facts = poll_fn(|cx| {
            let mut state = self.shared.state();
            match state.check() {
                Ok(()) => state.inboxes.poll_open(cx, id),
                Err(error) => Poll::Ready(Err(error)),
            }
        })
        .await?;
        Ok(port)
    }

    /// The IPX segment of the node; `None` if its carrier is not on IPX.
    pub fn segment(&self) -> Option<SegmentFacts> {
        self.shared.state().node.segment()
    }

    pub async fn accept(self: &Arc<Self>) -> io::Result<(WiredPort, Mac)> {
        let (id, facts, station) = poll_fn(|cx| {
            let mut state = self.shared.state();
            match state.check() {
                Ok(()) => state.inboxes.poll_accept(cx).map(Ok),
                Err(error) => Poll::Ready(Err(error)),
            }
        })
        .await?;
        Ok((self.port(id, facts), station))
    }

    fn port(self: &Arc<Self>, id: SessionId, facts: CarrierFacts) -> WiredPort {
        WiredPort::new(Arc::clone(self) as _, Arc::clone(&self.shared), id, facts)
    }

    pub fn is_usable(&self) -> bool {
        let state = self.shared.state();
        state.broken.is_none() && state.readiness != Readiness::NameInConflict
    }

    pub fn counts(&self) -> CarrierCounts {
        let mut state = self.shared.state();
        let drops = state.link.new_drops();
        state.counts.kernel_drops += drops;
        let (recorded, unrecorded) =
            state.sink.as_ref().map_or((0, 0), |sink| sink.lock().counts());
        let mut counts = state.counts.list();
        counts.extend(state.node.counts());
        counts.extend([("recorded_frames", recorded), ("unrecorded_frames", unrecorded)]);
        CarrierCounts::new(counts)
    }
}

impl Drop for WiredNode {
    fn drop(&mut self) {
        self.shared.with(|state| state.node.leave());
    }
}

fn joined(plan: &WiredPlan, link: Box<dyn FrameLink>) -> State {
    let mac = Mac(link.mac());
    let config = plan.config(mac);
    let mut node = Node::new(&config, link.now());
    if plan.listens {
        node.listen();
    }
    let mut state = State::new(node, link);
    state.sink = sink_of(&plan.place);
    state
}
