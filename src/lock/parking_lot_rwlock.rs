//! The read-write lock taken for writing of the crate parking_lot, for threads of one process. parking_lot::RwLock.

use super::Lock;
use crate::catalog::Reach;
use parking_lot::RwLock;
use std::io;
use std::mem::MaybeUninit;

/// parking_lot::RwLock.
pub struct ParkingLotRwlock(RwLock<()>);

impl Lock for ParkingLotRwlock {
    const NAME: &'static str = "parking_lot_rwlock";
    const SUMMARY: &'static str = "parking_lot::RwLock of version 0.13, without eventual fairness";
    const REACH: Reach = Reach::Threads;

    fn init(at: &mut MaybeUninit<ParkingLotRwlock>) -> io::Result<()> {
        at.write(ParkingLotRwlock(RwLock::new(())));
        Ok(())
    }

    #[inline]
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        let held = self.0.write();
        critical();
        drop(held);
        Ok(())
    }
}
