//! The table of carriers, one row each. Nothing else lists them all.

use lanlab_units::Instant;

use crate::carrier::{BadPeer, Carrier, Peer, StationConfig};
use crate::profile::Profile;
use crate::{direct, nbf, nbipx, ncp, xns};

/// A row of the table: the names of a carrier, and what it can do without a station.
struct Row {
    name: &'static str,
    title: &'static str,
    is_on_ipx: fn() -> bool,
    server: fn(&str) -> Result<Peer, BadPeer>,
    nearest: fn() -> Option<Peer>,
    sessions: fn(&Profile) -> u16,
    new: fn(&StationConfig, Instant) -> Box<dyn Carrier>,
}

impl Row {
    const fn of<C: Carrier>(name: &'static str, title: &'static str) -> Self {
        Self {
            name,
            title,
            is_on_ipx: C::is_on_ipx,
            server: C::server,
            nearest: C::nearest,
            sessions: C::sessions,
            new: |config, now| Box::new(C::new(config, now)),
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

impl CarrierKind {
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    pub const fn name(self) -> &'static str {
        self.row().name
    }

    pub const fn title(self) -> &'static str {
        self.row().title
    }

    pub fn is_on_ipx(self) -> bool {
        (self.row().is_on_ipx)()
    }

    pub(super) fn begin(self, config: &StationConfig, now: Instant) -> Box<dyn Carrier> {
        (self.row().new)(config, now)
    }

    pub fn server(self, name: &str) -> Result<Peer, BadPeer> {
        (self.row().server)(name)
    }

    pub fn nearest(self) -> Option<Peer> {
        (self.row().nearest)()
    }

    pub fn sessions(self, profile: &Profile) -> u16 {
        (self.row().sessions)(profile)
    }
}
