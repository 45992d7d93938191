//! A Unix datagram socket whose name is gone as soon as all who send to it are connected. unix(7).

use crate::sys::leftovers::{self, Leftover};
use std::env;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

/// The socket and its folder, which both go when this does.
struct Named {
    folder: PathBuf,
    socket: PathBuf,
}

impl Named {
    /// A folder that nobody else may enter, among the temporary files.
    fn new() -> io::Result<Named> {
        let folder =
            env::temp_dir().join(format!("ipcmatrix.{}.{}", std::process::id(), leftovers::serial()));
        let socket = folder.join("log");
        // What is in the folder goes before the folder.
        leftovers::announce(&Leftover::File(socket.to_string_lossy().into_owned()))?;
        leftovers::announce(&Leftover::Folder(folder.to_string_lossy().into_owned()))?;
        DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(Named { folder, socket })
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        // What fails here is left to the guard, which knows both names.
        let _ = fs::remove_file(&self.socket);
        let _ = fs::remove_dir(&self.folder);
    }
}

/// A receiving socket, and that many that are connected to it. No name is left.
///
/// # Errors
/// mkdir(2), socket(2), bind(2), connect(2); `InvalidInput` where the path of the temporary folder is too long for the
/// address of a socket.
pub fn receiver_and_senders(senders: usize) -> io::Result<(UnixDatagram, Vec<UnixDatagram>)> {
    let named = Named::new()?;
    let receiver = UnixDatagram::bind(&named.socket)?;
    let connected = |_| -> io::Result<UnixDatagram> {
        let sender = UnixDatagram::unbound()?;
        sender.connect(&named.socket)?;
        Ok(sender)
    };
    let senders = (0..senders).map(connected).collect::<io::Result<_>>()?;
    Ok((receiver, senders))
}
