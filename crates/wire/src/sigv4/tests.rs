//! The examples of the Amazon S3 API Reference, "Signature Calculations for the Authorization
//! Header" and "Authenticating Requests: Using Query Parameters".

use super::*;

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const TIME: &str = "20130524T000000Z";
const SCOPE: Scope<'static> = Scope { day: "20130524", region: "us-east-1" };
const HOST: (&str, &str) = ("host", "examplebucket.s3.amazonaws.com");
const DATE: (&str, &str) = ("x-amz-date", TIME);

fn signature(signed: &Signed<'_>) -> String {
    let (key, text) = (Key::new(SECRET, &SCOPE), signed.text(TIME, &SCOPE));
    let signature = key.sign(&text);
    assert!(key.has_signed(&text, &signature));
    assert!(!key.has_signed(&text, &signature.replace(['1', '2'], "3")));
    signature
}

#[test]
fn get_requests_are_signed_as_documented() {
    let signed = Signed {
        method: "GET",
        path: "/test.txt",
        query: &[],
        fields: &[HOST, ("range", "bytes=0-9"), ("x-amz-content-sha256", OF_NOTHING), DATE],
        payload: OF_NOTHING,
    };
    assert_eq!(
        signature(&signed),
        "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    );
}

#[test]
fn put_requests_are_signed_as_documented() {
    let payload = hex::encode(Sha256::digest("Welcome to Amazon S3."));
    let signed = Signed {
        method: "PUT",
        path: "/test$file.text",
        query: &[],
        fields: &[
            ("date", "Fri, 24 May 2013 00:00:00 GMT"),
            HOST,
            ("x-amz-content-sha256", &payload),
            DATE,
            ("x-amz-storage-class", " REDUCED_REDUNDANCY"),
        ],
        payload: &payload,
    };
    assert_eq!(
        signature(&signed),
        "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
    );
}

#[test]
fn parameters_are_signed_as_documented() {
    let fields = [HOST, ("x-amz-content-sha256", OF_NOTHING), DATE];
    let of = |query| {
        signature(&Signed { method: "GET", path: "/", query, fields: &fields, payload: OF_NOTHING })
    };
    assert_eq!(
        of(&[("lifecycle", "")]),
        "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
    );
    assert_eq!(
        of(&[("prefix", "J"), ("max-keys", "2")]),
        "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
    );
}

#[test]
fn urls_are_signed_as_documented() {
    let credential = format!("AKIAIOSFODNN7EXAMPLE/{}", SCOPE.text());
    let signed = Signed {
        method: "GET",
        path: "/test.txt",
        query: &[
            ("X-Amz-Algorithm", ALGORITHM),
            ("X-Amz-Credential", &credential),
            ("X-Amz-Date", TIME),
            ("X-Amz-Expires", "86400"),
            ("X-Amz-SignedHeaders", "host"),
        ],
        fields: &[HOST],
        payload: UNSIGNED,
    };
    assert_eq!(
        signature(&signed),
        "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
    );
}

#[test]
fn a_scope_is_one_of_s3() {
    assert_eq!(Scope::parse(&SCOPE.text()), Some(SCOPE));
    for other in ["", "20130524", "a/b/iam/aws4_request", "a/b/s3/aws4_request/", "a/b/s3/aws5"] {
        assert_eq!(Scope::parse(other), None, "{other}");
    }
}
