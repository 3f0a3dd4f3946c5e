//! Why a file was not copied.

use lanlab_files::Fault;

use crate::failure_of;
use crate::messages::Failure;

#[derive(Debug)]
pub enum CopyError {
    Service(Fault),
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
    pub fn into_failure(self) -> Failure {
        match self {
            Self::Service(fault) => failure_of(fault),
            Self::Own(failure) => failure,
        }
    }
}
