//! Who receives the frames of a link: its thread, or a program that waits for a message.
//!
//! A waiting program takes over the link, so that a frame wakes its thread directly. Before it gets its
//! message it gives the link back, so that later frames wake the link's thread. Only one program has the link
//! at a time; the receiver wakes the programs of other sessions.
//!
//! A program may be slow, or may have stopped waiting silently. So while a program has the link, the link's
//! thread checks every 10 ms, and takes the link back if it finds a frame.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use lanlab_os::{Interest, LinkDescriptor, Readiness};
use lanlab_stack::node::SessionId;
use lanlab_units::Instant;

use super::readable::Readable;
use crate::link_thread::LINK;

const LOOK_NS: u64 = 10_000_000;

#[derive(Debug)]
pub struct Reader {
    link: Arc<LinkDescriptor>,
    thread: Readiness,
    program: Option<(SessionId, Readable)>,
    pub takes: u64,
    was_taken: bool,
    look_at: Instant,
}

impl Reader {
    pub fn new(link: LinkDescriptor, thread: &Readiness) -> io::Result<Self> {
        thread.watch(&link, LINK, Interest::Read)?;
        let thread = thread.another()?;
        let link = Arc::new(link);
        Ok(Self {
            link,
            thread,
            program: None,
            takes: 0,
            was_taken: false,
            look_at: Instant::FAR_FUTURE,
        })
    }

    /// Take over the link for a session's waiting program. False if another program has it, or it
    /// cannot be taken over.
    pub fn take(&mut self, id: SessionId, now: Instant) -> bool {
        if let Some((reading, _)) = self.program {
            return reading == id;
        }
        // From here on, a frame wakes both threads, and the first to look takes it.
        let Ok(readable) = Readable::new(&self.link) else { return false };
        if self.thread.change(&*self.link, LINK, Interest::Nothing).is_err() {
            return false;
        }
        self.program = Some((id, readable));
        self.takes += 1;
        self.was_taken = true;
        self.look_at = now.plus_nanos(LOOK_NS);
        true
    }

    /// Return the link to its thread, which is notified of waiting frames at once.
    pub fn give_back(&mut self) -> io::Result<()> {
        if self.program.take().is_some() {
            self.thread.change(&*self.link, LINK, Interest::Read)?;
        }
        Ok(())
    }

    pub fn is_of(&self, id: SessionId) -> bool {
        self.program.as_ref().is_some_and(|(reading, _)| *reading == id)
    }

    /// Wait for frames, in the runtime of the program that has the link.
    pub fn poll_frames(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &self.program {
            Some((_, readable)) => readable.poll(cx),
            None => Poll::Pending,
        }
    }

    pub fn look_at(&self) -> Instant {
        if self.program.is_some() { self.look_at } else { Instant::FAR_FUTURE }
    }

    /// Called when the thread has looked; returns when to look again. This is soon even if no
    /// program has the link, as one may be about to wait for its next message.
    pub fn looked(&mut self, now: Instant) -> Instant {
        let is_taken = self.program.is_some();
        self.look_at = now.plus_nanos(LOOK_NS);
        if is_taken || std::mem::take(&mut self.was_taken) {
            self.was_taken = is_taken;
            return self.look_at;
        }
        Instant::FAR_FUTURE
    }
}
