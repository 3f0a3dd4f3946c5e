//! Historic network protocols without a clock or a socket.
//!
//! A carrier below and a redirector above exchange whole messages of a session, so the same code runs over any
//! carrier, in real and in virtual time.

pub mod carrier;
mod common;
mod counts;
pub mod direct;
pub mod dos_names;
pub mod file_server;
pub mod files;
pub mod ip;
mod ipx;
mod known;
pub mod llc;
pub mod nbf;
pub mod nbipx;
pub mod ncp;
mod netbios;
pub mod node;
pub mod profile;
pub mod redirector;
mod responders;
mod sequenced;
pub mod smb;
mod spare;
pub mod systems;
pub mod xns;
