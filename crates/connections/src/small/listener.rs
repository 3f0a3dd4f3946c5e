//! Incoming connections to one port of a station.

use std::fmt::Debug;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::Poll;

use super::shared::{Accepted, Shared, State};
use super::stream::SmallStream;
use crate::link_thread::AtLink;

/// A listening port. Dropping it stops listening and drops connections not yet accepted.
#[derive(Debug)]
pub struct SmallListener {
    node: Arc<dyn Debug + Send + Sync>,
    shared: Arc<Shared>,
    port: u16,
}

impl SmallListener {
    pub(super) fn new(node: Arc<dyn Debug + Send + Sync>, shared: Arc<Shared>, port: u16) -> Self {
        Self { node, shared, port }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub async fn accept(&self) -> io::Result<SmallStream> {
        let Accepted { id, peer, .. } = poll_fn(|cx| {
            let mut state = self.shared.state();
            state.check()?;
            if let Some(accepted) = self.next(&mut state) {
                return Poll::Ready(Ok::<_, io::Error>(accepted));
            }
            state.wait(cx);
            Poll::Pending
        })
        .await?;
        Ok(SmallStream::new(Arc::clone(&self.node), Arc::clone(&self.shared), id, peer))
    }

    fn next(&self, state: &mut State) -> Option<Accepted> {
        let at = state.accepted.iter().position(|accepted| accepted.port == self.port)?;
        state.accepted.remove(at)
    }

    /// Drop connections that no caller has accepted.
    pub fn turn_away(&self) {
        self.shared.with(|state| {
            while let Some(accepted) = self.next(state) {
                state.refuse(accepted.id);
            }
        });
    }
}

impl Drop for SmallListener {
    fn drop(&mut self) {
        let port = self.port;
        let stop = |state: &mut State| {
            state.framed.station.interface.stop_listening(port);
        };
        self.shared.with(stop);
        self.turn_away();
    }
}
