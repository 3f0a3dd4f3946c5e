//! The path of a file in a service, always below the directory of its session.

use std::fmt;

const MAX_OCTETS: usize = 1024;

/// Names joined by `/`. None is empty, `.` or `..`, so the path stays below its start.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServicePath(String);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadPath {
    pub message: String,
}

impl fmt::Display for BadPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for BadPath {}

impl ServicePath {
    /// Check a path.
    ///
    /// # Errors
    /// It is empty or too long, begins or ends with `/`, has `\`, a control character, or a name
    /// that is empty, `.` or `..`.
    pub fn new(path: impl Into<String>) -> Result<Self, BadPath> {
        let path = path.into();
        let bad = |what: &str| {
            Err(BadPath { message: format!("path `{}`: found {what}", path.escape_debug()) })
        };
        if path.len() > MAX_OCTETS {
            let message = format!("a path of {} octets; allowed: {MAX_OCTETS}", path.len());
            return Err(BadPath { message });
        }
        if path.contains(|c: char| c.is_control() || c == '\\') {
            return bad("a control character or `\\`; allowed: names joined by `/`");
        }
        if path.split('/').any(|name| matches!(name, "" | "." | "..")) {
            return bad("an empty name, `.` or `..`; allowed: names joined by `/`");
        }
        Ok(Self(path))
    }

    pub fn join(&self, name: &str) -> Result<Self, BadPath> {
        Self::new(format!("{}/{name}", self.0))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The parent directory; `None` for a path of one name.
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(parent, _)| Self(parent.to_owned()))
    }
}

/// Start directory of a session: names joined by `/`, below the login directory. A leading `/`, or
/// `/` alone, starts at the server's root. Empty: `None`, the login directory.
pub fn beginning(directory: &str) -> Result<Option<&str>, BadPath> {
    let below = directory.strip_prefix('/').unwrap_or(directory);
    if !below.is_empty() {
        ServicePath::new(below)?;
    }
    Ok((!directory.is_empty()).then_some(directory))
}

impl fmt::Display for ServicePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_path_leads_outside() {
        for bad in ["", "/a", "a/", "a//b", ".", "..", "a/../b", "a\\b", "a\0b", "a\nb"] {
            assert!(ServicePath::new(bad).is_err(), "{bad:?}");
        }
        assert!(ServicePath::new("x".repeat(MAX_OCTETS + 1)).is_err());
        let path = ServicePath::new("a/b c/…").unwrap();
        assert_eq!((path.name(), path.parent().unwrap().as_str()), ("…", "a/b c"));
        assert_eq!(path.parent().unwrap().parent().unwrap().parent(), None);
    }

    #[test]
    fn sessions_start_at_the_login_directory_or_the_root() {
        for (directory, expected) in [("", None), ("/", Some("/")), ("a/b", Some("a/b"))] {
            assert_eq!(beginning(directory).unwrap(), expected);
        }
        assert_eq!(beginning("/data/a").unwrap(), Some("/data/a"));
        for bad in ["//", "a/", "/a/", "/..", "a\r\nDELE x", "//a"] {
            assert!(beginning(bad).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn an_accepted_value_stays_below_the_limit(path in ".*") {
            if let Ok(path) = ServicePath::new(path) {
                let joined = std::path::Path::new("/base").join(path.as_str());
                prop_assert!(joined.starts_with("/base"));
                prop_assert!(path.names().all(|name| !name.is_empty() && name != ".."));
            }
        }
    }
}
