//! NFS version 3: what the conformance suite does not ask.

use crate::multiplexed::{
    Pass, content, does_what_all_do, ends_wholly, get, keeps_read_only, notices_a_shrunk_file,
    offer, path, proxy, put, read_through, run, served, stays_in_its_directory, survives_a_cut,
    survives_nonsense, target, tells_of_a_full_disk,
};
use lanlab_clients::connect;
use lanlab_files::ServiceKind::Nfs;
use lanlab_files::{Access, Class, Session};
use lanlab_servers::serve;
use nfs3_client::Nfs3ConnectionBuilder;
use nfs3_client::nfs3_types::nfs3 as independent;
use nfs3_client::nfs3_types::xdr_codec::Opaque;
use nfs3_client::tokio::TokioConnector;
use tempfile::TempDir;

tests! {
    the_common_service_tests_pass => does_what_all_do(Nfs);
    a_read_only_server_refuses_every_change => keeps_read_only(Nfs);
    no_link_leads_out_of_the_served_directory => stays_in_its_directory(Nfs);
    stopping_a_server_ends_its_connections => ends_wholly(Nfs);
    a_shrinking_file_is_reported => notices_a_shrunk_file(Nfs);
    a_full_disk_is_reported => tells_of_a_full_disk(Nfs);
    a_cut_connection_is_reported => survives_a_cut(Nfs);
    malformed_replies_are_reported => survives_nonsense(Nfs);
}

#[test]
fn names_are_stored_unchanged() {
    run(async {
        let (_root, serving, target) = served(Nfs).await;
        let session = connect(&target).await.unwrap();
        for name in ["who?", "\"quoted\"", "a:b", "<x|y>", "dot.", "space "] {
            put(&session, &path(name), name.as_bytes()).await;
            assert_eq!(get(&session, &path(name)).await, name.as_bytes());
        }
        serving.end().await;
    });
}

/// In an answer to READ (RFC 1813, section 3.3.6) without attributes: the header of RFC 5531 has six
/// words, then come status, attributes, count, end, length.
const COUNT: usize = (6 + 2) * 4;

#[test]
fn false_lengths_from_a_server_are_reported() {
    run(async {
        for lie in [-4_i32, 4, 100_000] {
            let fault = read_through(Nfs, 5_000_000_000, move |frame| {
                let count = u32::from_be_bytes(frame[COUNT..COUNT + 4].try_into().unwrap());
                let lie = count.wrapping_add_signed(lie);
                frame[COUNT..COUNT + 4].copy_from_slice(&lie.to_be_bytes());
                Pass::On
            })
            .await;
            assert_eq!(fault.class, Class::Length, "{lie}: {fault}");
        }
    });
}

#[test]
fn a_restarted_server_is_reported() {
    run(async {
        let (_root, serving, target) = served(Nfs).await;
        let mut writes = 0;
        // An answer to WRITE ends with count, stability and verifier (section 3.3.7).
        let (port, _) = proxy(serving.port(), move |frame| {
            if frame.len() == (6 + 1 + 2 + 2 + 2) * 4 {
                writes += 1;
                let last = frame.len() - 1;
                frame[last] ^= u8::from(writes == 2);
            }
            Pass::On
        });
        let session = connect(&lanlab_files::Target { port: Some(port), ..target }).await.unwrap();
        let file = session.open(&path("x"), Access::Create { size_bytes: 8 }).await.unwrap();
        session.write_at(&file, 0, b"some").await.unwrap();
        let fault = session.write_at(&file, 4, b"more").await.unwrap_err();
        assert_eq!(fault.class, Class::Reset, "{fault}");
        assert!(fault.message.contains("began anew"), "{fault}");
        serving.end().await;
    });
}

/// The `nfs3_client` crate, which knows nothing of ours, reads and writes what we serve.
#[test]
fn a_second_client_works_with_the_embedded_server() {
    run(async {
        let root = TempDir::new().unwrap();
        std::fs::write(root.path().join("there"), content(5000, 1)).unwrap();
        let serving = serve(&offer(Nfs, root.path())).await.unwrap();
        let mut client = Nfs3ConnectionBuilder::new(TokioConnector, "127.0.0.1", "/lanlab")
            .connect_from_privileged_port(false)
            .mount_port(serving.port())
            .nfs3_port(serving.port())
            .mount()
            .await
            .unwrap();
        let dir = client.root_nfs_fh3();
        let name = |name: &'static str| independent::diropargs3 {
            dir: dir.clone(),
            name: independent::filename3(Opaque::borrowed(name.as_bytes())),
        };
        let found = client.lookup(&independent::LOOKUP3args { what: name("there") }).await.unwrap();
        let found = found.unwrap();
        let read = independent::READ3args { file: found.object, offset: 1000, count: 3000 };
        let read = client.read(&read).await.unwrap().unwrap();
        assert_eq!((read.count, read.eof), (3000, false));
        assert_eq!(read.data.as_ref(), &content(5000, 1)[1000..4000]);

        let create = independent::CREATE3args {
            where_: name("new"),
            how: independent::createhow3::EXCLUSIVE(independent::createverf3(*b"verifier")),
        };
        let created = client.create(&create).await.unwrap().unwrap();
        let again = client.create(&create).await.unwrap().unwrap();
        assert_eq!(format!("{:?}", created.obj), format!("{:?}", again.obj), "it was asked again");
        let file = created.obj.unwrap();
        let write = independent::WRITE3args {
            file: file.clone(),
            offset: 0,
            count: 5,
            stable: independent::stable_how::UNSTABLE,
            data: Opaque::borrowed(b"hello"),
        };
        let written = client.write(&write).await.unwrap().unwrap();
        let commit = independent::COMMIT3args { file, offset: 0, count: 0 };
        let committed = client.commit(&commit).await.unwrap().unwrap();
        assert_eq!(format!("{:?}", written.verf), format!("{:?}", committed.verf));
        assert_eq!(std::fs::read(root.path().join("new")).unwrap(), b"hello");

        let page = independent::READDIRPLUS3args {
            dir: dir.clone(),
            cookie: 0,
            cookieverf: independent::cookieverf3::default(),
            dircount: 8192,
            maxcount: 8192,
        };
        let page = client.readdirplus(&page).await.unwrap().unwrap();
        assert!(page.reply.eof);
        let names = page.reply.entries.0.iter().map(|entry| entry.name.0.to_vec());
        let names: Vec<_> = names.map(|name| String::from_utf8(name).unwrap()).collect();
        assert_eq!(names, [".", "..", "there", "new"]);
        let _ = client.unmount().await;
        serving.end().await;
    });
}

/// What `df` and the portmapper's clients ask. The `nfs3_client` crate finds both services by the portmapper.
#[test]
fn the_port_serves_portmapper_calls_and_reports_disk_space() {
    run(async {
        let root = TempDir::new().unwrap();
        let serving = serve(&offer(Nfs, root.path())).await.unwrap();
        let mut client = Nfs3ConnectionBuilder::new(TokioConnector, "127.0.0.1", "/lanlab")
            .connect_from_privileged_port(false)
            .portmapper_port(serving.port())
            .mount()
            .await
            .unwrap();
        let fsroot = client.root_nfs_fh3();
        let args = independent::FSSTAT3args { fsroot };
        let found = client.fsstat(&args).await.unwrap().unwrap();
        let mut df = std::process::Command::new("df");
        df.args(["-B1", "--output=size,avail"]).arg(root.path());
        let said = String::from_utf8(df.output().unwrap().stdout).unwrap();
        let numbers: Vec<u64> =
            said.lines().nth(1).unwrap().split_whitespace().map(|n| n.parse().unwrap()).collect();
        assert_eq!(found.tbytes, numbers[0]);
        // Other programs write meanwhile.
        assert!(
            found.abytes.abs_diff(numbers[1]) < found.tbytes / 10,
            "{} {numbers:?}",
            found.abytes
        );
        assert_eq!((found.fbytes, found.invarsec), (found.abytes, 0));
        let _ = client.unmount().await;
        serving.end().await;
    });
}

/// The memory file system of the `nfs3_server` crate, which knows nothing of ours.
#[test]
fn the_client_works_with_a_second_server() {
    use nfs3_server::memfs::{MemFs, MemFsConfig};
    use nfs3_server::tcp::{NFSTcp, NFSTcpListener};
    run(async {
        let mut config = MemFsConfig::default();
        config.add_file("/there", b"what is there");
        let mut listener =
            NFSTcpListener::bind("127.0.0.1:0", MemFs::new(config).unwrap()).await.unwrap();
        listener.with_export_name("lanlab");
        let port = listener.get_listen_port();
        let serving = tokio::spawn(async move { listener.handle_forever().await });
        let session = connect(&target(Nfs, port)).await.unwrap();
        assert_eq!(get(&session, &path("there")).await, b"what is there");
        let data = content(3_000_001, 2);
        put(&session, &path("new"), &data).await;
        assert!(get(&session, &path("new")).await == data);
        let listed = session.list(None).await.unwrap();
        assert!(listed.iter().any(|entry| entry.name == "new" && entry.size_bytes == 3_000_001));
        session.make_directory(&path("folder")).await.unwrap();
        session.remove(&path("new")).await.unwrap();
        session.end().await.unwrap();
        serving.abort();
    });
}
