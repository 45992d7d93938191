//! An access to a variable: of all threads, of a thread by the language, by the linker's models, by a key.

use super::Operation;
use super::access::{self, Read, Sum};
use crate::cell::Unavailable;
use crate::sys::thread_local as linked;
use crate::workload::mismatch;
use std::io;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

/// A variable of eight bytes.
pub trait Variable: 'static {
    /// Its one name.
    const NAME: &'static str;
    /// One line with the manual page or source.
    const SUMMARY: &'static str;
    /// What a reader of a table with it must know, or nothing.
    const NOTE: &'static str = "";

    /// Whether this machine has it.
    ///
    /// # Errors
    /// Why not, and what would help.
    fn present() -> Result<(), Unavailable> {
        Ok(())
    }

    /// Sets it, to that value where it belongs to the calling thread alone, and returns what each access must find and
    /// what makes one.
    ///
    /// # Errors
    /// The call that failed.
    fn set(own: u64) -> io::Result<(u64, Read)>;
}

/// Accesses to `V`.
pub struct Access<V> {
    sum: Sum,
    value: u64,
    variable: PhantomData<fn() -> V>,
}

/// A value that no other thread of the process gets.
fn own_value() -> u64 {
    /// Far from 0, which is what a variable holds that was never set.
    static LAST: AtomicU64 = AtomicU64::new(1 << 20);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

impl<V: Variable> Operation for Access<V> {
    const NAME: &'static str = V::NAME;
    const SUMMARY: &'static str = V::SUMMARY;
    const NOTE: &'static str = V::NOTE;
    const ROUGH_NS: u64 = 5;

    fn present() -> Result<(), Unavailable> {
        V::present()
    }

    fn enter(_depth: u64) -> io::Result<Access<V>> {
        let (value, read) = V::set(own_value())?;
        Ok(Access { sum: Sum::of(read), value, variable: PhantomData })
    }

    #[inline(always)]
    fn once(&mut self) -> io::Result<()> {
        self.sum.add();
        Ok(())
    }

    fn check(&mut self, ops: u64) -> io::Result<()> {
        let (sum, expected) = (self.sum.take(), ops.wrapping_mul(self.value));
        if sum == expected {
            return Ok(());
        }
        let text = format!(
            "{}: {ops} accesses to a variable that holds {} add up to {sum}, not {expected}",
            V::NAME,
            self.value
        );
        Err(mismatch(text))
    }
}

/// No variable.
pub struct Empty;

impl Variable for Empty {
    const NAME: &'static str = "empty";
    const SUMMARY: &'static str = "a call of an empty function: the floor of the operations";
    const NOTE: &'static str = "empty is a call of a function that does nothing. Accesses are made in such a function too, so their cost is \
         what they are above it.";

    fn set(_own: u64) -> io::Result<(u64, Read)> {
        Ok((access::NOTHING, access::nothing))
    }
}

/// A variable of the whole process.
pub struct StaticAccess;

impl Variable for StaticAccess {
    const NAME: &'static str = "static_access";
    const SUMMARY: &'static str = "a load of a static variable: what thread-local ones are compared with";

    fn set(_own: u64) -> io::Result<(u64, Read)> {
        /// The same for all threads.
        const VALUE: u64 = 7;
        access::set_shared(VALUE);
        Ok((VALUE, access::shared))
    }
}

/// A variable of Rust's that needs no initialisation at run time.
pub struct ThreadLocalConst;

impl Variable for ThreadLocalConst {
    const NAME: &'static str = "thread_local_const";
    const SUMMARY: &'static str = "std::thread_local! with a const initialiser";

    fn set(own: u64) -> io::Result<(u64, Read)> {
        access::set_at_compile_time(own);
        Ok((own, access::at_compile_time))
    }
}

/// A variable of Rust's that a thread initialises when it first gets at it.
pub struct ThreadLocalLazy;

impl Variable for ThreadLocalLazy {
    const NAME: &'static str = "thread_local_lazy";
    const SUMMARY: &'static str = "std::thread_local! that is initialised at the first access";

    fn set(own: u64) -> io::Result<(u64, Read)> {
        access::set_at_first_access(own);
        Ok((own, access::at_first_access))
    }
}

/// `__thread` in the program itself.
pub struct TlsLocalExec;

impl Variable for TlsLocalExec {
    const NAME: &'static str = "tls_local_exec";
    const SUMMARY: &'static str =
        "__thread in the program: local-exec, ELF Handling For Thread-Local Storage 4.4";

    fn present() -> Result<(), Unavailable> {
        if linked::HAS_LOCAL_EXEC { Ok(()) } else { Err(unwritten()) }
    }

    fn set(own: u64) -> io::Result<(u64, Read)> {
        linked::set_local_exec(own);
        Ok((own, linked::local_exec))
    }
}

/// Why what stands in assembly is not on this machine.
pub fn unwritten() -> Unavailable {
    Unavailable {
        reason: "it is written in assembly, for Linux on x86_64 and aarch64 only".into(),
        remedy: "use such a machine".into(),
    }
}

/// `__thread` in a shared object that was loaded at run time.
pub struct TlsDlopen;

impl Variable for TlsDlopen {
    const NAME: &'static str = "tls_dlopen";
    const SUMMARY: &'static str = "__thread in a shared object loaded by dlopen(3): general-dynamic, ELF Handling For Thread-Local Storage 4.1";

    fn present() -> Result<(), Unavailable> {
        if let Some(reason) = linked::no_object() {
            let remedy = "build again, from `cargo clean -p ipcmatrix` on, with a C compiler (CC names another than cc)";
            let reason = format!("its shared object was not compiled with the program: {reason}");
            return Err(Unavailable { reason, remedy: remedy.into() });
        }
        linked::loaded().map(drop).map_err(|error| Unavailable {
            reason: format!("its shared object cannot be loaded: {error}"),
            remedy: "allow programs to be run from files in memory (memfd_create(2), vm.memfd_noexec)".into(),
        })
    }

    fn set(own: u64) -> io::Result<(u64, Read)> {
        let loaded = linked::loaded()?;
        (loaded.set)(own);
        Ok((own, loaded.read))
    }
}

/// A value by a key.
pub struct PthreadGetspecific;

impl Variable for PthreadGetspecific {
    const NAME: &'static str = "pthread_getspecific";
    const SUMMARY: &'static str = "pthread_getspecific(3)";

    fn set(own: u64) -> io::Result<(u64, Read)> {
        linked::set_specific(own)?;
        Ok((own, linked::getspecific))
    }
}
