//! Names on the disk that no client of SMB 1 can ask for.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use lanlab_clients::connect;
use lanlab_files::ServiceKind::Smb1;
use lanlab_files::{Dialect, Session};

use crate::multiplexed::{get, path, run, served, user};
use crate::peer_programs::can_run;

const HIDDEN: [&str; 9] =
    ["a\\b", "..\\out", "co:lon", "CON", "new\nline", "what?", "a*", "end.", "blank "];
const PLAIN: [&str; 2] = ["plain.txt", "A long plain name"];

#[test]
fn every_listed_file_opens_and_can_be_removed() {
    for dialect in [None, Some(Dialect::Core), Some(Dialect::Lanman1), Some(Dialect::Lm12x002)] {
        run(async {
            let (root, serving, target) = served(Smb1).await;
            for name in HIDDEN.into_iter().chain(PLAIN) {
                fs::write(root.path().join(name), name).unwrap();
            }
            let session = connect(&super::by_dialect(target, dialect)).await.unwrap();
            let entries = session.list(None).await.unwrap();
            let mut found = BTreeMap::new();
            for entry in entries {
                let content = get(&session, &path(&entry.name)).await;
                found.insert(String::from_utf8(content).unwrap(), entry.name);
            }
            let all: Vec<_> = found.keys().map(String::as_str).collect();
            let mut expected = [&HIDDEN[..], &PLAIN].concat();
            expected.sort_unstable();
            assert_eq!(all, expected, "{dialect:?}");
            for name in HIDDEN {
                let listed = &found[name];
                assert!(listed.len() <= 12 && listed.contains('~'), "{name:?}: {listed:?}");
                session.remove(&path(listed)).await.unwrap();
            }
            assert_eq!(fs::read_dir(root.path()).unwrap().count(), PLAIN.len());
            session.end().await.unwrap();
            serving.end().await;
        });
    }
}

#[test]
fn smbclient_lists_names_that_smb_cannot_represent() {
    if !can_run("smbclient", false) {
        return;
    }
    run(async {
        let (root, serving, _) = served(Smb1).await;
        for name in HIDDEN.into_iter().chain(PLAIN) {
            fs::write(root.path().join(name), name).unwrap();
        }
        let (who, port) = (user(), serving.port().to_string());
        let done = tokio::task::spawn_blocking(move || {
            Command::new("smbclient")
                .args(["//127.0.0.1/lanlab", "-p", &port, "-m", "NT1", "-s", "/dev/null"])
                .args(["--option=clientminprotocol=NT1", "-c", "ls"])
                .args(["-U", &format!("{}%{}", who.user, who.secret)])
                .output()
        });
        let done = done.await.unwrap().unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success() && !said.contains("NT_STATUS"), "{said}");
        let listed = said.lines().filter(|line| line.contains(" N ") || line.contains(" A "));
        assert_eq!(listed.count(), HIDDEN.len() + PLAIN.len(), "{said}");
        serving.end().await;
    });
}
