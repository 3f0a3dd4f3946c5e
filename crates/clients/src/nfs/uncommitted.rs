//! Data of an open file that the server has accepted and may not have on disk.

use std::cell::{Cell, OnceCell};

use lanlab_files::{Class, Fault, Result};
use lanlab_wire::nfs3::FILE_SYNC;
use lanlab_wire::nfs3::xdr::Reader;

#[derive(Debug, Default)]
pub struct Uncommitted {
    /// Changes if the server loses uncommitted writes (RFC 1813, section 3.3.7; RFC 8881, section
    /// 18.32.3).
    verifier: OnceCell<[u8; 8]>,
    exists: Cell<bool>,
}

impl Uncommitted {
    pub fn exists(&self) -> bool {
        self.exists.get()
    }

    /// Read the result of a WRITE of `sent` bytes: how many the server took.
    pub fn written(&self, reader: &mut Reader<'_>, sent: usize) -> Result<usize> {
        let count = reader.u32()? as usize;
        let is_on_disk = reader.u32()? == FILE_SYNC;
        if (count == 0 && sent > 0) || count > sent {
            return Err(Fault::new(Class::Length, format!("{sent} octets sent, {count} taken")));
        }
        if !is_on_disk {
            self.exists.set(true);
        }
        self.check_verifier(reader)?;
        Ok(count)
    }

    /// Read the result of a COMMIT of the whole file.
    pub fn committed(&self, reader: &mut Reader<'_>) -> Result<()> {
        self.check_verifier(reader)?;
        self.exists.set(false);
        Ok(())
    }

    /// Check that the server has not restarted since the first write, whose verifier is kept.
    fn check_verifier(&self, reader: &mut Reader<'_>) -> Result<()> {
        let found = reader.fixed(8)?;
        if self.verifier.get_or_init(|| found.try_into().unwrap_or_default()) == found {
            return Ok(());
        }
        let message = "the server began anew and may have lost what was written";
        Err(Fault::new(Class::Reset, message).hint("write the file again"))
    }
}
