//! Admitted and refused requests, from the examples of the Amazon S3 API Reference.

use std::time::UNIX_EPOCH;

use hyper::Request;
use lanlab_wire::sigv4;
use proptest::prelude::*;

use super::*;

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const TIME_S: u64 = 1_369_353_600;
const AUTHORIZATION_OF_GET: &str = "AWS4-HMAC-SHA256 \
    Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
    SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,\
    Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
const URL: &str = "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=\
    AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&\
    X-Amz-Expires=86400&X-Amz-SignedHeaders=host&\
    X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";

fn user() -> Credentials {
    let (user, secret) = ("AKIAIOSFODNN7EXAMPLE".to_owned(), SECRET.to_owned());
    Credentials { user, secret, domain: None, passphrase: None }
}

fn asked(method: &str, uri: &str, fields: &[(&str, &str)]) -> Asked {
    let mut request = Request::builder().method(method).uri(uri);
    request = request.header("Host", "examplebucket.s3.amazonaws.com");
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    Asked::of(request.body(()).unwrap().into_parts().0).unwrap()
}

fn get(authorization: &str, other: &[(&str, &str)]) -> Asked {
    let mut fields = vec![
        ("Authorization", authorization),
        ("Range", "bytes=0-9"),
        ("x-amz-content-sha256", sigv4::OF_NOTHING),
        ("x-amz-date", "20130524T000000Z"),
    ];
    fields.extend(other);
    asked("GET", "/test.txt", &fields)
}

fn code(asked: &Asked, now_s: u64) -> Result<(), Code> {
    let now = UNIX_EPOCH + Duration::from_secs(now_s);
    admit(asked, Some(&user()), now).map(drop).map_err(|refusal| refusal.code)
}

#[test]
fn signed_headers_are_valid_for_15_minutes() {
    let asked = get(AUTHORIZATION_OF_GET, &[]);
    for (now_s, wanted) in [
        (TIME_S, Ok(())),
        (TIME_S - 900, Ok(())),
        (TIME_S + 900, Ok(())),
        (TIME_S - 901, Err(Code::RequestTimeTooSkewed)),
        (TIME_S + 901, Err(Code::RequestTimeTooSkewed)),
    ] {
        assert_eq!(code(&asked, now_s), wanted, "{now_s}");
    }
}

#[test]
fn signed_urls_are_valid_until_their_expiry() {
    for (now_s, wanted) in [
        (TIME_S, Ok(())),
        (TIME_S + 86_400, Ok(())),
        (TIME_S + 86_401, Err(Code::AccessDenied)),
        (TIME_S - 901, Err(Code::RequestTimeTooSkewed)),
    ] {
        assert_eq!(code(&asked("GET", URL, &[]), now_s), wanted, "{now_s}");
    }
    let longer = URL.replace("=86400", "=604801");
    let refused = Err(Code::AuthorizationQueryParametersError);
    assert_eq!(code(&asked("GET", &longer, &[]), TIME_S), refused);
    for missing in ["X-Amz-Date", "X-Amz-Expires", "X-Amz-Signature", "X-Amz-Credential"] {
        let without = URL.replace(missing, "x-id");
        assert_eq!(code(&asked("GET", &without, &[]), TIME_S), refused, "{missing}");
    }
}

#[test]
fn any_change_after_signing_is_refused() {
    let wrong = Err(Code::SignatureDoesNotMatch);
    for (what, asked) in [
        ("method", asked("PUT", URL, &[])),
        ("path", asked("GET", &URL.replace("test", "text"), &[])),
        ("query", asked("GET", &format!("{URL}&x-id=a"), &[])),
        ("region", asked("GET", &URL.replace("us-east-1", "us-west-1"), &[])),
        ("duration", asked("GET", &URL.replace("=86400", "=86401"), &[])),
        ("signature", asked("GET", &URL.replace("aeeed9", "beeed9"), &[])),
        ("length", asked("GET", URL.strip_suffix("04").unwrap(), &[])),
        ("head", get(&AUTHORIZATION_OF_GET.replace("f0e8", "f0e9"), &[])),
        ("range", get(AUTHORIZATION_OF_GET, &[("range", "bytes=0-99")])),
    ] {
        assert_eq!(code(&asked, TIME_S), wrong, "{what}");
    }
    // Fields that S3 acts on must be signed, and no other user is known.
    let unsigned = get(AUTHORIZATION_OF_GET, &[("x-amz-copy-source", "/a/b")]);
    assert_eq!(code(&unsigned, TIME_S), Err(Code::AccessDenied));
    let without_host = AUTHORIZATION_OF_GET.replace("host;", "");
    assert_eq!(code(&get(&without_host, &[]), TIME_S), Err(Code::AccessDenied));
    let other = URL.replace("AKIA", "BKIA");
    assert_eq!(code(&asked("GET", &other, &[]), TIME_S), Err(Code::InvalidAccessKeyId));
}

#[test]
fn requests_without_version_4_signatures_are_reported() {
    for (authorization, wanted) in [
        ("AWS AKIAIOSFODNN7EXAMPLE:abc=", Code::AuthorizationHeaderMalformed),
        ("AWS4-HMAC-SHA256", Code::AuthorizationHeaderMalformed),
        ("AWS4-HMAC-SHA256 Credential=a/b/c/iam/aws4_request", Code::AuthorizationHeaderMalformed),
    ] {
        assert_eq!(code(&get(authorization, &[]), TIME_S), Err(wanted), "{authorization}");
    }
    assert_eq!(code(&asked("GET", "/b/k", &[]), TIME_S), Err(Code::AccessDenied));
    let both = asked("GET", URL, &[("Authorization", AUTHORIZATION_OF_GET)]);
    assert_eq!(code(&both, TIME_S), Err(Code::InvalidArgument));
    // Without credentials any user is admitted.
    let payload = admit(&asked("GET", "/b/k", &[]), None, UNIX_EPOCH).unwrap();
    assert!(matches!(payload, Payload::Unsigned));
    for odd in ["", "abc", "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD"] {
        let asked = asked("PUT", "/b/k", &[("x-amz-content-sha256", odd)]);
        assert!(admit(&asked, None, UNIX_EPOCH).is_err(), "{odd}");
    }
}

proptest! {
    #[test]
    fn any_authorization_header_is_handled_without_panic(authorization in "(AWS4-HMAC-SHA256 )?[ -~]{0,200}", query in "[!-~]{0,200}") {
        let uri = format!("/b/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&{query}");
        let fields = [("authorization", authorization.as_str()), ("x-amz-date", "20130524T000000Z")];
        for fields in [&fields[..], &[]] {
            let Ok(mut request) = Request::builder().uri(&uri).body(()) else { continue };
            for (name, value) in fields {
                request.headers_mut().insert(*name, value.parse().unwrap());
            }
            if let Ok(asked) = Asked::of(request.into_parts().0) {
                prop_assert!(admit(&asked, Some(&user()), UNIX_EPOCH).is_err());
            }
        }
    }
}
