//! The rule by which `auto` chooses I/O modes from transport, rate and buffer.

use lanlab_workloads::stream::Plan;

use crate::messages::{Choice, Io, Receive, StreamSpec, Transport};

/// Up to this total rate, a wake-up per message costs little.
const SLOW_MESSAGES_PER_S: f64 = 20_000.0;
/// A smaller UDP buffer overflows between two polls.
const LEAST_POLLED_BUFFER_BYTES: u32 = 65_536;

pub fn choose_sending(plan: &mut Plan, spec: &StreamSpec) {
    if plan.io != Io::Auto {
        return;
    }
    let (io, reason) = if spec.transport == Transport::Tcp {
        (Io::Single, "over TCP a message is one write")
    } else if plan.group == 1 {
        (Io::Single, "single messages keep the gaps of a rate even")
    } else if plan.pace.is_some() {
        (Io::Batch, "no system call a message keeps up with this rate")
    } else {
        // Never segmentation: each message stays a separate packet on any link.
        (Io::Batch, "without a rate, a system call sends many messages")
    };
    if io == Io::Single {
        plan.group = 1;
    }
    (plan.io, plan.io_choice) = (io, Some(Choice { reason: reason.into() }));
}

pub fn choose_receiving(plan: &mut Plan, spec: &StreamSpec) {
    let udp = spec.transport == Transport::Udp;
    if plan.io == Io::Auto {
        // All waiting messages are read at once.
        plan.io = if udp { Io::Batch } else { Io::Single };
    }
    if plan.receive != Receive::Auto {
        return;
    }
    let rate = plan.shared_pace.map(|pace| pace.messages_per_s());
    let is_small = |bytes| udp && bytes < LEAST_POLLED_BUFFER_BYTES;
    let (receive, reason) = match (rate, spec.socket.receive_buffer_bytes) {
        (Some(rate), _) if rate <= SLOW_MESSAGES_PER_S => {
            (Receive::Block, format!("{rate:.0} messages/s are few: it waits in the system's call"))
        }
        (_, Some(bytes)) if is_small(bytes) => {
            (Receive::Block, format!("a buffer of {bytes} bytes overflows between two polls"))
        }
        (Some(rate), _) => {
            (Receive::Poll, format!("{rate:.0} messages/s are many: each poll reads several"))
        }
        (None, _) => (Receive::Poll, "without a rate, each poll reads many messages".into()),
    };
    (plan.receive, plan.receive_choice) = (receive, Some(Choice { reason }));
}
