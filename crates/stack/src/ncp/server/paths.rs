//! Paths of requests: relative to a directory handle, or with their volume.

use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::search::plain_pattern;
use lanlab_wire::ncp::text::MOST;
use lanlab_wire::smb1::{strings, wildcard};

use super::refusals::Refused;
use super::state::State;
use crate::dos_names::can_be_asked_for;
use crate::file_server::short_names;
use crate::files::Names;

/// The directory that clients may read before login; shells load `LOGIN.EXE` from it.
const LOGIN: &str = "LOGIN";
/// Maximum names in a path.
const MAX_DEPTH: usize = 25;

impl State {
    pub fn path(&self, handle: u8, text: &[u8]) -> Result<Names, Refused> {
        self.pattern(handle, text).and_then(Self::without_pattern)
    }

    pub fn without_pattern((mut names, last): (Names, String)) -> Result<Names, Refused> {
        if wildcard::is_pattern(&last) {
            return Err(completion::BAD_NAME);
        }
        if !last.is_empty() {
            names.push(last);
        }
        Ok(names)
    }

    pub fn new_path(&self, handle: u8, text: &[u8]) -> Result<Names, Refused> {
        self.path(handle, text).and_then(Self::new_name)
    }

    /// Check a path whose last name may be new.
    pub fn new_name(path: Names) -> Result<Names, Refused> {
        // Directory listings can show no other names to clients.
        let is_short = path.last().is_some_and(|name| short_names::own(name).is_some());
        if is_short { Ok(path) } else { Err(completion::BAD_NAME) }
    }

    /// The path of a directory and a name or pattern in it; an empty pattern means the directory itself.
    pub fn pattern(&self, handle: u8, text: &[u8]) -> Result<(Names, String), Refused> {
        let text = Self::text(text);
        let (volume, below) = match text.split_once(':') {
            Some((volume, below)) => (Some(volume), below),
            None => (None, text.as_str()),
        };
        let start = match volume {
            Some(volume) if volume.eq_ignore_ascii_case(&self.offer.volume) => Names::new(),
            Some(_) => return Err(completion::NO_SUCH_VOLUME),
            None if handle == 0 => return Err(completion::NO_SUCH_VOLUME),
            None => match self.directories.get(&handle) {
                Some(directory) => directory.path.clone(),
                None => return Err(completion::BAD_DIRECTORY_HANDLE),
            },
        };
        self.pattern_below(start, below)
    }

    pub fn pattern_below(&self, mut names: Names, below: &str) -> Result<(Names, String), Refused> {
        let known = names.len();
        for name in below.split(['\\', '/']).filter(|name| !matches!(*name, "" | ".")) {
            let is_pattern = wildcard::is_pattern(name);
            if !is_pattern && !can_be_asked_for(name)
                || is_pattern && name.contains(['<', '>', '"', '|', ':'])
            {
                return Err(if name == ".." {
                    completion::NO_SUCH_PATH
                } else {
                    completion::BAD_NAME
                });
            }
            names.push(name.to_owned());
        }
        if names.len() > MAX_DEPTH {
            return Err(completion::NO_SUCH_PATH);
        }
        let last =
            if names.len() > known { names.pop().unwrap_or_default() } else { String::new() };
        if names.iter().any(|name| wildcard::is_pattern(name)) {
            return Err(completion::BAD_NAME);
        }
        let first = names.first().unwrap_or(&last);
        if !self.is_logged_in && !first.eq_ignore_ascii_case(LOGIN) {
            return Err(completion::NO_SUCH_PATH);
        }
        Ok((names, last))
    }

    pub fn text(octets: &[u8]) -> String {
        plain_pattern(octets).iter().map(|octet| strings::character(*octet)).collect()
    }

    pub fn octets(text: &str) -> Result<Vec<u8>, Refused> {
        let octets = text.to_uppercase();
        let octets = octets.chars().map(strings::octet).collect();
        Option::<Vec<u8>>::filter(octets, |octets| octets.len() <= MOST).ok_or(completion::BAD_NAME)
    }
}

pub fn below(directory: &[String], name: &str) -> Names {
    directory.iter().map(String::as_str).chain([name]).map(str::to_owned).collect()
}
