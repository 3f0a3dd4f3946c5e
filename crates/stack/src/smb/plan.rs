//! Parameters for making a session.

use super::Dialect;
use crate::carrier::CarrierFacts;

#[derive(Clone)]
pub struct Plan {
    /// The only dialect to offer; absent: negotiate the newest.
    pub dialect: Option<Dialect>,
    pub server: String,
    pub share: String,
    /// The user; absent for a guest.
    pub user: Option<User>,
    /// Code page of both ends for strings that are not UTF-16LE.
    pub nonce: [u8; 8],
    /// Current time, 100 ns since 1601.
    pub time: u64,
    pub raw: bool,
    pub multiplexed: bool,
    pub requires_signatures: bool,
    pub carrier: CarrierFacts,
}

#[derive(Clone)]
pub struct User {
    pub name: String,
    pub password: String,
    pub domain: String,
}

impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "User {:?}", self.name)
    }
}
