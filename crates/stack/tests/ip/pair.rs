//! Two interfaces and a cable, in virtual time.

use std::collections::BTreeMap;
use std::net::IpAddr;

use lanlab_medium::{Destination, Event as Carried, LossPlan, Medium, Offer, Plan, Topology};
use lanlab_stack::ip::{Config, Event, Interface, Mac, TcpProfile};
use lanlab_units::Instant;

pub const SENDER: usize = 0;
pub const RECEIVER: usize = 1;
pub const MACS: [Mac; 2] = [[2, 0x77, 0, 0, 0, 1], [2, 0x77, 0, 0, 0, 2]];
/// IPv4 and IPv6 of each.
pub const ADDRESSES: [[IpAddr; 2]; 2] = [
    [
        IpAddr::V4(std::net::Ipv4Addr::new(10, 77, 0, 1)),
        IpAddr::V6(std::net::Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1)),
    ],
    [
        IpAddr::V4(std::net::Ipv4Addr::new(10, 77, 0, 2)),
        IpAddr::V6(std::net::Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 2)),
    ],
];

pub fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

pub fn hosts(profile: &TcpProfile, seed: u64) -> [Interface; 2] {
    let neighbours: BTreeMap<IpAddr, Mac> =
        (0..2).flat_map(|host| ADDRESSES[host].map(|address| (address, MACS[host]))).collect();
    [SENDER, RECEIVER].map(|index| {
        Interface::new(Config {
            mac: MACS[index],
            addresses: ADDRESSES[index].to_vec(),
            neighbours: neighbours.clone(),
            tcp: *profile,
            seed: seed + index as u64,
        })
    })
}

pub struct Pair {
    pub hosts: [Interface; 2],
    medium: Medium,
    now: Instant,
    /// Frames by their tickets.
    frames: Vec<Vec<u8>>,
}

impl Pair {
    pub fn new(profile: &TcpProfile, rate_bps: u64, loss: LossPlan) -> Self {
        let plan = Plan {
            topology: Topology::Cable,
            rate_bps: Some(rate_bps),
            ports: 2,
            propagation_ns: 0,
            delay_ns: 0,
            loss,
            switch_queue_bytes: 0,
        };
        let medium = Medium::new(&plan, 7).unwrap();
        Self { hosts: hosts(profile, 7), medium, now: Instant::ZERO, frames: Vec::new() }
    }

    /// Let both run until nothing happens any more, or until `end`; `program` is called with each event of
    /// a host.
    pub fn run(
        &mut self,
        end: Instant,
        mut program: impl FnMut(Instant, &mut [Interface; 2], usize, Event),
    ) {
        loop {
            self.drain(&mut program);
            let timeouts = self.hosts.iter().map(Interface::poll_timeout);
            let Some(now) = timeouts.chain([self.medium.poll_timeout()]).flatten().min() else {
                return;
            };
            if now > end {
                return;
            }
            self.now = now;
            self.medium.handle_timeout(now);
            while let Some((_, event)) = self.medium.poll_event() {
                if let Carried::Delivered { ticket, port, .. } = event {
                    let host = &mut self.hosts[usize::from(port)];
                    host.handle_frame(now, &self.frames[ticket as usize]);
                    self.drain(&mut program);
                }
            }
            for host in &mut self.hosts {
                host.handle_timeout(now);
            }
        }
    }

    /// Give the medium what it has room for, and the programs what has happened.
    fn drain(&mut self, program: &mut impl FnMut(Instant, &mut [Interface; 2], usize, Event)) {
        loop {
            let mut is_idle = true;
            for host in 0..2 {
                while let Some(event) = self.hosts[host].poll_event() {
                    program(self.now, &mut self.hosts, host, event);
                    is_idle = false;
                }
                let mut frame = Vec::new();
                let port = host as u16;
                if self.medium.is_free(port) && self.hosts[host].poll_transmit(self.now, &mut frame)
                {
                    let offer = Offer {
                        ticket: self.frames.len() as u32,
                        wire_bytes: (frame.len() as u32 + 4).max(64) + 8,
                        destination: Destination::Port(1 - port),
                    };
                    self.frames.push(frame);
                    self.medium.offer(self.now, port, offer);
                    is_idle = false;
                }
            }
            if is_idle {
                return;
            }
        }
    }

    pub fn lost_frames(&self) -> u64 {
        self.medium.counts().total().lost_chance
    }

    pub fn longest_frame_bytes(&self) -> usize {
        self.frames.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Frames shorter than `full_bytes` but longer than `short_bytes`.
    pub fn shorter_frames(&self, full_bytes: usize, short_bytes: usize) -> usize {
        let cut = |frame: &&Vec<u8>| (short_bytes + 1..full_bytes).contains(&frame.len());
        self.frames.iter().filter(cut).count()
    }

    pub fn frames(self) -> Vec<Vec<u8>> {
        self.frames
    }
}
