//! Replies of a server (RFC 959 section 4.2), and their meaning.

use lanlab_files::fault::says;
use lanlab_files::{Class, Fault};

const MAX_WORDS: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub code: u16,
    pub lines: Vec<String>,
}

impl Reply {
    pub fn is_preliminary(&self) -> bool {
        (100..200).contains(&self.code)
    }

    pub fn is_done(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// Whether the server requires that data connections resume TLS (RFC 4217, section 10) and this
    /// one did not. `ProFTPD` says this only in the text of another code.
    pub fn is_not_resumed(&self) -> bool {
        let is_forbidden = self.words().ends_with("data connection: Operation not permitted");
        self.code == 522 || (self.code == 425 && is_forbidden)
    }

    pub fn words(&self) -> &str {
        self.lines.last().map_or("", String::as_str)
    }

    /// The fault of a refused command. `usual` is the meaning of a bare 550: RFC 959 has one code
    /// for "not found" and "no access", and only the text differs.
    pub fn fault(&self, what: &str, usual: Class) -> Fault {
        let words: String =
            self.words().chars().filter(|c| !c.is_control()).take(MAX_WORDS).collect();
        let message = format!("{what}: server says `{} {words}`", self.code);
        let fault = Fault::new(self.class(usual), message);
        match self.code {
            _ if self.is_not_resumed() => fault.hint(
                "the server wants each data connection to resume TLS of the control connection, and \
                 did not take it for that; see its `require_ssl_reuse` (vsftpd) or `TLSOptions \
                 NoSessionReuseRequired` (ProFTPD)",
            ),
            421 if self.says(&["too many", "maximum", "limit on", "connections", "clients", "users"]) => fault.hint(
                "the server may take no more connections of a host or a user at once: use fewer, as by \
                 `--parallel` or `--stations`",
            ),
            _ => fault,
        }
    }

    pub fn says(&self, any: &[&str]) -> bool {
        says(&self.lines.join(" "), any)
    }

    fn class(&self, usual: Class) -> Class {
        let says = |any: &[&str]| self.says(any);
        match self.code {
            _ if self.is_not_resumed() => Class::Unsupported,
            421 | 425 | 426 => Class::Reset,
            452 | 552 => Class::NoSpace,
            450 | 451 | 550 | 551 | 553 if says(&["space", "quota", "disk full"]) => Class::NoSpace,
            530 | 532 | 332 | 430 => Class::Login,
            // RFC 4217 section 10 and RFC 2228: the server rejects the protection level of data.
            // Another trust setting would not help.
            500 | 502 | 504 | 521 | 522 | 533..=537 => Class::Unsupported,
            501 => Class::Name,
            550 | 553 if says(&["exists", "not empty"]) => Class::Exists,
            550 | 553 if says(&["no such", "not found", "cannot find"]) => Class::Missing,
            550 | 553 if says(&["name too long", "invalid name", "invalid character"]) => {
                Class::Name
            }
            450 | 550 | 553 if says(&["denied", "not permitted", "read-only", "not allowed"]) => {
                Class::Denied
            }
            550 => usual,
            450 | 553 => Class::Denied,
            _ => Class::Protocol,
        }
    }
}

/// A line of a reply: its code, whether it is the last line, and its text.
pub fn parse(line: &str) -> Option<(u16, bool, &str)> {
    let code = line.get(..3).filter(|code| code.bytes().all(|octet| octet.is_ascii_digit()))?;
    let code = code.parse().ok().filter(|code| (100..600).contains(code))?;
    match line.as_bytes().get(3) {
        None | Some(b' ') => Some((code, true, line.get(4..).unwrap_or(""))),
        Some(b'-') => Some((code, false, &line[4..])),
        Some(_) => None,
    }
}

/// Port in the reply to EPSV (RFC 2428 section 3): `(|||6446|)`, with any delimiter.
pub fn epsv_port(words: &str) -> Option<u16> {
    let inside = words.split_once('(')?.1.split_once(')')?.0;
    let sign = inside.chars().next()?;
    let fields: Vec<&str> = inside.split(sign).collect();
    let [_, _, _, port, _] = fields[..] else { return None };
    port.parse().ok().filter(|port| *port != 0)
}

/// Port in the reply to PASV (RFC 959 section 4.1.2): `h1,h2,h3,h4,p1,p2`, with or without brackets
/// (RFC 1123 section 4.1.2.6).
pub fn pasv_port(words: &str) -> Option<u16> {
    let start = words.find(|c: char| c.is_ascii_digit())?;
    let mut octets = [0; 6];
    let mut fields = words[start..].split(|c: char| !c.is_ascii_digit());
    for octet in &mut octets {
        *octet = fields.next()?.parse().ok()?;
    }
    let [.., high, low] = octets;
    Some(u16::from_be_bytes([high, low])).filter(|port| *port != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_data_port_is_read_from_both_reply_forms() {
        assert_eq!(epsv_port("Entering Extended Passive Mode (|||6446|)"), Some(6446));
        assert_eq!(epsv_port("ok (!!!1!)"), Some(1));
        for bad in ["", "(||||)", "(|||0|)", "(|||65536|)", "(|||1", "(1,2)", "()"] {
            assert_eq!(epsv_port(bad), None, "{bad}");
        }
        assert_eq!(pasv_port("Entering Passive Mode (10,0,0,7,18,52)."), Some(0x1234));
        assert_eq!(pasv_port("=10,0,0,7,18,52"), Some(0x1234));
        for bad in ["", "(10,0,0,7,18)", "(10,0,0,256,1,1)", "(10,0,0,7,0,0)"] {
            assert_eq!(pasv_port(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_connection_limit_is_reported_only_if_the_server_names_it() {
        let hint = |words: &str| {
            Reply { code: 421, lines: vec![words.to_owned()] }.fault("x", Class::Missing).hint
        };
        for words in
            ["There are too many connections from your internet address.", "Maximum reached"]
        {
            assert!(hint(words).is_some_and(|hint| hint.contains("--parallel")), "{words}");
        }
        for words in ["Idle timeout (60 seconds): closing control connection.", "Timeout.", "Bye"] {
            assert_eq!(hint(words), None, "{words}");
        }
    }

    #[test]
    fn equal_codes_are_distinguished_by_their_text() {
        let class = |code, words: &str| {
            Reply { code, lines: vec![words.to_owned()] }.fault("x", Class::Missing).class
        };
        assert_eq!(class(550, "Failed to open file."), Class::Missing);
        assert_eq!(class(550, "a: Permission denied"), Class::Denied);
        assert_eq!(class(550, "a: File exists"), Class::Exists);
        assert_eq!(class(451, "a: No space left on device"), Class::NoSpace);
        assert_eq!(class(553, "Could not create file."), Class::Denied);
        assert_eq!(class(553, "a: File name too long"), Class::Name);
        assert_eq!(class(530, "Login incorrect."), Class::Login);
        assert_eq!(class(425, "Can't open data connection."), Class::Reset);
        let proftpd = "Unable to build data connection: Operation not permitted";
        assert_eq!(class(425, proftpd), Class::Unsupported);
        assert_eq!(class(522, "SSL connection failed; session reuse required"), Class::Unsupported);
    }

    proptest! {
        #[test]
        fn any_reply_is_parsed_without_panic(line in ".*") {
            let _ = (parse(&line), epsv_port(&line), pasv_port(&line));
        }
    }
}
