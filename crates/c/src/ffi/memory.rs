//! Room in the memory of the WebAssembly module, for texts and structs of the caller.

use std::alloc::{Layout, alloc_zeroed, dealloc};

/// Alignment of all types of the interface.
const ALIGN: usize = 8;

/// Return the address of this many bytes, all 0; null if `bytes` is 0 or there is no room.
#[unsafe(no_mangle)]
extern "C" fn aqmlab_allocate(bytes: usize) -> *mut u8 {
    match Layout::from_size_align(bytes, ALIGN) {
        // SAFETY: the size is not 0.
        Ok(layout) if bytes > 0 => unsafe { alloc_zeroed(layout) },
        _ => std::ptr::null_mut(),
    }
}

/// Release what [`aqmlab_allocate`] returned for this many bytes.
///
/// # Safety
/// `address` is from [`aqmlab_allocate`] with the same number, and was not released.
#[unsafe(no_mangle)]
unsafe extern "C" fn aqmlab_release(address: *mut u8, bytes: usize) {
    if let Ok(layout) = Layout::from_size_align(bytes, ALIGN)
        && !address.is_null()
    {
        // SAFETY: the caller promises it.
        unsafe { dealloc(address, layout) };
    }
}
