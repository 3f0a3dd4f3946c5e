#!/usr/bin/env bash
# dav-server (Rust): does PROPFIND without `Depth` describe the resource that it names?
#
# Expected: as with `Depth: infinity`, so the resource is in the answer (RFC 4918, section 9.1: "Servers
# SHOULD treat a request without a Depth header as if a 'Depth: infinity' header was included").
# Found: the resource is left out; of a file nothing is left, in an answer of 207. Clients that look
# at a single file so (webdav4 for Python) take it for missing.
# Exits 1 if that has changed. Needs cargo; builds for a few minutes.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
mkdir "$here/src" && cd "$here"
cat >Cargo.toml <<'TOML'
[package]
name = "probe"
version = "1.0.0"
edition = "2024"

[dependencies]
dav-server = { version = "=0.11.0", default-features = false, features = ["memfs"] }
http = "1"
http-body-util = "0.1"
tokio = { version = "1", features = ["rt", "macros"] }

[workspace]
TOML
cat >src/main.rs <<'RUST'
use dav_server::{DavHandler, body::Body, memfs::MemFs};
use http_body_util::BodyExt;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let dav = DavHandler::builder().filesystem(MemFs::new()).build_handler();
    let put = http::Request::put("/file").body(Body::from("text")).unwrap();
    println!("PUT /file: {}", dav.handle(put).await.status());
    let mut named = Vec::new();
    for depth in [Some("0"), Some("1"), None] {
        let mut asked = http::Request::builder().method("PROPFIND").uri("/file");
        if let Some(depth) = depth {
            asked = asked.header("Depth", depth);
        }
        let answer = dav.handle(asked.body(Body::empty()).unwrap()).await;
        let status = answer.status();
        let octets = answer.into_body().collect().await.unwrap().to_bytes();
        let is_named = String::from_utf8_lossy(&octets).contains("<D:href>/file</D:href>");
        println!("PROPFIND /file, Depth {depth:?}: {status}, file described: {is_named}");
        named.push(is_named);
    }
    assert_eq!(named, [true, true, false], "the behaviour has changed");
}
RUST
cargo --version
cargo run -q
cargo tree -q --depth 1 | grep dav-server
