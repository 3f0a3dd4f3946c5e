use std::io::Write;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::messages::{
    Failed, Failure, Finished, MAX_REPLY_BYTES, Outcome, PROGRESS_INTERVAL_NS, Reply,
};

/// Destination of replies. The engine ends when its driver stops reading: the results would be lost.
#[derive(Clone)]
pub struct Output {
    writer: Arc<Mutex<Box<dyn Write + Send>>>,
    before_end: fn(),
    pub progress_interval_ns: u64,
}

impl Output {
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        Self {
            writer: Arc::new(Mutex::new(Box::new(writer))),
            before_end: || {},
            progress_interval_ns: PROGRESS_INTERVAL_NS,
        }
    }

    pub fn before_it_ends(self, before_end: fn()) -> Self {
        Self { before_end, ..self }
    }

    pub fn send(&self, reply: &Reply) {
        let mut line = serde_json::to_vec(reply).expect("every reply can be written as JSON");
        line.push(b'\n');
        debug_assert!(line.len() <= MAX_REPLY_BYTES, "a line of {} bytes", line.len());
        let mut writer = self.writer.lock();
        if writer.write_all(&line).and_then(|()| writer.flush()).is_err() {
            (self.before_end)();
            std::process::exit(1);
        }
    }

    pub fn result(&self, id: u64, result: Outcome) {
        self.send(&Reply::Result(Finished { id, result }));
    }

    pub fn error(&self, id: Option<u64>, failure: Failure, partial: Option<Outcome>) {
        let Failure { code, message, hint } = failure;
        self.send(&Reply::Error(Failed { id, code: code.into(), message, hint, partial }));
    }
}
