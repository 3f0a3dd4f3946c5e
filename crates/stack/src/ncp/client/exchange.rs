//! Messages in and out.

use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::files::{self, FileHandle};
use lanlab_wire::ncp::function::{self, Function};

use super::refusals::{malformed, protocol, refused};
use super::{Client, Request, Step};
use crate::redirector::{Call, CallId, Done, FileId, Redirector, RedirectorFacts, Refusal};

impl Client {
    fn request(
        &mut self,
        call: CallId,
        function: Function,
        step: Step,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Request {
        let mut message = self.calls.memory();
        function.emit(&mut message, write);
        Request { call, function, step, message }
    }

    pub(super) fn ask(
        &mut self,
        call: CallId,
        function: Function,
        step: Step,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let request = self.request(call, function, step, write);
        self.waiting.push_back(request);
    }

    pub(super) fn ask_on(
        &mut self,
        call: CallId,
        function: Function,
        step: Step,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let request = self.request(call, function, step, write);
        self.waiting.push_front(request);
    }

    fn fail(&mut self, refusal: &Refusal) {
        self.calls.broken = Some(refusal.clone());
        let calls = self.current.take().into_iter().chain(std::mem::take(&mut self.waiting));
        for request in calls.collect::<Vec<_>>() {
            self.calls.end(request.call, Err(refusal.clone()));
        }
    }

    pub(super) fn add_file(&mut self, handle: FileHandle) -> FileId {
        self.next_file = self.next_file.wrapping_add(1);
        let file = FileId(self.next_file);
        self.files.insert(file, handle);
        file
    }

    /// Handle a reply. A protocol error ends the session.
    fn take(&mut self, message: &mut Vec<u8>) -> Result<(), Refusal> {
        let Some(request) = self.current.take() else {
            return Err(protocol("found a reply to no request"));
        };
        let Request { call, function, step, message: asked } = request;
        self.calls.keep(asked);
        if matches!(step, Step::ReadBurst { .. } | Step::WriteBurst { .. }) {
            self.take_burst(call, &step, message);
            return Ok(());
        }
        let Some((&code, reply)) = message.split_first() else {
            self.calls.end(call, Err(protocol("a reply without a completion code")));
            return Err(protocol("found a reply without a completion code"));
        };
        let is_done = code == completion::OK;
        match step {
            Step::Connecting(connecting) => {
                if let Err(refusal) = self.connecting(connecting, (function, code), reply) {
                    self.calls.end(call, Err(refusal.clone()));
                    return Err(refusal);
                }
            }
            Step::List(listing) => self.listed(call, listing, code, reply),
            Step::Rename { from, to } if code == completion::FAILED => {
                self.rename_directory(call, &from, &to);
            }
            Step::Check if is_done => self.checked(call, reply),
            Step::Close { file } => {
                self.files.remove(&file);
                let outcome =
                    if is_done { Ok(Done::Nothing) } else { Err(refused(function, code)) };
                self.calls.end(call, outcome);
            }
            _ if !is_done => self.calls.end(call, Err(refused(function, code))),
            Step::Read { offset, count } => {
                self.calls.end_with(call, read(offset, count, reply), message);
            }
            Step::Write { count } => self.calls.end(call, Ok(Done::Written(count))),
            Step::Open => {
                let outcome = self.opened(reply);
                self.calls.end(call, outcome);
            }
            Step::Check
            | Step::Rename { .. }
            | Step::ReadBurst { .. }
            | Step::WriteBurst { .. }
            | Step::Other => self.calls.end(call, Ok(Done::Nothing)),
        }
        Ok(())
    }

    fn opened(&mut self, reply: &[u8]) -> Result<Done, Refusal> {
        let opened = files::Opened::parse(reply).map_err(malformed)?;
        let file = self.add_file(opened.file);
        Ok(Done::Opened { file, size_bytes: u64::from(opened.entry.size) })
    }
}

fn read(offset: u32, count: u32, reply: &[u8]) -> Result<Done, Refusal> {
    let data = files::parse_data(offset, reply).map_err(malformed)?;
    if data.len() > count as usize {
        let name = function::READ.name();
        return Err(protocol(format!("{name}: found {} octets of {count}", data.len())));
    }
    let at = if data.is_empty() { 0 } else { 1 + files::before_data(offset) };
    Ok(Done::Read(at..at + data.len()))
}

impl Redirector for Client {
    fn protocol(&self) -> &'static str {
        "NCP"
    }

    fn call(&mut self, call: Call<'_>) -> CallId {
        let id = self.calls.next();
        if let Err(refusal) = self.calls.check().and_then(|()| self.begin(id, call)) {
            self.calls.end(id, Err(refusal));
        }
        id
    }

    fn handle_message(&mut self, message: &mut Vec<u8>) {
        if self.calls.broken.is_some() {
            return;
        }
        if let Err(refusal) = self.take(message) {
            self.fail(&refusal);
        }
    }

    fn poll_message(&mut self, into: &mut Vec<u8>) -> bool {
        if self.current.is_some() {
            return false;
        }
        let Some(mut request) = self.waiting.pop_front() else { return false };
        std::mem::swap(into, &mut request.message);
        self.current = Some(request);
        true
    }

    fn poll_done(&mut self, data: &mut Vec<u8>) -> Option<(CallId, Result<Done, Refusal>)> {
        self.calls.poll_done(data)
    }

    fn facts(&self) -> Option<&RedirectorFacts> {
        self.calls.facts.as_ref()
    }
}
