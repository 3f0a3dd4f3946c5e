//! Messages in and out.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::command;
use lanlab_wire::smb1::header::Header;

use super::answers;
use super::refusals::{malformed, protocol};
use super::state::{Client, Step};
use crate::redirector::{Call, CallId, Done, Redirector, RedirectorFacts, Refusal};

impl Client {
    fn take(&mut self, message: &mut Vec<u8>) -> Result<(), Refusal> {
        if let Some(mid) = self.raw
            && self.pending.get(&mid).is_some_and(|one| matches!(one.step, Step::ReadRaw { .. }))
        {
            self.sent = self.sent.saturating_sub(1);
            return self.took_raw(mid, message);
        }
        let header = Header::parse(message).map_err(malformed)?;
        // Samba 4.17 permits a raw write with a response that lacks the response flag.
        if !header.is_response() && header.command != command::WRITE_RAW {
            // A server breaks an opportunistic lock unrequested; we never ask for one.
            return match header.command {
                command::LOCKING_ANDX => Ok(()),
                other => Err(protocol(format!("{}: found a request", command::name(other)))),
            };
        }
        let Some(mut pending) = self.pending.remove(&header.mid) else {
            let message =
                format!("{}: found a response to no request", command::name(header.command));
            return Err(protocol(message));
        };
        let (call, expected) = (pending.call, pending.command);
        let is_final = match pending.step {
            // Samba's final response has the command of the first one.
            Step::WriteRest { .. } => header.command == command::WRITE_RAW,
            // A server that refuses at once uses its final response ([MS-CIFS] 2.2.4.25.3).
            Step::WriteRaw { .. } => {
                header.command == command::WRITE_COMPLETE && header.status.is_error()
            }
            _ => false,
        };
        if header.command != expected && !is_final {
            let (found, asked) = (command::name(header.command), command::name(expected));
            self.pending.insert(header.mid, pending);
            return Err(protocol(format!("found a response of {found} to {asked}")));
        }
        if let (Some(signing), Some(number)) = (&self.signing, pending.number)
            && !signing.is_signed(message, number)
        {
            self.pending.insert(header.mid, pending);
            let name = command::name(expected);
            return Err(protocol(format!("{name}: the signature of the response is wrong")));
        }
        self.sent = self.sent.saturating_sub(1);
        let block = match Block::first(&header, message) {
            Ok(block) => block,
            Err(error) => {
                self.pending.insert(header.mid, pending);
                return Err(malformed(error));
            }
        };
        if let Step::Read { count } = pending.step {
            self.calls.end_with(call, answers::read(&block, count), message);
            return Ok(());
        }
        if let Step::ReadMultiplexed { file, offset, count } = pending.step {
            let outcome = self.took_multiplexed(&block, (call, file, offset, count));
            if let Some(outcome) = outcome {
                self.calls.end_with(call, outcome, message);
            }
            return Ok(());
        }
        match std::mem::replace(&mut pending.step, Step::Other) {
            Step::Negotiate => self.negotiated(&block)?,
            Step::Login(login) => self.logged_in(&header, &block, login)?,
            Step::Connect => self.connected(&header, &block)?,
            Step::List(listing) => self.listed(call, &header, &block, listing),
            Step::Open => self.calls.end(call, answers::opened(&block)),
            Step::Write { count } => self.calls.end(call, answers::written(&block, count)),
            Step::Stat => self.calls.end(call, answers::found(&block)),
            Step::WriteRaw { file, offset, data } => {
                self.may_write_raw(header.mid, &block, (call, file, offset, data))?;
            }
            Step::WriteRest { count } => {
                let written = self.wrote_raw(&block, count);
                self.calls.end(call, written);
            }
            Step::WriteMultiplexed { file, offset, data } => {
                self.wrote_multiplexed(&block, (call, file, offset, data));
            }
            Step::Other
            | Step::Read { .. }
            | Step::ReadRaw { .. }
            | Step::ReadMultiplexed { .. } => {
                self.calls.end(call, answers::nothing(&block));
            }
        }
        Ok(())
    }
}

impl Redirector for Client {
    fn protocol(&self) -> &'static str {
        "SMB 1"
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
            // Failures of session set-up belong to no pending request.
            if self.calls.facts.is_none() && !self.calls.has_ended(Self::CONNECTED) {
                self.calls.end(Self::CONNECTED, Err(refusal));
            }
        }
    }

    fn poll_message(&mut self, into: &mut Vec<u8>) -> bool {
        if let Some(mut data) = self.raw_rest.take() {
            std::mem::swap(into, &mut data);
            self.calls.keep(data);
            return true;
        }
        let Some((mid, _)) = self.waiting.front() else { return false };
        let is_raw = self.pending.get(mid).is_some_and(|pending| {
            matches!(pending.step, Step::ReadRaw { .. } | Step::WriteRaw { .. })
        });
        let depth = if is_raw { 1 } else { self.depth() };
        if self.raw.is_some() || self.sent >= depth {
            return false;
        }
        let Some((mid, mut message)) = self.waiting.pop_front() else { return false };
        self.raw = is_raw.then_some(mid);
        if let Some(signing) = &mut self.signing {
            let number = signing.sign(&mut message);
            if let Some(pending) = self.pending.get_mut(&mid) {
                pending.number = Some(number);
            }
        }
        self.sent += 1;
        std::mem::swap(into, &mut message);
        self.calls.keep(message);
        true
    }

    fn poll_done(&mut self, data: &mut Vec<u8>) -> Option<(CallId, Result<Done, Refusal>)> {
        self.calls.poll_done(data)
    }

    fn facts(&self) -> Option<&RedirectorFacts> {
        self.calls.facts.as_ref()
    }
}
