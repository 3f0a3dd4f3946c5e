//! A search over loopback, with both ends.

use std::io::Write;
use std::net::Ipv4Addr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::*;
use crate::output::Output;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn running() -> Running {
    Running::new(1, Output::new(io::sink()))
}

struct Lines(Sender<Vec<u8>>);

impl Write for Lines {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        let _ = self.0.send(octets.to_vec());
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn port_of(lines: &Receiver<Vec<u8>>) -> u16 {
    let mut line = Vec::new();
    while !line.ends_with(b"\n") {
        line.extend(lines.recv_timeout(Duration::from_secs(20)).unwrap());
    }
    let line: serde_json::Value = serde_json::from_slice(&line).unwrap();
    u16::try_from(line["ports"][0].as_u64().unwrap()).unwrap()
}

#[test]
fn both_ends_find_the_mtu_and_count_their_packets() {
    let (lines, reports) = channel();
    let (here, there) = (running(), Running::new(2, Output::new(Lines(lines))));
    let session = "07".repeat(16);
    let (port, last_port) = (0, 0);
    let answer = PathMtuAnswer {
        session: session.clone(),
        bind: HERE.into(),
        port,
        last_port,
        peer: HERE.into(),
    };
    let all = Some(PacketBounds { least_bytes: 1500, most_bytes: 1500 });
    let (probed, sent, answered, ended) = thread::scope(|scope| {
        let answering = scope.spawn(|| {
            let mut datagrams = 0;
            let ended = answer_all(&answer, &TOKEN, &there, &mut datagrams);
            (datagrams, ended)
        });
        let (most_bytes, within_ns, port) = (1500, 10_000_000_000, port_of(&reports));
        let probe = PathMtuProbe {
            session,
            bind: HERE.into(),
            peer: HERE.into(),
            port,
            most_bytes,
            within_ns,
        };
        let (mut sent, mut left) = (0, 20);
        let probed = loop {
            let probed = search(&probe, &TOKEN, &here).unwrap();
            // The first round is of the largest packet and of one that every path carries.
            assert!((2..100).contains(&probed.datagrams), "{probed:?}");
            sent += probed.datagrams;
            left -= 1;
            // An answering end that has to wait for a processor answers late.
            if left == 0 || (probed.there, probed.back) == (all, all) {
                break probed;
            }
        };
        there.cancel();
        let (answered, ended) = answering.join().unwrap();
        (probed, sent, answered, ended.unwrap())
    });
    assert_eq!((probed.there, probed.back, probed.was_told), (all, all, false));
    // The search ends with the answer to the largest packet, maybe before the other one is read.
    assert!((1..=sent).contains(&answered), "{answered} of {sent}");
    assert_eq!(ended.code, "cancelled");
}
