//! What every command needs before it begins: the environment, the output and the thread pool. A
//! command states its concerns once; the session then tells which variables matter to it.

use std::num::NonZeroUsize;

use anyhow::Context as _;

use crate::{
    cli::GlobalOptions,
    environment::{Concern, Environment},
    output::{Output, OutputOptions},
};

/// The surroundings of one command.
#[derive(Debug)]
pub(crate) struct Session {
    /// The variables this process was started with.
    pub(crate) environment: Environment,
    /// Where results, messages and progress go.
    pub(crate) output: Output,
    threads_option: Option<NonZeroUsize>,
}

impl Session {
    /// Puts the options that all commands share into effect.
    pub(crate) fn new(environment: Environment, options: &GlobalOptions) -> Self {
        let output = Output::new(OutputOptions {
            json: options.json,
            quiet: options.quiet,
            color_allowed: environment.color_allowed(),
        });
        Self {
            environment,
            output,
            threads_option: options.threads,
        }
    }

    /// Tells the effect of the variables that are set on a command with these concerns.
    ///
    /// # Errors
    /// Usage, when a variable that matters has a value that cannot be understood.
    pub(crate) fn announce(&self, concerns: &[Concern]) -> anyhow::Result<()> {
        for line in self.environment.notices(concerns)? {
            self.output.message(&line);
        }
        Ok(())
    }

    /// Starts the thread pool that all parallel work of this process shares; returns its size.
    ///
    /// # Errors
    /// Usage, when a variable gives a count that is none; internal, when the pool cannot start.
    pub(crate) fn start_threads(&self) -> anyhow::Result<NonZeroUsize> {
        let threads = self.environment.threads(self.threads_option)?;
        self.start_threads_with(threads)?;
        Ok(threads)
    }

    /// What `--threads` says.
    pub(crate) fn threads_option(&self) -> Option<NonZeroUsize> {
        self.threads_option
    }

    /// As [`Session::start_threads`], with a size that was decided elsewhere.
    ///
    /// # Errors
    /// Internal, when the pool cannot start.
    #[allow(clippy::unused_self, reason = "a process has one session and one pool")]
    pub(crate) fn start_threads_with(&self, threads: NonZeroUsize) -> anyhow::Result<()> {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.get())
            .build_global()
            .with_context(|| format!("starting a pool of {threads} threads"))
    }
}
