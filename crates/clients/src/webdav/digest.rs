//! The authentication schemes that an HTTP server accepts (RFC 9110, section 11), and the Digest
//! scheme (RFC 7616), which does not send the password.

use std::cell::RefCell;
use std::fmt::Write as _;

use http_auth::digest::{Algorithm, DigestClient, Qop};
use http_auth::parser::ChallengeParser;
use http_auth::{ChallengeRef, PasswordParams};
use hyper::header::HeaderValue;
use lanlab_files::{Class, Credentials, Fault, Result};

/// Parse the fields of a response that list authentication schemes, each up to its first invalid part.
pub fn challenges<'a>(fields: impl Iterator<Item = &'a str>) -> Vec<ChallengeRef<'a>> {
    fields
        .flat_map(|field| ChallengeParser::new(field).map_while(std::result::Result::ok))
        .collect()
}

fn parameter(of: &ChallengeRef<'_>, name: &str) -> Option<String> {
    let found = of.params.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.to_unescaped())
}

/// `auth-int` also covers the body, which would have to be read before its header is sent.
fn client(of: &ChallengeRef<'_>) -> Option<DigestClient> {
    DigestClient::try_from(of).ok().filter(|client| client.qop() & Qop::Auth)
}

#[derive(Debug)]
pub struct Digest {
    client: RefCell<DigestClient>,
    who: Credentials,
}

impl Digest {
    /// The safest supported Digest challenge.
    pub fn of(challenges: &[ChallengeRef<'_>], who: &Credentials) -> Option<Self> {
        let known = challenges.iter().filter_map(client);
        let best = known.max_by_key(|client| match client.algorithm() {
            Algorithm::Md5 => 0,
            Algorithm::Sha256 => 1,
            _ => 2,
        })?;
        Some(Self { client: RefCell::new(best), who: who.clone() })
    }

    /// Continue with a newer nonce if the server only needs that. It either says so (`stale`, RFC
    /// 7616, section 3.3), or has accepted the previous nonce.
    pub fn renew(&self, challenges: &[ChallengeRef<'_>]) -> bool {
        let mut before = self.client.borrow_mut();
        let newer = challenges.iter().filter_map(client).find(|newer| {
            let is_same =
                newer.algorithm() == before.algorithm() && newer.realm() == before.realm();
            is_same
                && (newer.stale() || before.nonce_count() > 1 && newer.nonce() != before.nonce())
        });
        let is_newer = newer.is_some();
        if let Some(newer) = newer {
            *before = newer;
        }
        is_newer
    }

    pub fn name(&self) -> &'static str {
        match self.client.borrow().algorithm() {
            Algorithm::Md5 => "Digest MD5",
            Algorithm::Sha256 => "Digest SHA-256",
            _ => "Digest SHA-512-256",
        }
    }

    /// The authorization field of a request.
    pub fn authorization(&self, method: &str, uri: &str) -> Result<HeaderValue> {
        let Credentials { user, secret, .. } = &self.who;
        let asked = PasswordParams { username: user, password: secret, uri, method, body: None };
        let refused = |error| Fault::new(Class::Login, format!("name and password: {error}"));
        let text = self.client.borrow_mut().respond(&asked).map_err(refused)?;
        let mut value = HeaderValue::from_str(&text).map_err(|error| refused(error.to_string()))?;
        value.set_sensitive(true);
        Ok(value)
    }
}

pub fn takes_basic(challenges: &[ChallengeRef<'_>]) -> bool {
    challenges.iter().any(|one| one.scheme.eq_ignore_ascii_case("Basic"))
}

pub fn names(challenges: &[ChallengeRef<'_>]) -> String {
    let mut names: Vec<String> = Vec::new();
    for one in challenges {
        let mut name = one.scheme.to_owned();
        if one.scheme.eq_ignore_ascii_case("Digest") {
            let of_the_body = parameter(one, "qop").filter(|quality| quality == "auth-int");
            for part in parameter(one, "algorithm").into_iter().chain(of_the_body) {
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

    fn digest(field: &str) -> Option<Digest> {
        Digest::of(&challenges(std::iter::once(field)), &who("u", "p"))
    }

    fn sent(digest: &Digest) -> String {
        let value = digest.authorization("GET", "/a").unwrap();
        assert!(value.is_sensitive());
        value.to_str().unwrap().to_owned()
    }

    #[test]
    fn the_safest_algorithm_counts_its_requests() {
        let best = digest(
            "Digest realm=r, nonce=n, algorithm=MD5, qop=\"auth\", \
             Digest realm=r, nonce=n, algorithm=SHA-256, qop=\"auth-int, auth\", Basic realm=r",
        );
        let best = best.unwrap();
        assert_eq!(best.name(), "Digest SHA-256");
        assert!(sent(&best).contains("nc=00000001"));
        let text = sent(&best);
        for part in ["username=\"u\"", "uri=\"/a\"", "nc=00000002", "qop=auth"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn schemes_are_found_in_one_field_or_several() {
        let fields = [
            "Negotiate, Basic realm=\"a, \\\"b\\\"\"",
            "NTLM TlRMTVNTUAAC==",
            "Digest realm=r, nonce=\"x,y\" , stale=TRUE, qop=\"auth-int\"",
        ];
        let found = challenges(fields.into_iter());
        assert_eq!(names(&found), "`Negotiate`, `Basic`, `Digest auth-int`");
        assert!(takes_basic(&found));
        // `auth-int` hashes the body, which is not known when its header is sent.
        assert!(Digest::of(&found, &who("u", "p")).is_none());
        assert!(challenges(["", ", ,"].into_iter()).is_empty());
    }

    #[test]
    fn only_a_stale_or_once_accepted_nonce_is_replaced() {
        let first = digest("Digest realm=r, nonce=old").unwrap();
        let renews = |field: &str| first.renew(&challenges(std::iter::once(field)));
        assert!(!renews("Digest realm=r, nonce=new"));
        assert!(!renews("Digest realm=other, nonce=new, stale=true"));
        assert!(!renews("Basic realm=r"));
        assert!(renews("Digest realm=r, nonce=new, stale=true"));
        assert!(sent(&first).contains("nonce=\"new\""));
        // A challenge that is not stale is a refusal, unless the server has accepted the previous
        // nonce.
        assert!(!renews("Digest realm=r, nonce=other"));
        sent(&first);
        assert!(!renews("Digest realm=r, nonce=new"));
        assert!(renews("Digest realm=r, nonce=other"));
    }

    proptest! {
        #[test]
        fn any_field_is_parsed_without_panic(field in "[ -~]{0,80}") {
            let found = challenges(std::iter::once(field.as_str()));
            let _ = (names(&found), Digest::of(&found, &who("u", "p")));
        }
    }
}
