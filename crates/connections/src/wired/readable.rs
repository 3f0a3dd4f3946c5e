//! Waiting for a link's frames in a program's tokio runtime.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use lanlab_os::LinkDescriptor;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::Handle;

#[derive(Debug)]
pub struct Readable(AsyncFd<Arc<LinkDescriptor>>);

impl Readable {
    /// Wait in the runtime of the calling thread.
    #[expect(deprecated, reason = "what is registered owns its descriptor until this is dropped")]
    pub fn new(link: &Arc<LinkDescriptor>) -> io::Result<Self> {
        Handle::try_current().map_err(io::Error::other)?;
        Ok(Self(AsyncFd::with_interest(Arc::clone(link), Interest::READABLE)?))
    }

    /// Wait for frames. After `Ready`, receive all of them: only new frames wake it again.
    pub fn poll(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.poll_read_ready(cx).map_ok(|mut ready| ready.clear_ready())
    }
}
