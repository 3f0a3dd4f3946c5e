//! Whole messages of historic services, over each carrier.

use std::io;
use std::task::{Context, Poll};

use lanlab_connections::wired::WiredPort;
use lanlab_files::TcpAgreed;

use crate::kernel_port::KernelPort;

/// One end of what carries messages.
#[derive(Debug)]
pub enum Port {
    /// A connection of the system's TCP.
    Kernel(KernelPort),
    /// A session on a link of whole frames.
    Wired(WiredPort),
}

impl Port {
    /// Whether Nagle's algorithm is off; `None` where there is none.
    pub fn no_delay(&self) -> Option<bool> {
        match self {
            Self::Kernel(port) => port.no_delay(),
            Self::Wired(_) => None,
        }
    }

    /// What came of the profile of TCP that was asked for.
    pub fn tcp_agreed(&self) -> Option<TcpAgreed> {
        match self {
            Self::Kernel(port) => port.tcp_agreed(),
            Self::Wired(_) => None,
        }
    }

    /// Send a message. Until that is done the same message is to be given again.
    pub fn poll_send(&mut self, cx: &mut Context<'_>, message: &[u8]) -> Poll<io::Result<()>> {
        match self {
            Self::Kernel(port) => port.poll_send(cx, message),
            Self::Wired(port) => port.poll_send(cx, [message, &[]]),
        }
    }

    /// Receive a message. Until that is done the same memory is to be given again.
    pub fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        into: &mut Vec<u8>,
    ) -> Poll<io::Result<()>> {
        match self {
            Self::Kernel(port) => port.poll_receive(cx, into),
            Self::Wired(port) => port.poll_receive(cx, into),
        }
    }
}
