//! Paths of a trial's files at the service.

use lanlab_files::ServicePath;

use crate::messages::Failure;

const MARK_NAME: &str = "lanlab-mark";
/// Name of the mark at services with 8.3 names.
const SHORT_MARK_NAME: &str = "mark.lab";
pub const SHORT: &str = ".lab";

pub fn files_path(working_name: &str) -> Result<ServicePath, Failure> {
    path(format!("{working_name}/files"))
}

pub fn remote_path(working_name: &str, file: &ServicePath) -> Result<ServicePath, Failure> {
    path(format!("{working_name}/files/{file}"))
}

/// The reverse of [`remote_path`].
pub fn below_files(working_name: &str, file: &ServicePath) -> Result<ServicePath, Failure> {
    let above = format!("{working_name}/files/");
    path(file.as_str().strip_prefix(&above).unwrap_or_default().to_owned())
}

pub fn path(text: String) -> Result<ServicePath, Failure> {
    ServicePath::new(text).map_err(|bad| Failure::new("copy.name", bad.message))
}

pub fn mark_path(working_name: &str) -> Result<ServicePath, Failure> {
    let name = if working_name.ends_with(SHORT) { SHORT_MARK_NAME } else { MARK_NAME };
    path(format!("{working_name}/{name}"))
}
