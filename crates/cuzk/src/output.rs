//! The one place that prints. Results go to standard output, as a page for people or as one JSON
//! value with `--json`; messages, warnings and progress go to standard error, so that standard
//! output can always be piped. Bold text appears on terminals only and never with `NO_COLOR`.

use std::{
    fmt::Write as _,
    io::{self, IsTerminal, Write},
};

use anyhow::Context as _;
use serde::Serialize;

use crate::progress::{Progress, Step};

/// Space between two columns of a table.
const COLUMN_GAP: &str = "  ";

/// What the command line asked of the output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputOptions {
    /// One JSON value on standard output instead of pages.
    pub(crate) json: bool,
    /// No messages and no progress; warnings and errors stay.
    pub(crate) quiet: bool,
    /// `NO_COLOR` is unset.
    pub(crate) color_allowed: bool,
}

/// The output of one command; clones write to the same place.
#[derive(Debug, Clone)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "four independent facts about where output goes, decided once"
)]
pub(crate) struct Output {
    json: bool,
    quiet: bool,
    bold_out: bool,
    bold_err: bool,
    progress: Progress,
}

impl Output {
    /// Decides once what may be drawn where.
    pub(crate) fn new(options: OutputOptions) -> Self {
        let error_terminal = io::stderr().is_terminal();
        Self {
            json: options.json,
            quiet: options.quiet,
            bold_out: options.color_allowed && io::stdout().is_terminal(),
            bold_err: options.color_allowed && error_terminal,
            progress: Progress::new(error_terminal && !options.json && !options.quiet),
        }
    }

    /// Prints the result of a command: `value` with `--json`, else the page that `write` fills.
    ///
    /// # Errors
    /// When standard output cannot be written, except that a closed pipe is the reader's choice.
    pub(crate) fn result<T: Serialize>(
        &self,
        value: &T,
        write: impl FnOnce(&mut Page),
    ) -> anyhow::Result<()> {
        let text = if self.json {
            let mut text =
                serde_json::to_string_pretty(value).context("writing the result as JSON")?;
            text.push('\n');
            text
        } else {
            let mut page = Page::new(self.bold_out);
            write(&mut page);
            page.text
        };
        write_out(text.as_bytes())
    }

    /// Whether people read standard error on a terminal.
    #[allow(
        clippy::unused_self,
        reason = "only the owner of the output asks where it goes"
    )]
    pub(crate) fn is_error_terminal(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Whether `--json` was given.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints bytes as they are.
    ///
    /// # Errors
    /// As [`Output::result`].
    #[allow(clippy::unused_self, reason = "only the owner of the output may print")]
    pub(crate) fn raw(&self, bytes: &[u8]) -> anyhow::Result<()> {
        write_out(bytes)
    }

    /// Tells what is going on; silent with `--quiet`.
    pub(crate) fn message(&self, text: &str) {
        if !self.quiet {
            self.write_err("", text);
        }
    }

    /// Tells what the user must not miss; `--quiet` does not silence it.
    pub(crate) fn warning(&self, text: &str) {
        self.write_err("warning: ", text);
    }

    /// A step of unknown length: a spinner, or one line where there is no terminal.
    pub(crate) fn step(&self, what: &str) -> Step {
        self.announce(what);
        self.progress.spinner(what)
    }

    /// A step of `total` units: a bar, or one line where there is no terminal.
    pub(crate) fn bar(&self, what: &str, total: u64) -> Step {
        self.announce(what);
        self.progress.bar(what, total)
    }

    fn announce(&self, what: &str) {
        if !self.progress.is_visible() {
            self.message(what);
        }
    }

    fn write_err(&self, label: &str, text: &str) {
        let label = bold(label, self.bold_err);
        self.progress
            .suspend(|| write_to_stderr(&format!("{label}{text}\n")));
    }
}

/// Prints the failure that ends the process.
pub(crate) fn report_failure(error: &anyhow::Error) {
    write_to_stderr(&format!("error: {}\n", describe(error)));
}

/// The messages of an error's chain in one line. Libraries that put the cause into their own
/// message and hand it on as well are not repeated.
pub(crate) fn describe(error: &anyhow::Error) -> String {
    error
        .chain()
        .map(ToString::to_string)
        .fold(String::new(), |mut text, cause| {
            if !text.ends_with(&cause) {
                if !text.is_empty() {
                    text.push_str(": ");
                }
                text.push_str(&cause);
            }
            text
        })
}

fn write_to_stderr(text: &str) {
    // Nobody is left to tell when standard error itself cannot be written.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

fn write_out(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("writing to standard output")
        }
        _ => Ok(()),
    }
}

fn bold(text: &str, enabled: bool) -> String {
    if enabled && !text.is_empty() {
        format!("\x1b[1m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

/// Text for people, laid out line by line.
#[derive(Debug)]
pub(crate) struct Page {
    text: String,
    bold: bool,
}

impl Page {
    fn new(bold: bool) -> Self {
        Self {
            text: String::new(),
            bold,
        }
    }

    /// One line.
    pub(crate) fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Names and values in two columns.
    pub(crate) fn fields(&mut self, fields: &[(&str, String)]) {
        let width = fields.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (name, value) in fields {
            // Writing to a String cannot fail.
            let _ = writeln!(self.text, "{name:width$}{COLUMN_GAP}{value}");
        }
    }

    /// A table: its first row is the heading; the first column is text, the others are numbers and
    /// end flush right.
    pub(crate) fn table(&mut self, rows: &[Vec<String>]) {
        let mut widths = Vec::new();
        for row in rows {
            widths.resize(widths.len().max(row.len()), 0);
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        for (index, row) in rows.iter().enumerate() {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(column, (cell, &width))| match column {
                    0 => format!("{cell:<width$}"),
                    _ => format!("{cell:>width$}"),
                })
                .collect();
            let line = cells.join(COLUMN_GAP);
            self.line(&bold(line.trim_end(), self.bold && index == 0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(row: &[&str]) -> Vec<String> {
        row.iter().map(|&cell| cell.to_owned()).collect()
    }

    #[test]
    fn a_cause_that_stands_in_the_message_already_is_not_repeated() {
        let error = anyhow::anyhow!("disk full")
            .context("writing x: disk full")
            .context("demo");
        assert_eq!(describe(&error), "demo: writing x: disk full");
    }

    #[test]
    fn an_empty_table_prints_nothing() {
        let mut page = Page::new(true);
        page.table(&[]);
        page.fields(&[]);
        assert_eq!(page.text, "");
    }

    #[test]
    fn numbers_line_up_on_the_right_and_names_on_the_left() {
        let mut page = Page::new(false);
        page.table(&[
            cells(&["kind", "time"]),
            cells(&["porep", "9 s"]),
            cells(&["snap", "10 min"]),
        ]);
        assert_eq!(page.text, "kind     time\nporep     9 s\nsnap   10 min\n");
    }

    #[test]
    fn only_the_heading_is_bold_and_only_where_it_may_be() {
        let mut page = Page::new(true);
        page.table(&[cells(&["kind"]), cells(&["porep"])]);
        assert_eq!(page.text, "\x1b[1mkind\x1b[0m\nporep\n");
    }

    #[test]
    fn field_values_start_in_one_column() {
        let mut page = Page::new(false);
        page.fields(&[("a", "1".to_owned()), ("longer", "2".to_owned())]);
        assert_eq!(page.text, "a       1\nlonger  2\n");
    }
}
