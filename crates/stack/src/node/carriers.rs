//! The table of carriers, one row each. Nothing else lists them all.

use std::any::Any;

use lanlab_units::Instant;
use lanlab_wire::ethernet::Frame;

use super::NodeConfig;
use crate::carrier::{
    BadPeer, Carrier, Count, Event, IpxPart, NotSent, Peer, Readiness, SegmentFacts, SessionId,
    SessionIds, StationConfig, Stray,
};
use crate::{direct, nbf, nbipx, ncp, xns};

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

            pub const fn name(self) -> &'static str {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind => $name,)+
                }
            }

            pub const fn title(self) -> &'static str {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind => $title,)+
                }
            }

            const fn server_type(self) -> Option<u16> {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind => <$machine as Carrier>::SERVER_TYPE,)+
                }
            }

            /// The address of the file server with this name.
            ///
            /// # Errors The carrier has no such names.
            pub fn server(self, name: &str) -> Result<Peer, BadPeer> {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind => <$machine as Carrier>::server(name),)+
                }
            }

            /// The address of the nearest file server; `None` if the carrier finds servers only by name.
            pub fn nearest(self) -> Option<Peer> {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind => <$machine as Carrier>::nearest(),)+
                }
            }
        }

        /// The machine of one carrier, boxed so that entries of a node stay small.
        #[derive(Debug)]
        enum Machine {
            $($(#[cfg($cfg)])? $kind(Box<$machine>),)+
        }

        impl Machine {
            fn new(
                kind: CarrierKind,
                config: &StationConfig,
                now: Instant,
                ids: SessionIds,
            ) -> Self {
                match kind {
                    $($(#[cfg($cfg)])? CarrierKind::$kind => {
                        Self::$kind(Box::new(<$machine as Carrier>::new(config, now, ids)))
                    })+
                }
            }

            const fn kind(&self) -> CarrierKind {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind(_) => CarrierKind::$kind,)+
                }
            }

            fn segment(&self) -> Option<SegmentFacts> {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind(machine) => machine.segment(),)+
                }
            }

            fn readiness(&self) -> Readiness {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind(machine) => machine.readiness(),)+
                }
            }

            fn open(&mut self, now: Instant, to: Peer) -> SessionId {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind(machine) => machine.open(now, to),)+
                }
            }

            fn listen(&mut self) {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind(machine) => machine.listen(),)+
                }
            }

            fn leave(&mut self) {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind(machine) => machine.leave(),)+
                }
            }

            fn send(
                &mut self,
                now: Instant,
                to: SessionId,
                message: &[u8],
            ) -> Result<(), NotSent> {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind(machine) => machine.send(now, to, message),)+
                }
            }

            fn close(&mut self, now: Instant, session: SessionId) {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind(machine) => machine.close(now, session),)+
                }
            }

            fn pause(&mut self, session: SessionId) {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind(machine) => machine.pause(session),)+
                }
            }

            fn resume(&mut self, session: SessionId) {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind(machine) => machine.resume(session),)+
                }
            }

            fn counts(&self) -> Vec<Count> {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind(machine) => machine.counts(),)+
                }
            }

            fn handle_frame(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), Stray> {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind(machine) => machine.handle_frame(now, frame),)+
                }
            }

            fn handle_timeout(&mut self, now: Instant) {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind(machine) => machine.handle_timeout(now),)+
                }
            }

            fn poll_timeout(&self) -> Option<Instant> {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind(machine) => machine.poll_timeout(),)+
                }
            }

            fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind(machine) => machine.poll_transmit(now, into),)+
                }
            }

            fn poll_event(&mut self, message: &mut Vec<u8>) -> Option<Event> {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind(machine) => machine.poll_event(message),)+
                }
            }

            fn as_any(&mut self) -> &mut dyn Any {
                match self {
                    $($(#[cfg($cfg)])? Self::$kind(machine) => &mut **machine,)+
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

    /// Whether it uses IPX packets, so that its station has a framing and a network.
    pub const fn is_on_ipx(self) -> bool {
        self.server_type().is_some()
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
    machines: Vec<Machine>,
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
            Machine::new(kind, &station, now, SessionIds::new(kind as u32))
        });
        Self { machines: machines.collect() }
    }

    fn get(&mut self, kind: CarrierKind) -> Option<&mut Machine> {
        self.machines.iter_mut().find(|machine| machine.kind() == kind)
    }

    fn of(&mut self, session: SessionId) -> Option<&mut Machine> {
        self.get(*CarrierKind::ALL.get(session.carrier_index())?)
    }

    pub(super) fn machine<C: Carrier + 'static>(&mut self) -> Option<&mut C> {
        self.machines.iter_mut().find_map(|machine| machine.as_any().downcast_mut())
    }

    pub(super) fn segment(&mut self, kind: CarrierKind) -> Option<SegmentFacts> {
        self.get(kind)?.segment()
    }

    pub(super) fn readiness(&self) -> Readiness {
        self.machines.iter().map(Machine::readiness).max().unwrap_or(Readiness::Ready)
    }

    /// `None`: the node has no such carrier.
    pub(super) fn open(&mut self, now: Instant, kind: CarrierKind, to: Peer) -> Option<SessionId> {
        self.get(kind).map(|machine| machine.open(now, to))
    }

    pub(super) fn listen(&mut self) {
        self.machines.iter_mut().for_each(Machine::listen);
    }

    pub(super) fn leave(&mut self) {
        self.machines.iter_mut().for_each(Machine::leave);
    }

    pub(super) fn send(
        &mut self,
        now: Instant,
        to: SessionId,
        message: &[u8],
    ) -> Result<(), NotSent> {
        self.of(to).map_or(Err(NotSent::NoSession), |machine| machine.send(now, to, message))
    }

    pub(super) fn close(&mut self, now: Instant, session: SessionId) {
        if let Some(machine) = self.of(session) {
            machine.close(now, session);
        }
    }

    pub(super) fn pause(&mut self, session: SessionId) {
        if let Some(machine) = self.of(session) {
            machine.pause(session);
        }
    }

    pub(super) fn resume(&mut self, session: SessionId) {
        if let Some(machine) = self.of(session) {
            machine.resume(session);
        }
    }

    pub(super) fn counts(&self) -> Vec<Count> {
        let mut all: Vec<Count> = Vec::new();
        for (key, count) in self.machines.iter().flat_map(Machine::counts) {
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
        for machine in &mut self.machines {
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
        self.machines.iter_mut().for_each(|machine| machine.handle_timeout(now));
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.machines.iter().filter_map(Machine::poll_timeout).min()
    }

    pub(super) fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool {
        self.machines.iter_mut().any(|machine| machine.poll_transmit(now, into))
    }

    pub(super) fn poll_event(&mut self, message: &mut Vec<u8>) -> Option<Event> {
        self.machines.iter_mut().find_map(|machine| machine.poll_event(message))
    }
}
