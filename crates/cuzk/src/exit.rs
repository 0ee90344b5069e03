//! Scripts must tell a bad proof from a missing key without reading prose. Every failure that
//! leaves the binary has a class, and every class has one documented exit code. A failure is
//! classed where it is understood (`or_exit`), at the edge between a library and a command; what
//! nobody classed is an internal error.

use std::fmt;

/// Why a command ended. The discriminant is the process exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ExitClass {
    /// Done as asked.
    Done = 0,
    /// A defect or a state that cuzk does not expect.
    Internal = 1,
    /// The command line or an environment variable cannot be understood.
    Usage = 2,
    /// A request, a proof file or public data is malformed or contradicts itself.
    InvalidInput = 3,
    /// A proving key is missing, damaged, or belongs to another circuit.
    Key = 4,
    /// A well-formed proof does not verify.
    NotVerified = 5,
    /// Memory, disk space, a card that cannot be used, or a file that cannot be read or written.
    Resource = 6,
    /// The daemon cannot be reached, is busy, or turns the client away.
    Daemon = 7,
    /// No device is left that works in this process.
    Device = 8,
}

impl ExitClass {
    /// All classes, by code.
    pub(crate) const ALL: [Self; 9] = [
        Self::Done,
        Self::Internal,
        Self::Usage,
        Self::InvalidInput,
        Self::Key,
        Self::NotVerified,
        Self::Resource,
        Self::Daemon,
        Self::Device,
    ];

    /// The process exit code.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// What the code means, as `--help` prints it.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done as asked",
            Self::Internal => "internal error",
            Self::Usage => "command line or environment variable not understood",
            Self::InvalidInput => {
                "a request, proof file or public data is malformed or contradicts itself"
            }
            Self::Key => "a proving key is missing, damaged or of another circuit",
            Self::NotVerified => "the proof does not verify",
            Self::Device => "the device that proves is lost until the program is started again",
            Self::Daemon => "the daemon cannot be reached, is busy, or turns the client away",
            Self::Resource => {
                "out of memory or disk, no card that can be used, or a file that cannot be read or \
                 written"
            }
        }
    }
}

/// The exit codes as a block for the end of `--help`.
pub(crate) fn exit_codes_help() -> String {
    use std::fmt::Write as _;
    let mut text = String::from("Exit codes:\n");
    for class in ExitClass::ALL {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {}  {}", class.code(), class.meaning());
    }
    text.pop();
    text
}

/// A message with the class of the failure it describes; the error it wraps, if any, follows it in
/// the chain.
#[derive(Debug)]
pub(crate) struct Failure {
    class: ExitClass,
    message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// A failure that begins here, with nothing below it.
pub(crate) fn failure(class: ExitClass, message: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Failure {
        class,
        message: message.into(),
    })
}

/// An error of a library with its class and the words that say what was being done.
pub(crate) fn classed(
    class: ExitClass,
    message: impl Into<String>,
    error: impl Into<anyhow::Error>,
) -> anyhow::Error {
    error.into().context(Failure {
        class,
        message: message.into(),
    })
}

/// Gives the error of a library its class and the words that say what was being done.
pub(crate) trait OrExit<T> {
    /// Classes the error and puts `message` before it.
    fn or_exit(self, class: ExitClass, message: impl FnOnce() -> String) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> OrExit<T> for Result<T, E> {
    fn or_exit(self, class: ExitClass, message: impl FnOnce() -> String) -> anyhow::Result<T> {
        self.map_err(|error| classed(class, message(), error))
    }
}

/// The class of an error: the outermost class given to it, else what an I/O error at its root says,
/// else internal.
pub(crate) fn class_of(error: &anyhow::Error) -> ExitClass {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return failure.class;
    }
    if error
        .chain()
        .any(<dyn std::error::Error>::is::<std::io::Error>)
    {
        return ExitClass::Resource;
    }
    ExitClass::Internal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_nobody_classed_is_internal() {
        assert_eq!(class_of(&anyhow::anyhow!("odd")), ExitClass::Internal);
    }

    #[test]
    fn an_io_error_that_nobody_classed_is_a_resource_failure() {
        let error = anyhow::Error::new(std::io::Error::other("disk")).context("writing");
        assert_eq!(class_of(&error), ExitClass::Resource);
    }

    #[test]
    fn a_class_survives_more_context_and_the_outermost_one_counts() {
        let inner: anyhow::Result<()> = Err(failure(ExitClass::Key, "no key"));
        let error = inner.map_err(|error| error.context("demo"));
        assert_eq!(error.as_ref().map_err(class_of), Err(ExitClass::Key));
        let outer = error.or_exit(ExitClass::InvalidInput, || "request".to_owned());
        assert_eq!(
            outer.as_ref().map_err(class_of),
            Err(ExitClass::InvalidInput)
        );
    }

    #[test]
    fn codes_are_dense_and_all_are_in_the_help_text() {
        let help = exit_codes_help();
        for (code, class) in ExitClass::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(class.code()), code);
            assert!(help.contains(class.meaning()));
        }
    }
}
