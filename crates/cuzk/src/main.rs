#![doc = include_str!("../README.md")]

mod allocation;
mod bellperson_prover;
mod blame;
mod cards;
mod circuits;
mod cli;
mod client;
mod commands;
mod config;
mod cpu_time;
mod daemon;
mod development_keys;
mod device_choice;
mod direct;
mod encoding;
mod environment;
mod exit;
mod input_file;
mod inputs;
mod keys;
mod local;
mod memory;
mod option_values;
mod output;
mod progress;
mod request_args;
mod result_file;
mod rows;
mod saved;
mod session;
mod units;
mod variables;
mod verification;

use std::process::ExitCode;

use clap::Parser as _;

use crate::{cli::Cli, environment::Environment, session::Session};

fn main() -> ExitCode {
    allocation::return_freed_buffers();
    let cli = Cli::parse();
    let session = Session::new(Environment::read(), &cli.global);
    match commands::run(cli.command, &session) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::report_failure(&error);
            ExitCode::from(exit::class_of(&error).code())
        }
    }
}
