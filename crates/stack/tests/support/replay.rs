//! Frames that another program sent, fed one by one to a node in virtual time, each at its own time.

use lanlab_stack::node::Node;
use lanlab_units::Instant;
use lanlab_wire::pcap;

#[derive(Debug, Clone)]
pub struct Captured {
    /// Time after the first frame of the capture, ns.
    pub after_ns: u64,
    pub frame: Vec<u8>,
}

/// Read frames of `crates/stack/tests/frames`: each line has a time in microseconds and a frame in hexadecimal.
pub fn read(text: &str) -> Vec<Captured> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (microseconds, frame) = line.split_once(' ').expect("a time and a frame");
            let after_ns = microseconds.parse::<u64>().expect("microseconds") * 1_000;
            Captured { after_ns, frame: hex::decode(frame).expect("hexadecimal digits") }
        })
        .collect()
}

/// What a node sent while frames were fed to it.
#[derive(Debug, Default)]
pub struct Replayed {
    /// For each captured frame, the frames sent after it and before the next one.
    pub answers: Vec<Vec<Vec<u8>>>,
    /// Both directions, as tshark reads them.
    pub capture: Vec<u8>,
}

/// Feed `frames` to a node from `begin` on. `work` runs after each frame and timeout: it takes the node's events and
/// answers them. Gives what the node sent, and when the last frame was fed.
pub fn replay(
    node: &mut Node,
    begin: Instant,
    frames: &[Captured],
    mut work: impl FnMut(Instant, &mut Node),
) -> (Replayed, Instant) {
    let mut replayed = Replayed::default();
    pcap::emit_header(&mut replayed.capture);
    let mut now = begin;
    for captured in frames {
        let at = begin.plus_nanos(captured.after_ns);
        while let Some(due) = node.poll_timeout().filter(|due| *due < at) {
            now = now.max(due);
            node.handle_timeout(now);
            work(now, node);
            let sent = take_sent(now, node, &mut replayed.capture);
            if let Some(answers) = replayed.answers.last_mut() {
                answers.extend(sent);
            }
        }
        now = at;
        pcap::emit_record(now.as_nanos(), &captured.frame, &mut replayed.capture);
        node.handle_frame(now, &captured.frame);
        work(now, node);
        let sent = take_sent(now, node, &mut replayed.capture);
        replayed.answers.push(sent);
    }
    (replayed, now)
}

fn take_sent(now: Instant, node: &mut Node, capture: &mut Vec<u8>) -> Vec<Vec<u8>> {
    let (mut frame, mut all) = (vec![], vec![]);
    while node.poll_transmit(now, &mut frame) {
        pcap::emit_record(now.as_nanos(), &frame, capture);
        all.push(std::mem::take(&mut frame));
    }
    all
}
