//! 8.3 file names in upper case, as NetWare requires.

use lanlab_wire::ncp::text::MOST;
use lanlab_wire::smb1::strings::{self, Encoded};

use crate::file_server::short_names;
use crate::redirector::{Reason, Refusal};

/// A path from the root of the volume, of names joined by `/`.
pub fn path(path: &str) -> Result<Vec<u8>, Refusal> {
    let mut octets = Vec::new();
    for name in path.split('/').filter(|name| !name.is_empty()) {
        let short = short_names::own(name).ok_or_else(|| {
            let allowed = "8 characters, a dot and 3 characters of ASCII";
            let message = format!("NetWare cannot hold the name `{name}`; allowed: {allowed}");
            Refusal::new(Reason::Name, message)
        })?;
        let encoded = Encoded::new(&short, false);
        let encoded = encoded.map_err(|error| Refusal::new(Reason::Name, error.to_string()))?;
        octets = below(&octets, encoded.text().octets());
    }
    if octets.len() > MOST - 2 {
        let message = format!("path `{path}`: {} octets; allowed: {}", octets.len(), MOST - 2);
        return Err(Refusal::new(Reason::Name, message));
    }
    Ok(octets)
}

pub fn below(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let between: &[u8] = if directory.is_empty() { b"" } else { b"\\" };
    [directory, between, name].concat()
}

/// A name from a listing. Servers store names in upper case and lose the original case; like other clients,
/// convert all-upper-case names to lower case.
pub fn listed(name: &[u8]) -> String {
    let name: String = name.iter().map(|octet| strings::character(*octet)).collect();
    if name.chars().any(char::is_lowercase) { name } else { name.to_lowercase() }
}
