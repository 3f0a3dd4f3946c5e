//! The interface of a file service: a [`Session`] with its calls (open, read, write, list and
//! others), its [`Target`], and its errors ([`Fault`]).
//!
//! Clients implement [`Session`]. Workloads use it and depend on no protocol and no runtime.
//! [`TransferCapabilities`] describe how a service transfers a file fastest.

pub mod address;
pub mod carrier;
pub mod fault;
pub mod ipx;
mod link_place;
pub mod minimum_rate;
mod own_stack;
pub mod path;
mod service_options;
pub mod session;
pub mod target;

pub use address::HostAddress;
pub use carrier::{Carrier, CarrierCounts};
pub use fault::{Class, Fault, Result};
pub use ipx::{IpxFraming, IpxSegment};
pub use link_place::LinkPlace;
pub use minimum_rate::MinimumRate;
pub use own_stack::{OwnStack, OwnTcp};
pub use path::{BadPath, ServicePath, beginning};
pub use service_options::{
    Dialect, FtpOptions, NcpOptions, PacketBurst, ServerOptions, ServiceKind, ServiceOptions,
    ShareOptions, Signing, Smb1Options, Smb1ServerOptions, SystemProfile, TcpProfile,
};
pub use session::{Access, Entry, Facts, Session, TcpAgreed, TransferCapabilities, is_name};
pub use target::{Credentials, Target, Trust};
