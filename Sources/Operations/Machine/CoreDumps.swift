import Glibc

/// The rule that a crash leaves no copy of our memory, which contains keys and tokens.
package enum CoreDumps {
    /// Forbids core dumps of this process, and of programs that it starts.
    ///
    /// With a limit of 0 bytes the kernel still pipes a dump to a collector that `core_pattern` names; with a
    /// limit of 1 byte it does neither. `PR_SET_DUMPABLE` would do the same, but gives `/proc/self` to
    /// root, so that we could not read our own descriptors and credentials, and a person could not debug us.
    package static func forbid() {
        var limit = rlimit(rlim_cur: 1, rlim_max: 1)
        guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) != 0 else { return }
        // Our service manager has set it to 0, and only root may raise it.
        limit = rlimit(rlim_cur: 0, rlim_max: 0)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }
}
