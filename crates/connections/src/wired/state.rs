//! A node with its link, shared by the link's thread and users.

use std::io;
use std::task::{Context, Poll, Waker};

use lanlab_stack::node::{Count, Node, Readiness, SessionId};
use lanlab_units::Instant;

use super::frame_link::FrameLink;
use super::inboxes::{Inboxes, Then};
use super::reader::Reader;
use super::recording::Sink;
use crate::link_thread::{AtLink, LinkFailure};

/// Longest frame read: these protocols have no longer ones.
const LONGEST_FRAME_BYTES: usize = 2048;
/// Maximum frames read before releasing the lock.
const TURN_FRAMES: usize = 64;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkCounts {
    pub received_frames: u64,
    pub sent_frames: u64,
    pub unsent_frames: u64,
    pub kernel_drops: u64,
}

impl LinkCounts {
    pub fn list(self) -> Vec<Count> {
        vec![
            ("sent_frames", self.sent_frames),
            ("unsent_frames", self.unsent_frames),
            ("received_frames", self.received_frames),
            ("kernel_drops", self.kernel_drops),
        ]
    }
}

#[derive(Debug)]
pub struct State {
    pub node: Node,
    pub link: Box<dyn FrameLink>,
    /// The receiver of frames; `None` for a link driven by its medium.
    pub reader: Option<Reader>,
    pub inboxes: Inboxes,
    pub readiness: Readiness,
    pub ready_waiters: Vec<Waker>,
    pub broken: Option<LinkFailure>,
    pub counts: LinkCounts,
    pub sink: Option<Sink>,
    frame: Vec<u8>,
    buffer: Box<[u8; LONGEST_FRAME_BYTES]>,
    message: Vec<u8>,
}

fn record(sink: Option<&Sink>, at: Instant, frame: &[u8]) {
    if let Some(sink) = sink {
        sink.lock().record(at, frame);
    }
}

impl State {
    pub fn new(node: Node, link: Box<dyn FrameLink>) -> Self {
        Self {
            readiness: node.readiness(),
            node,
            link,
            reader: None,
            inboxes: Inboxes::default(),
            ready_waiters: Vec::new(),
            broken: None,
            counts: LinkCounts::default(),
            sink: None,
            frame: Vec::new(),
            buffer: Box::new([0; LONGEST_FRAME_BYTES]),
            message: Vec::new(),
        }
    }

    /// Handle arrived frames and due work. Returns whether more frames may be waiting.
    pub fn drive(&mut self) -> bool {
        let mut has_more = true;
        for _ in 0..TURN_FRAMES {
            match self.link.receive(&mut self.buffer[..]) {
                Ok(Some(length)) => {
                    self.counts.received_frames += 1;
                    let frame = &self.buffer[..length.min(LONGEST_FRAME_BYTES)];
                    let now = self.link.now();
                    record(self.sink.as_ref(), now, frame);
                    self.node.handle_frame(now, frame);
                    // Acknowledgements are sent before the next frame is read.
                    self.flush();
                }
                Ok(None) => {
                    has_more = false;
                    break;
                }
                Err(error) => {
                    self.fail(&error);
                    return false;
                }
            }
        }
        let now = self.link.now();
        if self.node.poll_timeout().is_some_and(|at| at <= now) {
            self.node.handle_timeout(now);
        }
        if let Some(sink) = &self.sink {
            sink.lock().tick(now);
        }
        self.flush();
        has_more
    }

    /// Receive a message of a session. Until one is there, receive the frames of the link.
    pub fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        id: SessionId,
        into: &mut Vec<u8>,
    ) -> Poll<io::Result<()>> {
        loop {
            let received = match (self.inboxes.poll_receive(cx, id, into), self.check()) {
                (Poll::Pending, Err(error)) => Poll::Ready(Err(error)),
                (received, _) => received,
            };
            if received.is_ready() {
                if self.inboxes.resumes(id) {
                    self.node.resume(id);
                }
                self.stop_reading(id);
                return received;
            }
            if !self.poll_frames(cx, id) {
                return Poll::Pending;
            }
        }
    }

    pub fn has_link(&self, id: SessionId) -> bool {
        self.reader.as_ref().is_some_and(|reader| reader.is_of(id))
    }

    /// Receive arrived frames, if the session's program has the link or can take it over. Otherwise false:
    /// the next frame, or the receiver, wakes the program.
    pub fn poll_frames(&mut self, cx: &mut Context<'_>, id: SessionId) -> bool {
        let Some(reader) = &mut self.reader else { return false };
        if !reader.take(id, self.link.now()) {
            return false;
        }
        match reader.poll_frames(cx) {
            Poll::Pending => false,
            Poll::Ready(Ok(())) => {
                if self.drive() {
                    // No new frame announces the remaining ones: notify the link's thread.
                    self.give_back();
                }
                true
            }
            Poll::Ready(Err(_)) => {
                self.give_back();
                false
            }
        }
    }

    pub fn stop_reading(&mut self, id: SessionId) {
        if self.has_link(id) {
            self.give_back();
        }
    }

    fn give_back(&mut self) {
        if let Some(Err(error)) = self.reader.as_mut().map(Reader::give_back) {
            self.fail(&error);
        }
    }

    fn fail(&mut self, error: &io::Error) {
        self.broken = Some((error.kind(), error.to_string()));
        self.ready_waiters.drain(..).for_each(Waker::wake);
        self.inboxes.wake_all();
    }
}

impl AtLink for State {
    /// If the thread finds frames while a program has the link, the program is slow or has stopped waiting: the
    /// thread takes the link back.
    fn drive_by_thread(&mut self) -> bool {
        let before = self.counts.received_frames;
        let has_more = self.drive();
        if self.counts.received_frames != before {
            self.give_back();
        }
        has_more
    }

    fn flush(&mut self) {
        loop {
            while self.node.poll_transmit(self.link.now(), &mut self.frame) {
                match self.link.send(&self.frame) {
                    Ok(true) => {
                        self.counts.sent_frames += 1;
                        record(self.sink.as_ref(), self.link.now(), &self.frame);
                    }
                    // The frame is lost, as on a wire. The node resends it.
                    Ok(false) => self.counts.unsent_frames += 1,
                    Err(error) => return self.fail(&error),
                }
            }
            let mut has_changed = false;
            while let Some(event) = self.node.poll_event(&mut self.message) {
                has_changed = true;
                match self.inboxes.take(&event, &mut self.message) {
                    Then::Nothing => {}
                    Then::Pause(id) => self.node.pause(id),
                    Then::Close(id) => self.node.close(self.link.now(), id),
                }
            }
            if !has_changed {
                return;
            }
            let before = std::mem::replace(&mut self.readiness, self.node.readiness());
            if self.readiness != before {
                self.ready_waiters.drain(..).for_each(Waker::wake);
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let look_at = self.reader.as_ref().map(Reader::look_at);
        [self.node.poll_timeout(), look_at].into_iter().flatten().min()
    }

    fn before_sleep(&mut self, now: Instant) -> Option<Instant> {
        let look_at = self.reader.as_mut().map(|reader| reader.looked(now));
        [self.node.poll_timeout(), look_at].into_iter().flatten().min()
    }

    fn failure(&self) -> Option<&LinkFailure> {
        self.broken.as_ref()
    }

    fn interface(&self) -> &str {
        self.link.interface()
    }
}
