//! Paths of requests.

use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::wildcard;

use super::refusals::Refused;
use super::state::State;
use crate::dos_names::check;
use crate::files::Names;

/// Maximum names in a path.
const MAX_DEPTH: usize = 64;

impl State {
    pub fn path(text: Text<'_>) -> Result<Names, Refused> {
        let (mut names, last) = Self::pattern(text)?;
        if wildcard::is_pattern(&last) {
            return Err(error::OBJECT_NAME_INVALID);
        }
        if !last.is_empty() {
            names.push(last);
        }
        Ok(names)
    }

    /// The path of a directory and a name or pattern in it; an empty pattern means the root itself.
    pub fn pattern(text: Text<'_>) -> Result<(Names, String), Refused> {
        let text = text.decode();
        let mut names = Names::new();
        for name in text.split('\\').filter(|name| !matches!(*name, "" | ".")) {
            check(name)?;
            names.push(name.to_owned());
        }
        if names.len() > MAX_DEPTH {
            return Err(error::NAME_TOO_LONG);
        }
        let last = names.pop().unwrap_or_default();
        if names.iter().any(|name| wildcard::is_pattern(name)) {
            return Err(error::OBJECT_NAME_INVALID);
        }
        Ok((names, last))
    }
}

pub fn below(directory: &[String], name: &str) -> Names {
    directory.iter().map(String::as_str).chain([name]).map(str::to_owned).collect()
}
