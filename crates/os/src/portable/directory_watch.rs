//! Changes of directories: unsupported here.

use std::convert::Infallible;
use std::io;

use crate::DirectoryChange;

#[derive(Debug)]
pub struct DirectoryWatch(Infallible);

impl DirectoryWatch {
    pub fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn add<D>(&self, _directory: D) -> io::Result<i32> {
        match self.0 {}
    }

    pub fn remove(&self, _watch: i32) {
        match self.0 {}
    }

    pub fn take(&self, _each: impl FnMut(DirectoryChange)) -> io::Result<()> {
        match self.0 {}
    }
}
