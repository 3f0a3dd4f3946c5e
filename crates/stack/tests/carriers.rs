//! Stations of each carrier on the offline medium, in virtual time.

mod ipx;
mod nbf;
mod ncp;
mod netbios;
mod support;
mod xns;

use support::{
    by_hand, chance, copying, memory_files, pair, peer, replay, schedule, segment, tshark,
};
