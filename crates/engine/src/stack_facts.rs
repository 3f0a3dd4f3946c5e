//! Counters of a station with the engine's own TCP, as results.

use lanlab_stack::ip::small::{Facts, MSS};

use crate::messages::StackFacts;

pub fn stack_facts(counted: &Facts) -> StackFacts {
    let tcp = counted.tcp;
    StackFacts {
        memory_bytes: counted.memory_bytes,
        held_bytes: counted.held_bytes,
        sent_frames: counted.sent_frames,
        received_frames: counted.received_frames,
        dropped_frames: counted.dropped_frames,
        mss_bytes: tcp.mss_bytes.unwrap_or(*MSS.end()).into(),
        receive_buffer_bytes: tcp.receive_buffer_bytes as u64,
        send_buffer_bytes: tcp.send_buffer_bytes as u64,
        delayed_ack_ns: tcp.delayed_ack_ns.unwrap_or(0),
    }
}
