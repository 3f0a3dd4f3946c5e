//! Frames that a driver offers to a medium, and the events that it returns.

/// Number of a port, counted from 0.
pub type Port = u16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// One port. The sender's own or a nonexistent port means an unknown address: the frame
    /// occupies the wire and reaches no host.
    Port(Port),
    All,
}

/// A frame offered by an adapter. Its bytes stay with the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// The driver's number for the frame, unique until [`Event::Done`].
    pub ticket: u32,
    /// Bytes on the wire without the gap: preamble and SFD 8, frame with padding, FCS 4. Fewer than
    /// [`MIN_WIRE_BYTES`](crate::MIN_WIRE_BYTES) count as that many, because adapters pad.
    pub wire_bytes: u32,
    pub destination: Destination,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The adapter of this port may offer its next frame now.
    Free(Port),
    Delivered {
        port: Port,
        ticket: u32,
    },
    Lost {
        ticket: u32,
        /// The receiver of the lost copy; `None`: all receivers.
        port: Option<Port>,
        loss: Loss,
    },
    /// The frame's last event; its ticket and buffer can be reused.
    Done {
        ticket: u32,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Lost on the wire, by the plan's [`LossPlan`](crate::LossPlan).
    Chance,
    /// The adapter gave up after 16 attempts that collided (IEEE 802.3, 4.2.3.2: `attemptLimit`).
    ExcessiveCollisions,
    SwitchQueue,
}
