//! The MPI library underneath, in safe clothes.
//!
//! This room alone knows that MPIs differ: handles are ints here and pointers there, constants
//! have other numbers, some routines are missing. Nothing is linked: the library that the
//! program brought along is found at the first call, its ABI is recognised, and from then on one
//! table of functions and one of constants is used. Only `PMPI_` names are called, so that tools
//! between the program and its MPI do not see our own traffic; and never one of the file
//! routines, because those names are ours.

mod comm;
mod constants;
mod contents;
mod datatype;
mod decoder;
mod errhandler;
mod error_code;
mod finalize;
mod functions;
mod get_status;
mod handles;
mod inbox;
mod info;
mod launcher;
mod library;
mod named;
mod pending;
mod progress;
mod request;
mod running;
mod served;
mod status;
mod window;

pub use comm::NodeInfo;
pub use constants::{Abi, Combiner, Constants, Handles};
pub use errhandler::Destructor;
pub use error_code::error_code;
pub use finalize::on_finalize;
pub use get_status::{
    request_get_status, request_get_status_all, request_get_status_any, request_get_status_some,
};
pub use handles::{Comm, Datatype, Errhandler, Group, Info, Request, Win};
pub use inbox::Inbox;
pub use launcher::{may_have_other_hosts, neighbours};
pub use library::{Library, ThreadLevel, library, thread_level};
pub use pending::Pending;
pub use progress::rest;
pub use request::{
    Exchange, Promise, can_promise, complete_kept, completed_request, is_keeping, promised_request,
    see_through,
};
pub use running::{Running, has_world, is_running};
pub use status::set_status;
pub use window::SharedWord;
