//! Period servers of the core dialect, as data.
//!
//! Both speak only `PC NETWORK PROGRAM 1.0`, with share passwords, no users, and one connection per client. Their
//! buffer sizes are not published: servers of the period announced 1 to 4 KiB.

use crate::known::{Known, assumed};
use crate::profile::{PC_NETWORK, Profile, WINDOWS_NT};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerProfile {
    pub name: &'static str,
    pub buffer_bytes: Known<u32>,
    pub station: &'static Profile,
}

/// IBM's PC LAN Program over NetBIOS frames, with the LAN Support Program.
pub const PC_LAN_PROGRAM: ServerProfile =
    ServerProfile { name: "pc-lan-program", buffer_bytes: assumed(2_112), station: &PC_NETWORK };

/// 3Com's 3+, on XNS.
pub const THREE_PLUS: ServerProfile =
    ServerProfile { name: "three-plus", buffer_bytes: assumed(4_160), station: &WINDOWS_NT };
