//! The daemon as its users meet it: the real binary with the real 2 KiB circuits on the CPU, asked by clients of other
//! people over TCP and unix sockets, fed with garbage, flooded, and killed.

mod bad_input;
mod calls;
mod clients;
mod commands;
mod crashes;
mod daemon;
mod disk;
mod encrypted;
mod fixture;
mod flood;
mod python;
mod refusals;
mod supervised;
