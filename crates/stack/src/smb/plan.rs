//! What a session is made with.

use lanlab_wire::smb1::strings::CodePage;

use super::Dialect;
use crate::carrier::CarrierFacts;

#[derive(Clone)]
pub struct Plan {
    /// The only dialect to speak; absent: the newest that the server speaks.
    pub dialect: Option<Dialect>,
    pub server: String,
    pub share: String,
    /// As whom; absent: as a guest.
    pub user: Option<User>,
    /// Code page of both ends where strings are not UTF-16LE.
    pub code_page: CodePage,
    pub nonce: [u8; 8],
    /// Time now, 100 ns since 1601.
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
