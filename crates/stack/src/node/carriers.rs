//! The table of carriers: a line for each.

use lanlab_units::Instant;

use super::{Event, NodeConfig, NotSent, SessionId, SessionIds};
use crate::nbf;

/// Makes the carriers of a node of a table: the name of each, its field, and how it is made.
macro_rules! carriers {
    ($($(#[$doc:meta])* $carrier:ident $field:ident: $machine:ty = $new:expr;)+) => {
        /// What carries messages.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Carrier {
            $($(#[$doc])* $carrier,)+
        }

        impl Carrier {
            /// Every carrier.
            pub const ALL: [Self; COUNT as usize] = [$(Self::$carrier),+];
        }

        /// Number of carriers.
        pub(super) const COUNT: u32 = [$(stringify!($carrier)),+].len() as u32;

        /// The machine of each carrier.
        #[derive(Debug)]
        pub(super) struct Machines {
            $(pub(super) $field: $machine,)+
        }

        impl Machines {
            pub(super) fn new(config: &NodeConfig, now: Instant) -> Self {
                Self {
                    $($field: $new(config, now, SessionIds::new(Carrier::$carrier as u32)),)+
                }
            }

            pub(super) fn send(
                &mut self,
                now: Instant,
                to: SessionId,
                message: &[u8],
            ) -> Result<(), NotSent> {
                match carrier_of(to) {
                    $(Carrier::$carrier => self.$field.send(now, to, message),)+
                }
            }

            pub(super) fn close(&mut self, now: Instant, id: SessionId) {
                match carrier_of(id) {
                    $(Carrier::$carrier => self.$field.close(now, id),)+
                }
            }

            pub(super) fn pause(&mut self, id: SessionId) {
                match carrier_of(id) {
                    $(Carrier::$carrier => self.$field.pause(id),)+
                }
            }

            pub(super) fn resume(&mut self, id: SessionId) {
                match carrier_of(id) {
                    $(Carrier::$carrier => self.$field.resume(id),)+
                }
            }

            pub(super) fn handle_frame(&mut self, now: Instant, frame: &[u8]) {
                $(self.$field.handle_frame(now, frame);)+
            }

            pub(super) fn handle_timeout(&mut self, now: Instant) {
                $(self.$field.handle_timeout(now);)+
            }

            pub(super) fn poll_timeout(&self) -> Option<Instant> {
                [$(self.$field.poll_timeout()),+].into_iter().flatten().min()
            }

            pub(super) fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool {
                $(self.$field.poll_transmit(now, into))||+
            }

            pub(super) fn poll_event(&mut self, message: &mut Vec<u8>) -> Option<Event> {
                None$(.or_else(|| self.$field.poll_event(message)))+
            }
        }
    };
}

carriers! {
    /// NetBIOS frames over LLC: NetBEUI.
    Nbf nbf: nbf::Station = new_nbf;
}

fn new_nbf(config: &NodeConfig, now: Instant, ids: SessionIds) -> nbf::Station {
    nbf::Station::new(now, config.mac, config.name, &config.profile, ids)
}

/// Whose session it is: each carrier counts in steps.
#[expect(clippy::modulo_one, reason = "there is one carrier as yet")]
fn carrier_of(id: SessionId) -> Carrier {
    Carrier::ALL[(id.0 % COUNT) as usize]
}
