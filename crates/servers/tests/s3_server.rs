//! The embedded S3 server, asked as programs ask it.

use std::time::{Duration, SystemTime};

use crate::http_support::*;

#[tokio::test]
async fn the_bucket_exists_and_cannot_be_deleted() {
    let root = tempfile::tempdir().unwrap();
    let serving = open_bucket(root.path()).await;
    let listed = ask(&serving, "GET /", &[], b"").await;
    assert!(listed.body.contains("<Buckets><Bucket><Name>lanlab</Name>"), "{}", listed.body);
    assert_eq!(ask(&serving, "HEAD /lanlab", &[], b"").await.status, 200);
    assert_eq!(ask(&serving, "HEAD /other", &[], b"").await.status, 404);
    let location = ask(&serving, "GET /lanlab?location", &[], b"").await;
    assert!(location.body.contains("<LocationConstraint"), "{}", location.body);
    // Of a bucket that never had versions nothing is said; of one that had, `Suspended` would be.
    let versioning = ask(&serving, "GET /lanlab?versioning", &[], b"").await;
    assert_eq!(versioning.status, 200);
    let empty = "<VersioningConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"></VersioningConfiguration>";
    assert!(versioning.body.ends_with(empty), "{}", versioning.body);
    for (line, status, wanted) in [
        ("PUT /lanlab", 409, "BucketAlreadyOwnedByYou"),
        ("PUT /other", 403, "AccessDenied"),
        ("GET /other", 404, "NoSuchBucket"),
        ("DELETE /lanlab", 501, "NotImplemented"),
        ("POST /lanlab?delete", 400, "MalformedXML"),
        ("GET /lanlab/none", 404, "NoSuchKey"),
        ("GET /lanlab/a//b", 400, "KeyTooLongError"),
        ("GET /lanlab/../x", 400, "KeyTooLongError"),
        ("GET /lanlab/%2e%2e/x", 400, "KeyTooLongError"),
        ("GET /lanlab?versions", 501, "NotImplemented"),
        ("GET /lanlab?list-type=2&continuation-token=!", 400, "InvalidArgument"),
        ("GET /lanlab?max-keys=-1", 400, "InvalidArgument"),
        ("POST /lanlab/x?uploadId=none", 404, "NoSuchUpload"),
    ] {
        let body: &[u8] = match line {
            "POST /lanlab/x?uploadId=none" => {
                b"<CompleteMultipartUpload><Part><PartNumber>1</PartNumber></Part></CompleteMultipartUpload>"
            }
            _ => b"",
        };
        let said = ask(&serving, line, &[], body).await;
        assert_eq!((said.status, code(&said)), (status, wanted), "{line}: {}", said.body);
    }
    serving.end().await;
}

#[tokio::test]
async fn an_object_keeps_the_time_that_rclone_gives_it() {
    let root = tempfile::tempdir().unwrap();
    let serving = open_bucket(root.path()).await;
    let time = "X-Amz-Meta-Mtime: 1234567890.25";
    let put = ask(&serving, "PUT /lanlab/x", &[time], b"abc").await;
    assert_eq!(put.status, 200);
    let modified = std::fs::metadata(root.path().join("x")).unwrap().modified().unwrap();
    let wanted = SystemTime::UNIX_EPOCH + Duration::from_millis(1_234_567_890_250);
    assert_eq!(modified, wanted);
    let head = ask(&serving, "HEAD /lanlab/x", &[], b"").await;
    for line in [
        "x-amz-meta-mtime: 1234567890.250000000",
        "last-modified: fri, 13 feb 2009 23:31:30 gmt",
        "content-length: 3",
    ] {
        assert!(head.head.contains(line), "{line}: {}", head.head);
    }
    assert_eq!(head.body, "");
    // The same time and size are not the same object.
    let etag =
        |said: &Said| said.head.lines().find(|line| line.starts_with("etag")).map(str::to_owned);
    assert_eq!(etag(&put), etag(&head));
    let again = ask(&serving, "PUT /lanlab/x", &[time], b"abd").await;
    assert_ne!(etag(&put), etag(&again));
    assert!(!etag(&put).unwrap().contains("md5"));
    let wrong = ask(&serving, "PUT /lanlab/y", &["X-Amz-Meta-Mtime: soon"], b"abc").await;
    assert_eq!(code(&wrong), "InvalidArgument");

    // A copy keeps it, or takes another.
    let copy = ["x-amz-copy-source: /lanlab/x"];
    assert_eq!(ask(&serving, "PUT /lanlab/in/y", &copy, b"").await.status, 200);
    assert_eq!(std::fs::read(root.path().join("in/y")).unwrap(), b"abd");
    let head = ask(&serving, "HEAD /lanlab/in/y", &[], b"").await;
    assert!(head.head.contains("mtime: 1234567890.25"), "{}", head.head);
    assert_eq!(code(&ask(&serving, "PUT /lanlab/x", &copy, b"").await), "InvalidRequest");
    let replaced =
        ["x-amz-copy-source: lanlab/x", "x-amz-metadata-directive: REPLACE", "x-amz-meta-mtime: 7"];
    assert_eq!(ask(&serving, "PUT /lanlab/x", &replaced, b"").await.status, 200);
    assert!(ask(&serving, "HEAD /lanlab/x", &[], b"").await.head.contains("mtime: 7.000000000"));
    assert_eq!(std::fs::read(root.path().join("x")).unwrap(), b"abd");
    std::fs::write(root.path().join("q?a b=1"), "odd").unwrap();
    let odd = ["x-amz-copy-source: lanlab/q%3Fa%20b%3D1"];
    assert_eq!(ask(&serving, "PUT /lanlab/z", &odd, b"").await.status, 200);
    assert_eq!(std::fs::read(root.path().join("z")).unwrap(), b"odd");
    let version = ["x-amz-copy-source: lanlab/x?versionId=1"];
    assert_eq!(code(&ask(&serving, "PUT /lanlab/z", &version, b"").await), "InvalidArgument");
    let elsewhere = ["x-amz-copy-source: /lanlab/../x"];
    assert_eq!(code(&ask(&serving, "PUT /lanlab/z", &elsewhere, b"").await), "KeyTooLongError");
    serving.end().await;
}

#[tokio::test]
async fn many_objects_are_deleted_at_once_and_each_failure_is_named() {
    let root = tempfile::tempdir().unwrap();
    let serving = open_bucket(root.path()).await;
    for name in ["a&b", "in/deep", "stays"] {
        assert_eq!(ask(&serving, &format!("PUT /lanlab/{name}"), &[], b"x").await.status, 200);
    }
    let object = |key: &str| format!("<Object><Key>{key}</Key></Object>");
    let keys = ["a&amp;b", "in/deep", "none", "../x"].map(object).concat();
    let asked = format!("<Delete>{keys}</Delete>");
    let said = ask(&serving, "POST /lanlab/?delete", &[], asked.as_bytes()).await;
    assert_eq!(said.status, 200);
    let deleted = ["a&amp;b", "in/deep", "none"];
    for key in deleted {
        assert!(said.body.contains(&format!("<Deleted><Key>{key}</Key></Deleted>")), "{said:?}");
    }
    assert!(said.body.contains("<Error><Key>../x</Key><Code>KeyTooLongError</Code>"), "{said:?}");
    let left: Vec<_> =
        std::fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap()).collect();
    assert_eq!(left.len(), 1, "{left:?}");

    let quiet = format!("<Delete><Quiet>true</Quiet>{}</Delete>", object("none"));
    let said = ask(&serving, "POST /lanlab?delete", &[], quiet.as_bytes()).await;
    assert!(said.status == 200 && !said.body.contains("Key"), "{said:?}");
    // A version, too many, a wrong checksum: nothing is deleted.
    let version = "<Delete><Object><Key>stays</Key><VersionId>1</VersionId></Object></Delete>";
    let many = format!("<Delete>{}</Delete>", object("stays").repeat(1001));
    for document in [version, &many, "<Delete></Delete>", "<Delete"] {
        let said = ask(&serving, "POST /lanlab?delete", &[], document.as_bytes()).await;
        assert_eq!(code(&said), "MalformedXML");
    }
    let wrong = ["Content-MD5: rL0Y20zC+Fzt72VPzMSk2A=="];
    let stays = format!("<Delete>{}</Delete>", object("stays"));
    let said = ask(&serving, "POST /lanlab?delete", &wrong, stays.as_bytes()).await;
    assert_eq!(code(&said), "BadDigest");
    assert!(root.path().join("stays").exists());
    serving.end().await;
}

#[tokio::test]
async fn ranges_and_conditions_are_applied() {
    let root = tempfile::tempdir().unwrap();
    let serving = open_bucket(root.path()).await;
    let put = ask(&serving, "PUT /lanlab/x", &[], b"0123456789").await;
    let etag = put.head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned();
    let part = ask(&serving, "GET /lanlab/x", &["Range: bytes=2-4"], b"").await;
    assert_eq!((part.status, part.body.as_str()), (206, "234"));
    assert!(part.head.contains("content-range: bytes 2-4/10"), "{}", part.head);
    let end = ask(&serving, "GET /lanlab/x", &["Range: bytes=-3"], b"").await;
    assert_eq!((end.status, end.body.as_str()), (206, "789"));
    let beyond = ask(&serving, "GET /lanlab/x", &["Range: bytes=10-"], b"").await;
    assert_eq!((beyond.status, code(&beyond)), (416, "InvalidRange"));
    assert!(beyond.head.contains("content-range: bytes */10"), "{}", beyond.head);
    let of = |field: String| {
        let serving = &serving;
        async move { ask(serving, "GET /lanlab/x", &[&field], b"").await.status }
    };
    assert_eq!(of(format!("If-Match: {etag}")).await, 200);
    assert_eq!(of("If-Match: \"other\"".to_owned()).await, 412);
    assert_eq!(of(format!("If-None-Match: {etag}")).await, 304);
    assert_eq!(of("If-None-Match: \"other\"".to_owned()).await, 200);
    let over = ask(&serving, "PUT /lanlab/x", &["If-None-Match: *"], b"new").await;
    assert_eq!((over.status, code(&over)), (412, "PreconditionFailed"));
    assert_eq!(
        code(&ask(&serving, "PUT /lanlab/x", &["If-Match: *"], b"").await),
        "NotImplemented"
    );
    let sealed = ["x-amz-server-side-encryption: AES256"];
    assert_eq!(code(&ask(&serving, "PUT /lanlab/x", &sealed, b"").await), "NotImplemented");
    assert_eq!(std::fs::read(root.path().join("x")).unwrap(), b"0123456789");
    serving.end().await;
}

#[tokio::test]
async fn listings_follow_prefix_delimiter_and_page_size() {
    let root = tempfile::tempdir().unwrap();
    let serving = open_bucket(root.path()).await;
    for name in ["a b", "a&b", "c", "d"] {
        std::fs::write(root.path().join(name), name).unwrap();
    }
    let plain = ask(&serving, "GET /lanlab?prefix=a", &[], b"").await;
    assert!(plain.body.contains("<Key>a b</Key>") && plain.body.contains("<Key>a&amp;b</Key>"));
    let encoded =
        ask(&serving, "GET /lanlab?list-type=2&encoding-type=url&prefix=a+b", &[], b"").await;
    assert!(encoded.body.contains("<Key>a%20b</Key>"), "{}", encoded.body);
    assert!(encoded.body.contains("<EncodingType>url</EncodingType>"));
    assert!(encoded.body.contains("<KeyCount>1</KeyCount>"));
    let mut seen = Vec::new();
    let mut after = String::new();
    for _ in 0..9 {
        let line = format!("GET /lanlab?list-type=2&max-keys=1{after}");
        let page = ask(&serving, &line, &[], b"").await.body;
        let between = |one: &str, other: &str| {
            page.split_once(one)
                .and_then(|(_, rest)| rest.split_once(other))
                .map(|(text, _)| text.to_owned())
        };
        seen.extend(between("<Key>", "</Key>"));
        let Some(token) = between("<NextContinuationToken>", "</") else { break };
        after = format!("&continuation-token={token}");
    }
    assert_eq!(seen, ["a b", "a&amp;b", "c", "d"]);

    serving.end().await;
}

#[tokio::test]
async fn multipart_uploads_are_joined_or_aborted() {
    let root = tempfile::tempdir().unwrap();
    let serving = open_bucket(root.path()).await;
    let begin = || async {
        let fields = ["x-amz-meta-mtime: 5"];
        let body = ask(&serving, "POST /lanlab/in/x?uploads", &fields, b"").await.body;
        let (_, rest) = body.split_once("<UploadId>").unwrap();
        rest.split_once('<').unwrap().0.to_owned()
    };
    let upload_id = begin().await;
    let (large, small) = (content(5 << 20, 1), content(10, 2));
    let mut etags = Vec::new();
    for (number, data) in [(2, &small), (1, &large)] {
        let line = format!("PUT /lanlab/in/x?partNumber={number}&uploadId={upload_id}");
        let said = ask(&serving, &line, &[], data).await;
        etags.push(
            said.head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned(),
        );
    }
    let complete = |parts: &[(u32, &str)]| {
        let parts = parts.iter().map(|(number, etag)| {
            format!("<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>")
        });
        let parts: String = parts.collect();
        format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>")
    };
    let (second, first) = (etags[0].as_str(), etags[1].as_str());
    let line = format!("POST /lanlab/in/x?uploadId={upload_id}");
    for (parts, wanted) in [
        (&[(2, second), (1, first)][..], "InvalidPartOrder"),
        (&[(1, second)], "InvalidPart"),
        (&[(1, first), (3, second)], "InvalidPart"),
        (&[], "InvalidRequest"),
    ] {
        let said = ask(&serving, &line, &[], complete(parts).as_bytes()).await;
        assert_eq!(code(&said), wanted, "{parts:?}");
    }
    assert_eq!(code(&ask(&serving, &line, &[], b"<Other/>").await), "MalformedXML");
    let long = vec![b' '; (4 << 20) + 1];
    let said = ask(&serving, &line, &[], &long).await;
    assert_eq!(code(&said), "MaxMessageLengthExceeded");
    let said = ask(&serving, &line, &[], complete(&[(1, first), (2, second)]).as_bytes()).await;
    assert_eq!(said.status, 200, "{}", said.body);
    assert!(std::fs::read(root.path().join("in/x")).unwrap() == [large, small].concat());
    let modified = std::fs::metadata(root.path().join("in/x")).unwrap().modified().unwrap();
    assert_eq!(modified, SystemTime::UNIX_EPOCH + Duration::from_secs(5));

    // The first of two is too small; then all is given up.
    let upload_id = begin().await;
    let mut etags = Vec::new();
    for number in 1..=2 {
        let line = format!("PUT /lanlab/in/x?partNumber={number}&uploadId={upload_id}");
        let said = ask(&serving, &line, &[], b"small").await;
        etags.push(
            said.head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned(),
        );
    }
    let line = format!("POST /lanlab/in/x?uploadId={upload_id}");
    let parts = [(1, etags[0].as_str()), (2, etags[1].as_str())];
    assert_eq!(
        code(&ask(&serving, &line, &[], complete(&parts).as_bytes()).await),
        "EntityTooSmall"
    );
    let line = format!("/lanlab/in/x?uploadId={upload_id}");
    assert_eq!(ask(&serving, &format!("DELETE {line}"), &[], b"").await.status, 204);
    assert_eq!(code(&ask(&serving, &format!("DELETE {line}"), &[], b"").await), "NoSuchUpload");
    assert_eq!(std::fs::read_dir(root.path().join("in")).unwrap().count(), 1);
    serving.end().await;
}

/// A client that waits for `100 Continue` sends no body after a refusal. Its next request must not be read as one.
#[tokio::test]
async fn a_refusal_before_the_body_closes_the_connection() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("k"), b"first").unwrap();
    let serving = open_bucket(root.path()).await;
    let fields = ["Expect: 100-continue", "If-None-Match: *"];
    for refused in ["PUT /lanlab/k", "PUT /other/k", "PUT /lanlab/a//b"] {
        let head = format!(
            "{refused} HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n{}\r\n\r\n",
            fields.join("\r\n")
        );
        // It does not end its half: the server has to.
        let said = octets(serving.port(), head.as_bytes(), false).await;
        let said = String::from_utf8(said).unwrap().to_lowercase();
        assert!(said.starts_with("http/1.1 4"), "{refused}: {said}");
        assert!(said.contains("\r\nconnection: close\r\n"), "{refused}: {said}");
    }
    // One that is served is asked for the body, and may go on.
    let two = "PUT /lanlab/new HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabc\
               GET /lanlab/new HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    let said = String::from_utf8(octets(serving.port(), two.as_bytes(), false).await).unwrap();
    assert!(said.ends_with("\r\n\r\nabc"), "{said}");
    serving.end().await;
}
