//! A process that is killed removes nothing. A file that never had a name needs no removing.
//!
//! Linux makes such files on most of its file systems, and links them to a name through `/proc`.

use std::fs::File;
use std::io;
use std::path::Path;

/// Creates a file without a name on the file system of `folder`; `None` where that is unknown.
///
/// # Errors
/// What the system says about the folder.
#[cfg(target_os = "linux")]
pub(super) fn create(folder: &Path, mode: u32) -> io::Result<Option<File>> {
    use rustix::fs::{Mode, OFlags, open};
    use rustix::io::Errno;

    if !Path::new("/proc/self/fd").is_dir() {
        return Ok(None);
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    match open(folder, flags, Mode::from_raw_mode(mode)) {
        Ok(file) => Ok(Some(File::from(file))),
        // File systems, and kernels, that know only files with names.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Creates a file without a name on the file system of `folder`; `None` where that is unknown.
///
/// # Errors
/// Never.
#[cfg(not(target_os = "linux"))]
pub(super) fn create(_folder: &Path, _mode: u32) -> io::Result<Option<File>> {
    Ok(None)
}

/// Gives a file that [`create`] made a name.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] when the name is taken.
pub(super) fn link(file: &File, path: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;

    use rustix::fs::{AtFlags, CWD, linkat};

    let source = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, source, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}
