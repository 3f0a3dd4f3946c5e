//! The embedded S3 server, asked as no program should.

use std::time::Duration;

use crate::http_support::*;
use proptest::prelude::*;

#[tokio::test]
async fn an_upload_with_a_false_length_or_hash_leaves_no_object() {
    let root = tempfile::tempdir().unwrap();
    let serving = open_bucket(root.path()).await;
    let chunked = "x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER";
    let of_3 = "x-amz-decoded-content-length: 3";
    let huge = format!("x-amz-decoded-content-length: {}", (5_u64 << 30) + 1);
    let wrong_hash = format!("x-amz-content-sha256: {}", "0".repeat(64));
    let crc = "x-amz-trailer: x-amz-checksum-crc32";
    let cases: [(&[&str], &[u8], &str); 9] = [
        (&["Content-MD5: JfnnlDI7RTiF9RgfG2JNCw=="], b"abc", "BadDigest"),
        (&["Content-MD5: odd"], b"abc", "InvalidDigest"),
        (&[&wrong_hash], b"abc", "XAmzContentSHA256Mismatch"),
        (&[chunked, of_3], b"4\r\nabcd\r\n0\r\n\r\n", "InvalidRequest"),
        (&[chunked, of_3], b"2\r\nab\r\n0\r\n\r\n", "IncompleteBody"),
        (&[chunked, of_3], b"3\r\nab", "IncompleteBody"),
        (&[chunked, of_3, crc], b"3\r\nabc\r\n0\r\n\r\n", "MalformedTrailerError"),
        (&[chunked, &huge], b"0\r\n\r\n", "EntityTooLarge"),
        (&[chunked], b"0\r\n\r\n", "MissingContentLength"),
    ];
    for (fields, body, wanted) in cases {
        let said = ask(&serving, "PUT /lanlab/in/x", fields, body).await;
        assert_eq!(code(&said), wanted, "{fields:?}: {}", said.body);
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0, "{fields:?}");
    }
    // Fewer octets than were said, and then the end.
    let head = "PUT /lanlab/in/x HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nfew";
    octets(serving.port(), head.as_bytes(), true).await;
    for _ in 0..6000 {
        if std::fs::read_dir(root.path()).unwrap().count() == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
    // As a program does that is right.
    let fields = [chunked, of_3, crc, "Content-Encoding: aws-chunked"];
    let body = b"3\r\nabc\r\n0\r\nx-amz-checksum-crc32:NSRBwg==\r\n\r\n";
    assert_eq!(ask(&serving, "PUT /lanlab/in/x", &fields, body).await.status, 200);
    assert_eq!(std::fs::read(root.path().join("in/x")).unwrap(), b"abc");
    serving.end().await;
}

#[tokio::test]
async fn an_endless_head_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let serving = open_bucket(root.path()).await;
    for head in [
        format!("GET / HTTP/1.1\r\n{}", "x: y\r\n".repeat(200_000)),
        format!("GET / HTTP/1.1\r\nx: {}", "y".repeat(2 << 20)),
        format!("GET /{}", "y".repeat(2 << 20)),
    ] {
        let answer = String::from_utf8_lossy(&octets(serving.port(), head.as_bytes(), false).await)
            .into_owned();
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    assert_eq!(ask(&serving, "GET /", &[], b"").await.status, 200, "and others are served");
    serving.end().await;
}

#[test]
fn any_bytes_are_handled_without_panic_or_hang() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let root = tempfile::tempdir().unwrap();
    let serving = runtime.block_on(open_bucket(root.path()));
    let words = prop::sample::select(vec![
        "GET ",
        "PUT ",
        "POST ",
        "DELETE ",
        "HEAD ",
        "/",
        "/lanlab",
        "/lanlab/x",
        "?uploads",
        "?uploadId=",
        "?delete",
        "&partNumber=99999999999",
        "?list-type=2",
        "&max-keys=",
        "%",
        "%2e",
        " HTTP/1.1\r\n",
        "Host: h\r\n",
        "Content-Length: ",
        "4",
        "18446744073709551615",
        "Range: bytes=",
        "-",
        "x-amz-content-sha256: ",
        "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
        "x-amz-decoded-content-length: ",
        "x-amz-copy-source: ",
        "x-amz-meta-mtime: ",
        "\r\n",
        "\r\n\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Authorization: AWS4-HMAC-SHA256 Credential=",
        "0\r\n\r\n",
        "<Delete>",
        "é",
        "\u{0}",
    ]);
    let request = prop::collection::vec(words, 0..24).prop_map(|words| words.concat());
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(300));
    let run = runner.run(&request, |request| {
        runtime.block_on(octets(serving.port(), request.as_bytes(), true));
        let said = runtime.block_on(ask(&serving, "HEAD /lanlab", &[], b""));
        prop_assert_eq!(said.status, 200);
        Ok(())
    });
    run.unwrap();
    runtime.block_on(serving.end());
}
