//! Changes of directories: not known here.

use std::convert::Infallible;
use std::io;

use crate::DirectoryChange;

/// What watches directories: there is none.
#[derive(Debug)]
pub struct DirectoryWatch(Infallible);

impl DirectoryWatch {
    /// Not known here.
    pub fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Not known here.
    pub fn add<D>(&self, _directory: D) -> io::Result<i32> {
        match self.0 {}
    }

    /// Not known here.
    pub fn remove(&self, _watch: i32) {
        match self.0 {}
    }

    /// Not known here.
    pub fn take(&self, _each: impl FnMut(DirectoryChange)) -> io::Result<()> {
        match self.0 {}
    }
}
