//! A directory to be served, next to one that is not.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const SECRET: &[u8] = b"what no client may read";

/// A directory for one run, which goes with it.
pub struct Ground {
    base: PathBuf,
}

impl Ground {
    /// A new one: in the served directory a file, a directory with another, and a link that leads out.
    ///
    /// # Panics
    /// If it cannot be made.
    pub fn new() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("lanlab-hostile-{}-{number}", std::process::id());
        let ground = Self { base: std::env::temp_dir().join(name) };
        let (root, outside) = (ground.root(), ground.base.join("outside"));
        let make = || -> std::io::Result<()> {
            fs::create_dir(&ground.base)?;
            fs::create_dir(&root)?;
            fs::create_dir(root.join("folder"))?;
            fs::create_dir(&outside)?;
            fs::write(outside.join("secret"), SECRET)?;
            fs::write(root.join("file"), "some octets")?;
            File::create(root.join("folder/empty"))?;
            std::os::unix::fs::symlink("../outside", root.join("link"))?;
            Ok(())
        };
        make().expect("a directory to serve");
        ground
    }

    pub fn root(&self) -> PathBuf {
        self.base.join("root")
    }

    pub fn content(&self) -> Vec<(PathBuf, Vec<u8>)> {
        content(&self.root())
    }

    /// Check that all outside the served directory is as it was.
    ///
    /// # Panics
    /// If it is not.
    pub fn assert_outside_untouched(&self) {
        let outside = self.base.join("outside");
        assert_eq!(content(&outside), [(outside.join("secret"), SECRET.to_vec())]);
        let mut names: Vec<_> = fs::read_dir(&self.base)
            .expect("a directory")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["outside", "root"]);
    }
}

/// Whether these octets contain the secret from outside the served directory.
pub fn tells_secret(octets: &[u8]) -> bool {
    octets.windows(SECRET.len()).any(|some| some == SECRET)
}

fn content(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let kind = path.symlink_metadata().expect("what was listed");
        if kind.is_dir() {
            found.extend(content(&path));
            found.push((path, Vec::new()));
        } else if kind.is_symlink() {
            let leads_to = fs::read_link(&path).expect("a link").into_os_string();
            found.push((path, leads_to.into_encoded_bytes()));
        } else {
            let octets = fs::read(&path).expect("a file");
            found.push((path, octets));
        }
    }
    found.sort();
    found
}

impl Drop for Ground {
    fn drop(&mut self) {
        open_up(&self.base);
        // What is left of it lies among what is temporary.
        let _ = fs::remove_dir_all(&self.base);
    }
}

/// Let this user remove what is in a directory: a client may have forbidden it.
fn open_up(directory: &Path) {
    {
        use std::os::unix::fs::PermissionsExt;
        let _ = fs::set_permissions(directory, fs::Permissions::from_mode(0o700));
    }
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}
