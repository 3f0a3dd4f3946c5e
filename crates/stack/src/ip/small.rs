//! TCP in little memory: buffers of a [`Station`](super::Station), and memory needed by programs that drive one.

use std::ops::RangeInclusive;

use super::{ETHERNET_HEADER_BYTES, MTU_BYTES, TcpProfile};

/// Buffer sizes: from one segment to the largest unscaled window.
pub const BUFFERS: RangeInclusive<u32> = 1460..=65_535;
/// Range of the maximum segment size: what every host accepts (RFC 9293, 3.7.1) to Ethernet's.
pub const MSS: RangeInclusive<u16> = 536..=1460;
/// Default receive buffer: the first window of Linux, an even number of segments, which are acknowledged in pairs. mTCP
/// sends a window and then waits until all of it is acknowledged.
const RECEIVE_BUFFER_BYTES: u32 = 44 * 1460;
const SEND_BUFFER_BYTES: u32 = 6 * 1460;
/// The send ring is two send buffers long, so few segments are split where it wraps.
const SEND_RINGS: usize = 2;
/// Default delay of a single segment's acknowledgement: Linux's, and below the 160 ms after which mTCP resends.
const DELAYED_ACK_NS: u64 = 40_000_000;
/// Delays must be below this (RFC 1122, 4.2.3.2).
const MOST_DELAYED_ACK_NS: u64 = 499_000_000;

/// Maximum bytes per read: a segment.
pub const READ_BYTES: usize = 1460;
pub const LONGEST_FRAME_BYTES: usize = ETHERNET_HEADER_BYTES + MTU_BYTES;
/// Room for a received frame, plus 4 bytes that reveal one that is too long.
pub const RECEIVED_FRAME_BYTES: usize = LONGEST_FRAME_BYTES + 4;
/// First local port, and number of ports, of outgoing connections: dynamic ports (RFC 6335, section 6) that the
/// system rarely assigns.
pub const FIRST_PORT: u16 = 49_152;
pub const PORTS: u16 = 16_000;

/// Settings of a station's TCP; absent ones use the default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asked {
    pub receive_buffer_bytes: Option<u32>,
    pub send_buffer_bytes: Option<u32>,
    pub mss_bytes: Option<u16>,
    /// Longest delay of a single segment's acknowledgement; 0 disables the delay.
    pub delayed_ack_ns: Option<u64>,
    pub no_delay: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadValue {
    pub key: &'static str,
    pub found: u64,
    pub allowed: RangeInclusive<u64>,
}

fn within(
    key: &'static str,
    found: u64,
    least: impl Into<u64>,
    most: impl Into<u64>,
) -> Result<u64, BadValue> {
    let allowed = least.into()..=most.into();
    if allowed.contains(&found) { Ok(found) } else { Err(BadValue { key, found, allowed }) }
}

impl TcpProfile {
    pub fn small(asked: &Asked) -> Result<Self, BadValue> {
        let buffer = |key, bytes: u32| {
            within(key, bytes.into(), *BUFFERS.start(), *BUFFERS.end()).map(|bytes| bytes as usize)
        };
        let receive_bytes = asked.receive_buffer_bytes.unwrap_or(RECEIVE_BUFFER_BYTES);
        let send_bytes = asked.send_buffer_bytes.unwrap_or(SEND_BUFFER_BYTES);
        let mss = asked.mss_bytes.map(u64::from);
        let mss = mss.map(|mss| within("mss_bytes", mss, *MSS.start(), *MSS.end())).transpose()?;
        let delay_ns = asked.delayed_ack_ns.unwrap_or(DELAYED_ACK_NS);
        let delay_ns = within("delayed_ack_ns", delay_ns, 0_u64, MOST_DELAYED_ACK_NS)?;
        Ok(Self {
            mss_bytes: mss.map(|mss| mss as u16),
            receive_buffer_bytes: buffer("receive_buffer_bytes", receive_bytes)?,
            send_buffer_bytes: buffer("send_buffer_bytes", send_bytes)?,
            send_rings: SEND_RINGS,
            delayed_ack_ns: Some(delay_ns).filter(|&ns| ns > 0),
            is_modern: asked.delayed_ack_ns.is_none(),
            nagle: !asked.no_delay,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    pub tcp: TcpProfile,
    pub memory_bytes: u64,
    pub held_bytes: u64,
    pub sent_frames: u64,
    pub received_frames: u64,
    pub dropped_frames: u64,
}

impl Facts {
    pub fn new(tcp: TcpProfile, memory_bytes: u64) -> Self {
        let (held_bytes, sent_frames, received_frames, dropped_frames) = (0, 0, 0, 0);
        Self { tcp, memory_bytes, held_bytes, sent_frames, received_frames, dropped_frames }
    }

    /// Record the memory in use, and check it against the bound.
    pub fn holds(&mut self, held_bytes: usize) -> Result<(), String> {
        let held_bytes = held_bytes as u64;
        self.held_bytes = self.held_bytes.max(held_bytes);
        if held_bytes <= self.memory_bytes {
            return Ok(());
        }
        Err(format!("the small stack holds {held_bytes} bytes, above its {}", self.memory_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_a_small_station_override_its_defaults() {
        let usual = TcpProfile::small(&Asked::default()).unwrap();
        let expected = TcpProfile {
            mss_bytes: None,
            receive_buffer_bytes: 64_240,
            send_buffer_bytes: 8_760,
            send_rings: 2,
            delayed_ack_ns: Some(40_000_000),
            is_modern: true,
            nagle: true,
        };
        assert_eq!(usual, expected);
        let asked = Asked {
            receive_buffer_bytes: Some(1_460),
            send_buffer_bytes: Some(65_535),
            mss_bytes: Some(536),
            delayed_ack_ns: Some(0),
            no_delay: true,
        };
        let expected = TcpProfile {
            mss_bytes: Some(536),
            receive_buffer_bytes: 1_460,
            send_buffer_bytes: 65_535,
            delayed_ack_ns: None,
            is_modern: false,
            nagle: false,
            ..usual
        };
        assert_eq!(TcpProfile::small(&asked), Ok(expected));
        let delayed = Asked { delayed_ack_ns: Some(1), ..asked };
        assert_eq!(TcpProfile::small(&delayed).unwrap().delayed_ack_ns, Some(1));
    }

    #[test]
    fn invalid_settings_of_the_small_tcp_are_named_with_their_range() {
        let asked = Asked::default();
        for (asked, key, found, allowed) in [
            (
                Asked { receive_buffer_bytes: Some(1_459), ..asked },
                "receive_buffer_bytes",
                1_459,
                1_460..=65_535,
            ),
            (
                Asked { send_buffer_bytes: Some(65_536), ..asked },
                "send_buffer_bytes",
                65_536,
                1_460..=65_535,
            ),
            (Asked { mss_bytes: Some(1_461), ..asked }, "mss_bytes", 1_461, 536..=1_460),
            (
                Asked { delayed_ack_ns: Some(499_000_001), ..asked },
                "delayed_ack_ns",
                499_000_001,
                0..=499_000_000,
            ),
        ] {
            assert_eq!(TcpProfile::small(&asked), Err(BadValue { key, found, allowed }));
        }
    }

    #[test]
    fn peak_memory_is_kept_and_exceeding_the_bound_is_an_error() {
        let tcp = TcpProfile::small(&Asked::default()).unwrap();
        let mut facts = Facts::new(tcp, 1_000);
        for (held, most) in [(900, 900), (1_000, 1_000), (10, 1_000)] {
            assert_eq!((facts.holds(held), facts.held_bytes), (Ok(()), most));
        }
        let error = "the small stack holds 1001 bytes, above its 1000".to_owned();
        assert_eq!((facts.holds(1_001), facts.held_bytes), (Err(error), 1_001));
    }
}
