//! What every file service must do alike, as its users see it through a session.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use lanlab_files::{Access, Class, Entry, ServicePath, Session};

fn path(text: &str) -> ServicePath {
    ServicePath::new(text).unwrap()
}

fn content(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect()
}

async fn write_whole(session: &impl Session, name: &ServicePath, data: &[u8], block: usize) {
    let size_bytes = data.len() as u64;
    let file = session.open(name, Access::Create { size_bytes }).await.unwrap();
    for (number, part) in data.chunks(block).enumerate() {
        session.write_at(&file, (number * block) as u64, part).await.unwrap();
    }
    session.close(file).await.unwrap();
}

async fn read_whole(session: &impl Session, name: &ServicePath, block: usize) -> Vec<u8> {
    let file = session.open(name, Access::Read).await.unwrap();
    let (mut data, mut buffer) = (Vec::new(), vec![0; block]);
    loop {
        match session.read_at(&file, data.len() as u64, &mut buffer).await.unwrap() {
            0 => break,
            count => data.extend_from_slice(&buffer[..count]),
        }
    }
    session.close(file).await.unwrap();
    data
}

/// What is there is replaced only where that is asked for, by what is shorter, too.
async fn replaces_where_asked(session: &impl Session, name: &ServicePath, block: usize) {
    let (before, data) = (read_whole(session, name, block).await, content(1000, 99));
    for (access, is_allowed) in
        [(Access::Create { size_bytes: 1000 }, false), (Access::Replace { size_bytes: 1000 }, true)]
    {
        let replaced = async {
            let file = session.open(name, access).await?;
            session.write_at(&file, 0, &data).await?;
            session.close(file).await
        };
        match replaced.await {
            Ok(()) => assert!(is_allowed, "{access:?} overwrote a file"),
            Err(fault) => assert!(!is_allowed, "{access:?}: {fault}"),
        }
        let there = read_whole(session, name, block).await;
        assert!(there == if is_allowed { data.clone() } else { before.clone() }, "{access:?}");
    }
}

async fn both<A, B>(one: impl Future<Output = A>, other: impl Future<Output = B>) -> (A, B) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let (mut first, mut second) = (None, None);
    poll_fn(|cx| {
        if first.is_none()
            && let Poll::Ready(value) = one.as_mut().poll(cx)
        {
            first = Some(value);
        }
        if second.is_none()
            && let Poll::Ready(value) = other.as_mut().poll(cx)
        {
            second = Some(value);
        }
        match (first.is_some(), second.is_some()) {
            (true, true) => Poll::Ready((first.take().unwrap(), second.take().unwrap())),
            _ => Poll::Pending,
        }
    })
    .await
}

/// Make, read, list, change and remove files in the directory of a session.
///
/// `stored` gives what the server has of a file; `has_directories` says that a file cannot be made where
/// there is no directory, `short_names` that names have at most 8 characters, a dot and 3 characters.
pub async fn behaves(
    session: &impl Session,
    stored: impl Fn(&ServicePath) -> Option<Vec<u8>>,
    has_directories: bool,
    short_names: bool,
) {
    let manner = session.capabilities();
    // A block is what one packet holds, at least.
    assert!(manner.block_bytes >= 1024 && manner.depth >= 1);
    assert!(!manner.in_order || manner.depth == 1, "a stream has one call at a time");
    assert!(!session.facts().protocol.is_empty());

    // Files of every awkward size, in blocks that do not fit them.
    let (folder_name, space) =
        if short_names { ("folder.lab", "") } else { ("lanlab folder", " ") };
    let file_name = |number: usize| format!("file{space}{number}.bin");
    let folder = path(folder_name);
    session.make_directory(&folder).await.unwrap();
    let block = manner.block_bytes as usize;
    for (number, length) in [0, 1, 4095, 65_536, block, 3 * block + 17].into_iter().enumerate() {
        let name = folder.join(&file_name(number)).unwrap();
        let data = content(length, number as u64 + 1);
        write_whole(session, &name, &data, block).await;
        assert!(stored(&name).is_some_and(|octets| octets == data));
        assert!(read_whole(session, &name, block).await == data, "{length} octets read back");
        assert!(read_whole(session, &name, 10_007).await == data, "{length} octets in others");
    }

    // What is listed is what is there.
    let mut listed = session.list(Some(&folder)).await.unwrap();
    listed.sort();
    assert_eq!(listed.len(), 6);
    let first = Entry { name: file_name(0), size_bytes: 0, is_directory: false };
    assert_eq!(listed[0], first);
    assert_eq!(listed[5].size_bytes, (3 * block + 17) as u64);
    let top = session.list(None).await.unwrap();
    assert!(top.iter().any(|entry| entry.name == folder_name && entry.is_directory));

    replaces_where_asked(session, &folder.join(&file_name(4)).unwrap(), block).await;

    // Anywhere in a file, several calls at once.
    if manner.can_update {
        let name = folder.join(&file_name(5)).unwrap();
        let mut data = content(3 * block + 17, 6);
        let file = session.open(&name, Access::Update).await.unwrap();
        let (new, mut one, mut two) = (content(1000, 77), vec![0; 700], vec![0; 700]);
        session.write_at(&file, block as u64 - 500, &new).await.unwrap();
        data[block - 500..block + 500].copy_from_slice(&new);
        let (a, b) = both(
            session.read_at(&file, 5, &mut one),
            session.read_at(&file, 2 * block as u64, &mut two),
        )
        .await;
        assert_eq!((a.unwrap(), b.unwrap()), (700, 700));
        assert!(one == data[5..705] && two == data[2 * block..2 * block + 700]);
        match session.sync(&file).await {
            Ok(()) => {}
            Err(fault) => assert_eq!(fault.class, Class::Unsupported, "{fault}"),
        }
        session.close(file).await.unwrap();
        assert!(stored(&name).is_some_and(|octets| octets == data));
    }

    // Each impossible operation fails with a class of its own.
    let missing = session.open(&path(&format!("not{space}here")), Access::Read).await;
    assert_eq!(missing.err().unwrap().class, Class::Missing);
    let nowhere = Access::Create { size_bytes: 1 };
    if has_directories {
        let within = async {
            let file = session.open(&path(&format!("no{space}dir/x")), nowhere).await?;
            session.write_at(&file, 0, b"x").await?;
            session.close(file).await
        };
        let fault = within.await.err().unwrap();
        assert!(
            matches!(fault.class, Class::Missing | Class::Denied | Class::Protocol),
            "{fault:?}"
        );
        // After a refusal the session goes on.
        assert!(session.list(None).await.is_ok());
    }

    // All that was made can be taken away.
    for number in 0..6 {
        session.remove(&folder.join(&file_name(number)).unwrap()).await.unwrap();
    }
    session.remove_directory(&folder).await.unwrap();
    assert!(session.list(None).await.unwrap().iter().all(|entry| entry.name != folder_name));
}
