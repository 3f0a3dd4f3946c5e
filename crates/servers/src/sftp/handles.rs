//! Open files and directories of a client.

use std::collections::HashMap;
use std::fs::File;
use std::io;

use lanlab_served::Found;

pub const MAX_HANDLES: usize = 256;

pub enum Open {
    File { file: File, reads: bool, writes: bool, appends: bool },
    Directory(Box<dyn Iterator<Item = io::Result<Found>> + Send>),
}

#[derive(Default)]
pub struct Handles {
    open: HashMap<u32, Open>,
    last: u32,
}

impl Handles {
    pub fn insert(&mut self, open: Open) -> io::Result<[u8; 4]> {
        if self.open.len() >= MAX_HANDLES {
            let message = format!("more than {MAX_HANDLES} files are open");
            return Err(io::Error::other(message));
        }
        // Few numbers are in use, so one of the next is free.
        while self.open.contains_key(&self.last) {
            self.last = self.last.wrapping_add(1);
        }
        self.open.insert(self.last, open);
        Ok(self.last.to_be_bytes())
    }

    pub fn get(&mut self, handle: &[u8]) -> io::Result<&mut Open> {
        number(handle).and_then(|number| self.open.get_mut(&number)).ok_or_else(unknown)
    }

    pub fn file(&mut self, handle: &[u8]) -> io::Result<&mut Open> {
        match self.get(handle)? {
            Open::Directory(_) => Err(unknown()),
            file @ Open::File { .. } => Ok(file),
        }
    }

    pub fn remove(&mut self, handle: &[u8]) -> io::Result<Open> {
        number(handle).and_then(|number| self.open.remove(&number)).ok_or_else(unknown)
    }
}

fn number(handle: &[u8]) -> Option<u32> {
    handle.try_into().ok().map(u32::from_be_bytes)
}

fn unknown() -> io::Error {
    io::Error::other("no such handle")
}
