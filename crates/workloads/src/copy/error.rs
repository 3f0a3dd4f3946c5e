//! Why a file was not copied.

use lanlab_files::Fault;

use crate::failure_of;
use crate::messages::Failure;

/// Why a copy, or one file of it, ended.
#[derive(Debug)]
pub enum CopyError {
    /// The service said so. It may pass.
    Service(Fault),
    /// This host, or the driver.
    Own(Failure),
}

impl From<Fault> for CopyError {
    fn from(fault: Fault) -> Self {
        Self::Service(fault)
    }
}

impl From<Failure> for CopyError {
    fn from(failure: Failure) -> Self {
        Self::Own(failure)
    }
}

impl CopyError {
    /// As the failure of a request.
    pub fn into_failure(self) -> Failure {
        match self {
            Self::Service(fault) => failure_of(fault),
            Self::Own(failure) => failure,
        }
    }
}
