//! HTTP authentication: the schemes of a server (RFC 9110, section 11), and the Digest scheme (RFC
//! 7616), which does not send the password.

use std::cell::RefCell;
use std::fmt::Write as _;

use hyper::header::HeaderValue;
use lanlab_files::{Class, Credentials, Fault, Result};
use md5::{Digest as _, Md5};
use sha2::Sha256;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    pub scheme: String,
    parameters: Vec<(String, String)>,
}

impl Challenge {
    fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    fn is(&self, scheme: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
    }
}

/// Parse the fields of a response that list authentication schemes, up to the first invalid part.
pub fn challenges<'a>(fields: impl Iterator<Item = &'a str>) -> Vec<Challenge> {
    let mut found = Vec::new();
    for field in fields {
        read_field(field, &mut found);
    }
    found
}

fn read_field(mut rest: &str, found: &mut Vec<Challenge>) {
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let length = rest.find(|one: char| !is_token(one)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        if word.is_empty() {
            return;
        }
        // A parameter is followed by `=` and a value, a scheme by a space or nothing.
        let value = behind.trim_start_matches([' ', '\t']).strip_prefix('=');
        let is_parameter = value.is_some_and(|value| !value.starts_with('=')) && !found.is_empty();
        let Some(value) = value.filter(|_| is_parameter) else {
            found.push(Challenge { scheme: word.to_owned(), parameters: Vec::new() });
            // A token68 belongs to the scheme and is ignored here.
            rest = match behind.trim_start_matches([' ', '\t']) {
                after if after.len() < behind.len() => past_token68(after),
                after => after,
            };
            continue;
        };
        let Some((value, after)) = value_of(value.trim_start_matches([' ', '\t'])) else { return };
        if let Some(challenge) = found.last_mut() {
            challenge.parameters.push((word.to_owned(), value));
        }
        rest = after;
    }
}

/// The text after a token68, if there is one. A token68 ends at a comma or with the field.
fn past_token68(text: &str) -> &str {
    let length = text.find([',', ' ', '\t']).unwrap_or(text.len());
    let (token, after) = text.split_at(length);
    let body = token.trim_end_matches('=');
    let is_token68 = !body.is_empty() && !body.contains(['=', '"']);
    let ends = after.trim_start_matches([' ', '\t']);
    if is_token68 && (ends.is_empty() || ends.starts_with(',')) { after } else { text }
}

fn value_of(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let length = text.find([',', ' ', '\t']).unwrap_or(text.len());
        let (value, after) = text.split_at(length);
        return Some((value.to_owned(), after));
    };
    let (mut value, mut characters) = (String::new(), quoted.char_indices());
    while let Some((at, one)) = characters.next() {
        match one {
            '"' => return Some((value, &quoted[at + 1..])),
            '\\' => value.push(characters.next()?.1),
            one => value.push(one),
        }
    }
    None
}

fn is_token(one: char) -> bool {
    one.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(one)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Algorithm {
    Md5,
    Sha256,
}

impl Algorithm {
    fn hash(self, text: &str) -> String {
        let octets = match self {
            Self::Md5 => Md5::digest(text.as_bytes()).to_vec(),
            Self::Sha256 => Sha256::digest(text.as_bytes()).to_vec(),
        };
        octets.iter().fold(String::new(), |mut hex, octet| {
            // Writing to a string does not fail.
            let _ = write!(hex, "{octet:02x}");
            hex
        })
    }
}

#[derive(Debug)]
pub struct Digest {
    algorithm: Algorithm,
    algorithm_name: Option<String>,
    is_session: bool,
    realm: String,
    has_quality: bool,
    has_utf8: bool,
    user: String,
    secret: String,
    client_nonce: String,
    turn: RefCell<Turn>,
}

#[derive(Debug)]
struct Turn {
    nonce: String,
    opaque: Option<String>,
    count: u32,
}

impl Turn {
    fn of(challenge: &Challenge) -> Option<Self> {
        let nonce = challenge.parameter("nonce")?.to_owned();
        let opaque = challenge.parameter("opaque").map(str::to_owned);
        Some(Self { nonce, opaque, count: 0 })
    }
}

impl Digest {
    /// The safest supported Digest challenge. `client_nonce` is random.
    pub fn of(challenges: &[Challenge], who: &Credentials, client_nonce: &str) -> Option<Self> {
        let known = challenges.iter().filter(|one| one.is("Digest"));
        known.filter_map(|one| Self::new(one, who, client_nonce)).max_by_key(|one| one.algorithm)
    }

    fn new(challenge: &Challenge, who: &Credentials, client_nonce: &str) -> Option<Self> {
        let name = challenge.parameter("algorithm");
        let upper = name.unwrap_or("MD5").to_ascii_uppercase();
        let (plain, is_session) = match upper.strip_suffix("-SESS") {
            Some(plain) => (plain, true),
            None => (upper.as_str(), false),
        };
        let algorithm = match plain {
            "MD5" => Algorithm::Md5,
            "SHA-256" => Algorithm::Sha256,
            _ => return None,
        };
        let quality = challenge.parameter("qop");
        let has_quality = quality.is_some_and(takes_auth);
        // `auth-int` also covers the body, which would have to be read before its header is sent.
        if quality.is_some() && !has_quality {
            return None;
        }
        let realm = challenge.parameter("realm")?.to_owned();
        let secret = algorithm.hash(&format!("{}:{realm}:{}", who.user, who.secret));
        let has_utf8 =
            challenge.parameter("charset").is_some_and(|one| one.eq_ignore_ascii_case("utf-8"));
        Some(Self {
            algorithm,
            algorithm_name: name.map(str::to_owned),
            is_session,
            realm,
            has_quality,
            has_utf8,
            user: who.user.clone(),
            secret,
            client_nonce: client_nonce.to_owned(),
            turn: RefCell::new(Turn::of(challenge)?),
        })
    }

    /// Continue with a newer nonce if the server only needs that. It either says so (`stale`, RFC
    /// 7616, section 3.3), or has accepted the previous nonce.
    pub fn renew(&self, challenges: &[Challenge]) -> bool {
        let newer = challenges.iter().find(|one| {
            one.is("Digest")
                && one.parameter("algorithm") == self.algorithm_name.as_deref()
                && one.parameter("realm") == Some(self.realm.as_str())
        });
        let newer = newer.and_then(Turn::of).filter(|newer| {
            let before = self.turn.borrow();
            is_stale(challenges) || before.count > 1 && before.nonce != newer.nonce
        });
        let is_newer = newer.is_some();
        if let Some(newer) = newer {
            self.turn.replace(newer);
        }
        is_newer
    }

    pub fn name(&self) -> String {
        let name = self.algorithm_name.as_deref().unwrap_or("MD5");
        format!("Digest {name}")
    }

    /// The authorization field of a request.
    ///
    /// # Errors
    /// The user's name is not allowed in a header.
    pub fn authorization(&self, method: &str, uri: &str) -> Result<HeaderValue> {
        let mut turn = self.turn.borrow_mut();
        turn.count = turn.count.wrapping_add(1);
        let request = self.algorithm.hash(&format!("{method}:{uri}"));
        let (count, nonce, own) = (turn.count, &turn.nonce, &self.client_nonce);
        let secret = if self.is_session {
            &self.algorithm.hash(&format!("{}:{nonce}:{own}", self.secret))
        } else {
            &self.secret
        };
        let response = if self.has_quality {
            format!("{secret}:{nonce}:{count:08x}:{own}:auth:{request}")
        } else {
            format!("{secret}:{nonce}:{request}")
        };
        let mut text = format!(
            "Digest {}, realm={}, nonce={}, uri={}, response=\"{}\"",
            self.user_field(),
            quoted(&self.realm),
            quoted(nonce),
            quoted(uri),
            self.algorithm.hash(&response)
        );
        if let Some(name) = &self.algorithm_name {
            let _ = write!(text, ", algorithm={name}");
        }
        if let Some(opaque) = &turn.opaque {
            let _ = write!(text, ", opaque={}", quoted(opaque));
        }
        if self.has_quality {
            let _ = write!(text, ", qop=auth, nc={count:08x}");
        }
        if self.has_quality || self.is_session {
            let _ = write!(text, ", cnonce={}", quoted(own));
        }
        let mut value = HeaderValue::from_str(&text)
            .map_err(|error| Fault::new(Class::Login, format!("name and password: {error}")))?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// The user's name, encoded if necessary and supported by the server (RFC 7616, section 3.4).
    fn user_field(&self) -> String {
        if self.user.is_ascii() || !self.has_utf8 {
            return format!("username={}", quoted(&self.user));
        }
        let mut text = "username*=UTF-8''".to_owned();
        for octet in self.user.bytes() {
            if octet.is_ascii_alphanumeric() {
                text.push(char::from(octet));
            } else {
                let _ = write!(text, "%{octet:02X}");
            }
        }
        text
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn is_stale(challenges: &[Challenge]) -> bool {
    let mut stale = challenges.iter().filter_map(|one| one.parameter("stale"));
    stale.any(|stale| stale.eq_ignore_ascii_case("true"))
}

fn takes_auth(quality: &str) -> bool {
    quality.split(',').any(|one| one.trim().eq_ignore_ascii_case("auth"))
}

pub fn takes_basic(challenges: &[Challenge]) -> bool {
    challenges.iter().any(|one| one.is("Basic"))
}

pub fn names(challenges: &[Challenge]) -> String {
    let mut names: Vec<String> = Vec::new();
    for one in challenges {
        let mut name = one.scheme.clone();
        if one.is("Digest") {
            let of_the_body = one.parameter("qop").filter(|quality| !takes_auth(quality));
            for part in one.parameter("algorithm").into_iter().chain(of_the_body) {
                // Writing to a string does not fail.
                let _ = write!(name, " {part}");
            }
        }
        let name = format!("`{name}`");
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn who(user: &str, secret: &str) -> Credentials {
        Credentials {
            user: user.to_owned(),
            secret: secret.to_owned(),
            domain: None,
            passphrase: None,
        }
    }

    /// The example of RFC 7616, section 3.9.1, whose server offers both algorithms.
    #[test]
    fn the_published_example_gets_the_published_response() {
        let offered = |algorithm: &str| {
            format!(
                "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", \
                 algorithm={algorithm}, nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", \
                 opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
            )
        };
        let own = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
        for (algorithms, response) in [
            (&["MD5"][..], "8ca523f5e9506fed4657c9700eebdbec"),
            (
                &["MD5", "SHA-256", "SHA-512-256"],
                "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1",
            ),
        ] {
            let fields: Vec<String> = algorithms.iter().map(|one| offered(one)).collect();
            let found = challenges(fields.iter().map(String::as_str));
            assert_eq!(found.len(), algorithms.len());
            let digest = Digest::of(&found, &who("Mufasa", "Circle of Life"), own).unwrap();
            let value = digest.authorization("GET", "/dir/index.html").unwrap();
            assert!(value.is_sensitive());
            let text = value.to_str().unwrap();
            assert!(text.contains(&format!("response=\"{response}\"")), "{text}");
            for part in
                ["username=\"Mufasa\"", "uri=\"/dir/index.html\"", "nc=00000001", "qop=auth"]
            {
                assert!(text.contains(part), "{text}");
            }
            let again = digest.authorization("GET", "/dir/index.html").unwrap();
            assert!(again.to_str().unwrap().contains("nc=00000002"));
        }
    }

    #[test]
    fn rfc_2069_servers_get_no_nonce_count() {
        // RFC 2617, section 3.5, without `qop`: computed with md5sum.
        let found = challenges(["Digest realm=\"r\", nonce=\"n\""].into_iter());
        let digest = Digest::of(&found, &who("u", "p"), "own").unwrap();
        let text = digest.authorization("GET", "/").unwrap();
        let text = text.to_str().unwrap();
        assert!(!text.contains("nc=") && !text.contains("cnonce"), "{text}");
        let md5 = |text: &str| Algorithm::Md5.hash(text);
        let wanted = md5(&format!("{}:n:{}", md5("u:r:p"), md5("GET:/")));
        assert!(text.contains(&wanted), "{text}");
    }

    #[test]
    fn schemes_are_found_in_one_field_or_several() {
        let found = challenges(
            [
                "Negotiate, NTLM TlRMTVNTUAAC==, Basic realm=\"a, \\\"b\\\"\"",
                "Digest realm=r, nonce=\"x,y\" , stale=TRUE, qop=\"auth-int\"",
            ]
            .into_iter(),
        );
        assert_eq!(names(&found), "`Negotiate`, `NTLM`, `Basic`, `Digest auth-int`");
        assert_eq!(found[2].parameter("REALM"), Some("a, \"b\""));
        assert_eq!(found[3].parameter("nonce"), Some("x,y"));
        assert!(takes_basic(&found) && is_stale(&found));
        let digest = challenges(["Digest realm=r, nonce=old"].into_iter());
        let digest = Digest::of(&digest, &who("u", "p"), "own").unwrap();
        let fresh = challenges(["Digest realm=r, nonce=new, stale=true"].into_iter());
        assert!(digest.renew(&fresh) && !digest.renew(&found[..3]));
        let text = digest.authorization("GET", "/").unwrap();
        assert!(text.to_str().unwrap().contains("nonce=\"new\""));
        // A challenge that is not stale is a refusal, unless the server has accepted the previous
        // nonce.
        let other = challenges(["Digest realm=r, nonce=other"].into_iter());
        assert!(!digest.renew(&other));
        digest.authorization("GET", "/").unwrap();
        assert!(!digest.renew(&challenges(["Digest realm=r, nonce=new"].into_iter())));
        assert!(digest.renew(&other) && !digest.renew(&fresh[..0]));
        // `auth-int` hashes the body, which is not known when its header is sent.
        assert!(Digest::of(&found, &who("u", "p"), "own").is_none());
        assert_eq!(challenges(["", ", ,"].into_iter()), []);
    }

    #[test]
    fn names_and_values_are_quoted_correctly() {
        let found = challenges(["Digest realm=\"r\\\\\", nonce=n, charset=UTF-8"].into_iter());
        let text = |user: &str| {
            let digest = Digest::of(&found, &who(user, "p"), "own").unwrap();
            digest.authorization("GET", "/a\"b").unwrap().to_str().unwrap().to_owned()
        };
        assert!(text("a\"b").contains("username=\"a\\\"b\", realm=\"r\\\\\""), "{}", text("a\"b"));
        assert!(text("jörg").contains("username*=UTF-8''j%C3%B6rg"), "{}", text("jörg"));
    }

    proptest! {
        #[test]
        fn any_field_is_parsed_without_panic(field in "[ -~]{0,80}") {
            let found = challenges(std::iter::once(field.as_str()));
            let _ = (names(&found), Digest::of(&found, &who("u", "p"), "own"));
        }
    }
}
