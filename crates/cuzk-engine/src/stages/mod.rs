//! The path of a proof as free functions, one per stage. They know values, not queues, jobs or permits; `flow.rs` alone
//! connects them.

pub(crate) mod assemble;
pub(crate) mod decode;
pub(crate) mod finish;
pub(crate) mod plan;
pub(crate) mod start;
pub(crate) mod verify;
pub(crate) mod witness;
