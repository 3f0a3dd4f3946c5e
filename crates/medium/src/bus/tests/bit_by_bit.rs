//! A slow, independently written model of the processes in IEEE 802.3, 4.2.8: bit by bit, without
//! an event queue. Tests compare the bus with it.

use crate::random::Random;
use crate::{FIRST_STATION_STREAM, Port};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Seen {
    Sent(Port),
    GivenUp(Port),
}

#[derive(Clone, Copy)]
enum Deference {
    WatchForCarrier,
    WaitForItsEnd { was_transmitting: bool },
    GapPart1 { bits_left: u32, was_transmitting: bool },
    GapPart2 { bits_left: u32 },
}

struct Station {
    deference: Deference,
    random: Random,
    frame_bits: Option<u64>,
    attempts: u32,
    /// Bit time from which the frame waits only for deference.
    frame_waiting_at: u64,
    /// While transmitting: first bit time, end (exclusive), and whether it sends jam.
    transmission: Option<(u64, u64, bool)>,
}

pub(super) struct BitByBit {
    stations: Vec<Station>,
    history: Vec<Vec<bool>>,
    bit: u64,
}

impl BitByBit {
    pub(super) fn new(stations: Port, propagation_bits: u64, seed: u64) -> Self {
        let station = |port| Station {
            deference: Deference::WatchForCarrier,
            random: Random::new(seed, FIRST_STATION_STREAM + u64::from(port)),
            frame_bits: None,
            attempts: 0,
            frame_waiting_at: 0,
            transmission: None,
        };
        Self {
            stations: (0..stations).map(station).collect(),
            history: vec![vec![false; usize::from(stations)]; propagation_bits as usize + 1],
            bit: 0,
        }
    }

    pub(super) fn is_free(&self, port: Port) -> bool {
        self.stations[usize::from(port)].frame_bits.is_none()
    }

    pub(super) fn offer(&mut self, port: Port, wire_bytes: u32) {
        let station = &mut self.stations[usize::from(port)];
        station.frame_bits = Some(u64::from(wire_bytes) * 8);
        station.attempts = 0;
        station.frame_waiting_at = self.bit;
    }

    pub(super) fn ends(&mut self) -> Vec<(u64, Seen)> {
        let bit = self.bit;
        let mut seen = Vec::new();
        for (port, station) in self.stations.iter_mut().enumerate() {
            let Some((_, end, is_jam)) = station.transmission else { continue };
            if end != bit {
                continue;
            }
            station.transmission = None;
            if !is_jam {
                station.frame_bits = None;
                seen.push((bit, Seen::Sent(port as Port)));
                continue;
            }
            station.attempts += 1;
            if station.attempts == 16 {
                station.frame_bits = None;
                seen.push((bit, Seen::GivenUp(port as Port)));
            } else {
                let slots = station.random.bits(station.attempts.min(10));
                station.frame_waiting_at = bit + 512 * slots;
            }
        }
        seen
    }

    /// Pass one bit time: each station acts on what it hears.
    pub(super) fn pass_bit(&mut self) {
        let bit = self.bit;
        let length = self.history.len();
        let heard = std::mem::take(&mut self.history[(bit as usize + 1) % length]);
        let mut sending = vec![false; self.stations.len()];
        let heard_in_all = heard.iter().filter(|on| **on).count();
        for (port, station) in self.stations.iter_mut().enumerate() {
            let hears_other = heard_in_all > usize::from(heard[port]);
            station.pass_bit(bit, hears_other);
            sending[port] = station.transmission.is_some();
        }
        self.history[(bit as usize + 1) % length] = heard;
        self.history[(bit as usize) % length].clone_from(&sending);
        self.bit += 1;
    }

    pub(super) fn bit(&self) -> u64 {
        self.bit
    }
}

impl Station {
    fn pass_bit(&mut self, bit: u64, hears_other: bool) {
        let frame_waiting = self.frame_bits.is_some()
            && self.transmission.is_none()
            && bit >= self.frame_waiting_at;
        let deferring = self.pass_bit_of_deference(hears_other, frame_waiting);
        if frame_waiting && !deferring {
            let end = bit + self.frame_bits.unwrap_or(0);
            self.transmission = Some((bit, end, false));
            self.deference = Deference::WaitForItsEnd { was_transmitting: true };
        }
        if let Some((start, end, is_jam)) = &mut self.transmission
            && hears_other
            && !*is_jam
        {
            *is_jam = true;
            *end = bit.max(*start + 64) + 32;
        }
    }

    fn pass_bit_of_deference(&mut self, hears_other: bool, frame_waiting: bool) -> bool {
        let transmitting = self.transmission.is_some();
        let carrier = hears_other || transmitting;
        loop {
            self.deference = match self.deference {
                // A carrier that starts in this bit time is noticed too late for it.
                Deference::WatchForCarrier if !carrier || frame_waiting => return false,
                Deference::WatchForCarrier => {
                    Deference::WaitForItsEnd { was_transmitting: transmitting }
                }
                Deference::WaitForItsEnd { was_transmitting } if carrier => {
                    let was_transmitting = was_transmitting || transmitting;
                    self.deference = Deference::WaitForItsEnd { was_transmitting };
                    return true;
                }
                Deference::WaitForItsEnd { was_transmitting } => {
                    Deference::GapPart1 { bits_left: 64, was_transmitting }
                }
                Deference::GapPart1 { was_transmitting: false, .. } if carrier => {
                    Deference::WaitForItsEnd { was_transmitting: false }
                }
                Deference::GapPart1 { bits_left: 0, .. } => Deference::GapPart2 { bits_left: 32 },
                Deference::GapPart1 { bits_left, was_transmitting } => {
                    self.deference =
                        Deference::GapPart1 { bits_left: bits_left - 1, was_transmitting };
                    return true;
                }
                Deference::GapPart2 { bits_left: 0 } => {
                    self.deference = Deference::WatchForCarrier;
                    if frame_waiting || !carrier {
                        // The waiting frame is sent now, even if the bus is busy.
                        return false;
                    }
                    Deference::WaitForItsEnd { was_transmitting: false }
                }
                Deference::GapPart2 { bits_left } => {
                    self.deference = Deference::GapPart2 { bits_left: bits_left - 1 };
                    return true;
                }
            };
        }
    }
}
