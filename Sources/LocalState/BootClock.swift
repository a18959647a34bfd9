internal import Glibc

/// The time since this machine was started, as `/proc` gives the start of a process (proc(5)).
///
/// It is defined here because in modules that import all of Foundation, `struct timespec` comes from different imports in
/// different builds.
package enum BootClock {
    /// Clock ticks (`_SC_CLK_TCK`, usually hundredths of a second) from the start of the machine to now.
    package static var ticks: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        let perSecond = UInt64(max(sysconf(Int32(_SC_CLK_TCK)), 1))
        return UInt64(time.tv_sec) * perSecond + UInt64(time.tv_nsec) * perSecond / 1_000_000_000
    }
}
