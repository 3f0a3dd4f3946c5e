//! The example of "Transferring Payload in Multiple Chunks": 65 536 and 1024 of the letter a.

use std::time::{Duration, UNIX_EPOCH};

use hyper::Request;
use lanlab_files::Credentials;
use proptest::prelude::*;

use super::super::authentication::{Payload, admit};
use super::super::request::Asked;
use super::*;

const FIRST: &str = "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648";
const SECOND: &str = "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497";
const LAST: &str = "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9";

/// As the head of the example admits them.
fn signed() -> Chunks {
    let fields = [
        ("content-encoding", "aws-chunked"),
        ("content-length", "66824"),
        ("host", "s3.amazonaws.com"),
        ("x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"),
        ("x-amz-date", "20130524T000000Z"),
        ("x-amz-decoded-content-length", "66560"),
        ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
    ];
    admitted(&fields, "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9")
}

/// The same for "Including trailing headers".
fn signed_with_trailer() -> Chunks {
    let fields = [
        ("content-encoding", "aws-chunked"),
        ("host", "s3.amazonaws.com"),
        ("x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"),
        ("x-amz-date", "20130524T000000Z"),
        ("x-amz-decoded-content-length", "66560"),
        ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ("x-amz-trailer", "x-amz-checksum-crc32c"),
    ];
    admitted(&fields, "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e")
}

fn admitted(fields: &[(&str, &str)], signature: &str) -> Chunks {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let authorization = format!(
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
         SignedHeaders={},Signature={signature}",
        names.join(";")
    );
    let mut request = Request::builder().method("PUT").uri("/examplebucket/chunkObject.txt");
    for (name, value) in fields.iter().chain([&("authorization", authorization.as_str())]) {
        request = request.header(*name, *value);
    }
    let asked = Asked::of(request.body(()).unwrap().into_parts().0).unwrap();
    let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned();
    let user = Credentials { user: "AKIAIOSFODNN7EXAMPLE".to_owned(), secret, domain: None };
    let now = UNIX_EPOCH + Duration::from_hours(380_376);
    match admit(&asked, Some(&user), now).unwrap() {
        Payload::Chunks { signing, has_trailer } => Chunks::new(signing, has_trailer),
        other => panic!("{other:?}"),
    }
}

fn example() -> Vec<u8> {
    let (first, second) = ("a".repeat(65_536), "a".repeat(1024));
    format!(
        "10000;chunk-signature={FIRST}\r\n{first}\r\n400;chunk-signature={SECOND}\r\n{second}\r\n\
         0;chunk-signature={LAST}\r\n\r\n"
    )
    .into_bytes()
}

type Taken = Result<(Vec<u8>, Vec<(String, String)>), Refusal>;

fn taken<'a>(mut chunks: Chunks, pieces: impl IntoIterator<Item = &'a [u8]>) -> Taken {
    let mut data = Vec::new();
    for piece in pieces {
        chunks.take(piece, |piece| {
            data.extend_from_slice(piece);
            Ok(())
        })?;
    }
    chunks.finish().map(|trailer| (data, trailer))
}

#[test]
fn chunks_are_signed_as_in_the_documentation() {
    let example = example();
    let (data, trailer) = taken(signed(), [&example[..]]).unwrap();
    assert!(data == "a".repeat(66_560).as_bytes());
    assert!(trailer.is_empty());
}

#[test]
fn fields_after_the_last_chunk_are_signed_as_in_the_documentation() {
    let (first, second) = ("a".repeat(65_536), "a".repeat(1024));
    let text = format!(
        "10000;chunk-signature=b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2\r\n\
         {first}\r\n\
         400;chunk-signature=1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7\r\n\
         {second}\r\n\
         0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n\
         x-amz-checksum-crc32c:sOO8/Q==\r\n\
         x-amz-trailer-signature:\
         d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n"
    );
    let (data, trailer) = taken(signed_with_trailer(), [text.as_bytes()]).unwrap();
    assert!(data == "a".repeat(66_560).as_bytes());
    assert_eq!(trailer, [("x-amz-checksum-crc32c".to_owned(), "sOO8/Q==".to_owned())]);
    for (what, other) in [
        ("a value", text.replace("sOO8", "sOO9")),
        ("the signature", text.replace("d81f82", "d81f83")),
        ("no signature", text.replace("x-amz-trailer-signature", "x-amz-other")),
    ] {
        let refusal = taken(signed_with_trailer(), [other.as_bytes()]).expect_err(what);
        assert_eq!(refusal.code, Code::SignatureDoesNotMatch, "{what}");
    }
    // Cut off before the signature.
    let cut = text.split_once("x-amz-trailer-").unwrap().0;
    let refusal = taken(signed_with_trailer(), [cut.as_bytes()]).unwrap_err();
    assert_eq!(refusal.code, Code::IncompleteBody);
}

#[test]
fn a_chunk_that_was_changed_or_left_out_is_found() {
    let text = String::from_utf8(example()).unwrap();
    let (first, rest) = text.split_once("\r\n400;").unwrap();
    for (what, other) in [
        ("an octet", text.replacen("\r\naa", "\r\nba", 1)),
        ("a signature", text.replace(SECOND, FIRST)),
        ("no signature", text.replace(&format!(";chunk-signature={SECOND}"), "")),
        ("the first left out", format!("400;{rest}")),
        ("the last left out", format!("{first}\r\n0;chunk-signature={LAST}\r\n\r\n")),
    ] {
        let refusal = taken(signed(), [other.as_bytes()]).expect_err(what);
        assert_eq!(refusal.code, Code::SignatureDoesNotMatch, "{what}");
    }
    let refusal = taken(signed(), [first.as_bytes()]).unwrap_err();
    assert_eq!(refusal.code, Code::IncompleteBody);
}

#[test]
fn fields_follow_the_last_chunk_where_they_were_announced() {
    let text = b"3\r\nabc\r\n0\r\nX-Amz-Checksum-CRC32: NSRBwg==\r\n\r\n";
    let (data, trailer) = taken(Chunks::new(None, true), [&text[..]]).unwrap();
    assert_eq!(data, b"abc");
    assert_eq!(trailer, [("x-amz-checksum-crc32".to_owned(), "NSRBwg==".to_owned())]);
    assert!(taken(Chunks::new(None, false), [&text[..]]).is_err());
}

#[test]
fn what_are_no_chunks_is_refused() {
    let endless = "0".repeat(600);
    let fields = format!("0\r\n{}\r\n", "a:b\r\n".repeat(17));
    for bad in [
        "",
        "3\r\nabc",
        "3\r\nabcd\r\n0\r\n\r\n",
        "+3\r\nabc\r\n0\r\n\r\n",
        "-1\r\n",
        "x\r\n",
        "\r\n",
        "3\nabc\n0\n\n",
        "ffffffffffffffffff\r\n",
        "0\r\n\r\nmore",
        "0\r\nno field\r\n\r\n",
        &endless,
        &fields,
    ] {
        assert!(taken(Chunks::new(None, true), [bad.as_bytes()]).is_err(), "{bad:?}");
    }
}

proptest! {
    #[test]
    fn no_octets_panic(data: Vec<u8>, has_trailer: bool) {
        let _ = taken(Chunks::new(None, has_trailer), [&data[..]]);
        let _ = taken(signed_with_trailer(), [&data[..]]);
    }

    #[test]
    fn how_they_are_cut_changes_nothing(
        blocks in prop::collection::vec("[0-9a-f\r\n:;x]{1,40}", 0..8),
        is_framed: bool,
        size in 1_usize..9,
    ) {
        let mut text = String::new();
        for block in &blocks {
            if is_framed {
                text.extend([format!("{:x}\r\n", block.len()).as_str(), block, "\r\n"]);
            } else {
                text.push_str(block);
            }
        }
        text.push_str("0\r\na:b\r\n\r\n");
        let whole = taken(Chunks::new(None, true), [text.as_bytes()]);
        let cut = taken(Chunks::new(None, true), text.as_bytes().chunks(size));
        if is_framed {
            prop_assert_eq!(&whole.as_ref().unwrap().0, &blocks.concat().into_bytes());
        }
        prop_assert_eq!(whole, cut);
    }
}
