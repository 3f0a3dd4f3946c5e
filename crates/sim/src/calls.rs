//! Programs' work on their host's processor, and the tasks that wait for it.

use lanlab_workloads::virtual_time::{VirtualTime, Wake};

pub(crate) type CallId = u32;

#[derive(Debug, Default)]
pub(crate) struct Calls {
    calls: Vec<Call>,
    unused: Vec<CallId>,
}

#[derive(Debug)]
enum Call {
    Unused,
    Works { wake: Option<Wake> },
    Done,
    Abandoned,
}

impl Calls {
    pub(crate) fn begin(&mut self) -> CallId {
        let works = Call::Works { wake: None };
        if let Some(id) = self.unused.pop() {
            self.calls[id as usize] = works;
            return id;
        }
        self.calls.push(works);
        (self.calls.len() - 1) as CallId
    }

    /// Whether the call has ended, which frees its number. If not, its end will wake `wake`.
    pub(crate) fn poll(&mut self, id: CallId, wake: impl FnOnce() -> Wake) -> bool {
        match &mut self.calls[id as usize] {
            Call::Works { wake: waiting } => {
                *waiting = Some(wake());
                false
            }
            Call::Done | Call::Abandoned | Call::Unused => {
                self.free(id);
                true
            }
        }
    }

    pub(crate) fn end(&mut self, id: CallId, time: &VirtualTime) {
        match std::mem::replace(&mut self.calls[id as usize], Call::Done) {
            Call::Works { wake: Some(wake) } => time.wake(wake),
            Call::Works { wake: None } | Call::Done | Call::Unused => {}
            Call::Abandoned => self.free(id),
        }
    }

    pub(crate) fn abandon(&mut self, id: CallId) {
        let call = &mut self.calls[id as usize];
        if matches!(call, Call::Works { .. }) {
            *call = Call::Abandoned;
        } else {
            self.free(id);
        }
    }

    fn free(&mut self, id: CallId) {
        self.calls[id as usize] = Call::Unused;
        self.unused.push(id);
    }
}
