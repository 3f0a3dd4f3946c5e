//! Compares request bodies with what their heads announce.

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
fn the_declared_length_is_enforced() {
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
fn the_declared_length_of_chunks_is_enforced() {
    let of = |length: &str, data: &[u8]| {
        let fields = [("content-length", "13"), ("x-amz-decoded-content-length", length)];
        taken(&fields, Payload::Chunks, data)
    };
    assert_eq!(of("3", b"3\r\nabc\r\n0\r\n\r\n").unwrap(), b"abc");
    assert_eq!(of("4", b"3\r\nabc\r\n0\r\n\r\n"), Err(Code::IncompleteBody));
    assert_eq!(of("2", b"3\r\nabc\r\n0\r\n\r\n"), Err(Code::InvalidRequest));
    // A false length is found before that much data has arrived.
    assert_eq!(of("3", b"fffffffffffffff\r\nabcd"), Err(Code::InvalidRequest));
    assert_eq!(of("101", b""), Err(Code::EntityTooLarge));
    // An open server does not check the signatures of chunks. The last empty line may be missing.
    assert_eq!(of("3", b"3;chunk-signature=00\r\nabc\r\n0\r\n").unwrap(), b"abc");
    for cut in [&b""[..], b"3\r\nabc", b"3\r\nabc\r\n", b"3\r\nabc\r\n0\r\nname: val"] {
        assert_eq!(of("3", cut), Err(Code::IncompleteBody), "{}", cut.escape_ascii());
    }
    for bad in [
        &b"3\nabc\n0\n\n"[..],
        b"3\r\nabc\r\n0\r\n\r\nmore\n",
        b"3\r\nabc\r\n0\r\nno field\r\n\r\n",
    ] {
        assert_eq!(of("3", bad), Err(Code::InvalidRequest), "{}", bad.escape_ascii());
    }
}

/// From `printf 123456789 | openssl dgst -binary … | base64`, the CRCs from their catalogue.
#[test]
fn every_given_checksum_is_verified() {
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
fn the_signed_hash_must_match_the_body() {
    use sha2::{Digest, Sha256};
    let payload = || Payload::Hash(Sha256::digest("abc").into());
    let fields = [("content-length", "3")];
    assert_eq!(taken(&fields, payload(), b"abc").unwrap(), b"abc");
    assert_eq!(taken(&fields, payload(), b"abd"), Err(Code::XAmzContentSHA256Mismatch));
}

/// The examples of the Amazon S3 API Reference, "Signature Calculations: Transferring Payload in Multiple
/// Chunks" and "Including Trailing Headers": 66,560 bytes `a`.
mod signed_chunks {
    use std::time::{Duration, UNIX_EPOCH};

    use lanlab_files::Credentials;

    use super::super::super::authentication::admit;
    use super::*;

    const DATA_BYTES: usize = 66_560;
    const WITHOUT_FIELDS: (&str, &str, [&str; 3]) = (
        "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
        "",
        [
            "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
            "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
            "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
        ],
    );
    const WITH_FIELDS: (&str, &str, [&str; 3]) = (
        "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e",
        "x-amz-checksum-crc32c:sOO8/Q==\r\nx-amz-trailer-signature:\
         d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n",
        [
            "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
            "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
            "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992",
        ],
    );

    fn asked(head_signature: &str, has_fields: bool) -> Asked {
        let (fields, kind) = if has_fields {
            (
                "content-encoding;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class;x-amz-trailer",
                "-TRAILER",
            )
        } else {
            (
                "content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class",
                "",
            )
        };
        let mut request = Request::builder()
            .method("PUT")
            .uri("/examplebucket/chunkObject.txt")
            .header("Host", "s3.amazonaws.com")
            .header("x-amz-date", "20130524T000000Z")
            .header("x-amz-storage-class", "REDUCED_REDUNDANCY")
            .header("x-amz-content-sha256", format!("STREAMING-AWS4-HMAC-SHA256-PAYLOAD{kind}"))
            .header("Content-Encoding", "aws-chunked")
            .header("x-amz-decoded-content-length", DATA_BYTES)
            .header("Content-Length", 66_824)
            .header(
                "Authorization",
                format!(
                    "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
                     SignedHeaders={fields},Signature={head_signature}"
                ),
            );
        if has_fields {
            request = request.header("x-amz-trailer", "x-amz-checksum-crc32c");
        }
        Asked::of(request.body(()).unwrap().into_parts().0).unwrap()
    }

    fn body(signatures: [&str; 3], after: &str, data: &[u8]) -> Vec<u8> {
        let mut body = Vec::new();
        let parts = [&data[..65_536], &data[65_536..], b""];
        for (part, signature) in parts.into_iter().zip(signatures) {
            body.extend(format!("{:x};chunk-signature={signature}\r\n", part.len()).into_bytes());
            body.extend_from_slice(part);
            body.extend_from_slice(if part.is_empty() { b"" } else { b"\r\n" });
        }
        body.extend_from_slice(after.as_bytes());
        body.extend_from_slice(b"\r\n");
        body
    }

    fn sent(head_signature: &str, has_fields: bool, body: &[u8]) -> Result<Vec<u8>, Code> {
        let asked = asked(head_signature, has_fields);
        let (user, secret) = (
            "AKIAIOSFODNN7EXAMPLE".to_owned(),
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
        );
        let now = UNIX_EPOCH + Duration::from_hours(380_376);
        let payload =
            admit(&asked, Some(&Credentials { user, secret, domain: None, passphrase: None }), now);
        let payload = payload.map_err(|refusal| refusal.code)?;
        let limit = DATA_BYTES as u64;
        let intake = Intake::new(&asked, payload, limit, Code::EntityTooLarge, Vec::new());
        let mut intake = intake.map_err(|refusal| refusal.code)?;
        let done = body.chunks(4000).try_for_each(|piece| intake.take(piece));
        done.and_then(|()| intake.finish()).map_err(|refusal| refusal.code)
    }

    #[test]
    fn documented_examples_pass_and_any_changed_byte_fails() {
        let wrong = Err(Code::SignatureDoesNotMatch);
        let data = vec![b'a'; DATA_BYTES];
        for (head, after, chunks) in [WITHOUT_FIELDS, WITH_FIELDS] {
            let has_fields = !after.is_empty();
            let sent = |body: &[u8]| sent(head, has_fields, body);
            assert_eq!(sent(&body(chunks, after, &data)), Ok(data.clone()));
            for at in [0, 65_535, 65_536, DATA_BYTES - 1] {
                let mut other = data.clone();
                other[at] = b'b';
                assert_eq!(sent(&body(chunks, after, &other)), wrong, "byte {at}");
            }
            for at in 0..3 {
                let mut other = chunks;
                other[at] = chunks[(at + 1) % 3];
                assert_eq!(sent(&body(other, after, &data)), wrong, "signature {at}");
                other[at] = "";
                assert_eq!(sent(&body(other, after, &data)), wrong, "no signature {at}");
            }
            let ended_early = &body(chunks, after, &data)[..65_536 + 90];
            assert_eq!(sent(ended_early), Err(Code::IncompleteBody));
        }
        let (head, _, chunks) = WITH_FIELDS;
        assert_eq!(sent(head, true, &body(chunks, "", &data)), wrong, "the fields are missing");
        // minio-go 7.4.1 ends its lines like this.
        let loose = WITH_FIELDS.1.replacen("\r\n", "\n\r\n", 1);
        assert_eq!(sent(head, true, &body(chunks, &loose, &data)), Ok(data.clone()));
        let (head, _, chunks) = WITHOUT_FIELDS;
        let added = "x-amz-checksum-crc32c:sOO8/Q==\r\n";
        assert_eq!(sent(head, false, &body(chunks, added, &data)), wrong, "they are not signed");
    }
}
