//! The calls of clients: each translates, asks the ledger or the engine, and translates back.

mod ledger;
mod proving;
mod watch;

pub(crate) use ledger::Ledger;
pub(crate) use proving::Proving;
