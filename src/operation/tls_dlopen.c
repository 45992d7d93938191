/* A thread-local variable of a shared object that is loaded by dlopen(3), where no address is known before: the
   general-dynamic model of "ELF Handling For Thread-Local Storage" (Drepper, 2013), chapter 4. Compiled by build.rs. */

__attribute__((tls_model("global-dynamic"))) __thread unsigned long long ipcmatrix_loaded;

void ipcmatrix_loaded_set(unsigned long long value)
{
    ipcmatrix_loaded = value;
}

unsigned long long ipcmatrix_loaded_read(void)
{
    return ipcmatrix_loaded;
}
