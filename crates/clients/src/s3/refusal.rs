//! Why an S3 server refuses a request.

use hyper::StatusCode;
use lanlab_files::{Class, Fault};
use lanlab_wire::xml;

use crate::http;

const SAID: usize = 200;

pub fn refusal(what: &str, status: StatusCode, text: &[u8]) -> Fault {
    let Some((code, said)) = code(text) else {
        let fault = http::refusal(what, status, text);
        return match status {
            StatusCode::UNAUTHORIZED => fault.hint(
                "S3 servers answer 403: check host and port for another service, or a proxy with a login",
            ),
            _ => fault,
        };
    };
    let class = match code.as_str() {
        "NoSuchBucket" | "NoSuchKey" | "NoSuchUpload" => Class::Missing,
        "AccessDenied" | "AllAccessDisabled" | "AccountProblem" => Class::Denied,
        "InvalidAccessKeyId"
        | "SignatureDoesNotMatch"
        | "AuthorizationHeaderMalformed"
        | "AuthorizationQueryParametersError"
        | "NotSignedUp"
        | "ExpiredToken"
        | "InvalidToken"
        | "RequestTimeTooSkewed" => Class::Login,
        "PreconditionFailed" | "ConditionalRequestConflict" => Class::Exists,
        "EntityTooLarge" | "QuotaExceeded" | "InsufficientStorage" | "XMinioStorageFull" => {
            Class::NoSpace
        }
        "KeyTooLongError" | "InvalidURI" | "InvalidObjectName" | "XMinioInvalidObjectName" => {
            Class::Name
        }
        "IncompleteBody" => Class::Length,
        "NotImplemented" | "MethodNotAllowed" => Class::Unsupported,
        "RequestTimeout" => Class::TimedOut,
        _ => http::refusal(what, status, text).class,
    };
    let fault = Fault::new(class, format!("{what}: the server answers {code}: {said}"));
    match code.as_str() {
        "InvalidAccessKeyId" => fault.hint("check the access key"),
        "SignatureDoesNotMatch" => {
            fault.hint("check the secret key, and whether a proxy changes `Host` or the path")
        }
        "RequestTimeTooSkewed" => fault.hint("set the clock of this host or of the server"),
        "AuthorizationHeaderMalformed" | "AuthorizationQueryParametersError" => {
            fault.hint("name the region of the bucket, as in `s3://KEY@HOST/BUCKET?region=REGION`")
        }
        "PermanentRedirect" | "TemporaryRedirect" => match element(text, "Endpoint") {
            Some(place) => fault.hint(format!("the bucket is at `{place}`: name that host")),
            None => fault,
        },
        _ => fault,
    }
}

/// Code and message of an error document, which may come with a success status.
pub fn code(text: &[u8]) -> Option<(String, String)> {
    Some((element(text, "Code")?, element(text, "Message").unwrap_or_default()))
}

pub fn element(text: &[u8], wanted: &str) -> Option<String> {
    let mut found = None;
    xml::elements(text, |names, text| match names {
        [error, name] if error == "Error" && name == wanted => {
            let clean = text.chars().filter(|character| !character.is_control());
            found = Some(clean.take(SAID).collect());
        }
        _ => {}
    })
    .ok()?;
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_code_outranks_the_status() {
        let class = |status: u16, text: &str| {
            refusal("GET x", StatusCode::from_u16(status).unwrap(), text.as_bytes()).class
        };
        let error = |code| format!("<?xml version='1.0'?><Error><Code>{code}</Code></Error>");
        assert_eq!(class(403, &error("SignatureDoesNotMatch")), Class::Login);
        assert_eq!(class(403, &error("AccessDenied")), Class::Denied);
        assert_eq!(class(404, &error("NoSuchBucket")), Class::Missing);
        assert_eq!(class(507, &error("Unknown")), Class::NoSpace);
        assert_eq!(class(412, "no document"), Class::Exists);
    }

    #[test]
    fn a_status_that_s3_never_sends_is_explained() {
        let fault = refusal("GET x", StatusCode::UNAUTHORIZED, b"<html>login</html>");
        assert_eq!(fault.class, Class::Login);
        assert_eq!(fault.message, "GET x: the server answers 401 Unauthorized");
        assert!(fault.hint.is_some_and(|hint| hint.contains("a proxy with a login")));
    }

    #[test]
    fn server_messages_are_shortened_and_cleaned() {
        let text =
            format!("<Error><Code>Odd</Code><Message>a\x07{}</Message></Error>", "x".repeat(999));
        let fault = refusal("GET x", StatusCode::BAD_REQUEST, text.as_bytes());
        assert_eq!(fault.class, Class::Protocol);
        assert_eq!(fault.message, format!("GET x: the server answers Odd: a{}", "x".repeat(199)));
    }
}
