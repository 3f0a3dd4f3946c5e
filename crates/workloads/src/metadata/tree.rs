//! The tree of one client. Names fit servers that allow 8 characters.

use lanlab_files::{BadPath, ServicePath};

use crate::messages::MetadataSpec;

#[derive(Debug)]
pub struct Tree {
    directories: Vec<ServicePath>,
    /// Number of the first directory with files; only the lowest level has files.
    first_leaf: usize,
    pub files: u32,
}

/// Directories of one tree, including its top; `None` if too many to count.
pub fn directory_count(width: u16, depth: u16) -> Option<u64> {
    let (mut all, mut level) = (1_u64, 1_u64);
    for _ in 0..depth {
        level = level.checked_mul(width.into())?;
        all = all.checked_add(level)?;
    }
    Some(all)
}

impl Tree {
    pub fn new(spec: &MetadataSpec, client: u16) -> Result<Self, BadPath> {
        let top = ServicePath::new(format!("{}/files/c{client}", spec.working_name))?;
        let (mut directories, mut first_leaf) = (vec![top], 0);
        for _ in 0..spec.depth {
            let level = first_leaf..directories.len();
            first_leaf = directories.len();
            for parent in level {
                for number in 0..spec.width {
                    directories.push(directories[parent].join(&format!("d{number}"))?);
                }
            }
        }
        Ok(Self { directories, first_leaf, files: spec.files })
    }

    pub fn top(&self) -> &ServicePath {
        &self.directories[0]
    }

    /// Parents before their children.
    pub fn directories(&self) -> &[ServicePath] {
        &self.directories
    }

    pub fn file(&self, number: u32, is_renamed: bool) -> Result<ServicePath, BadPath> {
        let leaves = (self.directories.len() - self.first_leaf) as u64;
        let leaf = u64::from(number) * leaves / u64::from(self.files);
        let letter = if is_renamed { 'r' } else { 'f' };
        self.directories[self.first_leaf + leaf as usize].join(&format!("{letter}{number}"))
    }
}
