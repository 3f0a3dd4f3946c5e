//! Directory listings (READDIR, RFC 8881, section 18.23).

use lanlab_files::{Entry, Result};
use lanlab_wire::nfs3::MAX_NAME_OCTETS;
use lanlab_wire::nfs3::xdr::{Garbled, Reader, Writer};
use lanlab_wire::nfs4::operation::READDIR;
use lanlab_wire::nfs4::{Attributes, DIRECTORY, NFS, Status, attribute, write_bitmap};

use super::Session;
use super::compound::{Compound, Results};
use crate::nfs::listing::{PAGE_OCTETS, Page, Place, all_pages};
use crate::nfs::status::fault_of;

impl Session {
    /// Names and attributes of the entries of the directory at which a compound ends.
    pub(super) async fn entries(&self, at: &Compound) -> Result<Vec<(String, Attributes)>> {
        let wanted = [attribute::TYPE, attribute::SIZE, attribute::RDATTR_ERROR];
        all_pages(async |place: Place| {
            let asked = Compound::default().then(at).op(READDIR, |writer: &mut Writer| {
                place.write(writer, PAGE_OCTETS.min(self.limits.read));
                write_bitmap(writer, &wanted);
            });
            let answer = self.client.call(&asked, &[]).await?;
            Ok(read_page(Results(answer.reader()).of(READDIR)?)?)
        })
        .await
    }
}

pub fn read_page(reader: &mut Reader<'_>) -> std::result::Result<Page<Attributes>, Garbled> {
    Page::read(reader, |reader| {
        Ok((reader.u64()?, reader.opaque(MAX_NAME_OCTETS)?, Attributes::read(reader)?))
    })
}

/// An entry of a directory; `None` if it vanished while it was listed.
pub fn entry(name: String, found: &Attributes) -> Result<Option<Entry>> {
    match found.get(attribute::RDATTR_ERROR).map(|status| Status(status as u32)) {
        None | Some(Status::OK) => {}
        Some(Status::NOENT | Status::STALE) => return Ok(None),
        Some(status) => return Err(fault_of(status, NFS.1)),
    }
    let is_directory = found.get(attribute::TYPE) == Some(u64::from(DIRECTORY));
    let size_bytes = found.get(attribute::SIZE).filter(|_| !is_directory).unwrap_or(0);
    Ok(Some(Entry { name, size_bytes, is_directory }))
}
