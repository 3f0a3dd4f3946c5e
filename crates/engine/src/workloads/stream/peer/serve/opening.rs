//! Connections whose cookie is awaited: it identifies a new client or a flow.

use std::collections::VecDeque;
use std::io::Read;
use std::net::{SocketAddr, TcpListener, TcpStream};

use lanlab_os as os;
use lanlab_units::Instant;
use lanlab_wire::iperf3::COOKIE_BYTES;

use crate::workloads::setup::is_idle;

/// Maximum connections being opened. Above it the oldest is closed: silent ones cannot block others.
pub const MOST_OPENING: usize = 512;
/// Time-out of a connection's cookie, which may be lost and resent.
const COOKIE_NS: u64 = 10_000_000_000;
/// Maximum accepts in a row, so that others get their turn.
const ACCEPTS_IN_A_ROW: usize = 64;

pub type Cookie = [u8; COOKIE_BYTES];

pub struct Opened {
    pub stream: TcpStream,
    pub address: SocketAddr,
    pub cookie: Cookie,
}

struct Opening {
    opened: Opened,
    filled: usize,
    deadline: Instant,
}

#[derive(Default)]
pub struct Openings(VecDeque<Opening>);

impl Openings {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn accept(&mut self, listener: &TcpListener) {
        for _ in 0..ACCEPTS_IN_A_ROW {
            // A connection gone before being accepted is ignored; a system refusal, as for lack of descriptors, may
            // be temporary.
            let Ok((stream, address)) = listener.accept() else { return };
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            let opened = Opened { stream, address, cookie: [0; COOKIE_BYTES] };
            let deadline = os::monotonic().plus_nanos(COOKIE_NS);
            self.0.push_back(Opening { opened, filled: 0, deadline });
            if self.0.len() > MOST_OPENING {
                self.0.pop_front();
            }
        }
    }

    pub fn take_opened(&mut self) -> Vec<Opened> {
        let now = os::monotonic();
        let mut found = Vec::new();
        for _ in 0..self.0.len() {
            let Some(mut one) = self.0.pop_front() else { break };
            match one.opened.stream.read(&mut one.opened.cookie[one.filled..]) {
                Ok(0) => {}
                Ok(octets) => {
                    one.filled += octets;
                    if one.filled == COOKIE_BYTES {
                        found.push(one.opened);
                    } else {
                        self.0.push_back(one);
                    }
                }
                Err(error) if is_idle(&error) && now < one.deadline => self.0.push_back(one),
                Err(_) => {}
            }
        }
        found
    }
}
