//! The protocol machines below a host's programs.

use lanlab_units::Instant;

/// Identifies what has changed in a node, for example a socket number. The node defines the
/// meaning.
pub type Key = u32;

/// The protocol machines of a host, without a clock.
///
/// After each call that may change it, the host drains it: [`poll_event`](Self::poll_event) until
/// `None`, and [`poll_transmit`](Self::poll_transmit) until `false` or until its adapter is full.
/// Frames that do not fit stay in the node until the adapter has sent others; this slows the sender
/// down. Then the host waits for a frame or for [`poll_timeout`](Self::poll_timeout).
pub trait Node {
    /// Handle an arrived frame: Ethernet without check sequence, padded to 60 bytes.
    fn handle_frame(&mut self, now: Instant, frame: &[u8]);

    /// Do work that is due at `now`. Spurious calls do nothing.
    fn handle_timeout(&mut self, now: Instant);

    /// When to call [`handle_timeout`](Self::handle_timeout). `None`: not before another call
    /// changes something. While the adapter is full, a time in the past counts as `None`.
    fn poll_timeout(&mut self) -> Option<Instant>;

    /// Write the next frame to send to `into`, which is empty: Ethernet without check sequence; the
    /// adapter pads it. `false` if there is no frame.
    fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool;

    /// The next change. Programs that wait for it check again.
    fn poll_event(&mut self) -> Option<Key>;
}
