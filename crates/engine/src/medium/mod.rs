//! The real-time medium of a virtual LAN: one thread takes frames from the hosts' interfaces and delivers them when
//! a real wire would.
//!
//! All events have exact scheduled times on the monotonic clock. A late thread delivers a frame late and counts it;
//! the schedule does not shift.

mod adapter;
mod carrier;
mod driving;
mod lateness;
mod wake_up;

use lanlab_medium::{LossPlan, Medium, Plan, Topology};
use lanlab_os::{PortKind, PortPlan};

use crate::cost::{Cost, METERS_BYTES, OWN_THREADS};
use crate::messages::{CarryFrames, Failure, MediumInterfaces, MediumTopology};
use crate::task::Task;

/// The longest frame at an MTU of 1500 on the wire, with preamble, check sequence and gap.
const FULL_FRAME_BYTES: u64 = 1538;
pub const MOST_PORTS: usize = 256;
const RATES_BPS: std::ops::RangeInclusive<u64> = 1_000..=1_000_000_000;
/// Longest name of an interface (IFNAMSIZ without its zero).
const NAME_BYTES: std::ops::RangeInclusive<usize> = 1..=15;

pub fn carry_frames(request: CarryFrames) -> Result<Task, Failure> {
    let (medium, ports) = (medium(&request)?, ports(&request)?);
    let recorder = request.pcap.as_ref().map_or(0, |_| lanlab_clients::RECORDER_BYTES);
    // One thread sets host rates, one records.
    let threads = OWN_THREADS + 2;
    let cost = Cost { memory_bytes: carrier::MEMORY_BYTES + recorder + METERS_BYTES, threads };
    Ok(Task::new(cost, move |running| driving::carry(&request, medium, &ports, running)))
}

pub fn topology(asked: MediumTopology) -> Topology {
    match asked {
        MediumTopology::Cable => Topology::Cable,
        MediumTopology::Switch => Topology::Switch,
        MediumTopology::Bus => Topology::Bus,
    }
}

fn kind(asked: MediumInterfaces) -> PortKind {
    match asked {
        MediumInterfaces::Tap => PortKind::Tap,
        MediumInterfaces::PacketSocket => PortKind::PacketSocket,
    }
}

fn medium(request: &CarryFrames) -> Result<Medium, Failure> {
    let ports = request.ports.len();
    if ports > MOST_PORTS {
        return Err(Failure::value("ports", ports, format!("2 to {MOST_PORTS}")));
    }
    if let Some(rate_bps) = request.rate_bps.filter(|rate_bps| !RATES_BPS.contains(rate_bps)) {
        let allowed = format!("{} to {}", RATES_BPS.start(), RATES_BPS.end());
        return Err(Failure::value("rate_bps", rate_bps, allowed));
    }
    let loss = if request.loss_ratio == 0.0 {
        LossPlan::Never
    } else if let Some(mean_length_frames) = request.loss_burst_frames {
        LossPlan::Bursts { ratio: request.loss_ratio, mean_length_frames }
    } else {
        LossPlan::Random { ratio: request.loss_ratio }
    };
    let plan = Plan {
        topology: topology(request.topology),
        rate_bps: request.rate_bps,
        ports: ports as u16,
        propagation_ns: request.propagation_ns,
        delay_ns: request.delay_ns,
        loss,
        switch_queue_bytes: request.switch_queue_bytes,
    };
    // The error names the value and the allowed range.
    Medium::new(&plan, request.seed).map_err(|bad| Failure::new("request.value", bad.to_string()))
}

fn ports(request: &CarryFrames) -> Result<Vec<PortPlan>, Failure> {
    let mut ports: Vec<PortPlan> = Vec::with_capacity(request.ports.len());
    for port in &request.ports {
        let mac = host_mac(&port.mac)?;
        if ports.iter().any(|other| other.mac == mac) {
            return Err(Failure::value(
                "mac",
                format!("`{}` twice", port.mac),
                "one for each host",
            ));
        }
        check_interface(&port.interface)?;
        ports.push(PortPlan {
            namespace_pid: port.namespace_pid,
            interface: port.interface.clone(),
            mac,
        });
    }
    Ok(ports)
}

pub fn check_interface(name: &str) -> Result<(), Failure> {
    if NAME_BYTES.contains(&name.len()) {
        return Ok(());
    }
    Err(Failure::value("interface", format!("`{name}`"), "a name of 1 to 15 bytes"))
}

pub fn host_mac(text: &str) -> Result<[u8; 6], Failure> {
    let allowed = "an address of one host, as 02:77:00:00:00:01";
    parse_mac(text).ok_or_else(|| Failure::value("mac", format!("`{text}`"), allowed))
}

/// Six bytes in hexadecimal; `None` also for a group address.
fn parse_mac(text: &str) -> Option<[u8; 6]> {
    let mut parts = text.split(':');
    let mut mac = [0; 6];
    for octet in &mut mac {
        let part = parts
            .next()
            .filter(|part| part.len() == 2 && part.bytes().all(|each| each.is_ascii_hexdigit()))?;
        *octet = u8::from_str_radix(part, 16).ok()?;
    }
    (parts.next().is_none() && mac[0] & 1 == 0).then_some(mac)
}

#[cfg(test)]
mod tests {
    mod both_clocks;
    mod scripted;

    use super::*;

    #[test]
    fn an_address_is_six_bytes_of_one_host() {
        assert_eq!(parse_mac("02:77:00:00:01:ff"), Some([2, 0x77, 0, 0, 1, 0xff]));
        for wrong in ["", "02:77:00:00:01", "02:77:00:00:01:ff:00", "+2:77:00:00:01:ff"] {
            assert_eq!(parse_mac(wrong), None, "{wrong}");
        }
        assert_eq!(parse_mac("03:00:00:00:00:01"), None, "a group");
    }
}
