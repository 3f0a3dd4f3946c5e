//! URLs signed by version 2. boto3 makes them without a configured region or version, also for
//! other servers than Amazon's.
//!
//! Source: Amazon S3 User Guide, "Signing and authenticating REST requests (AWS signature version
//! 2)". It signs only these parameters of the query: [`SIGNED`] and `x-amz-…`.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, Mac};
use hyper::header::AUTHORIZATION;
use lanlab_files::Credentials;
use sha1::Sha1;
use subtle::ConstantTimeEq;

use crate::s3::refusal::{Code, Refusal};
use crate::s3::request::Asked;

/// Served parameters that are part of the signature.
const SIGNED: [&str; 5] = ["location", "partNumber", "uploadId", "uploads", "versioning"];

pub fn is_signed(asked: &Asked) -> bool {
    ["AWSAccessKeyId", "Signature"].iter().all(|name| asked.parameter(name).is_some())
}

/// Verify a signed URL.
pub fn check(asked: &Asked, wanted: &Credentials, now: SystemTime) -> Result<(), Refusal> {
    if asked.headers.contains_key(AUTHORIZATION) {
        let message = "signed in the head and in the URL; allowed: one of them";
        return Err(Refusal::new(Code::InvalidArgument, message));
    }
    let expires = asked.parameter("Expires").unwrap_or_default();
    let expires_s: u64 = expires.parse().map_err(|_| {
        Refusal::new(Code::AccessDenied, "`Expires`: allowed: seconds since 1970 in a signed URL")
    })?;
    if now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() > expires_s {
        return Err(Refusal::new(
            Code::AccessDenied,
            "the time that the URL was signed for is over",
        ));
    }
    #[allow(clippy::expect_used, reason = "RFC 2104, section 3: a key has any length")]
    let mut mac =
        Hmac::<Sha1>::new_from_slice(wanted.secret.as_bytes()).expect("a key of any length");
    mac.update(text(asked, expires).as_bytes());
    let user = asked.parameter("AWSAccessKeyId").unwrap_or_default();
    if !bool::from(user.as_bytes().ct_eq(wanted.user.as_bytes())) {
        return Err(Refusal::new(Code::InvalidAccessKeyId, "no user of this access key is known"));
    }
    let signature = asked.parameter("Signature").unwrap_or_default();
    let signature = BASE64_STANDARD.decode(signature).unwrap_or_default();
    mac.verify_slice(&signature).map_err(|_| Code::SignatureDoesNotMatch.into())
}

fn text(asked: &Asked, expires: &str) -> String {
    // botocore signs these as fields, and then moves them to the query.
    let field = |name: &str| {
        let in_head = asked.headers.get(name).and_then(|value| value.to_str().ok());
        let in_query = || {
            let mut pairs = asked.query.iter();
            pairs.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| &value[..])
        };
        in_head.or_else(in_query).unwrap_or_default().trim()
    };
    let (md5, kind) = (field("content-md5"), field("content-type"));
    let mut text = format!("{}\n{md5}\n{kind}\n{expires}\n", asked.method);
    // Everything the server acts on, so that nothing can be added to a URL.
    let of_head = asked.headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).trim().to_owned())
    });
    let of_query = asked.query.iter().map(|(name, value)| (name.to_lowercase(), value.clone()));
    let mut heeded: Vec<(String, String)> =
        of_head.chain(of_query).filter(|(name, _)| name.starts_with("x-amz-")).collect();
    heeded.sort();
    for (name, value) in heeded {
        let _ = writeln!(text, "{name}:{value}");
    }
    text.push_str(&asked.raw_path);
    let mut signed: Vec<&(String, String)> =
        asked.query.iter().filter(|(name, _)| SIGNED.contains(&name.as_str())).collect();
    signed.sort();
    for (at, (name, value)) in signed.into_iter().enumerate() {
        text.push(if at == 0 { '?' } else { '&' });
        text.push_str(name);
        if !value.is_empty() {
            text.push('=');
            text.push_str(value);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hyper::Request;

    use super::*;

    const URL: &str = "/johnsmith/photos/puppy.jpg?AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&\
        Signature=NpgCjnDzrM%2BWFzoENXmpNDUsSn8%3D&Expires=1175139620";

    fn code(method: &str, uri: &str, fields: &[(&str, &str)], now_s: u64) -> Result<(), Code> {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let asked = Asked::of(request.body(()).unwrap().into_parts().0).unwrap();
        assert!(is_signed(&asked));
        let wanted = Credentials {
            user: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
            domain: None,
            passphrase: None,
        };
        let now = UNIX_EPOCH + Duration::from_secs(now_s);
        check(&asked, &wanted, now).map_err(|refusal| refusal.code)
    }

    #[test]
    fn version_2_urls_are_valid_until_their_expiry() {
        for (now_s, wanted) in
            [(1_175_139_620, Ok(())), (0, Ok(())), (1_175_139_621, Err(Code::AccessDenied))]
        {
            assert_eq!(code("GET", URL, &[], now_s), wanted, "{now_s}");
        }
        let never = URL.replace("Expires=1175139620", "Expires=never");
        assert_eq!(code("GET", &never, &[], 0), Err(Code::AccessDenied));
    }

    #[test]
    fn changed_or_added_parameters_are_refused() {
        let wrong = Err(Code::SignatureDoesNotMatch);
        for (what, method, uri) in [
            ("method", "PUT", URL.to_owned()),
            ("path", "GET", URL.replace("puppy", "Puppy")),
            ("time", "GET", URL.replace("139620", "139621")),
            ("signature", "GET", URL.replace("Npg", "Npf")),
            ("no signature", "GET", URL.replace("NpgCjnDzrM%2BWFzoENXmpNDUsSn8%3D", "")),
            ("subresource", "GET", format!("{URL}&uploadId=x")),
            ("field in the query", "GET", format!("{URL}&X-Amz-Copy-Source=%2Fa%2Fb")),
            ("version 4", "GET", format!("{URL}&X-Amz-Algorithm=AWS4-HMAC-SHA256")),
        ] {
            assert_eq!(code(method, &uri, &[], 0), wrong, "{what}");
        }
        for (name, value) in
            [("x-amz-copy-source", "/a/b"), ("content-type", "a"), ("content-md5", "a")]
        {
            assert_eq!(code("GET", URL, &[(name, value)], 0), wrong, "{name}");
        }
        let other = URL.replace("AKIA", "BKIA");
        assert_eq!(code("GET", &other, &[], 0), Err(Code::InvalidAccessKeyId));
        let both = code("GET", URL, &[("authorization", "AWS a:b")], 0);
        assert_eq!(both, Err(Code::InvalidArgument));
    }
}
