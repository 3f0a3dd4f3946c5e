//! The network device that smoltcp sees: one received packet, and room for what is sent.

use smoltcp::phy::{self, DeviceCapabilities, Medium};
use smoltcp::time::Instant;

use super::ETHERNET_HEADER_BYTES;

#[derive(Debug)]
pub(super) struct Device {
    pub mtu_bytes: usize,
    pub received: Option<Vec<u8>>,
    pub sent: Vec<Vec<u8>>,
    pub unused: Vec<Vec<u8>>,
}

impl Device {
    pub fn new(mtu_bytes: usize) -> Self {
        Self { mtu_bytes, received: None, sent: Vec::new(), unused: Vec::new() }
    }
}

impl phy::Device for Device {
    type RxToken<'a> = Received;
    type TxToken<'a> = Room<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Received, Room<'_>)> {
        let packet = self.received.take()?;
        Some((Received(packet), Room(self)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Room<'_>> {
        // One packet at a time: the next is made when the adapter has room.
        self.sent.is_empty().then_some(Room(self))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = self.mtu_bytes;
        capabilities
    }
}

#[derive(Debug)]
pub(super) struct Received(Vec<u8>);

impl phy::RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(&self.0)
    }
}

#[derive(Debug)]
pub(super) struct Room<'a>(&'a mut Device);

impl phy::TxToken for Room<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        let mut frame = self.0.unused.pop().unwrap_or_default();
        frame.clear();
        // A station's memory is bounded: reserve exactly the size needed.
        frame.reserve_exact(ETHERNET_HEADER_BYTES + length);
        frame.resize(ETHERNET_HEADER_BYTES + length, 0);
        let result = write(&mut frame[ETHERNET_HEADER_BYTES..]);
        self.0.sent.push(frame);
        result
    }
}
