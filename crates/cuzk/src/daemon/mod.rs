//! What `serve` is made of beside the server and the engine: keys, log, signals, and the word to the service supervisor. And
//! a daemon without a process of its own.

mod in_process;
mod key_folder;
mod log;
mod signals;
mod supervisor;

pub(crate) use in_process::InProcessDaemon;
pub(crate) use key_folder::KeyFolder;
pub(crate) use log::start_log;
pub(crate) use signals::stop_on_signals;
pub(crate) use supervisor::{notify_ready, notify_stopping};
