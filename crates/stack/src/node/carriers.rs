//! The table of carriers, one row each. Nothing else lists them all.

use std::any::Any;

use lanlab_units::Instant;
use lanlab_wire::ethernet::Frame;

use super::NodeConfig;
use crate::carrier::{
    BadPeer, Carrier, Count, Event, IpxPart, Peer, Readiness, SessionId, SessionIds, StationConfig,
    Stray,
};
use crate::{direct, nbf, nbipx, ncp, xns};

/// A row of the table: the names of a carrier, and what it can do without a station.
struct Row {
    name: &'static str,
    title: &'static str,
    server_type: fn() -> Option<u16>,
    server: fn(&str) -> Result<Peer, BadPeer>,
    nearest: fn() -> Option<Peer>,
    new: fn(&StationConfig, Instant, SessionIds) -> Box<dyn Carrier>,
}

impl Row {
    const fn of<C: Carrier>(name: &'static str, title: &'static str) -> Self {
        Self {
            name,
            title,
            server_type: C::server_type,
            server: C::server,
            nearest: C::nearest,
            new: |config, now, ids| Box::new(C::new(config, now, ids)),
        }
    }
}

/// Builds the table. A row: the carrier, its machine, its name in requests, and its display name.
macro_rules! carriers {
    ($(
        $(#[$about:meta])*
        $kind:ident: $machine:ty, $name:literal, $title:literal $(, if $cfg:meta)?;
    )+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum CarrierKind {
            $($(#[$about])* $(#[cfg($cfg)])? $kind,)+
        }

        impl CarrierKind {
            pub const ALL: &'static [Self] = &[$($(#[cfg($cfg)])? Self::$kind),+];

            const fn row(self) -> &'static Row {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind => &const { Row::of::<$machine>($name, $title) },)+
                }
            }
        }
    };
}

carriers! {
    Nbf: nbf::Station, "nbf", "NetBEUI";
    Ipx: direct::Station, "ipx", "IPX";
    Nbipx: nbipx::Station, "nbipx", "NetBIOS over IPX";
    Ncp: ncp::Station, "ncp", "NCP";
    /// SMB on XNS: 3Com's 3+.
    Spp: xns::Station, "spp", "XNS";
    Toy: super::toy::Toy, "toy", "toy", if test;
}

const _: () = assert!(CarrierKind::ALL.len() <= SessionIds::STEP as usize);

impl CarrierKind {
    /// The carrier with this name in requests, if there is one.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    pub const fn name(self) -> &'static str {
        self.row().name
    }

    pub const fn title(self) -> &'static str {
        self.row().title
    }

    fn server_type(self) -> Option<u16> {
        (self.row().server_type)()
    }

    /// Whether it uses IPX packets, so that its station has a framing and a network.
    pub fn is_on_ipx(self) -> bool {
        self.server_type().is_some()
    }

    /// The address of the file server with this name.
    ///
    /// # Errors The carrier has no such names.
    pub fn server(self, name: &str) -> Result<Peer, BadPeer> {
        (self.row().server)(name)
    }

    /// The address of the nearest file server; `None` if the carrier finds servers only by name.
    pub fn nearest(self) -> Option<Peer> {
        (self.row().nearest)()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CarrierKinds(u32);

impl CarrierKinds {
    pub const fn only(kind: CarrierKind) -> Self {
        Self(1 << kind as u32)
    }

    #[must_use]
    pub const fn and(self, kind: CarrierKind) -> Self {
        Self(self.0 | 1 << kind as u32)
    }

    pub const fn overlaps(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub fn iter(self) -> impl Iterator<Item = CarrierKind> {
        let all = CarrierKind::ALL.iter().copied();
        all.filter(move |&kind| self.overlaps(Self::only(kind)))
    }
}

#[derive(Debug)]
pub(super) struct CarrierSet {
    machines: Vec<(CarrierKind, Box<dyn Carrier>)>,
    /// Nothing to send before this time, unless a call changes a machine. `None`: unknown.
    idle_until: Option<Instant>,
}

impl CarrierSet {
    pub(super) fn new(config: &NodeConfig, now: Instant) -> Self {
        let machines = config.carriers.iter().map(|kind| {
            let before = config.carriers.iter().take_while(|other| *other != kind);
            let server_types = before.filter_map(CarrierKind::server_type);
            let ipx_part = server_types.fold(IpxPart::First, |part, before| {
                let is_silent = part == IpxPart::Silent || Some(before) == kind.server_type();
                if is_silent { IpxPart::Silent } else { IpxPart::Second }
            });
            let station = StationConfig { ipx_part, ..config.station };
            (kind, (kind.row().new)(&station, now, SessionIds::new(kind as u32)))
        });
        Self { machines: machines.collect(), idle_until: None }
    }

    fn all(&self) -> impl Iterator<Item = &dyn Carrier> {
        self.machines.iter().map(|(_, machine)| &**machine)
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut (dyn Carrier + 'static)> {
        self.idle_until = None;
        self.machines.iter_mut().map(|(_, machine)| &mut **machine)
    }

    pub(super) fn get(&mut self, kind: CarrierKind) -> Option<&mut dyn Carrier> {
        self.idle_until = None;
        let (_, machine) = self.machines.iter_mut().find(|(known, _)| *known == kind)?;
        Some(&mut **machine)
    }

    /// The machine that has this session.
    pub(super) fn of(&mut self, session: SessionId) -> Option<&mut dyn Carrier> {
        self.get(*CarrierKind::ALL.get(session.carrier_index())?)
    }

    pub(super) fn machine<C: Carrier>(&mut self) -> Option<&mut C> {
        self.all_mut().find_map(|machine| (machine as &mut dyn Any).downcast_mut())
    }

    pub(super) fn readiness(&self) -> Readiness {
        self.all().map(Carrier::readiness).max().unwrap_or(Readiness::Ready)
    }

    pub(super) fn listen(&mut self) {
        self.all_mut().for_each(Carrier::listen);
    }

    pub(super) fn leave(&mut self) {
        self.all_mut().for_each(Carrier::leave);
    }

    pub(super) fn counts(&self) -> Vec<Count> {
        let mut all: Vec<Count> = Vec::new();
        for (key, count) in self.all().flat_map(Carrier::counts) {
            match all.iter_mut().find(|(known, _)| *known == key) {
                Some((_, sum)) => *sum += count,
                None => all.push((key, count)),
            }
        }
        all
    }

    /// Offer a frame to every carrier.
    ///
    /// # Errors
    /// Every carrier rejects it.
    pub(super) fn handle_frame(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), Stray> {
        let mut result = Err(Stray::Foreign);
        for machine in self.all_mut() {
            // A broadcast frame may be for two carriers.
            match (result, machine.handle_frame(now, frame)) {
                (Ok(()), _) => {}
                (Err(_), Ok(())) => result = Ok(()),
                (Err(before), Err(stray)) => result = Err(before.max(stray)),
            }
        }
        result
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.all_mut().for_each(|machine| machine.handle_timeout(now));
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let until = || self.all().filter_map(Carrier::poll_timeout).min();
        self.idle_until.or_else(until).filter(|until| *until < Instant::FAR_FUTURE)
    }

    pub(super) fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool {
        if self.idle_until.is_some_and(|until| now < until) {
            return false;
        }
        let is_sent = self.all_mut().any(|machine| machine.poll_transmit(now, into));
        let until = || self.poll_timeout().unwrap_or(Instant::FAR_FUTURE);
        self.idle_until = (!is_sent).then(until);
        is_sent
    }

    pub(super) fn poll_event(&mut self, message: &mut Vec<u8>) -> Option<Event> {
        self.machines.iter_mut().find_map(|(_, machine)| machine.poll_event(message))
    }
}
