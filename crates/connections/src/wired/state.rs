//! A node with its link, as the thread of the link and those with work share them.

use std::io::{self, ErrorKind};
use std::sync::PoisonError;
use std::task::Waker;

use lanlab_stack::node::{Event, Node};
use lanlab_units::Instant;

use super::frame_link::FrameLink;
use super::inboxes::{Inboxes, Then};
use super::recording::Sink;

/// Longest frame that is read: longer ones are none of these protocols.
const LONGEST_FRAME_BYTES: usize = 2048;
/// Most frames that are read before the lock is given away.
const TURN_FRAMES: usize = 64;

/// What a link has done since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Frames received, those for others included that came nevertheless.
    pub received_frames: u64,
    /// Frames sent.
    pub sent_frames: u64,
    /// Frames that the interface did not take.
    pub unsent_frames: u64,
    /// Frames that the kernel dropped before they were received.
    pub kernel_drops: u64,
}

/// Whether the node has its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    Waiting,
    Claimed,
    Conflict,
}

#[derive(Debug)]
pub struct State {
    pub node: Node,
    pub link: Box<dyn FrameLink>,
    pub inboxes: Inboxes,
    pub claim: Claim,
    pub claim_waiters: Vec<Waker>,
    /// Why the link is of no use any more.
    pub broken: Option<(ErrorKind, String)>,
    /// Until when the link's thread sleeps.
    pub sleeps_until: Instant,
    pub counts: LinkCounts,
    /// Where frames of both directions are written.
    pub sink: Option<Sink>,
    frame: Vec<u8>,
    buffer: Box<[u8; LONGEST_FRAME_BYTES]>,
    message: Vec<u8>,
}

fn record(sink: Option<&Sink>, at: Instant, frame: &[u8]) {
    if let Some(sink) = sink {
        sink.lock().unwrap_or_else(PoisonError::into_inner).record(at, frame);
    }
}

impl State {
    pub fn new(node: Node, link: Box<dyn FrameLink>) -> Self {
        Self {
            node,
            link,
            inboxes: Inboxes::default(),
            claim: Claim::Waiting,
            claim_waiters: Vec::new(),
            broken: None,
            sleeps_until: Instant::ZERO,
            counts: LinkCounts::default(),
            sink: None,
            frame: Vec::new(),
            buffer: Box::new([0; LONGEST_FRAME_BYTES]),
            message: Vec::new(),
        }
    }

    /// Take the frames that have come, and do all that is due. Whether more frames may wait.
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
                    // Acknowledgements leave before the next frame is looked at.
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
            sink.lock().unwrap_or_else(PoisonError::into_inner).tick(now);
        }
        self.flush();
        has_more
    }

    /// Send what the node wants to send, and hand on what it says.
    pub fn flush(&mut self) {
        loop {
            while self.node.poll_transmit(self.link.now(), &mut self.frame) {
                match self.link.send(&self.frame) {
                    Ok(true) => {
                        self.counts.sent_frames += 1;
                        record(self.sink.as_ref(), self.link.now(), &self.frame);
                    }
                    // Lost, as on a wire: the node sends it again.
                    Ok(false) => self.counts.unsent_frames += 1,
                    Err(error) => return self.fail(&error),
                }
            }
            let mut has_changed = false;
            while let Some(event) = self.node.poll_event(&mut self.message) {
                has_changed = true;
                match event {
                    Event::Claimed(_) => self.claimed(Claim::Claimed),
                    Event::Conflict(..) => self.claimed(Claim::Conflict),
                    event => match self.inboxes.take(&event, &mut self.message) {
                        Then::Nothing => {}
                        Then::Pause(id) => self.node.pause(id),
                        Then::Close(id) => self.node.close(self.link.now(), id),
                    },
                }
            }
            if !has_changed {
                return;
            }
        }
    }

    fn claimed(&mut self, claim: Claim) {
        self.claim = claim;
        self.claim_waiters.drain(..).for_each(Waker::wake);
    }

    fn fail(&mut self, error: &io::Error) {
        self.broken = Some((error.kind(), error.to_string()));
        self.claim_waiters.drain(..).for_each(Waker::wake);
        self.inboxes.wake_all();
    }

    /// Whether the link can still be used.
    pub fn check(&self) -> io::Result<()> {
        match &self.broken {
            None => Ok(()),
            Some((kind, message)) => {
                let interface = self.link.interface();
                Err(io::Error::new(*kind, format!("interface `{interface}`: {message}")))
            }
        }
    }
}
