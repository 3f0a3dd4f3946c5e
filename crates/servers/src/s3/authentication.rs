//! Authentication of requests by a signature in the head or URL.
//!
//! Source: Amazon S3 API Reference, "Authenticating Requests (AWS Signature Version 4)". Any region is accepted:
//! there is one bucket, and clients have different default regions. URLs may also be signed by version 2.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hex::FromHex;
use hyper::header::AUTHORIZATION;
use lanlab_files::Credentials;
use lanlab_wire::calendar;
use lanlab_wire::sigv4::{ALGORITHM, ChunkSignatures, Key, Scope, Signed, UNSIGNED};
use subtle::ConstantTimeEq;

use super::refusal::{Code, Refusal};
use super::request::Asked;

/// Allowed clock difference to the client, as in S3.
const SKEW: Duration = Duration::from_mins(15);

/// Longest validity of a signed URL, as in S3.
const MAX_SIGNED_FOR_S: u64 = 7 * 86_400;

mod version2;

/// Chunked bodies: signed, signed with signed trailers, or unsigned.
const SIGNED_CHUNKS: &str = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
const SIGNED_CHUNKS_AND_FIELDS: &str = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER";
const CHUNKS: &str = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";

#[derive(Debug, Clone)]
pub enum Payload {
    Unsigned,
    /// Plain content with this SHA-256.
    Hash([u8; 32]),
    Chunks,
    SignedChunks(Box<ChunkSignatures>, bool),
}

struct Claim<'a> {
    user: &'a str,
    scope: Scope<'a>,
    time: &'a str,
    signed_fields: &'a str,
    signature: &'a str,
    payload: &'a str,
    signed_for_s: Option<u64>,
}

/// Admit a request signed by the `wanted` user, or any request.
pub fn admit(
    asked: &Asked,
    wanted: Option<&Credentials>,
    now: SystemTime,
) -> Result<Payload, Refusal> {
    let Some(wanted) = wanted else {
        // An open server still has to know the framing of the body.
        return payload(asked.field("x-amz-content-sha256").unwrap_or(UNSIGNED), None);
    };
    if version2::is_signed(asked) {
        version2::check(asked, wanted, now)?;
        return payload(asked.field("x-amz-content-sha256").unwrap_or(UNSIGNED), None);
    }
    let claim = claim(asked)?;
    let is_wanted = bool::from(claim.user.as_bytes().ct_eq(wanted.user.as_bytes()));
    let key = Key::new(&wanted.secret, &claim.scope);
    in_time(&claim, now)?;
    let fields = signed_fields(asked, &claim)?;
    let query: Vec<(&str, &str)> = asked
        .query
        .iter()
        .filter(|(name, _)| claim.signed_for_s.is_none() || name != "X-Amz-Signature")
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let fields: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let signed = Signed {
        method: asked.method.as_str(),
        path: &asked.path,
        query: &query,
        fields: &fields,
        payload: claim.payload,
    };
    if !is_wanted {
        return Err(Refusal::new(Code::InvalidAccessKeyId, "no user of this access key is known"));
    }
    if !key.has_signed(&signed.text(claim.time, &claim.scope), claim.signature) {
        return Err(Code::SignatureDoesNotMatch.into());
    }
    let signatures = ChunkSignatures::new(key, claim.time, &claim.scope, claim.signature);
    payload(claim.payload, Some(signatures))
}

/// Framing of the body. Without `signatures`, chunk signatures are not verified: the server is open, or the head is
/// signed by version 2, which covers no body.
fn payload(said: &str, signatures: Option<ChunkSignatures>) -> Result<Payload, Refusal> {
    let of_chunks = |signs_fields| match signatures {
        Some(signatures) => Payload::SignedChunks(Box::new(signatures), signs_fields),
        None => Payload::Chunks,
    };
    Ok(match said {
        UNSIGNED => Payload::Unsigned,
        CHUNKS => Payload::Chunks,
        SIGNED_CHUNKS => of_chunks(false),
        SIGNED_CHUNKS_AND_FIELDS => of_chunks(true),
        hash => Payload::Hash(<[u8; 32]>::from_hex(hash).map_err(|_| {
            let message = format!(
                "`x-amz-content-sha256`: allowed: a SHA-256 of 64 digits, `{UNSIGNED}`, \
                 `{CHUNKS}`, `{SIGNED_CHUNKS}`, `{SIGNED_CHUNKS_AND_FIELDS}`"
            );
            let is_known = hash.starts_with("STREAMING-");
            let code = if is_known { Code::NotImplemented } else { Code::InvalidArgument };
            Refusal::new(code, message)
        })?),
    })
}

fn claim(asked: &Asked) -> Result<Claim<'_>, Refusal> {
    let in_query = asked.parameter("X-Amz-Algorithm").is_some();
    match (asked.headers.get(AUTHORIZATION), in_query) {
        (Some(_), true) => {
            let message = "signed in the head and in the URL; allowed: one of them";
            Err(Refusal::new(Code::InvalidArgument, message))
        }
        (Some(field), false) => field
            .to_str()
            .ok()
            .and_then(|field| field.strip_prefix(ALGORITHM))
            .ok_or_else(|| malformed("the algorithm"))
            .and_then(|field| claim_of_head(asked, field)),
        (None, true) => claim_of_url(asked),
        (None, false) => Err(Refusal::new(Code::AccessDenied, "the request is not signed")),
    }
}

fn malformed(what: &str) -> Refusal {
    let message = format!("`Authorization`: {what} is not as version 4 has it");
    Refusal::new(Code::AuthorizationHeaderMalformed, message)
}

fn claim_of_head<'a>(asked: &'a Asked, field: &'a str) -> Result<Claim<'a>, Refusal> {
    let of = |name: &'static str| {
        let mut parts = field.split(',').filter_map(|part| part.trim().split_once('='));
        parts
            .find(|(found, _)| *found == name)
            .map(|(_, value)| value)
            .ok_or_else(|| malformed(name))
    };
    let (user, scope) = credential(of("Credential")?).ok_or_else(|| malformed("Credential"))?;
    let payload = asked.headers.get("x-amz-content-sha256").and_then(|value| value.to_str().ok());
    let payload = payload.ok_or_else(|| {
        Refusal::new(Code::InvalidRequest, "the head has no `x-amz-content-sha256`")
    })?;
    let time = asked.headers.get("x-amz-date").and_then(|value| value.to_str().ok());
    let time =
        time.ok_or_else(|| Refusal::new(Code::AccessDenied, "the head has no `x-amz-date`"))?;
    let (signed_fields, signature) = (of("SignedHeaders")?, of("Signature")?);
    Ok(Claim { user, scope, time, signed_fields, signature, payload, signed_for_s: None })
}

fn claim_of_url(asked: &Asked) -> Result<Claim<'_>, Refusal> {
    let wrong = |name: &str| {
        let message = format!("`{name}` is missing or not as version 4 has it");
        Refusal::new(Code::AuthorizationQueryParametersError, message)
    };
    let of = |name: &'static str| asked.parameter(name).ok_or_else(|| wrong(name));
    if of("X-Amz-Algorithm")? != ALGORITHM {
        return Err(wrong("X-Amz-Algorithm"));
    }
    let (user, scope) =
        credential(of("X-Amz-Credential")?).ok_or_else(|| wrong("X-Amz-Credential"))?;
    let signed_for_s: u64 = of("X-Amz-Expires")?.parse().map_err(|_| wrong("X-Amz-Expires"))?;
    if !(1..=MAX_SIGNED_FOR_S).contains(&signed_for_s) {
        let message = format!("`X-Amz-Expires`: allowed: 1 to {MAX_SIGNED_FOR_S} seconds");
        return Err(Refusal::new(Code::AuthorizationQueryParametersError, message));
    }
    Ok(Claim {
        user,
        scope,
        time: of("X-Amz-Date")?,
        signed_fields: of("X-Amz-SignedHeaders")?,
        signature: of("X-Amz-Signature")?,
        payload: asked.field("x-amz-content-sha256").unwrap_or(UNSIGNED),
        signed_for_s: Some(signed_for_s),
    })
}

/// User name, which may contain `/`, and scope.
fn credential(text: &str) -> Option<(&str, Scope<'_>)> {
    let (at, _) = text.rmatch_indices('/').nth(3)?;
    Some((&text[..at], Scope::parse(&text[at + 1..])?))
}

fn in_time(claim: &Claim<'_>, now: SystemTime) -> Result<(), Refusal> {
    let time_s =
        calendar::parse_basic(claim.time).filter(|_| claim.time.starts_with(claim.scope.day));
    let Some(time_s) = time_s.filter(|_| claim.scope.day.len() == 8) else {
        let message = "the time is no `20260101T000000Z`, or not of the day that it is signed for";
        return Err(Refusal::new(Code::AccessDenied, message));
    };
    let now_s = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let skew_s = SKEW.as_secs();
    match claim.signed_for_s {
        _ if time_s > now_s + skew_s => {}
        Some(signed_for_s) if now_s <= time_s + signed_for_s => return Ok(()),
        Some(_) => {
            return Err(Refusal::new(
                Code::AccessDenied,
                "the time that the URL was signed for is over",
            ));
        }
        None if now_s <= time_s + skew_s => return Ok(()),
        None => {}
    }
    let message = format!("signed at {}; here it is {}", claim.time, calendar::basic(now_s));
    Err(Refusal::new(Code::RequestTimeTooSkewed, message))
}

/// Names and values of the signed fields. These must include `host` and every field that S3 acts on.
fn signed_fields<'a>(asked: &Asked, claim: &Claim<'a>) -> Result<Vec<(&'a str, String)>, Refusal> {
    let names: Vec<&str> = claim.signed_fields.split(';').collect();
    let is_unsigned = |name: &str| !names.contains(&name);
    let mut heeded = asked.headers.keys().map(hyper::header::HeaderName::as_str);
    if is_unsigned("host") || heeded.any(|name| name.starts_with("x-amz-") && is_unsigned(name)) {
        let message = "`host` or a field `x-amz-…` of the head is not signed";
        return Err(Refusal::new(Code::AccessDenied, message));
    }
    let value = |name: &str| {
        let values = asked.headers.get_all(name).iter();
        let values: Vec<_> =
            values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        values.iter().map(|value| value.trim()).collect::<Vec<_>>().join(",")
    };
    Ok(names.into_iter().map(|name| (name, value(name))).collect())
}

#[cfg(test)]
mod tests;
