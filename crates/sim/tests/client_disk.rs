//! A client's files come from a disk of its own, and go to it; all else is the session's.

use std::cell::RefCell;
use std::rc::Rc;

use lanlab_files::{
    Access, Class, Entry, Facts, Fault, Result, ServicePath, Session, TransferCapabilities,
};
use lanlab_messages::SimulatedStore;
use lanlab_sim::file_service::{ClientDisk, Store, WithDisk};
use lanlab_sim::{Bounds, Cost, Ended};
use lanlab_units::Instant;

#[path = "support/stores.rs"]
mod stores;

use stores::{MS, plan, world};

/// A server that does all at once, and notes it; it has nothing at `missing`.
#[derive(Clone, Default)]
struct Noted(Rc<RefCell<Vec<String>>>);

impl Noted {
    fn note(&self, what: &str, path: &ServicePath) -> Result<()> {
        self.0.borrow_mut().push(format!("{what} {path}"));
        if path.to_string() == "missing" {
            return Err(Fault::new(Class::Missing, "missing"));
        }
        Ok(())
    }
}

const fn capabilities() -> TransferCapabilities {
    TransferCapabilities::stream(1234, true)
}

fn facts() -> Facts {
    let [protocol, protection] = ["TEST 1", "none"].map(str::to_owned);
    Facts { protocol, protection, server: None, no_delay: None, tcp: None }
}

impl Session for Noted {
    type File = ServicePath;

    fn capabilities(&self) -> TransferCapabilities {
        capabilities()
    }

    fn facts(&self) -> Facts {
        facts()
    }

    fn largest_file_bytes(&self) -> u64 {
        4_321
    }

    async fn open(&self, path: &ServicePath, access: Access) -> Result<ServicePath> {
        self.note(&format!("{access:?}"), path)?;
        Ok(path.clone())
    }

    async fn read_at(&self, path: &ServicePath, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        self.note(&format!("read {offset}"), path)?;
        buffer.fill(9);
        Ok(buffer.len())
    }

    async fn write_at(&self, path: &ServicePath, offset: u64, data: &[u8]) -> Result<()> {
        self.note(&format!("write {} at {offset}", data.len()), path)
    }

    async fn sync(&self, path: &ServicePath) -> Result<()> {
        self.note("sync", path)
    }

    async fn close(&self, path: ServicePath) -> Result<()> {
        self.note("close", &path)
    }

    async fn remove(&self, path: &ServicePath) -> Result<()> {
        self.note("remove", path)
    }

    async fn list(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        self.note("list", path.unwrap())?;
        Ok(vec![Entry { name: "one".into(), size_bytes: 1, is_directory: false }])
    }

    async fn make_directory(&self, path: &ServicePath) -> Result<()> {
        self.note("make", path)
    }

    async fn remove_directory(&self, path: &ServicePath) -> Result<()> {
        self.note("unmake", path)
    }

    async fn end(self) -> Result<()> {
        self.note("end", &path("all"))
    }
}

fn path(path: &str) -> ServicePath {
    ServicePath::new(path).unwrap()
}

/// 1 ms to open, 2 to close, 8 to read and 16 to write; 3 sectors to find a name and 5 to change one, of which each
/// takes 1 ms, as does a block that is not in the cache.
#[test]
fn uploads_read_and_downloads_write_the_client_disk() {
    let ms = |ms: u64| Cost { each_ns: ms * MS, per_byte_ps: 0 };
    let plan = SimulatedStore {
        open_ns: MS,
        close_ns: 2 * MS,
        read: ms(8),
        write: ms(16),
        name_sectors: 3,
        change_sectors: 5,
        cache_blocks: 8,
        ..plan()
    };
    let world = world();
    let host = world.host(0);
    let disk = ClientDisk::new(Store::new(host.clone(), plan));
    let noted = Noted::default();
    let session = WithDisk::new(noted.clone(), Some(disk));
    host.clone().spawn("client", async move {
        let began = Instant::ZERO;
        let took_ms = || host.now().nanos_since(began) / MS;
        let mut sum_ms = 0;
        let mut after = |ms: u64| {
            sum_ms += ms;
            assert_eq!(took_ms(), sum_ms);
        };
        let size_bytes = 8_192;
        let (send, replace) = (Access::Create { size_bytes }, Access::Replace { size_bytes });
        // Each file has places of its own: what was read of one is not there of the next.
        for access in [send, replace] {
            let file = session.open(&path("sent"), access).await.unwrap();
            after(1 + 3);
            session.write_at(&file, 4_096, &[1; 100]).await.unwrap();
            after(8 + 1);
            session.write_at(&file, 4_196, &[1; 100]).await.unwrap();
            after(8);
            session.sync(&file).await.unwrap();
            session.close(file).await.unwrap();
            after(2);
        }
        let file = session.open(&path("received"), Access::Read).await.unwrap();
        after(1 + 3 + 5);
        let mut buffer = [0; 4_096];
        assert_eq!(session.read_at(&file, 0, &mut buffer).await.unwrap(), 4_096);
        assert_eq!(buffer, [9; 4_096]);
        after(16 + 1);
        session.close(file).await.unwrap();
        after(2 + 5);
        // What is changed at the server lies there alone.
        let file = session.open(&path("changed"), Access::Update).await.unwrap();
        session.write_at(&file, 0, &[1; 5]).await.unwrap();
        assert_eq!(session.read_at(&file, 5, &mut [0; 6]).await.unwrap(), 6);
        session.close(file).await.unwrap();
        let found = session.list(Some(&path("d"))).await.unwrap();
        assert_eq!(found, [Entry { name: "one".into(), size_bytes: 1, is_directory: false }]);
        session.remove(&path("a")).await.unwrap();
        session.make_directory(&path("b")).await.unwrap();
        session.remove_directory(&path("c")).await.unwrap();
        let missing = path("missing");
        assert!(session.remove(&missing).await.is_err());
        assert!(session.make_directory(&missing).await.is_err());
        assert!(session.remove_directory(&missing).await.is_err());
        assert!(session.list(Some(&missing)).await.is_err());
        let passed_on = (session.capabilities(), session.facts(), session.largest_file_bytes());
        assert_eq!(passed_on, (capabilities(), facts(), 4_321));
        session.end().await.unwrap();
        after(0);
    });
    let far = Bounds { events: 1_000_000, until: Instant::from_nanos(10_000 * MS) };
    assert_eq!(world.run(&far), Ended::ProgramsDone);
    let sent = |access: &str| {
        [
            format!("{access} {{ size_bytes: 8192 }} sent"),
            "write 100 at 4096 sent".into(),
            "write 100 at 4196 sent".into(),
            "sync sent".into(),
            "close sent".into(),
        ]
    };
    let rest = [
        "Read received",
        "read 0 received",
        "close received",
        "Update changed",
        "write 5 at 0 changed",
        "read 5 changed",
        "close changed",
        "list d",
        "remove a",
        "make b",
        "unmake c",
        "remove missing",
        "make missing",
        "unmake missing",
        "list missing",
        "end all",
    ];
    let expected = [&sent("Create")[..], &sent("Replace"), &rest.map(str::to_owned)].concat();
    assert_eq!(*noted.0.borrow(), expected);
}
