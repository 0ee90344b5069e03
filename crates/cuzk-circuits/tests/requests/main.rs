//! Requests made from real 2 KiB sectors: what is right is proved, what is wrong is refused.

mod bad_c1;
mod bad_porep;
mod bad_post;
mod bad_update;
mod blank;
mod compiled;
mod eight_mib;
mod fixture;
mod mutations;
mod public;
mod statements;
mod tampering;
mod witnesses;
