//! The ports that the kernel chooses from. ip(7).

use std::fs;

/// Its name among the settings of the machine.
pub const RANGE: &str = "net.ipv4.ip_local_port_range";
/// Where the range cannot be read: what Linux begins with.
const USUAL: (u64, u64) = (32_768, 60_999);

/// The first and the last port that connect(2) and a bind(2) to port 0 choose from.
pub fn local_range() -> (u64, u64) {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut numbers = text.split_whitespace().filter_map(|number| number.parse().ok());
    numbers.next().zip(numbers.next()).unwrap_or(USUAL)
}

/// How many there are.
pub fn local_ports() -> u64 {
    let (first, last) = local_range();
    (last + 1).saturating_sub(first)
}
