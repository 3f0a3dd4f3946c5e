//! A station with its link, shared by its thread and users.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::task::{Context, Waker};

use lanlab_os as os;
use lanlab_stack::ip::{ConnectionId, Event, FramedStation, Reach, Station};
use lanlab_units::Instant;

use crate::link_thread::{self, AtLink, LinkFailure};
use crate::wired::FrameLink;

/// Maximum frames received before releasing the lock.
const TURN_FRAMES: usize = 64;
/// Pause before retrying a link that accepts no frame.
const RETRY_NS: u64 = 100_000;

#[derive(Debug, Clone, Copy)]
pub struct Accepted {
    pub id: ConnectionId,
    pub port: u16,
    pub peer: SocketAddr,
}

pub struct State {
    pub framed: FramedStation,
    pub link: Box<dyn FrameLink>,
    pub accepted: VecDeque<Accepted>,
    pub broken: Option<LinkFailure>,
    pub next_port: u16,
    reach: Reach,
    live_connections: usize,
    waiting: Vec<Waker>,
}

impl State {
    pub fn new(
        framed: FramedStation,
        link: Box<dyn FrameLink>,
        connections: usize,
        next_port: u16,
    ) -> Self {
        Self {
            framed,
            link,
            accepted: VecDeque::with_capacity(connections),
            broken: None,
            next_port,
            reach: Reach::Asking,
            live_connections: 0,
            waiting: Vec::new(),
        }
    }

    pub const fn own_bytes(connections: usize) -> usize {
        size_of::<Self>() - size_of::<Station>() + connections * size_of::<Accepted>()
    }

    pub fn refuse(&mut self, id: ConnectionId) {
        let now = os::monotonic();
        self.framed.station.interface.abort(now, id);
        self.framed.station.interface.leave(now, id);
    }

    pub fn wake_all(&mut self) {
        self.waiting.drain(..).for_each(Waker::wake);
    }

    fn fail(&mut self, kind: ErrorKind, message: String) {
        self.broken = Some((kind, message));
        self.wake_all();
    }

    pub fn wait(&mut self, cx: &Context<'_>) {
        if !self.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            self.waiting.push(cx.waker().clone());
        }
    }
}

impl AtLink for State {
    fn drive_by_thread(&mut self) -> bool {
        let mut taken = 0;
        while taken < TURN_FRAMES {
            match self.framed.take(os::monotonic(), |into| self.link.receive(into)) {
                Ok(true) => {
                    taken += 1;
                    self.flush();
                }
                Ok(false) => break,
                Err(error) => {
                    self.fail(error.kind(), error.to_string());
                    return false;
                }
            }
        }
        self.framed.station.handle_timeout(os::monotonic());
        self.flush();
        self.framed.facts.dropped_frames += self.link.new_drops();
        taken == TURN_FRAMES
    }

    fn flush(&mut self) {
        let now = os::monotonic();
        if let Err(error) = self.framed.send(now, |frame| self.link.send(frame)) {
            return self.fail(error.kind(), error.to_string());
        }
        let station = &mut self.framed.station;
        let before = std::mem::replace(&mut self.reach, station.reach());
        let mut has_changed = self.reach != before;
        let live = station.interface.live_connections();
        has_changed |= std::mem::replace(&mut self.live_connections, live) != live;
        while let Some(event) = station.interface.poll_event() {
            has_changed = true;
            if let Event::Accepted(id, port) = event {
                let peer = station.interface.peer(id);
                self.accepted.push_back(Accepted { id, port, peer });
            }
        }
        let own_bytes = Self::own_bytes(self.accepted.capacity());
        if let Err(message) = self.framed.check_memory(own_bytes) {
            return self.fail(ErrorKind::OutOfMemory, message);
        }
        if has_changed {
            self.wake_all();
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let retry_at = self.framed.is_blocked().then(|| os::monotonic().plus_nanos(RETRY_NS));
        [self.framed.station.poll_timeout(), retry_at].into_iter().flatten().min()
    }

    fn failure(&self) -> Option<&LinkFailure> {
        self.broken.as_ref()
    }

    fn interface(&self) -> &str {
        self.link.interface()
    }
}

pub type Shared = link_thread::Shared<State>;
