//! The embedded `WebDAV` server, asked as programs ask it.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::http_support::{Said, ask, offer};
use lanlab_files::ServiceKind;
use lanlab_servers::{Offer, Serving, serve};

/// For anybody, so that a request is what stands in a test.
async fn open_server(root: &Path, read_only: bool) -> Serving {
    let offer = Offer { credentials: None, read_only, ..offer(ServiceKind::Webdav, root) };
    serve(&offer).await.unwrap()
}

fn field<'a>(said: &'a Said, name: &str) -> Option<&'a str> {
    said.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

const LOCK: &[u8] = b"<D:lockinfo xmlns:D='DAV:'><D:lockscope><D:exclusive/></D:lockscope>\
    <D:locktype><D:write/></D:locktype><D:owner>me</D:owner></D:lockinfo>";

#[tokio::test]
async fn only_announced_features_are_served() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("x"), "x").unwrap();
    let methods = ["GET", "PUT", "DELETE", "MKCOL", "PROPFIND", "PROPPATCH"];
    let methods = methods.into_iter().chain(["COPY", "MOVE", "LOCK", "UNLOCK", "PATCH", "POST"]);
    let changing = ["PUT", "DELETE", "MOVE", "LOCK", "UNLOCK"];
    for (read_only, classes) in [(false, "1, 2, 3"), (true, "1, 3")] {
        let serving = open_server(root.path(), read_only).await;
        let options = ask(&serving, "OPTIONS /x", &[], b"").await;
        assert_eq!((options.status, field(&options, "dav")), (200, Some(classes)));
        let allowed = field(&options, "allow").unwrap().to_owned();
        for method in changing {
            let is_allowed = allowed.split(',').any(|name| name == method.to_lowercase());
            assert_eq!(is_allowed, !read_only, "{method}: {allowed}");
        }
        if read_only {
            for method in methods.clone() {
                let said = ask(&serving, &format!("{method} /x"), &["Destination: /y"], b"").await;
                let wanted: &[u16] =
                    if matches!(method, "GET" | "PROPFIND") { &[200, 207] } else { &[403] };
                assert!(wanted.contains(&said.status), "{method}: {}", said.status);
            }
        }
        serving.end().await;
    }
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn an_invalid_name_is_a_bad_request_and_a_long_one_is_too_long() {
    let root = tempfile::tempdir().unwrap();
    let serving = open_server(root.path(), false).await;
    for (path, wanted) in [
        ("/a%5Cb", 400),
        ("/a%0Ab", 400),
        ("/d/%2e%2e/x", 400),
        (&*"/a".repeat(70), 400),
        (&*format!("/{}", "a".repeat(256)), 414),
    ] {
        for method in ["GET", "PROPFIND"] {
            let said = ask(&serving, &format!("{method} {path}"), &["Depth: 0"], b"").await;
            assert_eq!(said.status, wanted, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn copies_and_moves_stay_inside_the_directory() {
    let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(outside.path().join("secret"), "secret").unwrap();
    std::fs::create_dir(root.path().join("d")).unwrap();
    std::fs::write(root.path().join("d/x"), "x").unwrap();
    std::fs::write(root.path().join("y"), "y").unwrap();
    symlink(outside.path(), root.path().join("d/link")).unwrap();
    symlink(outside.path().join("secret"), root.path().join("s")).unwrap();
    let serving = open_server(root.path(), false).await;
    let outside_text = outside.path().display();
    for method in ["COPY", "MOVE"] {
        for (from, to) in [
            ("/s", "/got"),
            ("/d/link", "/got"),
            ("/d/link/secret", "/got"),
            ("/y", "/s"),
            ("/y", "/d/link"),
            ("/y", "/d/link/new"),
            ("/y", "/d/link/secret"),
            ("/y", "http://h/d/link/secret"),
            ("/y", "/../got"),
            ("/y", "/d/%2e%2e/%2e%2e/got"),
            ("/y", &format!("/..{outside_text}/new")),
            ("/y", "http://other/got"),
            ("/y", "//other/got"),
            ("/y", "got"),
            ("/y", "/none/got"),
        ] {
            let to = format!("Destination: {to}");
            let said = ask(&serving, &format!("{method} {from}"), &[&to], b"").await;
            assert!(said.status >= 400, "{method} {from} {to}: {}", said.status);
        }
    }
    let elsewhere = ask(&serving, "COPY /y", &["Destination: http://h:81/got"], b"").await;
    assert_eq!(elsewhere.status, 502);
    let read = |name: &str| std::fs::read_to_string(root.path().join(name)).ok();
    let secret = || std::fs::read_to_string(outside.path().join("secret")).unwrap();
    assert_eq!((read("y").as_deref(), read("d/x").as_deref()), (Some("y"), Some("x")));
    assert_eq!((read("got"), secret().as_str()), (None, "secret"));
    // A directory is copied without the links in it, and that is said of each.
    let copied = ask(&serving, "COPY /d", &["Destination: http://h/e"], b"").await;
    assert_eq!(copied.status, 207);
    assert!(copied.body.contains("/d/link") && copied.body.contains("403"), "{}", copied.body);
    assert_eq!(read("e/x").as_deref(), Some("x"));
    assert!(!root.path().join("e/link").exists());
    // One that is moved or removed takes its links along, and not what they lead to.
    assert_eq!(ask(&serving, "MOVE /d", &["Destination: /f"], b"").await.status, 201);
    assert!(root.path().join("f/link").is_symlink());
    assert_eq!(ask(&serving, "DELETE /f", &[], b"").await.status, 204);
    assert!(!root.path().join("f").exists());
    assert_eq!(
        (std::fs::read_dir(outside.path()).unwrap().count(), secret().as_str()),
        (1, "secret")
    );
    serving.end().await;
}

#[tokio::test]
async fn a_directory_is_neither_copied_nor_moved_into_itself() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("a/b")).unwrap();
    std::fs::write(root.path().join("a/b/x"), "x").unwrap();
    std::fs::write(root.path().join("y"), "y").unwrap();
    let serving = open_server(root.path(), false).await;
    for method in ["COPY", "MOVE"] {
        for (from, to) in [
            ("/a", "/a/c"),
            ("/a", "/a/b/"),
            ("/a/b", "/a"),
            ("/a", "/"),
            ("/", "/c"),
            ("/a/", "/a"),
        ] {
            let field = format!("Destination: {to}");
            let said = ask(&serving, &format!("{method} {from}"), &[&field], b"").await;
            assert_eq!(said.status, 403, "{method} {from} {to}");
        }
        let fields = ["Destination: /a", "Overwrite: F"];
        assert_eq!(ask(&serving, &format!("{method} /y"), &fields, b"").await.status, 412);
    }
    assert_eq!(std::fs::read_to_string(root.path().join("a/b/x")).unwrap(), "x");
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 2);
    // What is overwritten is replaced, a file by a file and a directory by a directory.
    std::fs::write(root.path().join("z"), "old").unwrap();
    let over = ask(&serving, "MOVE /y", &["Destination: /z"], b"").await;
    assert_eq!((over.status, std::fs::read(root.path().join("z")).unwrap()), (204, b"y".to_vec()));
    serving.end().await;
}

#[tokio::test]
async fn etags_match_everywhere_and_decide_conditions() {
    let root = tempfile::tempdir().unwrap();
    let serving = open_server(root.path(), false).await;
    let put = ask(&serving, "PUT /x", &[], b"hello").await;
    let etag = field(&put, "etag").expect("PUT names it").to_owned();
    let head = ask(&serving, "HEAD /x", &["Range: bytes=1-2"], b"").await;
    assert_eq!(field(&head, "content-length"), Some("5"));
    assert_eq!((head.status, field(&head, "etag")), (200, Some(etag.as_str())));
    let modified = field(&head, "last-modified").unwrap().to_owned();
    let get = ask(&serving, "GET /x", &[], b"").await;
    assert_eq!((field(&get, "etag"), get.body.as_str()), (Some(etag.as_str()), "hello"));
    let listed = ask(&serving, "PROPFIND /x", &["Depth: 0"], b"").await.body.to_lowercase();
    assert!(listed.replace("&quot;", "\"").contains(&format!(">{etag}<")), "{etag}: {listed}");
    assert!(listed.contains(&format!("<d:getlastmodified>{modified}<")), "{listed}");
    // As HTTP writes it: the answer was read in small letters.
    let at = std::fs::metadata(root.path().join("x")).unwrap().modified().unwrap();
    let days = [("Thu, 01 Jan 1970 00:00:00 GMT", false), ("Fri, 31 Dec 2100 00:00:00 GMT", true)];
    assert!(at > SystemTime::UNIX_EPOCH);
    let asked = async |fields: &[&str]| ask(&serving, "GET /x", fields, b"").await.status;
    assert_eq!(asked(&[&format!("If-None-Match: \"no\", {etag}")]).await, 304);
    assert_eq!(asked(&[&format!("If-None-Match: W/{etag}")]).await, 304);
    assert_eq!(asked(&["If-None-Match: \"no\""]).await, 200);
    assert_eq!(asked(&[&format!("If-Match: {etag}")]).await, 200);
    assert_eq!(asked(&["If-Match: \"no\""]).await, 412);
    assert_eq!(asked(&[&format!("If-Match: W/{etag}")]).await, 412);
    for (day, is_later) in days {
        let since = if is_later { 304 } else { 200 };
        assert_eq!(asked(&[&format!("If-Modified-Since: {day}")]).await, since);
        let unmodified = if is_later { 200 } else { 412 };
        assert_eq!(asked(&[&format!("If-Unmodified-Since: {day}")]).await, unmodified);
        // A date of a moment ago, or another, tells nothing: all of it is given.
        assert_eq!(asked(&["Range: bytes=1-2", &format!("If-Range: {day}")]).await, 200);
    }
    assert_eq!(
        asked(&["If-None-Match: \"no\"", &format!("If-Modified-Since: {}", days[1].0)]).await,
        200
    );
    assert_eq!(asked(&["Range: bytes=1-2", &format!("If-Range: {etag}")]).await, 206);
    assert_eq!(asked(&["Range: bytes=1-2", "If-Range: \"no\""]).await, 200);
    // Another content has another name, and is not written over by who knows the old one alone.
    std::fs::write(root.path().join("x"), "others").unwrap();
    let changed = ask(&serving, "HEAD /x", &[], b"").await;
    assert_ne!(field(&changed, "etag"), Some(etag.as_str()));
    assert_eq!(ask(&serving, "PUT /x", &[&format!("If-Match: {etag}")], b"mine").await.status, 412);
    assert_eq!(std::fs::read(root.path().join("x")).unwrap(), b"others");
    serving.end().await;
}

fn windows_times(day: &str, more: &str) -> String {
    format!(
        "<D:propertyupdate xmlns:D='DAV:' xmlns:Z='urn:schemas-microsoft-com:'><D:set><D:prop>\
         <Z:Win32CreationTime>{day}</Z:Win32CreationTime>\
         <Z:Win32LastModifiedTime>{day}</Z:Win32LastModifiedTime>\
         <Z:Win32FileAttributes>00000020</Z:Win32FileAttributes>{more}\
         </D:prop></D:set></D:propertyupdate>"
    )
}

#[tokio::test]
async fn properties_are_set_or_refused_and_never_silently_ignored() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("x"), "x").unwrap();
    let serving = open_server(root.path(), false).await;
    let patch = async |text: String| ask(&serving, "PROPPATCH /x", &[], text.as_bytes()).await;
    let modified = || std::fs::metadata(root.path().join("x")).unwrap().modified().unwrap();
    let before = modified();
    // All of it, or nothing: `getetag` is not the client's to set.
    let day = "Sun, 06 Nov 1994 08:49:37 GMT";
    let refused = patch(windows_times(day, "<D:getetag>x</D:getetag>")).await;
    assert!(refused.status == 207 && refused.body.contains("403"), "{}", refused.body);
    assert!(!refused.body.contains("200 OK"), "{}", refused.body);
    assert_eq!(modified(), before);
    assert_eq!(patch(windows_times("yesterday", "")).await.status, 409);
    assert_eq!(modified(), before);
    let done = patch(windows_times(day, "")).await;
    assert!(done.status == 207 && done.body.contains("200 OK"), "{}", done.body);
    assert_eq!(modified(), SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777));
    // The time of a file by WebDAV's own name, and whether it can be run: refused.
    for odd in [
        "<getlastmodified>x</getlastmodified>",
        "<e:executable xmlns:e='http://apache.org/dav/props/'>T</e:executable>",
    ] {
        let text =
            format!("<propertyupdate xmlns='DAV:'><set><prop>{odd}</prop></set></propertyupdate>");
        let said = patch(text).await;
        assert!(said.status == 207 && said.body.contains("403"), "{odd}: {}", said.body);
    }
    // A property of the client's own goes along with its file.
    let own = "<propertyupdate xmlns='DAV:'><set><prop><o:own xmlns:o='urn:o'>kept</o:own></prop></set></propertyupdate>";
    assert!(patch(own.to_owned()).await.body.contains("200 OK"));
    let kept = async |at: &str| {
        let wanted = b"<propfind xmlns='DAV:'><prop><o:own xmlns:o='urn:o'/></prop></propfind>";
        ask(&serving, &format!("PROPFIND {at}"), &["Depth: 0"], wanted).await.body.contains("kept")
    };
    assert!(kept("/x").await);
    ask(&serving, "COPY /x", &["Destination: /y"], b"").await;
    ask(&serving, "MOVE /x", &["Destination: /z"], b"").await;
    ask(&serving, "PUT /x", &[], b"new").await;
    assert!(kept("/y").await && kept("/z").await && !kept("/x").await);
    ask(&serving, "DELETE /y", &[], b"").await;
    ask(&serving, "PUT /y", &[], b"new").await;
    assert!(!kept("/y").await);
    serving.end().await;
}

#[tokio::test]
async fn a_listing_without_a_depth_has_the_resource_and_all_below_it() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("d/e")).unwrap();
    std::fs::write(root.path().join("d/e/f"), "x").unwrap();
    let serving = open_server(root.path(), false).await;
    for fields in [&[][..], &["Depth: infinity"][..]] {
        for (at, wanted) in [("/d/e/f", &["/d/e/f"][..]), ("/d/", &["/d/", "/d/e/", "/d/e/f"][..])]
        {
            let said = ask(&serving, &format!("PROPFIND {at}"), fields, b"").await;
            let hrefs: Vec<&str> = said.body.split("<D:href>").skip(1).collect();
            let hrefs: Vec<&str> =
                hrefs.iter().filter_map(|rest| Some(rest.split_once('<')?.0)).collect();
            assert_eq!(hrefs, wanted, "{at} {fields:?}: {}", said.body);
        }
    }
    serving.end().await;
}

#[tokio::test]
async fn only_the_lock_owner_changes_a_locked_file() {
    let root = tempfile::tempdir().unwrap();
    let serving = open_server(root.path(), false).await;
    assert_eq!(ask(&serving, "LOCK /none/x", &["Depth: 0"], LOCK).await.status, 409);
    // As Windows and Finder do: the name is taken by a lock, then written.
    let locked = ask(&serving, "LOCK /x", &["Depth: 0", "Timeout: Infinite"], LOCK).await;
    assert_eq!(locked.status, 201);
    assert!(locked.body.contains("<D:timeout>Second-600</D:timeout>"), "{}", locked.body);
    let token = field(&locked, "lock-token").unwrap().to_owned();
    for line in ["PUT /x", "DELETE /x", "MOVE /x", "DELETE /x", "PROPPATCH /x"] {
        let body = if line.starts_with("PUT") { "new".to_owned() } else { String::new() };
        let body = if line.starts_with("PROPPATCH") { windows_times("x", "") } else { body };
        let said = ask(&serving, line, &["Destination: /y"], body.as_bytes()).await;
        assert_eq!(said.status, 423, "{line}");
    }
    let owned = format!("If: ({token})");
    assert_eq!(ask(&serving, "PUT /x", &[&owned], b"mine").await.status, 204);
    let other = "If: (<urn:uuid:00000000-0000-4000-8000-000000000000>)";
    assert_eq!(ask(&serving, "PUT /x", &[other], b"other").await.status, 412);
    let other = "Lock-Token: <urn:uuid:00000000-0000-4000-8000-000000000000>";
    assert_eq!(ask(&serving, "UNLOCK /x", &[other], b"").await.status, 409);
    let unlocked = ask(&serving, "UNLOCK /x", &[&format!("Lock-Token: {token}")], b"").await;
    assert_eq!(unlocked.status, 204);
    assert_eq!(ask(&serving, "PUT /x", &[], b"anybody's").await.status, 204);
    serving.end().await;
}

#[tokio::test]
async fn endlessly_nested_xml_is_refused_and_the_server_continues() {
    let root = tempfile::tempdir().unwrap();
    let serving = open_server(root.path(), false).await;
    for (method, depth) in [("PROPFIND", 9000), ("PROPPATCH", 9000), ("LOCK", 1000)] {
        let nested = "<a>".repeat(depth) + &"</a>".repeat(depth);
        let line = format!("{method} /");
        let said = ask(&serving, &line, &["Depth: 0"], nested.as_bytes()).await;
        assert_eq!(said.status, 400, "{method}");
        let entities = "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>";
        assert_eq!(ask(&serving, &line, &["Depth: 0"], entities.as_bytes()).await.status, 400);
        let long = format!("<a>{}</a>", " ".repeat(1 << 16));
        assert_eq!(ask(&serving, &line, &["Depth: 0"], long.as_bytes()).await.status, 413);
    }
    assert_eq!(ask(&serving, "PROPFIND /", &["Depth: 0"], b"").await.status, 207);
    serving.end().await;
}

#[tokio::test]
async fn pipes_are_refused_at_once() {
    let root = tempfile::tempdir().unwrap();
    let made = std::process::Command::new("mkfifo").arg(root.path().join("pipe")).status();
    assert!(made.unwrap().success());
    let serving = open_server(root.path(), false).await;
    for line in ["GET /pipe", "HEAD /pipe", "PUT /pipe", "COPY /pipe"] {
        let said = ask(&serving, line, &["Destination: /y"], b"").await;
        assert!(matches!(said.status, 403 | 405), "{line}: {}", said.status);
    }
    assert_eq!(ask(&serving, "DELETE /pipe", &[], b"").await.status, 204);
    serving.end().await;
}
