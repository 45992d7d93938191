//! The mutex of the crate parking_lot, for threads of one process. parking_lot::Mutex.

use super::Lock;
use crate::catalog::Reach;
use parking_lot::Mutex;
use std::io;
use std::mem::MaybeUninit;

/// parking_lot::Mutex.
pub struct ParkingLotMutex(Mutex<()>);

impl Lock for ParkingLotMutex {
    const NAME: &'static str = "parking_lot_mutex";
    const SUMMARY: &'static str = "parking_lot::Mutex of version 0.13, without eventual fairness";
    const REACH: Reach = Reach::Threads;

    fn init(at: &mut MaybeUninit<ParkingLotMutex>) -> io::Result<()> {
        at.write(ParkingLotMutex(Mutex::new(())));
        Ok(())
    }

    #[inline]
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        let held = self.0.lock();
        critical();
        drop(held);
        Ok(())
    }
}
