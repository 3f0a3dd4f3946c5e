//! What a host runs below its programs: the protocol machines.

use lanlab_units::Instant;

/// What of a node has changed, for example the number of a socket. The node gives these numbers their
/// meaning.
pub type Key = u32;

/// The protocol machines of a host, without a clock.
///
/// After each call that may change it, the host drains it: [`poll_event`](Self::poll_event) until `None`,
/// and [`poll_transmit`](Self::poll_transmit) until `false` or until its adapter has no room. Frames that
/// find no room stay in the node until the adapter has sent others: that is how a sender is slowed down.
/// Then the host waits for a frame or for [`poll_timeout`](Self::poll_timeout).
pub trait Node {
    /// Take in a frame: Ethernet without check sequence, padded to 60 bytes.
    fn handle_frame(&mut self, now: Instant, frame: &[u8]);

    /// Do what is due at `now`. Calls without need do nothing.
    fn handle_timeout(&mut self, now: Instant);

    /// When to call [`handle_timeout`](Self::handle_timeout). `None`: not before another call
    /// has changed something. While the adapter has no room, a time that has come counts as `None`.
    fn poll_timeout(&mut self) -> Option<Instant>;

    /// Write the next frame to send to `into`, which is empty: Ethernet without check sequence; the
    /// adapter pads it. `false` if there is none.
    fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool;

    /// What has changed: the programs that wait for it look again.
    fn poll_event(&mut self) -> Option<Key>;
}
