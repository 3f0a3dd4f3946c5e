//! The service that is this process's memory: as every other, but for a server.

use crate::stage::{content, get, path, put, run, target};
use lanlab_clients::connect;
use lanlab_files::{Access, Class, ServiceKind, Session};

#[test]
fn the_memory_service_behaves_like_the_others() {
    run(async {
        let mut place = target(ServiceKind::Memory, 1);
        place.directory = "one".to_owned();
        let session = connect(&place).await.unwrap();
        assert_eq!(session.facts().protocol, "memory");
        put(&session, &path("a"), &content(600_000, 1)).await;
        assert_eq!(get(&session, &path("a")).await, content(600_000, 1));
        let again = session.open(&path("a"), Access::Create { size_bytes: 1 }).await;
        assert_eq!(again.err().unwrap().class, Class::Exists);
        let shorter = Access::Replace { size_bytes: 3 };
        let file = session.open(&path("a"), shorter).await.unwrap();
        session.write_at(&file, 0, b"new").await.unwrap();
        session.close(file).await.unwrap();
        assert_eq!(get(&session, &path("a")).await, b"new");
        let file = session.open(&path("a"), Access::Update).await.unwrap();
        session.write_at(&file, 5, b"far").await.unwrap();
        session.sync(&file).await.unwrap();
        assert_eq!(get(&session, &path("a")).await, b"new\0\0far");
        let beyond = session.write_at(&file, 1 << 30, b"x").await;
        assert_eq!(beyond.unwrap_err().class, Class::NoSpace);

        session.make_directory(&path("d")).await.unwrap();
        assert_eq!(session.make_directory(&path("d")).await.unwrap_err().class, Class::Exists);
        put(&session, &path("d/x"), b"x").await;
        let listed = session.list(None).await.unwrap();
        let names: Vec<_> = listed.iter().map(|entry| (&*entry.name, entry.size_bytes)).collect();
        assert_eq!(names, [("a", 8), ("d", 0)]);
        assert_eq!(session.list(Some(&path("d"))).await.unwrap().len(), 1);
        let full = session.remove_directory(&path("d")).await;
        assert_eq!(full.unwrap_err().class, Class::Exists);
        let lost = session.open(&path("no/x"), Access::Create { size_bytes: 1 }).await;
        assert_eq!(lost.err().unwrap().class, Class::Missing);

        // Another name is another place, and the same name the same.
        let other = connect(&target(ServiceKind::Memory, 1)).await.unwrap();
        assert_eq!(other.list(None).await.unwrap(), []);
        let same = connect(&place).await.unwrap();
        for name in ["d/x", "a"] {
            same.remove(&path(name)).await.unwrap();
        }
        same.remove_directory(&path("d")).await.unwrap();
        assert_eq!(session.list(None).await.unwrap(), []);
        assert_eq!(session.remove(&path("a")).await.unwrap_err().class, Class::Missing);
    });
}
