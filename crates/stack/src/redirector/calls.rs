//! Numbers of a redirector's calls, and the results that its driver has not yet taken.

use std::collections::VecDeque;

use super::{CallId, Done, RedirectorFacts, Refusal};

const MAX_SPARE: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Calls {
    last: u64,
    done: VecDeque<(CallId, Result<Done, Refusal>, Vec<u8>)>,
    spare: Vec<Vec<u8>>,
    /// The protocol error that ended the session.
    pub(crate) broken: Option<Refusal>,
    pub(crate) facts: Option<RedirectorFacts>,
}

impl Calls {
    pub(crate) const fn next(&mut self) -> CallId {
        self.last += 1;
        CallId(self.last)
    }

    pub(crate) fn check(&self) -> Result<(), Refusal> {
        self.broken.clone().map_or(Ok(()), Err)
    }

    pub(crate) fn memory(&mut self) -> Vec<u8> {
        let mut memory = self.spare.pop().unwrap_or_default();
        memory.clear();
        memory
    }

    pub(crate) fn keep(&mut self, memory: Vec<u8>) {
        if self.spare.len() < MAX_SPARE && memory.capacity() > 0 {
            self.spare.push(memory);
        }
    }

    pub(crate) fn end(&mut self, call: CallId, outcome: Result<Done, Refusal>) {
        let memory = self.memory();
        self.done.push_back((call, outcome, memory));
    }

    /// End a call whose data are in a message, which is exchanged for an empty buffer.
    pub(crate) fn end_with(
        &mut self,
        call: CallId,
        outcome: Result<Done, Refusal>,
        message: &mut Vec<u8>,
    ) {
        let memory = self.memory();
        self.done.push_back((call, outcome, std::mem::replace(message, memory)));
    }

    pub(crate) fn has_ended(&self, call: CallId) -> bool {
        self.done.iter().any(|ended| ended.0 == call)
    }

    pub(crate) fn poll_done(
        &mut self,
        data: &mut Vec<u8>,
    ) -> Option<(CallId, Result<Done, Refusal>)> {
        let (call, outcome, message) = self.done.pop_front()?;
        self.keep(std::mem::replace(data, message));
        Some((call, outcome))
    }
}
