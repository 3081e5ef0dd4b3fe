//! Who hears of signals.

use std::mem::MaybeUninit;

/// What the system says to the thread that did something wrong. Blocked, they would end the program
/// before its own handler or a debugger hears of them.
const OF_THE_THREAD_ITSELF: [libc::c_int; 7] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGABRT,
    libc::SIGTRAP,
    libc::SIGSYS,
];

/// Runs `act` in a thread that hears of no signal meanwhile, nor do threads that `act` starts. What
/// a thread brings upon itself stays as it is.
pub fn without_signals<T>(act: impl FnOnce() -> T) -> T {
    let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: both are locals, which the calls fill; the mask is this thread's own.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        for signal in OF_THE_THREAD_ITSELF {
            libc::sigdelset(all.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
    }
    let outcome = act();
    // SAFETY: it is what the thread had before.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The signals that this thread does not hear of, a bit for each from 1 on.
    fn blocked() -> u64 {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap();
        u64::from_str_radix(mask.trim(), 16).unwrap()
    }

    fn bit(signal: libc::c_int) -> u64 {
        1 << (signal - 1)
    }

    #[test]
    fn only_what_a_thread_brings_upon_itself_is_heard() {
        let before = blocked();
        let (inside, of_thread) =
            without_signals(|| (blocked(), std::thread::spawn(blocked).join().unwrap()));
        assert_eq!(inside, of_thread, "who is started there hears as little");
        for signal in [libc::SIGUSR1, libc::SIGTERM, libc::SIGALRM, libc::SIGPROF, libc::SIGRTMAX()]
        {
            assert!(inside & bit(signal) != 0, "signal {signal} is heard");
        }
        for signal in OF_THE_THREAD_ITSELF {
            assert_eq!(inside & bit(signal), before & bit(signal), "signal {signal} has changed");
        }
        assert_eq!(blocked(), before);
    }
}
