//! Executes file calls of a simulated file server: data from its contents, time from its store.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use lanlab_sessions::FileAnswers;
use lanlab_stack::file_server::Session;
use lanlab_stack::files::{FileAnswer, FileCall, FileStore as _, Handle};

use super::contents::Contents;
use super::store::Store;

pub struct ServedFiles {
    contents: Rc<RefCell<Contents>>,
    store: Store,
    client: u32,
    written: BTreeSet<Handle>,
}

impl ServedFiles {
    pub fn new(contents: Rc<RefCell<Contents>>, store: Store, client: u32) -> Self {
        Self { contents, store, client, written: BTreeSet::new() }
    }

    /// Execute one call in its turn. Data read is returned in `data`, which also contains data to
    /// write.
    pub async fn call(&mut self, call: FileCall, data: &mut Vec<u8>) -> FileAnswer {
        let _turn = self.store.turn().await;
        self.answer(call, data).await
    }

    async fn answer(&mut self, call: FileCall, data: &mut Vec<u8>) -> FileAnswer {
        let of_call = self.cost(&call);
        let answer = self.contents.borrow_mut().carry_out(call, data);
        self.charge(of_call, &answer, data.len() as u64).await;
        answer
    }

    fn cost(&self, call: &FileCall) -> CallCost {
        let contents = self.contents.borrow();
        match call {
            FileCall::Open { truncate, .. } => CallCost::Open { truncates: *truncate },
            FileCall::Read { handle, offset, .. } => {
                match (contents.number(*handle), contents.size_bytes(*handle)) {
                    (Some(file), Some(size_bytes)) => {
                        CallCost::Read { file, size_bytes, offset: *offset }
                    }
                    _ => CallCost::Other,
                }
            }
            FileCall::Write { handle, offset, .. } => match contents.number(*handle) {
                Some(file) => CallCost::Write { handle: *handle, file, offset: *offset },
                None => CallCost::Other,
            },
            FileCall::Flush { handle } => {
                contents.number(*handle).map_or(CallCost::Other, |file| CallCost::Flush { file })
            }
            FileCall::Close { handle } => CallCost::Close { handle: *handle },
            FileCall::Remove { path } => CallCost::Remove { file: contents.number_at(path) },
            FileCall::Look { .. } | FileCall::List { .. } | FileCall::Space => CallCost::Look,
            FileCall::SetSize { .. }
            | FileCall::Change { .. }
            | FileCall::Rename { .. }
            | FileCall::MakeDirectory { .. }
            | FileCall::RemoveDirectory { .. } => CallCost::Change,
        }
    }

    async fn charge(&mut self, cost: CallCost, answer: &FileAnswer, read_bytes: u64) {
        let store = &self.store;
        let is_refused = matches!(answer, FileAnswer::Refused(_));
        match cost {
            _ if is_refused => store.look().await,
            CallCost::Open { truncates } => {
                let is_new = matches!(answer, FileAnswer::Opened { is_new: true, .. });
                store.open(is_new || truncates).await;
            }
            CallCost::Read { file, size_bytes, offset } => {
                store.read(self.client, file, size_bytes, offset, read_bytes).await;
            }
            CallCost::Write { handle, file, offset } => {
                let FileAnswer::Written(bytes) = *answer else { return };
                self.written.insert(handle);
                store.write(self.client, file, offset, bytes.into()).await;
            }
            CallCost::Flush { file } => store.flush(self.client, file).await,
            CallCost::Close { handle } => store.close(self.written.remove(&handle)).await,
            CallCost::Remove { file } => {
                if let Some(file) = file {
                    store.forget(file);
                }
                store.change().await;
            }
            CallCost::Change => store.change().await,
            CallCost::Look | CallCost::Other => store.look().await,
        }
    }
}

enum CallCost {
    Open { truncates: bool },
    Read { file: u64, size_bytes: u64, offset: u64 },
    Write { handle: Handle, file: u64, offset: u64 },
    Flush { file: u64 },
    Close { handle: Handle },
    Remove { file: Option<u64> },
    Change,
    Look,
    Other,
}

impl FileAnswers for ServedFiles {
    async fn carry_out(&mut self, first: FileCall, session: &mut Session, data: &mut Vec<u8>) {
        let turn = self.store.turn().await;
        let mut next = Some(first);
        while let Some(call) = next {
            let answer = self.answer(call, data).await;
            session.handle_file_answer(answer, data);
            next = session.poll_file_call(data);
        }
        self.store.answered(turn);
    }
}
