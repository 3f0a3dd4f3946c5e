//! What follows a head, held against what was said of it.

use hyper::Request;

use super::*;

const LIMIT: u64 = 100;

fn intake(fields: &[(&str, &str)], payload: Payload) -> Result<Intake<Vec<u8>>, Code> {
    let mut request = Request::builder().method("PUT").uri("/lanlab/x");
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    let asked = Asked::of(request.body(()).unwrap().into_parts().0).unwrap();
    let made = Intake::new(&asked, payload, LIMIT, Code::EntityTooLarge, Vec::new());
    made.map_err(|refusal| refusal.code)
}

fn taken(fields: &[(&str, &str)], payload: Payload, data: &[u8]) -> Result<Vec<u8>, Code> {
    let mut intake = intake(fields, payload)?;
    let done = intake.take(data).and_then(|()| intake.finish());
    done.map_err(|refusal| refusal.code)
}

#[test]
fn octets_are_as_many_as_were_said() {
    let of =
        |length: &str, data: &[u8]| taken(&[("content-length", length)], Payload::Unsigned, data);
    assert_eq!(of("3", b"abc").unwrap(), b"abc");
    assert_eq!(of("3", b"ab"), Err(Code::IncompleteBody));
    assert_eq!(of("3", b"abcd"), Err(Code::InvalidRequest));
    assert_eq!(of("101", b""), Err(Code::EntityTooLarge));
    assert_eq!(taken(&[], Payload::Unsigned, b""), Err(Code::MissingContentLength));
    let unsaid = [("transfer-encoding", "chunked")];
    assert_eq!(taken(&unsaid, Payload::Unsigned, b"abc").unwrap(), b"abc");
    assert_eq!(taken(&unsaid, Payload::Unsigned, &[0; 101]), Err(Code::EntityTooLarge));
    assert_eq!(taken(&unsaid, Payload::Chunks, b"0\r\n\r\n"), Err(Code::MissingContentLength));
}

#[test]
fn chunks_hold_as_many_octets_as_were_said() {
    let of = |length: &str, data: &[u8]| {
        let fields = [("content-length", "13"), ("x-amz-decoded-content-length", length)];
        taken(&fields, Payload::Chunks, data)
    };
    assert_eq!(of("3", b"3\r\nabc\r\n0\r\n\r\n").unwrap(), b"abc");
    assert_eq!(of("4", b"3\r\nabc\r\n0\r\n\r\n"), Err(Code::IncompleteBody));
    assert_eq!(of("2", b"3\r\nabc\r\n0\r\n\r\n"), Err(Code::InvalidRequest));
    // A length that lies is found before as much has come.
    assert_eq!(of("3", b"fffffffffffffff\r\nabcd"), Err(Code::InvalidRequest));
    assert_eq!(of("101", b""), Err(Code::EntityTooLarge));
}

/// From `printf 123456789 | openssl dgst -binary … | base64`, the CRCs from their catalogue.
#[test]
fn every_checksum_that_is_given_is_checked() {
    for (name, right) in [
        ("content-md5", "JfnnlDI7RTiF9RgfG2JNCw=="),
        ("x-amz-checksum-crc32", "y/Q5Jg=="),
        ("x-amz-checksum-crc32c", "4waSgw=="),
        ("x-amz-checksum-crc64nvme", "rosUhgp5mIg="),
        ("x-amz-checksum-sha1", "98O8HYCOBHMq32eZZczDTKeuNEE="),
        ("x-amz-checksum-sha256", "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU="),
    ] {
        let of = |value: &str, data: &[u8]| {
            taken(&[("content-length", "9"), (name, value)], Payload::Unsigned, data)
        };
        assert_eq!(of(right, b"123456789").unwrap(), b"123456789", "{name}");
        assert_eq!(of(right, b"123456780"), Err(Code::BadDigest), "{name}");
        assert_eq!(of("AAA=", b"123456789"), Err(Code::InvalidDigest), "{name}");
        if name.starts_with("x-amz-") {
            let after = |value: &str, name: &str| {
                let text = format!("9\r\n123456789\r\n0\r\n{name}:{value}\r\n\r\n");
                let fields = [
                    ("content-length", "99"),
                    ("x-amz-decoded-content-length", "9"),
                    ("x-amz-trailer", name),
                ];
                taken(&fields, Payload::Chunks, text.as_bytes())
            };
            assert_eq!(after(right, name).unwrap(), b"123456789", "{name}");
            assert!(after("AAAAAA==", name).is_err(), "{name}");
        }
    }
    let announced = [
        ("content-length", "99"),
        ("x-amz-decoded-content-length", "1"),
        ("x-amz-trailer", "x-amz-checksum-crc32"),
    ];
    let missing = taken(&announced, Payload::Chunks, b"1\r\na\r\n0\r\n\r\n");
    assert_eq!(missing, Err(Code::MalformedTrailerError));
    let odd = [("content-length", "1"), ("x-amz-trailer", "x-amz-checksum-md4")];
    assert_eq!(intake(&odd, Payload::Unsigned).err(), Some(Code::InvalidRequest));
}

#[test]
fn a_hash_that_is_signed_is_that_of_what_comes() {
    use sha2::{Digest, Sha256};
    let payload = || Payload::Hash(Sha256::digest("abc").into());
    let fields = [("content-length", "3")];
    assert_eq!(taken(&fields, payload(), b"abc").unwrap(), b"abc");
    assert_eq!(taken(&fields, payload(), b"abd"), Err(Code::XAmzContentSHA256Mismatch));
}
