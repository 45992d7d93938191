//! Which process listens at a Unix socket. proc(5): /proc/net/unix has its inode, /proc/PID/fd who holds that.

use std::fs;
use std::path::Path;

/// The process that has the socket of that path open; `None` where that cannot be seen. Where several do (the first
/// process of the machine keeps the sockets of services that it started), the one that was started last.
pub fn of(socket: &Path) -> Option<i32> {
    let real = fs::canonicalize(socket).ok()?;
    let table = fs::read_to_string("/proc/net/unix").ok()?;
    let inode = inode(&table, &[&socket.to_string_lossy(), &real.to_string_lossy()])?;
    let wanted = format!("socket:[{inode}]");
    let holds = |pid: &i32| {
        let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        entries
            .into_iter()
            .any(|entry| fs::read_link(entry.path()).is_ok_and(|to| to.as_os_str() == wanted.as_str()))
    };
    let processes = fs::read_dir("/proc").ok()?.flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(holds).max()
}

/// The inode of the socket with one of those paths: the 7th column, the path is the 8th.
fn inode<'t>(table: &'t str, paths: &[&str]) -> Option<&'t str> {
    let mut rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<&str>>());
    rows.find_map(|row| row.get(7).is_some_and(|path| paths.contains(path)).then(|| row[6]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixDatagram;

    #[test]
    fn the_process_behind_a_socket_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        assert_eq!(of(&path), None);
        let socket = UnixDatagram::bind(&path).unwrap();
        assert_eq!(of(&path), Some(std::process::id() as i32));
        drop(socket);
        assert_eq!(of(&path), None, "the name is still there, but nobody listens");
    }
}
