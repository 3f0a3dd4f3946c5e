//! SFTP.

use crate::fault::{Class, Fault, Result};
use crate::path::ServicePath;
use crate::session::{self, Access, Entry, Facts, Manner};
use crate::target::Target;

/// One connection.
#[derive(Debug)]
pub enum Session {}

/// An open file.
#[derive(Debug)]
pub enum File {}

/// Connect and log in.
pub async fn connect(target: &Target) -> Result<Session> {
    Err(Fault::new(Class::Unsupported, format!("{:?} is not there yet", target.service)))
}

impl session::Session for Session {
    type File = File;

    fn manner(&self) -> Manner {
        match *self {}
    }

    fn facts(&self) -> Facts {
        match *self {}
    }

    async fn open(&self, _: &ServicePath, _: Access) -> Result<File> {
        match *self {}
    }

    async fn read_at(&self, _: &File, _: u64, _: &mut [u8]) -> Result<usize> {
        match *self {}
    }

    async fn write_at(&self, _: &File, _: u64, _: &[u8]) -> Result<()> {
        match *self {}
    }

    async fn sync(&self, _: &File) -> Result<()> {
        match *self {}
    }

    async fn close(&self, _: File) -> Result<()> {
        match *self {}
    }

    async fn remove(&self, _: &ServicePath) -> Result<()> {
        match *self {}
    }

    async fn list(&self, _: Option<&ServicePath>) -> Result<Vec<Entry>> {
        match *self {}
    }

    async fn make_directory(&self, _: &ServicePath) -> Result<()> {
        match *self {}
    }

    async fn remove_directory(&self, _: &ServicePath) -> Result<()> {
        match *self {}
    }

    async fn end(self) -> Result<()> {
        match self {}
    }
}
