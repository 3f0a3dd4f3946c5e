//! Samples of the kernel's TCP state during a measurement.
//!
//! The samples stay in memory until the measurement is over, so that they cause no traffic on the measured network.

use std::net::TcpStream;

use lanlab_os as os;
use lanlab_units::Instant;

use crate::messages::{Reply, TcpNow, TcpSamples};
use crate::output::Output;

/// Maximum connections sampled; each call takes about 1 µs.
pub const MOST_WATCHED: usize = 8;
/// Sampling interval: 66 a second.
const LOOK_NS: u64 = 15_000_000;
/// The interval doubles after each such number of samples of all connections: one connection is
/// sampled 66 times a second for 25 minutes.
const SAMPLES_PER_PACE: usize = 100_000;
const SAMPLES_PER_LINE: usize = 1_000;

#[derive(Default)]
pub struct TcpSampler {
    streams: Vec<TcpStream>,
    start: Instant,
    next_look: Instant,
    look_ns: u64,
    left_at_this_pace: usize,
    /// Of each connection, in lines of bounded length.
    samples: Vec<Vec<TcpSamples>>,
    pub now: Option<TcpNow>,
}

impl TcpSampler {
    pub fn new(streams: Vec<TcpStream>, start: Instant) -> Self {
        let samples =
            (0..).zip(&streams).map(|(flow, _)| vec![TcpSamples { flow, ..Default::default() }]);
        Self {
            samples: samples.collect(),
            streams,
            start,
            next_look: start,
            look_ns: LOOK_NS,
            left_at_this_pace: SAMPLES_PER_PACE,
            now: None,
        }
    }

    /// When the next sample is due; `None` if there is nothing to sample.
    pub fn next_look(&self) -> Option<Instant> {
        (!self.streams.is_empty()).then_some(self.next_look)
    }

    pub fn look(&mut self, now: Instant) {
        if self.streams.is_empty() || now < self.next_look {
            return;
        }
        let mut seen = TcpNow::default();
        for (stream, samples) in self.streams.iter().zip(&mut self.samples) {
            let (Ok(info), Some(line)) = (os::tcp_info(stream), line(samples)) else { continue };
            let window_bytes =
                info.facts.congestion_window_segments * info.facts.maximum_segment_bytes;
            push(line, &info, window_bytes, now.nanos_since(self.start));
            seen.connections += 1;
            seen.retransmitted_segments += info.facts.retransmitted_segments;
            seen.acknowledged_bytes += info.facts.acknowledged_bytes;
            seen.congestion_window_bytes += window_bytes;
            seen.round_trip_ns += info.facts.round_trip_ns;
        }
        if seen.connections == 0 {
            // The system does not support sampling.
            self.streams.clear();
            return;
        }
        seen.round_trip_ns /= seen.connections;
        self.now = Some(seen);
        self.left_at_this_pace = self.left_at_this_pace.saturating_sub(self.streams.len());
        if self.left_at_this_pace == 0 {
            self.left_at_this_pace = SAMPLES_PER_PACE;
            self.look_ns *= 2;
        }
        // Missed samples are not made up for.
        self.next_look = self.next_look.plus_nanos(self.look_ns).max(now);
    }

    pub fn finish(&mut self) {
        self.streams.clear();
    }

    pub fn send(self, id: u64, output: &Output) {
        for line in self.samples.into_iter().flatten().filter(|line| !line.at_ns.is_empty()) {
            output.send(&Reply::TcpSamples(Box::new(TcpSamples { id, ..line })));
        }
    }
}

fn push(samples: &mut TcpSamples, info: &os::TcpInfo, window_bytes: u64, at_ns: u64) {
    samples.at_ns.push(at_ns);
    samples.congestion_window_bytes.push(window_bytes);
    samples.round_trip_ns.push(info.facts.round_trip_ns);
    samples.retransmitted_segments.push(info.facts.retransmitted_segments);
    samples.pacing_rate_bps.push(info.pacing_rate_bps);
    samples.delivery_rate_bps.push(info.delivery_rate_bps);
    samples.acknowledged_bytes.push(info.facts.acknowledged_bytes);
    samples.received_bytes.push(info.facts.received_bytes);
    samples.unacknowledged_segments.push(info.unacknowledged_segments);
    samples.unsent_bytes.push(info.unsent_bytes);
    samples.peer_window_bytes.push(info.peer_window_bytes);
    samples.window_bytes.push(info.window_bytes);
    samples.busy_ns.push(info.facts.busy_ns);
    samples.receive_window_limited_ns.push(info.facts.receive_window_limited_ns);
    samples.send_buffer_limited_ns.push(info.facts.send_buffer_limited_ns);
}

/// The line to which a connection's next sample belongs.
fn line(lines: &mut Vec<TcpSamples>) -> Option<&mut TcpSamples> {
    let TcpSamples { flow, at_ns, .. } = lines.last()?;
    if at_ns.len() == SAMPLES_PER_LINE {
        lines.push(TcpSamples { flow: *flow, ..Default::default() });
    }
    lines.last_mut()
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;

    use super::*;

    fn connection() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn samples_keep_their_interval() {
        let (mut near, _far) = connection();
        let start = Instant::from_nanos(1_000_000_000);
        let mut sampler = TcpSampler::new(vec![near.try_clone().unwrap()], start);
        near.write_all(&[0; 5000]).unwrap();
        sampler.look(start.minus_nanos(1));
        assert!(sampler.now.is_none());
        for ms in 0..1000 {
            sampler.look(start.plus_nanos(ms * 1_000_000));
        }
        let taken = &sampler.samples[0][0];
        assert_eq!(taken.at_ns.len(), 67);
        assert!(taken.at_ns.windows(2).all(|pair| pair[1] - pair[0] == LOOK_NS));
        assert!(taken.congestion_window_bytes.iter().all(|bytes| *bytes > 0));
        assert!(sampler.now.unwrap().round_trip_ns > 0);
    }

    #[test]
    fn long_trials_are_sampled_less_often_in_bounded_lines() {
        let (near, _far) = connection();
        let start = Instant::from_nanos(0);
        let mut sampler = TcpSampler::new(vec![near], start);
        sampler.left_at_this_pace = 10;
        for ms in 0..1000 {
            sampler.look(start.plus_nanos(ms * 1_000_000));
        }
        assert_eq!(sampler.look_ns, 2 * LOOK_NS);
        let taken = sampler.samples[0][0].at_ns.len();
        assert!((37..=39).contains(&taken), "{taken}");
        let mut lines = vec![TcpSamples { flow: 3, ..Default::default() }];
        for at_ns in 0..2500 {
            line(&mut lines).unwrap().at_ns.push(at_ns);
        }
        assert!(lines.iter().all(|line| line.flow == 3));
        let lengths: Vec<_> = lines.iter().map(|line| line.at_ns.len()).collect();
        assert_eq!((lengths, lines[2].at_ns[0]), (vec![1000, 1000, 500], 2000));
    }
}
