//! The clients of a trial, each on its own thread during each step.

use std::thread;

use lanlab_os as os;
use lanlab_workloads::Guard;

use super::copy::RuntimeClock;
use crate::messages::Failure;

/// Do a step of all clients at the same time. After a failure, the others stop.
///
/// # Errors The first failure that is not merely a consequence of stopping.
pub fn all<C: Send, T: Send>(
    clients: impl IntoIterator<Item = C>,
    guard: &Guard<'_, RuntimeClock>,
    step: impl Fn(C) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let work = |client| {
        os::prepare_thread();
        step(client).inspect_err(|_| guard.stop())
    };
    let outcomes: Vec<_> = thread::scope(|scope| {
        let begin = |client| thread::Builder::new().spawn_scoped(scope, || work(client));
        let threads: Vec<_> = clients.into_iter().map(begin).collect();
        let end = |thread: std::io::Result<thread::ScopedJoinHandle<'_, _>>| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|_| Err(thread_is_gone())),
            Err(error) => {
                guard.stop();
                Err(Failure::system("a thread for a connection", &error))
            }
        };
        threads.into_iter().map(end).collect()
    });
    let failures = || outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
    let cause = failures().find(|failure| failure.code != "cancelled").or(failures().next());
    match cause.cloned() {
        Some(cause) => Err(cause),
        None => outcomes.into_iter().collect(),
    }
}

pub fn thread_is_gone() -> Failure {
    Failure::new("engine.defect", "a thread stopped by a defect of the engine")
        .hint("its standard error shows where; please report this")
}
